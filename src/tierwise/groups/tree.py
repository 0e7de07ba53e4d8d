"""group_tree: a classification tree of people, split greedily by the evidence of tiers.

Each node holds some people. Of all columns and all ways to cut them, that one is found under which
the people's answers are most probable, each branch having tiers and a theta of its own. It is made
if that pays for the number of ways in which the people might have been split: with a prior that
gives all columns, and all cuts of a column, the same probability, a column with many values does
not win because it has many (compare Chipman, George and McCulloch, JASA 93, 1998). Missing values
are a branch of their own.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import RandomSource, as_generator, check_count
from tierwise._util.provenance import Provenance, Stopwatch
from tierwise._util.tasks import Progress, track
from tierwise._util.wording import counted
from tierwise.data.people import MISSING, Column, find_columns
from tierwise.groups.compare import (
    PeopleGroup,
    check_answers,
    people_group,
    theta_in_words,
)
from tierwise.groups.evidence import GroupAnswers, answers_of, scale_of_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tierwise.data.frames import Backend
    from tierwise.data.rankings import Rankings

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]

MOST_ITEMS_TO_SUM = 12
# Of each column so many cuts are compared by their evidence: those that part pairs of items best.
_CUTS_BY_EVIDENCE = 6
_MOST_BINS = 64
# All partitions of so many categories are looked at; of more, those along an axis.
_MOST_CATEGORIES_IN_ALL_WAYS = 5
_MOST_DEPTH = 12
# Of more values a condition says which it does not hold for.
_MOST_VALUES_NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """Some of the people, and how they are split further.

    Attributes
    ----------
    condition : str
        What these people have in common that others of the node above have not; empty at the root.
    group : PeopleGroup
        Their share, tiers and theta.
    column : str or None
        The column by which they are split; None at a leaf.
    log_gain : float
        By how much the best split raises the log posterior probability, its prior included; made
        if that is above 0. Minus infinity if there is nothing to split by.
    branches : tuple of Node
        The parts.
    rows : numpy.ndarray
        The numbers of their answers, from 0; answers without weight are in no node.
    """

    condition: str
    group: PeopleGroup
    column: str | None
    log_gain: float
    branches: tuple[Node, ...]
    rows: _Integers

    def leaves(self) -> Iterator[Node]:
        """Go through all parts that are not split further."""
        if not self.branches:
            yield self
        for branch in self.branches:
            yield from branch.leaves()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "condition": self.condition,
            **self.group.to_dict(),
            "split_by": self.column,
            "log_gain": None if self.log_gain == -inf else self.log_gain,
            "branches": [branch.to_dict() for branch in self.branches],
        }


@dataclass(frozen=True, eq=False, repr=False)
class GroupTree:
    """People, split by what is known of them wherever their tiers differ.

    Attributes
    ----------
    root : Node
        Everybody.
    by : tuple of str
        The columns by which people might be split.
    method : str
        Whether evidence is a sum over all tiers, or that of the best tiers.
    effective_size : float
        How many answers of equal weight would say as much (Kish).
    permutations : int
        How often what is known of people was dealt out anew.
    false_splits : int or None
        How often everybody was split then, though there was nothing to be found.
    provenance : Provenance
        Version, seed and time.
    """

    root: Node
    by: tuple[str, ...]
    method: str
    effective_size: float
    permutations: int
    false_splits: int | None
    provenance: Provenance

    def leaves(self) -> tuple[Node, ...]:
        """Return the parts that are not split further."""
        return tuple(self.root.leaves())

    def __repr__(self) -> str:
        by = ", ".join(self.by)
        return f"GroupTree({counted(len(self.leaves()), 'leaf', 'leaves')}, by {by})"

    def summary(self, width: int = 88) -> str:
        """Return the tree as text for people.

        Parameters
        ----------
        width
            How many columns there are to write in.
        """
        lines = list(_node_lines(self.root, "", "", width))
        lines += ["", *textwrap.wrap(self._how(), width)]
        return "\n".join(lines)

    def _how(self) -> str:
        evidence = (
            "Evidence is summed over all tiers of all sizes, theta averaged over"
            if self.method == "sum over all tiers"
            else "Evidence is that of the best tiers that were found, theta averaged over"
        )
        told = f"{evidence}. Splits pay for the number of splits that are possible."
        if self.root.column is None:
            told = f"Nobody is split: no column of {', '.join(self.by)} pays. {told}"
        if self.effective_size != self.root.group.n_rankings:
            told += (
                f" Weights are taken for weights of a survey, and count as "
                f"{self.effective_size:,.1f} answers of equal weight (Kish)."
            )
        if self.false_splits is not None:
            told += (
                f" With what is known of people dealt out anew, {self.false_splits} of "
                f"{self.permutations} trees had a split."
            )
        return told

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per leaf: who they are, share, theta and tiers.

        Parameters
        ----------
        backend
            The library whose data frame is wanted: "pandas", "polars" or "pyarrow".
        """
        from tierwise.data.frames import make_frame

        groups = [leaf.group for leaf in self.leaves()]
        return make_frame(
            {
                "people": [group.name for group in groups],
                "n_rankings": [group.n_rankings for group in groups],
                "share": [group.share for group in groups],
                "theta": [group.theta for group in groups],
                "tiers": [str(group.tiers) for group in groups],
            },
            backend,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "by": list(self.by),
            "method": self.method,
            "effective_size": self.effective_size,
            "n_leaves": len(self.leaves()),
            "tree": self.root.to_dict(),
            "permutations": self.permutations,
            "false_splits": self.false_splits,
            "provenance": self.provenance.to_dict(),
        }


