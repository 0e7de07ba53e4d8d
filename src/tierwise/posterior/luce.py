"""Draws of tiers and their worths, sizes open or given, for answers of every kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.answers.races import races_of
from tierwise.errors import InputError, drop
from tierwise.fitting.luce import refuse_options_of_mallows
from tierwise.luce.chain import RaceChain
from tierwise.luce.search import (
    TierSearch,
    cut_by_strength,
    likely_tiers,
    search_tiers,
    sizes_of,
    tiers_of_sizes,
)
from tierwise.luce.worths import best_worths, decreasing
from tierwise.model.priors import log_prior_of_sizes
from tierwise.posterior.chain import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.races import Floats, Races
    from tierwise.data.kinds import KnownData
    from tierwise.luce.chain import Held
    from tierwise.luce.worths import Worths
    from tierwise.posterior.chain import Trace
    from tierwise.posterior.samplers import SamplingOptions
    from tierwise.tiers import Sizes

# What is not named is as in `sample_posterior`.
_NAMED_PRIORS = ("uniform", "penalised", "sceptical")
# Worths of neighbouring tiers differ at least so much where a chain begins.
_LEAST_GAP = 1e-6
_NAMES_OF_EFFECTS = {"position": "first_factor", "draws": "draw_factor"}


@dataclass(frozen=True, eq=False)
class WalkOverRaces:
    """A sampler that runs a chain over tiers and worths.

    Attributes
    ----------
    chain
        The chain.
    best
        The most probable worths, with the most probable tiers, which were searched, or those given.
    prior_sizes
        Name of the prior of sizes.
    """

    chain: RaceChain
    best: Worths
    prior_sizes: str

    def start(self, rng: np.random.Generator) -> State:
        """Likely tiers of answers that are weighted at random (Bayesian bootstrap)."""
        races = self.chain.races
        weights = races.weights * rng.standard_exponential(races.n_answers)
        other = races.reweighted(weights, races.meetings.reweighted(rng))
        begin = np.append(self.best.logs[self.best.labels], self.best.effects)
        if self.chain.held == "nothing":
            log_prior = partial(log_prior_of_sizes, self.prior_sizes)  # type: ignore[arg-type]
            labels, logs, effects = likely_tiers(TierSearch(other, log_prior), begin)
        else:
            labels = self.best.labels
            if self.chain.held == "sizes":
                labels = cut_by_strength(other, sizes_of(labels), begin)
            worths = best_worths(other, labels, self.best.point)
            logs, effects = _in_strict_order(worths.logs), worths.effects
        named = _named_effects(races, np.exp(effects))
        return State(labels, sizes_of(labels), np.nan, np.nan, log_worths=logs[labels], **named)

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make a sweep for each entry of ``kept``, and record the draws where it is true."""
        assert state.log_worths is not None
        labels, logs, log_effects = self.chain.run(
            state.labels,
            state.log_worths,
            len(kept),
            rng,
            log_effects=log_effects_of(self.chain, state),
        )
        effects = _named_effects(self.chain.races, np.exp(log_effects.T))
        numbers = {name: values[kept] for name, values in effects.items()}
        trace.extend(labels[kept], log_worth=logs[kept], **numbers)
        return state._replace(
            labels=labels[-1].copy(),
            sizes=tuple(np.bincount(labels[-1]).tolist()),
            log_worths=logs[-1].copy(),
            iteration=state.iteration + len(kept),
            first_factor=_last(effects, "first_factor"),
            draw_factor=_last(effects, "draw_factor"),
        )

    def facts(self) -> dict[str, Any]:
        """Return what is known without looking at draws, as plain values."""
        return {
            "family": "luce",
            "pairwise": self.chain.races.meetings.any,
            "likelihood": self.chain.races.likelihood,
            "most_probable_tiers": (self.best.labels + 1).tolist(),
        }


