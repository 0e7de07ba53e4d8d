"""Lists of the best items, all others being below: closed forms, and the recursion over items left.

The blocks of the listed items are known, and what they cost is the same for all completions. What
they leave is a strict model of fewer items where tiers have one item each (Kendall distance), and a
rectangular rook board for the Hamming distance: any number of items will do. For other sizes and
distances there is the recursion over items left. What is not known then depends on the tiers only
through an opening: how many items of each tier are left, how many are listed in the block where the
list ends, and how many places that block has free. Answers with the same opening share one sum:
the walk of answers with ties (`Walk`) begins there.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from tierwise._kernels.consensus import total_cost
from tierwise._kernels.counting import (
    add_block_pair_counts,
    add_place_counts,
    add_strict_pairs,
)
from tierwise._kernels.interleaving import Answers
from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, add_costs
from tierwise.answers.blockwise import Walk
from tierwise.data.counts import BlockCounts
from tierwise.files.places import collapse, sizes_of_groups
from tierwise.partition.closed import ClosedPartition
from tierwise.partition.gaussian import strict_moments
from tierwise.partition.interpolated import ThetaSeries
from tierwise.partition.rook import log_rook_numbers, log_sums, log_sums_without, log_terms
from tierwise.partition.scope import is_for
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes


# Roles of items in a list: in an earlier block than the one where the list ends, listed in that
# block, or left.
EARLIER, LISTED, LEFT = 0, 1, 2


class Groups(NamedTuple):
    """Answers as groups of items in unknown order, for blocks of given sizes.

    Attributes
    ----------
    blocks
        Block of the first place of each item's group.
    sizes
        Size of each item's group.
    doubtful
        Whether the places of the group reach into more than one block.
    last
        Whether the group takes up the last places.
    """

    blocks: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]
    doubtful: npt.NDArray[np.bool_]
    last: npt.NDArray[np.bool_]


def groups_of(first: Places, sizes: Sizes) -> Groups:
    """Find the groups of answers, given the first place of each item's group."""
    n_items = first.shape[1]
    group_sizes = sizes_of_groups(first)
    block_of_place = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    end = first + group_sizes
    blocks = block_of_place[first]
    return Groups(
        blocks=np.ascontiguousarray(blocks),
        sizes=group_sizes,
        doubtful=blocks != block_of_place[end - 1],
        last=end == n_items,
    )


