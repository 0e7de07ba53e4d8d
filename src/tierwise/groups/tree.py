"""group_tree: a classification tree of people, split greedily by the evidence of tiers.

Each node holds some people. Of all columns and all ways to cut them, that one is found under which
the people's answers are most probable, each branch having tiers and theta or worths of its own. It
is made if that pays for the number of ways in which the people might have been split: with a prior
that gives all columns, and all cuts of a column, the same probability, a column with many values
does not win because it has many (compare Chipman, George and McCulloch, JASA 93, 1998). Missing
values are a branch of their own. And no split is made that chance would match (`permutation`).
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

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.checks import RandomSource, as_generator, check_count
from tierwise._util.provenance import Provenance, Stopwatch
from tierwise._util.results import Result
from tierwise.data.people import MISSING, Column, find_columns
from tierwise.data.weights import EffectiveNumber, answers_in_words
from tierwise.errors import counted
from tierwise.groups.evidence import (
    PeopleGroup,
    check_answers,
    columns_of_parameters,
    family_of_groups,
    people_group,
)
from tierwise.groups.permutation import LEVEL, PERMUTATIONS, Statements
from tierwise.groups.worths import collector, how_evidence_was_found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tierwise.data.frames import Backend
    from tierwise.data.rankings import Rankings
    from tierwise.fitting.result import Family
    from tierwise.groups.worths import AnyAnswers
    from tierwise.searching.choice import Choice
    from tierwise.searching.compared import FamilyChoice

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]

MOST_ITEMS_TO_SUM = 12
# Of each column so many cuts are compared by their evidence: those that part pairs of items best.
_CUTS_BY_EVIDENCE = 4
_MOST_BINS = 64
# All partitions of so many categories are looked at; of more, those along an axis.
_MOST_CATEGORIES_IN_ALL_WAYS = 5
_MOST_DEPTH = 12
# Of more values a condition says which it does not hold for.
_MOST_VALUES_NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Node(Result):
    """Some of the people, and how they are split further.

    Attributes
    ----------
    condition : str
        The condition that separates these people from others of the parent node; empty at the root.
    group : PeopleGroup
        Their share, tiers and theta.
    column : str or None
        The column by which they are split; None at a leaf.
    log_gain : float
        By how much the best split raises the log posterior probability, including its prior; the
        split is made if this is above 0. Minus infinity if there is nothing to split by, or if
        chance does as well.
    p_value : float
        How often shuffled values separate these people as well as the best cut does.
    branches : tuple of Node
        The parts.
    rows : numpy.ndarray
        The numbers of their answers, from 0; answers without weight are in no node.
    """

    condition: str
    group: PeopleGroup
    column: str | None
    log_gain: float
    p_value: float
    branches: tuple[Node, ...]
    rows: _Integers

    def leaves(self) -> Iterator[Node]:
        """Yield all leaves."""
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
            "p_value": self.p_value,
            "branches": [branch.to_dict() for branch in self.branches],
        }


@dataclass(frozen=True, eq=False, repr=False)
class GroupTree(Result):
    """People, split by columns such as region and age wherever their tiers differ.

    Attributes
    ----------
    root : Node
        Everybody.
    by : tuple of str
        The columns to split by.
    method : str
        Whether evidence is summed over all tiers, over those that a search visited, or is that of
        the best tiers.
    effective_size : float
        The effective number of answers (Kish).
    permutations : int
        How often the columns were shuffled, to check each split.
    provenance : Provenance
        Version, seed and time.
    family : str
        "mallows" for theta and the distance inversions, or "luce" for one worth per tier.
    n_answers : int or None
        How many answers there are, where they have survey weights.
    """

    root: Node
    by: tuple[str, ...]
    method: str
    effective_size: float
    permutations: int
    provenance: Provenance
    family: Family = "mallows"
    n_answers: int | None = None

    def leaves(self) -> tuple[Node, ...]:
        """Return the leaves: the groups that are not split further."""
        return tuple(self.root.leaves())

    def __repr__(self) -> str:
        by = ", ".join(self.by)
        return f"GroupTree({counted(len(self.leaves()), 'leaf', 'leaves')}, by {by})"

    def _card(self) -> Card:
        sections = [
            Section(rows_of(leaf.group.tiers), f"{leaf.group.name}: {leaf.group.share:.0%}")
            for leaf in self.leaves()
        ]
        title = f"People in {counted(len(self.leaves()), 'group')} by {', '.join(self.by)}"
        return Card(title, sections=sections, note=self.how())

    def summary(self, width: int = 88) -> str:
        """Return the tree as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        lines = list(_node_lines(self.root, "", "", width))
        lines += ["", *textwrap.wrap(self.how(), width)]
        return "\n".join(lines)

    def how(self) -> str:
        """Say how splits were found."""
        evidence = how_evidence_was_found(self.method, self.family)
        text = f"{evidence} Splits are penalised for the number of possible splits."
        if self.root.column is None:
            text = f"No split: none of the columns ({', '.join(self.by)}) justifies one. {text}"
        if self.n_answers is not None:
            number = EffectiveNumber(self.effective_size, self.n_answers)
            text += f" These are {answers_in_words(number)}."
        if self.permutations:
            text += (
                f" A split is rejected if shuffled values do as well in more than {LEVEL:.0%} of "
                f"{self.permutations} permutations."
            )
        return text

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per leaf: people, share, theta or worths, and tiers.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".
        """
        from tierwise.data.frames import make_frame

        groups = [leaf.group for leaf in self.leaves()]
        return make_frame(
            {
                "people": [group.name for group in groups],
                "n_rankings": [group.n_rankings for group in groups],
                "share": [group.share for group in groups],
                **columns_of_parameters(groups, self.family),
                "tiers": [str(group.tiers) for group in groups],
            },
            backend,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "by": list(self.by),
            "family": self.family,
            "method": self.method,
            "effective_size": self.effective_size,
            "n_leaves": len(self.leaves()),
            "tree": self.root.to_dict(),
            "permutations": self.permutations,
            "provenance": self.provenance.to_dict(),
        }


def group_tree(
    data: Rankings,
    by: str | Iterable[str],
    *,
    family: FamilyChoice = "auto",
    choice: Choice | None = None,
    smallest: int = 10,
    permutations: int = PERMUTATIONS,
    rng: RandomSource = None,
) -> GroupTree:
    """Split people by columns such as region and age, wherever their tiers differ.

    Parameters
    ----------
    data
        Rankings with `Rankings.people`, as in `compare_groups`.
    by
        The columns to split by. Numbers are cut in two and categories divided in two; people
        without a value form a separate branch.
    family
        "mallows": the distance inversions with theta. "luce": one worth per tier. "auto": the one
        that describes the answers of all people best, according to `choose`.
    choice
        The result of `choose` for these data, to avoid comparing the models again.
    smallest
        The smallest number of answers in a branch (except for missing values).
    permutations
        The number of random permutations of the columns before each split; a split is rejected if
        chance matches it in more than 5% of them. This guards against differences that no column
        explains, which the evidence does not. 0 skips this check.
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
    Evidence is summed over all tiers of all sizes, averaged over theta. Splits are
    penalised for the number of possible splits. A split is rejected if shuffled values do
    as well in more than 5% of 199 permutations.
    """
    watch = Stopwatch()
    named = family_of_groups(data, family, choice, "group_tree")
    rankings, numbers = check_answers(data, "group_tree", with_gaps=named == "luce")
    columns = find_columns(rankings, by, "group_tree")
    check_count("smallest", smallest)
    check_count("permutations", permutations, least=0)
    collect = collector(rankings, named, most_items_to_sum=MOST_ITEMS_TO_SUM)
    grower = _Grower(rankings, columns, smallest, permutations, numbers, collect, as_generator(rng))
    root = grower.grow()
    return GroupTree(
        root=root,
        by=tuple(column.name for column in columns),
        method=grower.answers_of_all.method,
        effective_size=rankings.effective_size,
        permutations=permutations,
        provenance=watch.provenance(rng),
        family=named,
        n_answers=getattr(rankings.n_rankings, "n_answers", None),
    )


@dataclass(frozen=True, eq=False)
class _Split:
    """The best way to split some people."""

    log_gain: float
    p_value: float = 1.0
    column: str | None = None
    branches: tuple[tuple[str, _Integers, AnyAnswers], ...] = ()


class _Grower:
    """Splits people until no split pays."""

    def __init__(
        self,
        rankings: Rankings,
        columns: list[Column],
        smallest: int,
        permutations: int,
        numbers: _Integers,
        collect: Callable[[_Integers], AnyAnswers],
        rng: np.random.Generator,
    ) -> None:
        self.rankings = rankings
        self.columns = columns
        self.smallest = smallest
        self.permutations = permutations
        self.numbers = numbers
        self.rng = rng
        self.statements = Statements.of(rankings)
        self.answers = collect
        self.everybody = np.arange(len(rankings))

    @cached_property
    def answers_of_all(self) -> AnyAnswers:
        return self.answers(self.everybody)

    def grow(self) -> Node:
        return self.node("", "everybody", self.everybody, self.answers_of_all, 0)

    def node(
        self, condition: str, name: str, rows: _Integers, answers: AnyAnswers, depth: int
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
            p_value=split.p_value,
            branches=tuple(branches),
            rows=self.numbers[rows],
        )

    def best_split(self, rows: _Integers, answers: AnyAnswers, depth: int) -> _Split:
        """Find the split with the greatest posterior probability, given that of no split."""
        statements = self.statements.take(rows)
        found = [_Cuts.of(column, rows, self.smallest) for column in self.columns]
        usable = [cuts for cuts in found if len(cuts.counts) > 1 and cuts.possible]
        if not usable or depth >= _MOST_DEPTH:
            return _Split(-inf)
        p_value = self.p_value(usable, statements)
        if p_value > LEVEL:
            return _Split(-inf, p_value)
        # A priori a node is split with probability 1/2 at the root, 1/4 below, and so on.
        chance = 0.5 ** (depth + 1)
        log_odds = log(chance) - log(1 - chance) - log(len(usable))
        best = _Split(-inf, p_value)
        for cuts in usable:
            lefts, differences = cuts.best(*statements.totals(cuts.member, len(cuts.counts)))
            for number in np.argsort(-differences)[:_CUTS_BY_EVIDENCE].tolist():
                branches = tuple(
                    (said, part, self.answers(part))
                    for said, part in cuts.branches(lefts[number], rows)
                )
                evidence = sum(own.log_evidence for _, _, own in branches)
                gain = evidence - answers.log_evidence + log_odds - log(cuts.possible)
                if gain > best.log_gain:
                    best = _Split(gain, p_value, cuts.column.name, branches)
        return best

    def p_value(self, cuts_of: list[_Cuts], statements: Statements) -> float:
        """Return how often shuffled values separate people as well as the true ones."""
        if not self.permutations:
            return 0.0

        def most(order: _Integers) -> float:
            totals = [statements.totals(one.member[order], len(one.counts)) for one in cuts_of]
            return max(
                float(cuts.best(*own)[1].max()) for cuts, own in zip(cuts_of, totals, strict=True)
            )

        everybody = np.arange(len(statements.weights))
        observed = most(everybody)
        as_much = 0
        for done in range(1, self.permutations + 1):
            as_much += most(self.rng.permutation(everybody)) >= observed
            # Once it is too much, the rest cannot change it.
            if (1 + as_much) / (1 + self.permutations) > LEVEL:
                return (1 + as_much) / (1 + done)
        return (1 + as_much) / (1 + self.permutations)


@dataclass(frozen=True, eq=False)
class _Cuts:
    """The ways to part the people of a node by a column.

    Attributes
    ----------
    column
        The column.
    codes
        The groups of its values: numbers in order, each category by itself; then those without a
        value, if they are enough to be a branch.
    member
        The group of each person of the node; -1 is none.
    counts
        The number of people in each group.
    n_values
        The number of groups that have values.
    smallest
        The least number of people in a branch.
    """

    column: Column
    codes: tuple[_Integers, ...]
    member: _Integers
    counts: _Integers
    n_values: int
    smallest: int

    @classmethod
    def of(cls, column: Column, rows: _Integers, smallest: int) -> _Cuts:
        codes = column.codes[rows]
        present = np.unique(codes[codes != MISSING])
        bins = np.arange(1, len(present))
        if column.kind == "numbers" and len(present) > _MOST_BINS:
            shares = np.linspace(0, 1, _MOST_BINS + 1)[1:-1]
            ranks = np.searchsorted(present, codes[codes != MISSING])
            bins = np.unique(np.quantile(ranks, shares, method="inverted_cdf"))
            bins = bins[bins > 0]
        groups = np.split(present, bins)
        group_of = np.full(len(column.values) + 1, -1)  # the last is for missing values
        for number, group in enumerate(groups):
            group_of[group] = number
        n_values = len(groups)
        if 0 < (codes == MISSING).sum() >= smallest and len(present):
            group_of[-1] = n_values
            groups = [*groups, np.array([MISSING])]
        member = group_of[codes]
        counts = np.bincount(member[member >= 0], minlength=len(groups))
        return cls(column, tuple(groups), member, counts, n_values, smallest)

    @cached_property
    def _all_lefts(self) -> NDArray[np.bool_] | None:
        """All ways to part the groups, one row each; None if there are too many."""
        number = self.n_values
        if self.column.kind == "numbers":
            lefts = np.tri(number, dtype=bool)[:-1]
        elif number <= _MOST_CATEGORIES_IN_ALL_WAYS:
            chosen = [
                {0, *others}
                for size in range(number - 1)
                for others in combinations(range(1, number), size)
            ]
            lefts = np.zeros((len(chosen), number), dtype=bool)
            for left, members in zip(lefts, chosen, strict=True):
                left[list(members)] = True
        else:
            return None
        return self._with_missing(lefts)

    def _with_missing(self, lefts: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Add the way to part all who have a value from those who have none."""
        if len(self.counts) > self.n_values:
            lefts = np.pad(lefts, ((0, 1), (0, 1)))
            lefts[-1, : self.n_values] = True
        n_left = lefts @ self.counts
        n_right = self._rights(lefts) @ self.counts
        return lefts[np.minimum(n_left, n_right) >= self.smallest]

    def _rights(self, lefts: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the other side of each way to part groups: who has no value is on neither."""
        rights = ~lefts
        if len(self.counts) > self.n_values:
            apart = lefts[:, : self.n_values].all(axis=1)
            rights[:, -1] = apart
        return rights

    @cached_property
    def possible(self) -> int:
        """The number of ways to part the groups that a prior must be shared among."""
        if self._all_lefts is not None:
            return len(self._all_lefts)
        return int(2 ** (self.n_values - 1) - 1 + (len(self.counts) > self.n_values))

    def best(self, totals: _Floats, sizes: _Floats) -> tuple[NDArray[np.bool_], _Floats]:
        """Return ways to part the groups, and how much the two sides differ.

        Of many categories these are one against the rest, and cuts along the axis in which
        categories differ most.
        """
        lefts = self._all_lefts
        if lefts is None:
            number = self.n_values
            means = totals[:number] / sizes[:number, None]
            centre = totals[:number].sum(axis=0) / sizes[:number].sum()
            scaled = (means - centre) * np.sqrt(sizes[:number])[:, None]
            axis = np.linalg.svd(scaled, full_matrices=False)[2][0]
            place = np.argsort(np.argsort((means - centre) @ axis, kind="stable"))
            along = place[None, :] < np.arange(2, number - 1)[:, None]
            lefts = self._with_missing(np.concatenate([np.eye(number, dtype=bool), along]))
        rights = self._rights(lefts)
        one, other = lefts @ sizes, rights @ sizes
        apart = lefts @ totals / one[:, None] - rights @ totals / other[:, None]
        differences: _Floats = (apart**2).sum(axis=1) * one * other / (one + other)
        return lefts, differences if len(differences) else np.array([-inf])

    def branches(self, left: NDArray[np.bool_], rows: _Integers) -> list[tuple[str, _Integers]]:
        """Return the branches that a way to part groups makes, each with its condition."""
        values = np.concatenate(self.codes[: self.n_values])
        group_of = np.repeat(
            np.arange(self.n_values), [len(one) for one in self.codes[: self.n_values]]
        )
        mine, other = values[left[group_of]], values[~left[group_of]]
        codes = self.column.codes[rows]
        parts = [
            (self._condition(own, others), rows[np.isin(codes, own)])
            for own, others in ((mine, other), (other, mine))
            if len(own)
        ]
        parts.append((f"{self.column.name} missing", rows[codes == MISSING]))
        return [(said, part) for said, part in parts if len(part)]

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


def _node_lines(node: Node, first: str, rest: str, width: int) -> Iterator[str]:
    """Write a node and what is below it."""
    group = node.group
    number = int(group.n_rankings) if group.n_rankings.is_integer() else round(group.n_rankings, 1)
    head = f"{node.condition or group.name}: {group.share:.1%} ({number:,})"
    if len(group.tiers) > 1:
        head += f", {group.parameters()}"
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
