"""Incomplete answers at given sizes: which are summed over, in which way, and which are drawn.

Where tiers are drawn as well, by data augmentation, each assessor gets a completion instead (Tanner
and Wong, The Calculation of Posterior Distributions by Data Augmentation, Journal of the American
Statistical Association 82, 1987).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.answers.blockwise import (
    BlockwiseAnswers,
    have_ties,
    work_in_single_places,
    work_of,
    work_of_shared,
)
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.interleaved import InterleavedInversions, work_under_inversions
from tierwise.answers.partial import ListedCompletions, orders_of_places
from tierwise.answers.top import (
    BoardTopAnswers,
    RecursiveTopAnswers,
    StrictTopAnswers,
    TopAnswers,
    groups_of,
    is_affordable,
)
from tierwise.answers.votes import DrawnVotes
from tierwise.answers.weak_orders import InvertedWeakOrders
from tierwise.errors import InputError, grouped, use
from tierwise.files.places import first_places
from tierwise.partition.scope import is_for

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.answers.base import Completions, Floats
    from tierwise.answers.drawn import Proposal
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.answers.partial import PartialOrders
    from tierwise.data.rankings import Rankings
    from tierwise.distances import Distance
    from tierwise.tiers import Sizes

# Completions of one answer, and of all of them, up to which they are listed: some 100 MB.
MOST_COMPLETIONS = 5040
MOST_COMPLETIONS_IN_ALL = 2_000_000
# Numbers that an evaluation of answers with ties or free items may go through: some hundredths of a
# second.
MOST_WORK = 2_000_000
# The same for lists without ties that are summed over together: some seconds.
MOST_SHARED_WORK = 100_000_000
# Mistake probability to begin with, where answers may be mistaken.
FIRST_MISTAKE_PROBABILITY = 0.1


@dataclass(frozen=True)
class Part:
    """Some of the distinct answers, and their completions."""

    rows: npt.NDArray[np.int64]
    completions: Completions


def parts_of_places(
    first: Places,
    weights: Floats,
    sizes: Sizes,
    distance: Distance,
    rng: np.random.Generator,
    most_work: float = MOST_WORK,
) -> list[Part]:
    """Decide how the completions of each ranking are treated, from sizes alone.

    Parameters
    ----------
    first
        First place of each item's tied group in the distinct answers; -1 if it may be anywhere.
    weights
        Weight of each distinct answer.
    sizes, distance
        Of the model.
    rng
        Generator, for answers whose completions are drawn.
    most_work
        Numbers that an evaluation may go through to sum over answers with ties, or whose other
        items may be anywhere; beyond, their completions are listed or drawn.
    """
    if is_for("lines", sizes, distance):
        return _parts_under_inversions(first, weights, sizes, distance, rng, most_work)
    recursive = _can_be_summed_recursively(first, sizes, distance)
    parts: list[Part] = []
    if recursive.any():
        kind = _kind_of_top(sizes, distance) or RecursiveTopAnswers
        top = kind(first[recursive], weights[recursive], sizes, distance)
        parts.append(Part(np.flatnonzero(recursive), top))
    chains = ~recursive & ~have_ties(first)
    if chains.any() and _are_affordable_chains(first[chains], sizes, most_work):
        summed = BlockwiseAnswers(first[chains], weights[chains], sizes, distance)
        parts.append(Part(np.flatnonzero(chains), summed))
        recursive |= chains
    able = ~recursive & ((first != NOT_LISTED).all(axis=1) | have_ties(first))
    weak = _affordable(able, work_of, first, sizes, most_work)
    if weak.any():
        groups = BlockwiseAnswers(first[weak], weights[weak], sizes, distance)
        parts.append(Part(np.flatnonzero(weak), groups))
    others = ~(recursive | weak)
    if others.any():
        orders = orders_of_places(first[others], weights[others])
        parts += parts_of_orders(orders, np.flatnonzero(others), sizes, distance, rng)
    return parts


def _parts_under_inversions(
    first: Places,
    weights: Floats,
    sizes: Sizes,
    distance: Distance,
    rng: np.random.Generator,
    most_work: float,
) -> list[Part]:
    """Weak orders have a closed form; answers with items anywhere are summed over where affordable.

    Otherwise their completions are listed or drawn.
    """
    weak, tied = (first != NOT_LISTED).all(axis=1), have_ties(first)
    chains = ~weak & ~tied
    # The numbers of lists without ties are cheap.
    if work_under_inversions(first[chains], sizes).sum() > 10.0 * most_work:
        chains[:] = False
    groups = _affordable(~weak & tied, work_in_single_places, first, sizes, most_work)
    parts: list[Part] = []
    for rows, kind in (
        (weak, InvertedWeakOrders),
        (chains, InterleavedInversions),
        (groups, BlockwiseAnswers),
    ):
        if rows.any():
            summed = kind(first[rows], weights[rows], sizes, distance)
            parts.append(Part(np.flatnonzero(rows), summed))
    others = ~(weak | chains | groups)
    if others.any():
        orders = orders_of_places(first[others], weights[others])
        parts += parts_of_orders(orders, np.flatnonzero(others), sizes, distance, rng)
    return parts


def answered_places(rankings: Rankings) -> Places:
    """First place of each item's tied group in the distinct answers; -1 if it may be anywhere.

    Items that are not listed and come below form a group of their own.
    """
    anywhere = rankings.unranked == "anywhere"
    return rankings.patterns if anywhere else first_places(rankings.patterns)


def _kind_of_top(sizes: Sizes, distance: Distance) -> type[TopAnswers] | None:
    """Return how lists of the best items are summed over; None if that is too much."""
    if is_for("closed", sizes, distance):
        return StrictTopAnswers
    if is_affordable(sizes):
        return RecursiveTopAnswers
    return BoardTopAnswers if is_for("rook", sizes, distance) else None


def _are_affordable_chains(first: Places, sizes: Sizes, most_work: float) -> bool:
    """Tell whether lists without ties are summed over with little work, one by one or together."""
    if work_of(first, sizes).sum() <= most_work:
        return True
    return work_of_shared(first, sizes) <= MOST_SHARED_WORK


def _affordable(
    able: npt.NDArray[np.bool_],
    work_of_each: Callable[[Places, Sizes], Floats],
    first: Places,
    sizes: Sizes,
    most_work: float,
) -> npt.NDArray[np.bool_]:
    """Tell which answers are summed over: as many as little work allows, those with least first."""
    work = np.full(len(first), np.inf)
    work[able] = work_of_each(first[able], sizes)
    cheapest = np.argsort(work, kind="stable")
    affordable = np.zeros(len(first), dtype=np.bool_)
    affordable[cheapest] = np.cumsum(work[cheapest]) <= most_work
    return affordable


def _can_be_summed_recursively(
    first: Places, sizes: Sizes, distance: Distance
) -> npt.NDArray[np.bool_]:
    """Tell which answers leave no doubt about blocks, but for a last group of items."""
    known = (first != NOT_LISTED).all(axis=1)
    able = np.zeros(len(first), dtype=np.bool_)
    groups = groups_of(first[known], sizes)
    if _kind_of_top(sizes, distance) is not None:
        able[known] = (~groups.doubtful | groups.last).all(axis=1)
    else:
        able[known] = ~groups.doubtful.any(axis=1)
    return able


def parts_of_orders(
    orders: PartialOrders,
    rows: npt.NDArray[np.int64],
    sizes: Sizes,
    distance: Distance,
    rng: np.random.Generator,
) -> list[Part]:
    """List the completions of answers that have few, and draw those of the others."""
    few = orders.log_numbers < log(MOST_COMPLETIONS) + 1e-9
    few &= np.cumsum(np.where(few, np.exp(np.minimum(orders.log_numbers, 20.0)), 0.0)) < (
        MOST_COMPLETIONS_IN_ALL
    )
    parts = []
    if few.any():
        listed = ListedCompletions(orders.subset(few), sizes, distance)
        parts.append(Part(rows[few], listed))
    if not few.all():
        drawn = DrawnCompletions(orders.subset(~few), sizes, distance, rng)
        parts.append(Part(rows[~few], drawn))
    return parts


def completions_of_assessors(
    source: AnswerSource, sizes: Sizes, proposal: Proposal, rng: np.random.Generator
) -> DrawnCompletions:
    """Complete the answer of each assessor in some way.

    Parameters
    ----------
    source
        The answers.
    sizes
        Sizes of the tiers.
    proposal
        How completions are drawn, as for `DrawnCompletions`.
    rng
        Generator.
    """
    if not source.capabilities.may_be_mistaken:
        orders = source.partial_orders()
        if (orders.weights % 1.0).any():
            raise InputError(
                "completions are drawn for each assessor, but fractional weights do not give "
                "their number: use whole weights"
            )
        return DrawnCompletions(
            orders, sizes, source.distance, rng, proposal=proposal, each="assessor"
        )
    if proposal == "refill":
        raise InputError(
            "pairwise answers have no places to refill",
            [use(sampler=grouped("Sampler", completions="reinsert"))],
        )
    return DrawnVotes(
        source.votes, sizes, source.distance, rng, FIRST_MISTAKE_PROBABILITY, each="assessor"
    )