class TopAnswers(ExactCompletions):
    """Answers in which only the last group, below all others, leaves its blocks open.

    Parameters
    ----------
    first
        First place of the tied group of each item; items not listed are the last group.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    # Whether items that are listed in the block where the list ends count among what is open.
    listed_are_open: ClassVar[bool] = False

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        groups = groups_of(first, sizes)
        n_items = first.shape[1]
        logs = log_factorials(n_items)
        n_left = groups.doubtful.sum(axis=1)
        ends = np.cumsum(sizes)
        block = np.repeat(np.arange(len(sizes)), sizes)[np.minimum(n_items - n_left, n_items - 1)]
        free = ends[block] - (n_items - n_left)
        # Each member of a group carries its share of the log number of orders of the group.
        within = np.where(groups.doubtful, 0.0, logs[groups.sizes] / groups.sizes).sum(axis=1)
        super().__init__(sizes, distance, weights, log_numbers=within + logs[n_left])
        self._blocks = groups.blocks
        is_open = n_left > 0
        listed = groups.blocks == block[:, None]
        roles = np.where(groups.doubtful, LEFT, np.where(listed, LISTED, EARLIER))
        roles = roles[is_open].astype(np.int32)
        self._open = groups.doubtful
        if self.listed_are_open:
            self._open = groups.doubtful | (listed & is_open[:, None])
        self._roles, role_of = collapse(roles)
        self._role_of = np.full(len(first), -1)
        self._role_of[is_open] = role_of
        self._weigh()
        first_of_role = np.flatnonzero(is_open)[np.unique(role_of, return_index=True)[1]]
        self._block_and_free = np.column_stack([block, free])[first_of_role].astype(np.int64)

    def _weigh(self) -> None:
        is_open = self._role_of >= 0
        self._role_weights = np.bincount(
            self._role_of[is_open], weights=self.weights[is_open], minlength=len(self._roles)
        ).astype(np.float64)
        self._log_completions = float(self.weights @ self.log_numbers)
        self.__dict__.pop("_known_costs", None)

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return float(self._roles.size * len(self.sizes))

    @cached_property
    def _known_costs(self) -> Costs:
        """Costs of all that the answers say about blocks."""
        membership, precedence = self._no_counts()
        add_place_counts(self._blocks, self.weights, membership)
        add_block_pair_counts(self._blocks, self.weights, precedence)
        row, item = np.nonzero(self._open)
        cells = item * len(self.sizes) + self._blocks[row, item]
        open_cells = np.bincount(cells, weights=self.weights[row], minlength=membership.size)
        membership -= open_cells.reshape(membership.shape)
        return self._costs(membership, precedence)

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        logs = self.log_numbers - theta * self._known_distances(labels)
        is_open = self._role_of >= 0
        if is_open.any():
            logs[is_open] += self._open_values(labels, theta)[self._role_of[is_open], 0]
        return np.asarray(logs, dtype=np.float64)

    def _known_distances(self, labels: Labels) -> Floats:
        """Part of each answer's distance that all its completions share."""
        rule = self.rule
        # What is open does not cost anything by itself, and as it is in the last block that is
        # known of, it does not add pairs either.
        units = self._units_of_blocks(self._blocks, labels)
        row, item = np.nonzero(self._open)
        placed = rule.placing[self._blocks[row, item], labels[item]]
        of_open = np.bincount(row, weights=placed, minlength=len(units)).astype(np.float64)
        return (units - of_open) * float(rule.unit)

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        known = self._known_costs
        distance = float(total_cost(labels, known.linear, known.pairs))
        values = self._open_values(labels, theta) if len(self._roles) else np.zeros((0, 3))
        log_weight, mean, variance = (self._role_weights @ values).tolist()
        log_weight += self._log_completions - theta * distance
        return Sums(log_weight, distance + mean, variance)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        membership, precedence = self._no_counts()
        if len(self._roles):
            self._add_open(labels, theta, membership, precedence)
        return add_costs(self._known_costs, self._costs(membership, precedence))

    @abstractmethod
    def _open_values(self, labels: Labels, theta: float) -> Floats:
        """Log weight, mean and variance of the distance, of what each row of roles leaves.

        The weight is an average over completions. What is known is not part of the distance.
        """

    @abstractmethod
    def _add_open(
        self, labels: Labels, theta: float, membership: Floats, precedence: Floats
    ) -> None:
        """Add the expected counts of what the answers leave open."""


# Below this theta the difference of two large numbers is replaced by its first terms.
_SMALL_THETA = 1e-5


class StrictTopAnswers(TopAnswers):
    """Answers that list the best items, for tiers of one item each and the Kendall distance."""

    def _open_values(self, labels: Labels, theta: float) -> Floats:  # noqa: ARG002
        n_left = (self._roles == LEFT).sum(axis=1)
        table = np.zeros((len(self.sizes) + 1, 3))
        for number in np.unique(n_left).tolist():
            moments = ClosedPartition((1,) * number, self.distance).moments(theta)
            log_average = moments.log_value - log_factorials(number)[-1]
            table[number] = (log_average, moments.mean, moments.variance)
        values: Floats = table[n_left]
        return values

    def _add_open(
        self,
        labels: Labels,
        theta: float,
        membership: Floats,  # noqa: ARG002 - costs of the Kendall distance come from pairs alone
        precedence: Floats,
    ) -> None:
        in_order = np.argsort(labels)
        ahead = in_order_probabilities(theta, len(labels))
        add_strict_pairs(self._roles == LEFT, self._role_weights, in_order, ahead, precedence)


@dataclass(frozen=True, eq=False)
class StrictWeakOrders:
    """Weak orders under tiers of one item each and the Kendall distance, all at once.

    An answer that puts items into groups, and the groups in order, has the distance between its
    groups for certain, and each of its groups is a strict model of fewer items. So the likelihood
    depends on the tiers through one total distance, as for complete rankings, and what the groups
    leave open is a function of theta only.

    Attributes
    ----------
    costs
        Costs of all tiers from pairs of items in different groups.
    group_weights
        ``[size]``: summed weight of the groups of each size.
    n_rankings
        Sum of the weights of all answers.
    unit
        The distance of a single inversion.
    """

    costs: Costs
    group_weights: Floats
    n_rankings: float
    unit: float

    @cached_property
    def log_partition(self) -> ThetaSeries:
        """Log partition function, less what the groups of an answer leave open, on the average.

        It counts the completions of an answer at a theta of 0 as one.
        """
        orders = self.group_weights @ log_factorials(self._n_items) / self.n_rankings
        return ThetaSeries(lambda thetas: self._log_values(thetas) + orders, 0.0, inf)

    def _log_values(self, thetas: Floats) -> Floats:
        logs, _ = strict_moments(thetas * self.unit, self._n_items)
        values: Floats = logs[:, -1] - logs @ self.group_weights / self.n_rankings
        return values

    def open_distances(self, thetas: Floats) -> Floats:
        """Mean total distance of pairs of items in the same group, at each theta."""
        _, means = strict_moments(thetas * self.unit, self._n_items)
        distances: Floats = self.unit * (means @ self.group_weights)
        return distances

    @property
    def _n_items(self) -> int:
        return len(self.group_weights) - 1


