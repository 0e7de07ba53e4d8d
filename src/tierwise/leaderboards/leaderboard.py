"""leaderboard: tiers to publish and their uncertainty, from draws of tiers of all sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.checks import (
    check_choice,
    check_count,
    check_iterable,
    check_level,
    check_number,
    spawn_seeds,
)
from tierwise._util.provenance import Stopwatch
from tierwise.data.battles import Battles
from tierwise.data.connection import stack_parts
from tierwise.data.kinds import Data, KnownData, as_given, check_data
from tierwise.errors import (
    InputError,
    use,
)
from tierwise.fitting.solve import named_tiers
from tierwise.leaderboards.resampling import resampled_labels
from tierwise.leaderboards.result import Leaderboard, Published
from tierwise.leaderboards.rows import answers_of_items, make_rows
from tierwise.luce.judges import at_effective_number
from tierwise.model.priors import DEFAULT_PRIORS, Priors, check_priors
from tierwise.model.ranks import cut_shares, rank_shares, tiers_among
from tierwise.posterior.estimates import share_above, sure_tiers, surely_above, tiers_of_leaders
from tierwise.posterior.run import sample_posterior
from tierwise.posterior.samplers import DEFAULT_SAMPLER, Sampler
from tierwise.searching.choice import Choice, choose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.tasks import Progress
    from tierwise._util.types import Item
    from tierwise.distances import Distance
    from tierwise.fitting.fit import ConcentrationChoice
    from tierwise.fitting.result import Fit
    from tierwise.searching.compared import FamilyChoice

Uncertainty: TypeAlias = Literal["posterior", "bootstrap"]


def leaderboard(
    data: Data,
    *,
    family: FamilyChoice = "auto",
    distance: str | Distance = "auto",
    concentration: ConcentrationChoice | None = None,
    choice: Choice | None = None,
    tiers: Published = "best",
    max_tiers: int | None = None,
    margin: float = 0.5,
    level: float = 0.95,
    certainty: float = 0.95,
    k: int | Iterable[int] = (1, 3),
    uncertainty: Uncertainty = "posterior",
    priors: Priors = DEFAULT_PRIORS,
    chains: int = 4,
    draws: int = 1000,
    replicates: int = 200,
    seconds: float | None = None,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Leaderboard:
    """Find tiers, and for each item the uncertainty of its tier and rank.

    The model is the one that describes the data best, unless you name one. Items of a tier share
    its ranks, every order being equally probable. All probabilities come from draws of tiers of all
    sizes. For a claim about two items, see `Leaderboard.above_probabilities`.

    Parameters
    ----------
    data
        Battles, rankings (for scores: `Rankings.from_scores`), counts of rankings, or preferences.
        If judges gave many answers each, preferences have the full likelihood and battles do not.
    family, distance, concentration, max_tiers, margin
        The model; see `search`. `choose` decides what you leave open.
    choice
        The result of `choose` for these data, to avoid comparing the models again.
    tiers
        Which tiers to publish. "best" are the most probable ones, as `fit` and `search` find them.
        "leader": a tier holds every item that is not clearly different from its first item. "sure":
        no two items of a tier are clearly different. Among such tiers, these have the smallest
        expected cost over all pairs: ``certainty`` for separating a tied pair, ``1 - certainty``
        for tying a pair that differs. Items next to a cut may still be tied.
    level
        Level of the rank intervals.
    certainty
        Two items are clearly different if one is better with this probability or more.
    k
        Report the probability of being among the best ``k``; one number or several.
    uncertainty
        "posterior" draws tiers of all sizes from their posterior. "bootstrap", for battles,
        searches tiers again in resampled battles, or in resampled judges if they decided several
        battles each.
    priors
        Priors of theta and of sizes; see `Priors`. Noise is seldom mistaken for tiers if the prior
        of sizes is "sceptical", the default.
    chains, draws
        Number of chains, and of draws of each.
    replicates
        Number of resampled data sets for "bootstrap".
    seconds
        Time limits: for comparing a distance with other models (5 if None), and for chains that
        have not converged (60 if None); see `search` and `Sampler`.
    workers, progress, rng
        As in `search`. The same seed gives the same leaderboard.

    Examples
    --------
    >>> import tierwise as tw
    >>> board = tw.leaderboard(tw.load_political_goals(), rng=1)
    >>> [(row.item, row.tier, row.rank_low, row.rank_high) for row in board.rows]
    [('order', 1, 1, 2), ('prices', 1, 1, 2), ('say', 2, 3, 3), ('speech', 3, 4, 4)]
    """
    watch = Stopwatch()
    known = at_effective_number(check_data(data, "leaderboard", weights="effective"))
    # Answers are counted as they are.
    given = as_given(data, known)
    check_level(level)
    check_choice("uncertainty", uncertainty, get_args(Uncertainty))
    if not 0.5 <= check_number("certainty", certainty) < 1.0:
        raise InputError(f"certainty must be at least 0.5 and below 1; got {certainty}")
    numbers = _check_k(k, len(known.items))
    first_seed, second_seed = spawn_seeds(rng, 2)
    check_choice("tiers", tiers, get_args(Published))
    prior_sizes = check_priors(priors).sizes_or("sceptical")
    if choice is None:
        choice = choose(
            known,
            family=family,
            distance=distance,
            concentration=concentration,
            priors=priors,
            max_tiers=max_tiers,
            margin=margin,
            seconds=seconds,
            workers=workers,
            progress=progress,
            rng=first_seed,
        )
    if set(choice.fit.tiers.items) != set(known.items):
        raise InputError("the choice was made for other items: call choose with these data")
    drawn_again = _battles_to_draw(known) if uncertainty == "bootstrap" else None
    ranked = np.array([item not in choice.fit.divided for item in known.items])
    items = tuple(item for item in known.items if item not in choice.fit.divided)
    if choice.concentration == "place":
        raise InputError(
            "tiers cannot be drawn with one theta per place",
            [use(concentration="single"), use(concentration="tier")],
        )
    strengths, near, all_near = None, None, None
    part_of = _part_of(items, choice.fit)
    if drawn_again is None:
        how = "posterior"
        posterior = sample_posterior(
            known,
            distance=choice.distance or None,
            family=choice.family,
            concentration=choice.concentration,
            chains=chains,
            draws=draws,
            sampler=Sampler(
                thin="auto", seconds=DEFAULT_SAMPLER.seconds if seconds is None else seconds
            ),
            priors=priors,
            workers=workers,
            progress=progress,
            rng=second_seed,
        )
        labels = tiers_among(posterior.labels, ranked)
        near = posterior.tied_or_nearly_probabilities().to_numpy()[np.ix_(ranked, ranked)]
        # Nothing is known of items that never met, not even through others.
        near = np.where(part_of[:, None] == part_of, near, 0.0)
        all_near = 0.0 if part_of.any() else posterior.all_tied_or_nearly_probability()
        if choice.family == "luce":
            strengths = posterior.strengths(level).to_numpy()
    else:
        how = f"bootstrap over {drawn_again.unit_of_resampling()}s"
        seeds = second_seed.spawn(check_count("replicates", replicates))
        labels = resampled_labels(drawn_again, choice.family, prior_sizes, seeds, workers, progress)
    if part_of.any():
        labels = stack_parts(labels, part_of, np.random.default_rng(second_seed))
    above = share_above(labels)
    best = choice.fit.agreed_tiers.label_array(items)
    own = _published(tiers, best, above, labels, certainty)
    own = stack_parts(own[None, :], part_of)[0] - 1
    named = named_tiers(own, items)
    separated = surely_above(above, certainty)[own[:, None] < own]
    rows = make_rows(items, named, labels, above, near, numbers, level, certainty, strengths)
    n_answers, shares_won, unit = answers_of_items(given, ranked)
    sure = surely_above(above, certainty)
    wins = given.wins
    order = [items.index(row.item) for row in rows]
    rows = tuple(
        replace(
            row,
            n_answers=None if n_answers is None else n_answers[item],
            share_won=shares_won[item],
            tied_with=tuple(
                items[other]
                for other in order
                if other != item and not (sure[item, other] or sure[other, item])
            ),
        )
        for row, item in zip(rows, order, strict=True)
    )
    return Leaderboard(
        rows=rows,
        tiers=named,
        published=tiers,
        choice=choice,
        level=level,
        certainty=certainty,
        sure_share=float(separated.mean()) if len(separated) else None,
        above_probabilities=above[np.ix_(order, order)],
        tied_or_nearly_probabilities=None if near is None else near[np.ix_(order, order)],
        rank_probabilities=rank_shares(labels)[order],
        cut_probabilities=cut_shares(labels),
        one_tier_probability=all_near,
        wins=None if wins is None else wins[np.ix_(order, order)],
        k=numbers,
        uncertainty=how,
        n_draws=len(labels),
        provenance=watch.provenance(rng),
        unit=unit,
    )


def _part_of(items: tuple[Item, ...], fit: Fit) -> NDArray[np.int64]:
    """Return the part of each item, from 0: nothing is claimed of items of different parts."""
    number_of = {item: number for number, part in enumerate(fit.parts) for item in part}
    return np.array([number_of.get(item, 0) for item in items], dtype=np.int64)


def _battles_to_draw(data: KnownData) -> Battles:
    """Return battles, which can be drawn again, or refuse a bootstrap of other data."""
    if not isinstance(data, Battles):
        raise InputError(
            "a leaderboard of rankings takes its uncertainty from the posterior; the function "
            "bootstrap resamples rankings",
            [use(uncertainty="posterior")],
        )
    return data


def _published(
    kind: Published,
    best: NDArray[np.int64],
    above: NDArray[np.float64],
    labels: NDArray[np.int64],
    certainty: float,
) -> NDArray[np.int64]:
    """Return the tiers to publish, counted from 0."""
    if kind == "best":
        return best
    if kind == "sure":
        return sure_tiers(above, certainty)
    return tiers_of_leaders(above, rank_shares(labels) @ np.arange(labels.shape[1]), certainty)


def _check_k(k: int | Iterable[int], n_items: int) -> tuple[int, ...]:
    given = [k] if isinstance(k, int) else list(check_iterable("k", k, "numbers"))
    numbers = tuple(check_count("k", one) for one in given)
    return tuple(one for one in numbers if one < n_items) or (1,)
