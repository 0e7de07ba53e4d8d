"""Check whether a fitted model predicts the data it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, NamedTuple

from tierwise._util.checks import RandomSource, as_generator, check_count
from tierwise._util.provenance import Stopwatch
from tierwise.checking.expected import expected_ranks, orderings_of, orderings_of_posterior
from tierwise.checking.measures import Distances, LogProbabilities
from tierwise.checking.pairs import check_battles, check_pairs
from tierwise.checking.rankings import check_rankings
from tierwise.checking.result import FitCheck, Found, verdict_of
from tierwise.data.battles import Battles
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, drop, quoted
from tierwise.fitting.result import Fit
from tierwise.fitting.summary import names_of_tiers
from tierwise.luce.judges import at_effective_number
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.posterior.result import Posterior

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.checking.expected import Orderings
    from tierwise.data.kinds import KnownData

# How many rankings are drawn unless the user says: so many, but no more places of items in them
# than take tens of megabytes, and never fewer than show that a model is far off.
_MOST_DRAWS = 20_000
_MOST_PLACES = 4_000_000
_FEWEST_DRAWS = 4000


def check_fit(
    data: Rankings | Preferences | Battles,
    fit: Fit,
    *,
    posterior: Posterior | None = None,
    draws: int | None = None,
    rng: RandomSource = 0,
) -> FitCheck:
    """Compare data with what a fitted model expects, and say how they differ.

    There are five checks: proportions of pairs; how often items have each rank; how often items
    cross the lines between tiers (if more at one end of the ranking, theta varies); how much the
    distances of answers from the tiers vary; and whether answers vary more than expected in one
    direction (the last two point to a mixture of groups). Checks that need more than incomplete
    answers give are left out.

    If tiers have worths, log probabilities of answers replace distances, and lines between tiers
    are not checked, because each tier has its own worth.

    Pairwise answers are compared with simulated answers of the model to the same questions, by as
    many people, with as many mistakes if answers may be mistaken. They say nothing about ranks.

    For battles the checks are whether pairs, items within a tier, and tiers win as often as the
    model predicts from the rank gap or the worths.

    Parameters
    ----------
    data
        The rankings, pairwise answers or battles that were fitted.
    fit
        The fit. Its model gives the expectations, unless there is a posterior.
    posterior
        A posterior of the same items. Expectations are then averaged over its draws, as in a
        posterior predictive check; lines, distances and log probabilities still refer to the tiers
        of the fit.
    draws
        Number of rankings to draw from the model: 20,000 by default, and as few as 4,000 if items
        are many. Up to eight items, all orderings are enumerated instead.
    rng
        Seed or generator. The default is a fixed seed: the same answers and the same fit get the
        same verdict from every function and command.

    Examples
    --------
    >>> import tierwise as tw
    >>> model = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"], ["d"]]), theta=0.5)
    >>> rankings = model.sample(500, rng=1)
    >>> tw.check_fit(rankings, tw.fit(rankings, (1, 2, 1))).verdict
    'fits'
    """
    watch = Stopwatch()
    data = at_effective_number(
        check_data(data, "check_fit", Rankings, Preferences, Battles, weights="effective")
    )
    if draws is None:
        draws = min(max(_FEWEST_DRAWS, _MOST_PLACES // len(data.items)), _MOST_DRAWS)
    draws = check_count("draws", draws, least=100)
    _check_results(fit, posterior)
    found, expected = _compare(data, _Task(fit, posterior, draws, as_generator(rng)))
    return FitCheck(
        fit=fit,
        items=data.items,
        verdict=verdict_of(found.findings),
        pair_numbers=found.pairs.numbers,
        pairs_observed=found.pairs.observed,
        pairs_expected=found.pairs.expected,
        pair_scores=found.pairs.scores,
        ranks_observed=found.ranks_observed,
        ranks_expected=expected.ranks,
        lines=found.lines,
        distance_spread=found.spread,
        direction=found.direction,
        findings=found.findings,
        exact=expected.exact,
        monte_carlo_error=found.pairs.monte_carlo_error,
        provenance=watch.provenance(rng),
        pairwise=data.pairwise,
    )


class _Expected(NamedTuple):
    """How often items are expected to have each rank, and whether all is exact."""

    ranks: NDArray[np.float64]
    exact: bool


@dataclass(frozen=True)
class _Task:
    """What data are compared with: a fit, perhaps draws of a posterior, and how many to draw."""

    fit: Fit
    posterior: Posterior | None
    draws: int
    rng: np.random.Generator

    def expected(self, items: tuple[Item, ...]) -> tuple[Orderings, NDArray[np.float64]]:
        """Return orderings as the model or the draws expect them, and shares of ranks."""
        if self.posterior is not None:
            orderings = orderings_of_posterior(self.posterior, items, self.draws, self.rng)
            return orderings, orderings.shares_of_places()
        model = self.fit.model()
        orderings = orderings_of(model, items, self.draws, self.rng)
        return orderings, expected_ranks(model, self.fit.tiers.label_array(items))


@singledispatch
def _compare(data: KnownData, _task: _Task) -> tuple[Found, _Expected]:
    """Compare data of each kind with what is expected of them."""
    raise TypeError(f"nothing is expected of {data.unit}")


@_compare.register(Battles)
def _compare_battles(battles: Battles, task: _Task) -> tuple[Found, _Expected]:
    if task.posterior is not None:
        raise InputError("battles are checked against the fit only", [drop("posterior")])
    found = check_battles(battles, task.fit, task.fit.tiers.label_array(battles.items))
    return found, _Expected(found.ranks_observed, exact=True)


@_compare.register(Rankings)
def _compare_rankings(rankings: Rankings, task: _Task) -> tuple[Found, _Expected]:
    labels = task.fit.tiers.label_array(rankings.items)
    alike = labels if task.posterior is None else None
    orderings, ranks = task.expected(rankings.items)
    model = task.fit.model()
    measure: Distances | LogProbabilities
    if isinstance(model, ClusteredLuce):
        measure = LogProbabilities(model, labels, orderings.places)
    else:
        measure = Distances(model, labels, orderings.places)
    names = names_of_tiers(task.fit)
    found = check_rankings(rankings, measure, orderings, alike, ranks, names, task.rng)
    return found, _Expected(ranks, orderings.exact)


@_compare.register(Preferences)
def _compare_pairs(preferences: Preferences, task: _Task) -> tuple[Found, _Expected]:
    labels = task.fit.tiers.label_array(preferences.items)
    alike = labels if task.posterior is None else None
    orderings, ranks = task.expected(preferences.items)
    found = check_pairs(preferences, task.fit, labels, orderings, alike, task.rng)
    return found, _Expected(ranks, orderings.exact)


def _check_results(fit: object, posterior: object) -> None:
    """Refuse what is not a fit or not a posterior, and families that differ."""
    if not isinstance(fit, Fit):
        raise InputError(f"fit must be a Fit, as returned by tw.fit; got {quoted(fit)}")
    if posterior is not None and not isinstance(posterior, Posterior):
        raise InputError(
            f"posterior must be a Posterior, as returned by tw.sample_posterior; got "
            f"{quoted(posterior)}"
        )
    if posterior is not None and posterior.family != fit.family:
        raise InputError(
            f'the posterior has the family "{posterior.family}", but the fit "{fit.family}": '
            "use the same family for both"
        )