def strict_weak_orders(
    first: Places, weights: Floats, pair_counts: Floats, distance: Distance
) -> StrictWeakOrders | None:
    """Sum over the ties of all answers at once; None if that has no closed form.

    Parameters
    ----------
    first
        First place of each item's tied group in the distinct answers; -1 if it may be anywhere.
    weights
        Weight of each distinct answer.
    pair_counts
        How often each item is put above each other.
    distance
        Of the model, whose tiers hold one item each.
    """
    n_items = first.shape[1]
    strict = (1,) * n_items
    if not is_for("closed", strict, distance) or (first == NOT_LISTED).any():
        return None
    group_sizes = sizes_of_groups(first)
    # Each member of a group carries its share of the group.
    shares = weights[:, None] / group_sizes
    group_weights: Floats = np.zeros(n_items + 1)
    np.add.at(group_weights, group_sizes, shares)
    membership = np.zeros((n_items, len(distance.blocks(strict))))
    n_rankings = float(weights.sum())
    counts = BlockCounts(
        tuple(range(n_items)), distance.blocks(strict), membership, pair_counts, n_rankings
    )
    unit = distance.rule(strict).in_largest_units().unit
    return StrictWeakOrders(distance.costs(counts, strict), group_weights, n_rankings, unit)


def in_order_probabilities(theta: float, n_items: int) -> Floats:
    """Probability that two items come in the order of the consensus, by how far apart they are.

    Examples
    --------
    >>> in_order_probabilities(0.0, 3)
    array([0.5, 0.5, 0.5])
    """
    apart = np.arange(n_items, dtype=np.float64)
    if theta < _SMALL_THETA:
        return 0.5 + (2 * apart + 1) * theta / 12 * (apart > 0)
    numbers = np.arange(1, n_items + 2)
    scaled = numbers / -np.expm1(-theta * numbers)
    probabilities: Floats = np.empty(n_items)
    probabilities[0] = 0.5
    probabilities[1:] = np.diff(scaled)[: n_items - 1]
    return probabilities


# Numbers of ways to force items that are held at the same time: 8 MB.
_NUMBERS_AT_A_TIME = 1_000_000


class _Boards(NamedTuple):
    """Boards that lists of the best items leave; what theta makes of them is found from these.

    Attributes
    ----------
    labels
        The tiers that the boards are of.
    places, items
        ``[board, tier]``: free places in the block of a tier, and items left.
    log_rooks
        ``[board, k]``: log number of ways to force ``k`` items into the blocks of their tiers.
    which
        The board of each row of roles.
    """

    labels: Labels
    places: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]
    log_rooks: Floats
    which: npt.NDArray[np.int64]