def _named_effects(races: Races, values: Any) -> dict[str, Any]:
    """Give effects the names they have in draws."""
    names = [_NAMES_OF_EFFECTS[name] for name in races.meetings.effects]
    return dict(zip(names, values, strict=True))


def _last(effects: dict[str, Any], name: str) -> float:
    """Return the last draw of an effect, NaN if there is none."""
    return float(effects[name][-1]) if name in effects else np.nan


def _in_strict_order(logs: Floats) -> Floats:
    """Return log worths near given ones that decrease."""
    ordered: Floats = decreasing(logs) - _LEAST_GAP * np.arange(len(logs))
    return ordered


def sampler_of_races(data: KnownData, options: SamplingOptions) -> WalkOverRaces:
    """Return the sampler, or raise an error for options that it does not support."""
    refuse_options_of_mallows(
        concentration=(options.concentration, "single"),
        theta_update=(options.sampler.theta_update, "auto"),
        likelihood=(options.sampler.likelihood, "exact"),
        completions=(options.sampler.completions, "auto"),
    )
    if options.sampler.method == "exact":
        raise InputError('the family "luce" always samples with a chain', [drop("method")])
    races = _whole_numbers(races_of(data))  # type: ignore[arg-type]
    if options.sizes is not None:
        return _sampler_of_given(races, options, options.sizes)
    if options.prior_sizes not in _NAMED_PRIORS:
        raise InputError(
            'for the family "luce" the prior of sizes must be "uniform", "penalised" or '
            '"sceptical": one that depends on the order of the sizes is not possible'
        )
    chain = chain_over_races(data, options)
    best = search_tiers(TierSearch(races, partial(log_prior_of_sizes, options.prior_sizes)))[0]
    return WalkOverRaces(chain, best.worths, str(options.prior_sizes))


def _sampler_of_given(races: Races, options: SamplingOptions, sizes: Sizes) -> WalkOverRaces:
    """Return what draws worths, and tiers of given sizes unless these are given, too."""
    held: Held = "tiers"
    if options.tiers is not None:
        worths = best_worths(races, np.array(options.tiers))
    else:
        held, worths = "sizes", tiers_of_sizes(races, sizes).worths
        if sizes_of(worths.labels) != sizes:
            # Worths of the best tiers go against their sizes.
            worths = best_worths(races, cut_by_strength(races, sizes))
    worths = replace(worths, logs=_in_strict_order(worths.logs))
    return WalkOverRaces(RaceChain(races, held=held), worths, str(options.prior_sizes))


def chain_over_races(data: KnownData, options: SamplingOptions) -> RaceChain:
    """Return the chain over tiers of all sizes alone, for those who know where it begins."""
    races = _whole_numbers(races_of(data))  # type: ignore[arg-type]
    n_items, log_prior = races.n_items, partial(log_prior_of_sizes, options.prior_sizes)
    by_number = [log_prior(_some_sizes(n_items, count)) for count in range(1, n_items + 1)]
    return RaceChain(races, by_number)


def log_effects_of(chain: RaceChain, state: State) -> NDArray[np.float64]:
    """Return the logs of what a state knows beside worths, in the order of the chain."""
    names = [_NAMES_OF_EFFECTS[name] for name in chain.races.meetings.effects]
    return np.log([getattr(state, name) for name in names])


def _some_sizes(n_items: int, n_tiers: int) -> Sizes:
    """Any sizes with so many tiers: the named priors do not tell them apart."""
    return (n_items - n_tiers + 1,) + (1,) * (n_tiers - 1)


def _whole_numbers(races: Races) -> Races:
    """Refuse weights that are not whole numbers where answers hold ties."""
    tied = np.diff(races.block_starts) > 1
    tied[races.first_blocks[1:] - 1] = False  # the last block of an answer says nothing
    if not tied.any() or (races.weights == races.weights.round()).all():
        return races
    raise InputError(
        "answers with ties are drawn one by one, so their weights must be whole numbers: round "
        "the weights, or use search and bootstrap, which take any weights"
    )