def group_tree(
    data: Rankings,
    by: str | Iterable[str],
    *,
    smallest: int = 10,
    permutations: int = 0,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> GroupTree:
    """Split people by what is known of them, wherever their tiers differ.

    Parameters
    ----------
    data
        Rankings with `Rankings.people`, as for `compare_groups`.
    by
        The columns by which people may be split. Numbers are cut in two; categories are parted in
        two; people without a value are a branch of their own.
    smallest
        The least number of answers in a branch (but for missing values).
    permutations
        How often to deal out what is known of people anew, to see how often that splits them.
    progress
        "auto", "off" or a function; see `tierwise._util.tasks.track`.
    rng
        Seed or generator, for the permutations.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import tierwise as tw
    >>> answers = tw.Rankings.from_orderings([["a", "b", "c"]] * 20 + [["c", "b", "a"]] * 20)
    >>> known = pa.table({"age": [*range(20, 40), *range(50, 70)], "shoe": [38, 42] * 20})
    >>> tree = tw.group_tree(answers.with_people(known), by=["age", "shoe"])
    >>> print(tree.summary())
    everybody: 100.0% (40)
      no tiers
    ├─ age below 50: 50.0% (20), theta infinite
    │    a > b > c
    └─ age 50 or more: 50.0% (20), theta infinite
         c > b > a
    <BLANKLINE>
    Evidence is summed over all tiers of all sizes, theta averaged over. Splits pay for the
    number of splits that are possible.
    """
    watch = Stopwatch()
    rankings, numbers = check_answers(data, "group_tree")
    columns = find_columns(rankings, by, "group_tree")
    check_count("smallest", smallest)
    check_count("permutations", permutations, least=0)
    grower = _Grower(rankings, columns, smallest, numbers)
    root = grower.grow()
    false_splits = None
    if permutations:
        generator = as_generator(rng)
        false_splits = 0
        for _ in track(range(permutations), "permutations", permutations, progress):
            order = generator.permutation(len(rankings))
            dealt = [Column(one.name, one.kind, one.values, one.codes[order]) for one in columns]
            anew = _Grower(rankings, dealt, smallest, numbers)
            false_splits += anew.best_split(anew.everybody, grower.answers_of_all, 0).log_gain > 0
    return GroupTree(
        root=root,
        by=tuple(column.name for column in columns),
        method=grower.answers_of_all.method,
        effective_size=rankings.effective_size,
        permutations=permutations,
        false_splits=false_splits,
        provenance=watch.provenance(rng),
    )


@dataclass(frozen=True, eq=False)
class _Cut:
    """A way to part the values of a column in two; people without a value are apart."""

    column: Column
    left: _Integers
    right: _Integers

    def branches(self, rows: _Integers) -> list[tuple[str, _Integers]]:
        """Return the branches that have people, each with its condition."""
        codes = self.column.codes[rows]
        parts = [
            (self._condition(mine, other), rows[np.isin(codes, mine)])
            for mine, other in ((self.left, self.right), (self.right, self.left))
            if len(mine)
        ]
        parts.append((f"{self.column.name} missing", rows[codes == MISSING]))
        return [(name, part) for name, part in parts if len(part)]

    def _condition(self, mine: _Integers, other: _Integers) -> str:
        name, values = self.column.name, self.column.values
        if len(other) == 0:
            return f"{name} known"
        if self.column.kind == "categories" or len(mine) == 1 == len(other):
            if len(mine) > max(_MOST_VALUES_NAMED, len(other)):
                return f"{name} other than {', '.join(str(values[code]) for code in other)}"
            return f"{name} = {' or '.join(str(values[code]) for code in mine)}"
        if mine[-1] < other[0]:
            return f"{name} below {values[other[0]]:g}"
        return f"{name} {values[mine[0]]:g} or more"


@dataclass(frozen=True, eq=False)
class _Split:
    """The best way to split some people."""

    log_gain: float
    column: str | None = None
    branches: tuple[tuple[str, _Integers, GroupAnswers], ...] = ()


class _Grower:
    """Splits people until no split pays."""

    def __init__(
        self, rankings: Rankings, columns: list[Column], smallest: int, numbers: _Integers
    ) -> None:
        self.rankings = rankings
        self.columns = columns
        self.smallest = smallest
        self.numbers = numbers
        self.scale = scale_of_weights(rankings)
        self.everybody = np.arange(len(rankings))

    @cached_property
    def answers_of_all(self) -> GroupAnswers:
        return self.answers(self.everybody)

    def answers(self, rows: _Integers) -> GroupAnswers:
        return answers_of(
            self.rankings, rows, most_items_to_sum=MOST_ITEMS_TO_SUM, scale=self.scale
        )

    def grow(self) -> Node:
        return self.node("", "everybody", self.everybody, self.answers_of_all, 0)

    def node(
        self, condition: str, name: str, rows: _Integers, answers: GroupAnswers, depth: int
    ) -> Node:
        number = float(self.rankings.weights[rows].sum())
        share = number / float(self.rankings.n_rankings)
        split = self.best_split(rows, answers, depth)
        branches = []
        if split.log_gain > 0:
            for said, part, own in split.branches:
                full = said if depth == 0 else f"{name}, {said}"
                branches.append(self.node(said, full, part, own, depth + 1))
        return Node(
            condition=condition,
            group=people_group(name, answers, share, number),
            column=split.column if branches else None,
            log_gain=split.log_gain,
            branches=tuple(branches),
            rows=self.numbers[rows],
        )

    def best_split(self, rows: _Integers, answers: GroupAnswers, depth: int) -> _Split:
        """Find the split with the greatest posterior probability, given that of no split."""
        cuts_of = [cuts for column in self.columns if (cuts := self.cuts(column, rows)).cuts]
        if not cuts_of or depth >= _MOST_DEPTH or len(rows) < 2 * self.smallest:
            return _Split(-inf)
        # A priori a node is split with probability 1/2 at the root, 1/4 below, and so on.
        chance = 0.5 ** (depth + 1)
        log_odds = log(chance) - log(1 - chance) - log(len(cuts_of))
        best = _Split(-inf)
        for cuts in cuts_of:
            for cut in cuts.cuts:
                branches = tuple(
                    (said, part, self.answers(part)) for said, part in cut.branches(rows)
                )
                evidence = sum(own.log_evidence for _, _, own in branches)
                gain = evidence - answers.log_evidence + log_odds - cuts.log_number
                if gain > best.log_gain:
                    best = _Split(gain, cut.column.name, branches)
        return best

    def cuts(self, column: Column, rows: _Integers) -> _Cuts:
        """Find the cuts of a column that part pairs of items best."""
        codes = column.codes[rows]
        present = np.unique(codes[codes != MISSING])
        n_missing = int((codes == MISSING).sum())
        apart = []
        if min(n_missing, len(codes) - n_missing) >= self.smallest:
            apart = [_Cut(column, present, present[:0])]
        if len(present) < 2:
            return _Cuts(apart, 0.0)
        if column.kind == "numbers":
            bins = _bins(codes[codes != MISSING], present)
            groups = np.searchsorted(bins, present, side="right")
        else:
            groups = np.arange(len(present))
        shares, sizes = self._pairs(rows, codes, present, groups)
        n_groups = len(sizes)
        if column.kind == "numbers":
            lefts = [np.arange(n_groups) < cut for cut in range(1, n_groups)]
            number = len(lefts)
        else:
            lefts = _partitions(shares, sizes)
            number = 2 ** (n_groups - 1) - 1
        counts = np.bincount(groups, weights=np.array([(codes == one).sum() for one in present]))
        lefts = [
            left for left in lefts if min(counts[left].sum(), counts[~left].sum()) >= self.smallest
        ]
        lefts.sort(key=lambda left: -_parting(shares, sizes, left))
        made = [
            _Cut(column, present[left[groups]], present[~left[groups]])
            for left in lefts[:_CUTS_BY_EVIDENCE]
        ]
        return _Cuts([*made, *apart], log(number + len(apart)))

    def _pairs(
        self, rows: _Integers, codes: _Integers, present: _Integers, groups: _Integers
    ) -> tuple[_Floats, _Floats]:
        """Return how often items are above others in each group of values, and its weight."""
        group_of = np.full(int(present.max()) + 1, -1)
        group_of[present] = groups
        member = np.where(codes == MISSING, -1, group_of[codes])
        parts = [self.answers(rows[member == group]).counts for group in range(groups.max() + 1)]
        return np.array([one.above for one in parts]), np.array([one.n_rankings for one in parts])


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Cuts of a column that are worth a look, and the log of how many are possible."""

    cuts: list[_Cut]
    log_number: float


def _bins(codes: _Integers, present: _Integers) -> _Integers:
    """Return the values at which numbers are cut: all, or so that parts are about equal."""
    if len(present) <= _MOST_BINS:
        return present[1:]
    shares = np.linspace(0, 1, _MOST_BINS + 1)[1:-1]
    cuts = np.unique(np.quantile(codes, shares, method="inverted_cdf"))
    return cuts[cuts > present[0]]


def _partitions(above: _Floats, sizes: _Floats) -> list[NDArray[np.bool_]]:
    """List ways to part categories in two: all, or one against the rest and along an axis.

    The axis is the direction in which categories differ most in how they order pairs of items.
    """
    number = len(sizes)
    if number <= _MOST_CATEGORIES_IN_ALL_WAYS:
        chosen = [
            {0, *others}
            for size in range(number - 1)
            for others in combinations(range(1, number), size)
        ]
        return [np.isin(np.arange(number), list(left)) for left in chosen]
    found = [np.arange(number) == one for one in range(number)]
    shares = (above / sizes[:, None, None]).reshape(number, -1)
    centre = (shares * sizes[:, None]).sum(axis=0) / sizes.sum()
    axes = np.linalg.svd((shares - centre) * np.sqrt(sizes)[:, None], full_matrices=False)[2]
    order = np.argsort((shares - centre) @ axes[0], kind="stable")
    found += [np.isin(np.arange(number), order[:cut]) for cut in range(2, number - 1)]
    return found


def _parting(above: _Floats, sizes: _Floats, left: NDArray[np.bool_]) -> float:
    """Tell how differently two parts order pairs of items, in the manner of a chi-squared."""
    one, other = sizes[left].sum(), sizes[~left].sum()
    difference = above[left].sum(axis=0) / one - above[~left].sum(axis=0) / other
    return float((difference**2).sum() * one * other / (one + other))


def _node_lines(node: Node, first: str, rest: str, width: int) -> Iterator[str]:
    """Write a node and what is below it."""
    group = node.group
    number = int(group.n_rankings) if group.n_rankings.is_integer() else round(group.n_rankings, 1)
    head = f"{node.condition or group.name}: {group.share:.1%} ({number:,})"
    if len(group.tiers) > 1:
        head += f", theta {theta_in_words(group.theta)}"
    yield first + head
    tiers = str(group.tiers) if len(group.tiers) > 1 else "no tiers"
    yield from textwrap.wrap(
        tiers,
        width,
        initial_indent=f"{rest}  ",
        subsequent_indent=f"{rest}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for number_of_branch, branch in enumerate(node.branches, start=1):
        last = number_of_branch == len(node.branches)
        yield from _node_lines(
            branch, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "), width
        )