class BoardTopAnswers(TopAnswers):
    """Answers that list the best items, for the Hamming distance."""

    _latest: _Boards | None = None

    def _boards(self, labels: Labels) -> _Boards:
        """Find the distinct boards of tiers; the latest are kept, for many thetas."""
        if self._latest is None or not np.array_equal(self._latest.labels, labels):
            member = np.eye(len(self.sizes), dtype=np.int64)[labels]
            counts = (self._roles == LEFT).astype(np.int64) @ member
            items, first, which = np.unique(counts, axis=0, return_index=True, return_inverse=True)
            block, free = self._block_and_free[first, :, None].swapaxes(0, 1)
            blocks = np.arange(len(self.sizes))
            places = np.where(blocks < block, 0, np.where(blocks == block, free, self.sizes))
            log_rooks = log_rook_numbers(places, items)
            self._latest = _Boards(labels.copy(), places, items, log_rooks, which.ravel())
        return self._latest

    def _open_values(self, labels: Labels, theta: float) -> Floats:
        boards, unit = self._boards(labels), self.rule.unit
        n_left = boards.items.sum(axis=1)
        # The sums over all orderings, of the number of matches, and of pairs of matches.
        logs = [
            log_sums(log_terms(boards.log_rooks, n_left, theta * unit, order)) for order in range(3)
        ]
        matches, pairs = np.exp(logs[1] - logs[0]), np.exp(logs[2] - logs[0])
        log_average = logs[0] - log_factorials(len(labels))[n_left]
        variance = np.maximum(pairs + matches - matches**2, 0.0)
        values = np.column_stack((log_average, unit * (n_left - matches), unit**2 * variance))
        return values[boards.which]

    def _add_open(
        self,
        labels: Labels,
        theta: float,
        membership: Floats,
        precedence: Floats,  # noqa: ARG002 - costs of the Hamming distance come from places alone
    ) -> None:
        boards = self._boards(labels)
        tables = self._expected_tables(boards, theta * self.rule.unit)
        # Items of a tier that are left stand for each other.
        left = np.where(self._roles == LEFT, self._role_weights[:, None], 0.0)
        for label in range(len(self.sizes)):
            own = labels == label
            shares = tables[:, :, label] / np.maximum(boards.items[:, label], 1)[:, None]
            membership[own] += left[:, own].T @ shares[boards.which]

    @staticmethod
    def _expected_tables(boards: _Boards, theta: float) -> Floats:
        """``[board, block, tier]``: expected number of items of a tier in a block.

        One item is fixed in a place, and the others fill the rest.
        """
        _, places, items, log_rooks, _ = boards
        n_tiers = items.shape[1]
        tables = np.zeros((len(items), n_tiers, n_tiers))
        log_totals = log_sums(log_terms(log_rooks, items.sum(axis=1), theta))
        some = max(1, _NUMBERS_AT_A_TIME // (n_tiers * log_rooks.shape[1]))
        board, tier = np.nonzero(items)
        for start in range(0, len(board), some):
            row, label = board[start : start + some], tier[start : start + some]
            fewer = items[row] - np.eye(n_tiers, dtype=np.int64)[label]
            logs = log_sums_without(places[row], fewer, theta) - log_totals[row, None]
            logs -= theta * (np.arange(n_tiers) != label[:, None])
            tables[row, :, label] = places[row] * items[row, label][:, None] * np.exp(logs)
        return tables


# Most numbers that the expectations of all states may take: 160 MB.
MOST_EXPECTATIONS = 20_000_000
# Most additions that the expectations may take: about a second.
MOST_STEPS = 300_000_000


def is_affordable(sizes: Sizes) -> bool:
    """Whether the recursion from all states stays within time and memory."""
    n_states, n_tiers = prod(size + 1 for size in sizes), len(sizes)
    if n_states * n_tiers**2 > MOST_EXPECTATIONS:
        return False
    return count_steps(sizes) * n_tiers**2 <= MOST_STEPS


def count_steps(sizes: Sizes) -> int:
    """Count the ways to fill one block from one state, over all blocks and states.

    Examples
    --------
    >>> count_steps((1, 1))
    4
    """
    total, before = 0, sum(sizes)
    for taken in sizes:
        # Polynomials in two variables: items of the labels so far that are taken, and left after.
        ways = np.zeros((taken + 1, before - taken + 1))
        ways[0, 0] = 1.0
        for size in sizes:
            longer = np.zeros_like(ways)
            for now in range(min(size, taken) + 1):
                for later in range(min(size - now, before - taken) + 1):
                    longer[now:, later:] += ways[: taken + 1 - now, : before - taken + 1 - later]
            ways = longer
        total += int(ways[-1, -1])
        before -= taken
    return total


class RecursiveTopAnswers(TopAnswers):
    """Answers that list the best items, for any distance and sizes that are not too many."""

    listed_are_open = True

    @cached_property
    def _walk(self) -> Walk:
        """The walk from the block where each list ends, all that is left being below."""
        roles, n_items = self._roles, self._roles.shape[1]
        n_listed = (roles == LISTED).sum(axis=1).astype(np.int64)
        n_present = (roles != EARLIER).sum(axis=1).astype(np.int64)
        rank = np.empty(3, dtype=np.int64)
        rank[[LISTED, LEFT, EARLIER]] = np.arange(3)
        items = np.argsort(rank[roles], axis=1, kind="stable").astype(np.int64)
        starts = np.zeros((len(roles), n_items), dtype=np.int64)
        below = np.ones(len(roles), dtype=np.int64)
        return Walk(Answers(items, starts, n_listed, n_present, below), self.sizes, self.distance)

    def _open_values(self, labels: Labels, theta: float) -> Floats:
        return self._walk.values(labels, theta)

    def _add_open(
        self, labels: Labels, theta: float, membership: Floats, precedence: Floats
    ) -> None:
        counts = (membership, precedence)
        self._walk.add_expected(labels, theta, self._role_weights, counts, n_drawn=0)
