"""compare_groups: Bayes factors of one tier list for all against separate ones for groups.

Three models are compared. In all of them tiers and theta, or worths, are averaged over with the
same priors:

==========  ====================================================================================
``same``    everybody has the same tiers and the same theta, or the same worths
``theta``   the same tiers, but groups agree with them to different degrees
``worths``  the same, where tiers have worths: each group has its own worths
``own``     each group has its own tiers, and its own theta or worths
==========  ====================================================================================

Half of the prior probability belongs to ``same``, and a quarter to each of the others. Groups
differ if there is positive evidence, a Bayes factor of at least 3, and if random groups seldom
differ as much.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from math import exp, hypot, isnan, log, nan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.checks import RandomSource, as_generator
from tierwise._util.provenance import Provenance, Stopwatch
from tierwise._util.results import Result
from tierwise._util.types import Estimate, plain_item, plain_number
from tierwise.data.people import MISSING, Column, find_columns
from tierwise.data.weights import answers_in_words
from tierwise.errors import InputError, counted, share_in_words, use
from tierwise.groups.evidence import (
    GroupAnswers,
    PeopleGroup,
    bayes_factor_in_words,
    check_answers,
    columns_of_parameters,
    factor_in_digits,
    family_of_groups,
    log_evidence_of_thetas,
    log_sum,
    people_group,
)
from tierwise.groups.permutation import LEVEL, Statements, p_value_of_groups
from tierwise.groups.worths import (
    AnyAnswers,
    WorthAnswers,
    collector,
    how_evidence_was_found,
    log_evidence_of_worths,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.data.frames import Backend
    from tierwise.data.rankings import Rankings
    from tierwise.fitting.result import Family
    from tierwise.searching.choice import Choice
    from tierwise.searching.compared import FamilyChoice

Hypothesis: TypeAlias = Literal["same", "theta", "worths", "own"]

MOST_ITEMS_TO_SUM = 16
_N_DRAWS = 500
_LOG_PRIOR: dict[Hypothesis, float] = {
    "same": log(0.5),
    "theta": log(0.25),
    "worths": log(0.25),
    "own": log(0.25),
}
_SAID: dict[Hypothesis, str] = {
    "same": "the same tiers for everybody",
    "theta": "the same tiers, with different agreement",
    "worths": "the same tiers, with different worths",
    "own": "different tiers",
}
_MOST_MOVES_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Move(Result):
    """How far an item moves between the two groups in which it differs most.

    Attributes
    ----------
    item
        The item.
    higher, lower
        The groups in which it is highest and lowest.
    places
        Its mean place in these, over the posterior of their tiers; items of a tier share the mean
        of its places.
    probability
        The probability that it is strictly higher in the one than in the other; NaN if only the
        best tiers are known.
    """

    item: Item
    higher: str
    lower: str
    places: tuple[float, float]
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return {
            "item": plain_item(self.item),
            "higher": self.higher,
            "lower": self.lower,
            "places": list(self.places),
            "probability": plain_number(self.probability),
        }


@dataclass(frozen=True, eq=False, repr=False)
class ColumnComparison(Result):
    """Whether people with different values of a column have different tiers.

    Attributes
    ----------
    column : str
        The column.
    groups : tuple of PeopleGroup
        The groups, in the order of values; people without a value come last.
    log_evidence : dict
        Log evidence of the models "same", "theta" or "worths", and "own".
    p_value : float
        How often random groups differ as much in how they order pairs of items. It is large if
        people differ as much within groups as between them, which the evidence does not account
        for.
    moves : tuple of Move
        The items, sorted by how far they move.
    """

    column: str
    groups: tuple[PeopleGroup, ...]
    log_evidence: dict[Hypothesis, Estimate]
    p_value: float
    moves: tuple[Move, ...]

    @property
    def probabilities(self) -> dict[Hypothesis, float]:
        """Posterior probability of each model; half of the prior belongs to "same"."""
        logs = {name: float(value) + _LOG_PRIOR[name] for name, value in self.log_evidence.items()}
        total = log_sum(list(logs.values()))
        return {name: exp(value - total) for name, value in logs.items()}

    @property
    def preferred(self) -> Hypothesis:
        """The preferred model: "same" unless there is positive evidence of a difference.

        Positive evidence is a Bayes factor of 3 (Kass and Raftery, JASA 90, 1995) that chance
        matches in at most 5% of permutations. Of the other two models, the one with more evidence
        is preferred.
        """
        if self.log_bayes_factor < log(3.0) or self.p_value > LEVEL:
            return "same"
        differing = {name: one for name, one in self.log_evidence.items() if name != "same"}
        return max(differing, key=lambda name: float(differing[name]))

    @property
    def log_bayes_factor(self) -> float:
        """Log Bayes factor of a difference, of tiers or theta, against none."""
        differing = [float(one) for name, one in self.log_evidence.items() if name != "same"]
        return log_sum(differing) - log(2.0) - float(self.log_evidence["same"])

    def verdict(self) -> str:
        """Return a sentence on whether groups differ, with its Bayes factor."""
        factor = self.log_bayes_factor
        if abs(factor) < log(3.0):
            return (
                f"By {self.column}: hardly any evidence either way (Bayes factor of a difference "
                f"{factor_in_digits(factor)})."
            )
        if self.preferred == "same" and factor > 0:
            return (
                f"By {self.column}: groups differ (Bayes factor {factor_in_digits(factor)}), "
                f"but random groups differ as much in {self.p_value:.0%} of permutations. "
                "People differ in other ways, so this is not evidence that these groups "
                "differ."
            )
        if self.preferred == "same":
            words = f"{bayes_factor_in_words(factor)} that groups do not differ"
            return f"By {self.column}: {words} (Bayes factor {factor_in_digits(-factor)})."
        how = {
            "own": "have different tiers",
            "theta": "have the same tiers, but agree with them to different degrees",
            "worths": "have the same tiers, but different worths",
        }[self.preferred]
        return (
            f"By {self.column}: {bayes_factor_in_words(factor)} that groups differ (Bayes factor "
            f"{factor_in_digits(factor)}); they {how} (probability "
            f"{_never_certain(self.probabilities[self.preferred])})."
        )

    def __repr__(self) -> str:
        return (
            f"ColumnComparison({self.column}: {len(self.groups)} groups, "
            f"log Bayes factor of a difference {self.log_bayes_factor:.1f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "column": self.column,
            "preferred": self.preferred,
            "log_bayes_factor": self.log_bayes_factor,
            "log_evidence": {name: float(value) for name, value in self.log_evidence.items()},
            "log_evidence_error": {
                name: value.standard_error for name, value in self.log_evidence.items()
            },
            "probabilities": dict(self.probabilities),
            "p_value": self.p_value,
            "verdict": self.verdict(),
            "groups": [group.to_dict() for group in self.groups],
            "moves": [move.to_dict() for move in self.moves],
        }


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Result):
    """Whether groups of people have different tiers, for one column or several.

    Attributes
    ----------
    columns : tuple of ColumnComparison
        The columns, the one that matters most first.
    everybody : PeopleGroup
        The tiers of all people together.
    method : str
        Whether evidence is summed over all tiers, over those that a search visited, or is that of
        the best tiers.
    effective_size : float
        The effective number of answers (Kish).
    n_rankings : float
        Number of rankings; `effective_size` where they have survey weights.
    provenance : Provenance
        Version, seed and time.
    family : str
        "mallows" for theta and the distance inversions, or "luce" for one worth per tier.
    """

    columns: tuple[ColumnComparison, ...]
    everybody: PeopleGroup
    method: str
    effective_size: float
    n_rankings: float
    provenance: Provenance
    family: Family = "mallows"

    @property
    def best(self) -> ColumnComparison:
        """The column that matters most."""
        return self.columns[0]

    def __getitem__(self, column: str) -> ColumnComparison:
        """Return what was found for a column."""
        for one in self.columns:
            if one.column == column:
                return one
        raise InputError(f"column {column!r} was not compared", [use("when comparing", by=column)])

    def __repr__(self) -> str:
        return f"GroupComparison({'; '.join(one.verdict().rstrip('.') for one in self.columns)})"

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per column and group: share, theta or worths, and tiers.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".
        """
        from tierwise.data.frames import make_frame

        rows = [(one, group) for one in self.columns for group in one.groups]
        return make_frame(
            {
                "column": [one.column for one, _ in rows],
                "log_bayes_factor": [one.log_bayes_factor for one, _ in rows],
                "group": [group.name for _, group in rows],
                "share": [group.share for _, group in rows],
                **columns_of_parameters([group for _, group in rows], self.family),
                "tiers": [str(group.tiers) for _, group in rows],
            },
            backend,
        )

    def _card(self) -> Card:
        sections = [Section(rows_of(self.everybody.tiers), "everybody")]
        for one in self.columns:
            if one.preferred != "same":
                sections += [
                    Section(rows_of(group.tiers), f"{one.column}: {group.name}, {group.share:.0%}")
                    for group in one.groups
                ]
        title = "Do groups of people have different tiers?"
        return Card(title, sections=sections, note=" ".join(one.verdict() for one in self.columns))

    def summary(self, width: int = 88) -> str:
        """Return the results as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        about = f" of {counted(len(self.everybody.tiers.items), 'item')}"
        lines = [
            f"{answers_in_words(self.n_rankings, about=about)}, "
            f"{'one worth per tier' if self.family == 'luce' else 'inversions distance'}",
            *_group_lines(self.everybody, width),
            "",
        ]
        if len(self.columns) > 1:
            lines += [*_ranking_of_columns(self.columns), ""]
        for one in self.columns:
            lines += [*textwrap.wrap(one.verdict(), width), *_evidence_lines(one, width)]
            for group in one.groups:
                lines += _group_lines(group, width)
            lines += ["", *_move_lines(one), ""]
        lines += textwrap.wrap(how_evidence_was_found(self.method, self.family), width)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "columns": [one.to_dict() for one in self.columns],
            "everybody": self.everybody.to_dict(),
            "family": self.family,
            "method": self.method,
            "effective_size": self.effective_size,
            "n_rankings": self.n_rankings,
            "provenance": self.provenance.to_dict(),
        }


def compare_groups(
    data: Rankings,
    by: str | Iterable[str],
    *,
    family: FamilyChoice = "auto",
    choice: Choice | None = None,
    rng: RandomSource = None,
) -> GroupComparison:
    """Compare the tiers of groups of people.

    Parameters
    ----------
    data
        Rankings with `Rankings.people`, complete or with ties, or top lists (items not listed rank
        below). For the family "luce" the rank of items not listed may also be unknown.
    by
        The column that defines the groups, or several columns, which are compared one by one.
        Numbers with many values are cut into four groups of about equal size; people without a
        value form a separate group.
    family
        "mallows": the distance inversions with theta. "luce": one worth per tier. "auto": the one
        that describes the answers of all people best, according to `choose`.
    choice
        The result of `choose` for these data, to avoid comparing the models again.
    rng
        Seed or generator.

    Returns
    -------
    GroupComparison
        The columns, sorted by importance, with Bayes factors, the tiers of all groups, and the
        items that move.

    Notes
    -----
    Up to 16 items the evidence is summed over all tiers of all sizes; for more items, it is that of
    the best tiers found, with theta integrated out. The evidence of different thetas is estimated
    for more than four items, with its error. The prior of tiers is "sceptical", as for `search`:
    half of it belongs to no tiers. Every theta has the prior Gamma(2, 2). Survey weights are scaled
    to Kish's effective sample size.

    For the family "luce" worths are integrated out by Laplace's approximation, corrected at the
    best tiers by importance sampling. The sum is over all tiers up to four items, otherwise over
    those that a search visited.

    Examples
    --------
    >>> import tierwise as tw
    >>> import pyarrow as pa
    >>> answers = tw.Rankings.from_orderings([["a", "b", "c"]] * 12 + [["c", "b", "a"]] * 12)
    >>> answers = answers.with_people(pa.table({"region": ["north"] * 12 + ["south"] * 12}))
    >>> found = tw.compare_groups(answers, by="region")
    >>> found.best.preferred
    'own'
    >>> [str(group.tiers) for group in found.best.groups]
    ['a > b > c', 'c > b > a']
    """
    watch = Stopwatch()
    named = family_of_groups(data, family, choice, "compare_groups")
    rankings, _ = check_answers(data, "compare_groups", with_gaps=named == "luce")
    generator = as_generator(rng)
    columns = [column.in_groups() for column in find_columns(rankings, by, "compare_groups")]
    for column in columns:
        column.check_groups()
    collect = collector(rankings, named, most_items_to_sum=MOST_ITEMS_TO_SUM)
    everybody = collect(np.arange(len(rankings)))
    statements = Statements.of(rankings)
    found = [
        _compare(rankings, everybody, statements, column, collect, generator) for column in columns
    ]
    found.sort(key=lambda one: -one.log_bayes_factor)
    return GroupComparison(
        columns=tuple(found),
        everybody=people_group("everybody", everybody, 1.0, float(rankings.n_rankings)),
        method=everybody.method,
        effective_size=rankings.effective_size,
        n_rankings=rankings.n_rankings,
        provenance=watch.provenance(rng),
        family=named,
    )


def _compare(
    rankings: Rankings,
    everybody: AnyAnswers,
    statements: Statements,
    column: Column,
    collect: Callable[[NDArray[np.int64]], AnyAnswers],
    rng: np.random.Generator,
) -> ColumnComparison:
    parts = []
    for code in [*range(len(column.values)), *([MISSING] if column.has_missing else [])]:
        rows = np.flatnonzero(column.codes == code)
        answers = collect(rows)
        parts.append((column.group_name(code), answers, float(rankings.weights[rows].sum())))
    total = float(rankings.n_rankings)
    groups = [people_group(name, one, number / total, number) for name, one, number in parts]
    answers_of_groups = [one for _, one, _ in parts]
    return ColumnComparison(
        column=column.name,
        groups=tuple(groups),
        log_evidence=_log_evidence(everybody, answers_of_groups, rng),
        p_value=p_value_of_groups(
            statements, column.codes % (len(column.values) + 1), len(column.values) + 1, rng
        ),
        moves=_moves(rankings.items, groups, answers_of_groups, rng),
    )


def _log_evidence(
    everybody: AnyAnswers,
    groups: Sequence[AnyAnswers],
    rng: np.random.Generator,
) -> dict[Hypothesis, Estimate]:
    """Return the log evidence of each model."""
    parts = [group.estimate for group in groups]
    own = Estimate(
        sum(map(float, parts)),
        standard_error=hypot(*(part.standard_error for part in parts)),
        method=everybody.method,
    )
    if isinstance(everybody, WorthAnswers):
        with_worths = [group for group in groups if isinstance(group, WorthAnswers)]
        between = log_evidence_of_worths(everybody, with_worths)
        return {"same": everybody.estimate, "worths": between, "own": own}
    with_thetas = [group for group in groups if isinstance(group, GroupAnswers)]
    between = log_evidence_of_thetas(everybody, with_thetas, rng, _N_DRAWS)
    return {"same": everybody.estimate, "theta": between, "own": own}


def _moves(
    items: tuple[Item, ...],
    groups: list[PeopleGroup],
    answers: Sequence[AnyAnswers],
    rng: np.random.Generator,
) -> tuple[Move, ...]:
    """Find between which groups each item moves most."""
    places = [mean_places(one.draw_labels(_N_DRAWS, rng)) for one in answers]
    means = np.array([drawn.mean(axis=0) for drawn in places])
    moves = []
    for number, item in enumerate(items):
        high, low = int(means[:, number].argmin()), int(means[:, number].argmax())
        certain = len(places[high]) > 1
        probability = (
            float((places[high][:, number] < places[low][:, number]).mean()) if certain else nan
        )
        moves.append(
            Move(
                item,
                groups[high].name,
                groups[low].name,
                (float(means[high, number]), float(means[low, number])),
                probability,
            )
        )
    return tuple(sorted(moves, key=lambda move: move.places[0] - move.places[1]))


def mean_places(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean place of each item in each row of tiers, from 1.

    Examples
    --------
    >>> mean_places(np.array([[0, 1, 1]])).tolist()
    [[1.0, 2.5, 2.5]]
    """
    above = (labels[:, None, :] < labels[:, :, None]).sum(axis=2)
    tied = (labels[:, None, :] == labels[:, :, None]).sum(axis=2)
    places: NDArray[np.float64] = above + (tied + 1) / 2
    return places


def _whole(number: float) -> int | float:
    return int(number) if number.is_integer() else round(number, 1)


def _group_lines(group: PeopleGroup, width: int) -> list[str]:
    head = f"{group.name}: {group.share:.1%} ({_whole(group.n_rankings):,})"
    if len(group.tiers) > 1:
        head += f", {group.parameters()}"
    tiers = str(group.tiers) if len(group.tiers) > 1 else "no tiers"
    return [f"  {head}", *_indented(tiers, width)]


def _indented(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _evidence_lines(one: ColumnComparison, width: int) -> list[str]:
    parts = []
    for name, value in one.log_evidence.items():
        error = "" if value.exact else f" ± {value.standard_error:.2g}"
        parts.append(f"{_SAID[name]} {float(value):.2f}{error}")
    chance = f"Random groups differ as much in {one.p_value:.1%} of permutations."
    return textwrap.wrap(f"Log evidence: {'; '.join(parts)}. {chance}", width)


def _never_certain(probability: float) -> str:
    """Write a probability that follows from evidence: it may round to one, but never is."""
    return share_in_words(min(probability, 1.0 - 2.0**-53))


def _ranking_of_columns(columns: tuple[ColumnComparison, ...]) -> list[str]:
    wide = max(6, *(len(one.column) for one in columns))
    lines = [f"{'column':<{wide}}  groups  log Bayes factor of a difference"]
    lines += [
        f"{one.column:<{wide}}  {len(one.groups):>6}  {one.log_bayes_factor:>10.1f}  "
        f"{_SAID[one.preferred]}"
        for one in columns
    ]
    return lines


def _move_lines(one: ColumnComparison) -> list[str]:
    shown = [move for move in one.moves if move.places[1] - move.places[0] >= 0.5]
    if one.preferred != "own" or not shown:
        return ["No item is known to move by half a place or more."] if not shown else []
    wide = max(len(str(move.item)) for move in shown)
    lines = ["Items that move most, by their mean place (1 is best):"]
    for move in shown[:_MOST_MOVES_SHOWN]:
        sure = (
            "" if isnan(move.probability) else f", probability {_never_certain(move.probability)}"
        )
        lines.append(
            f"  {move.item!s:<{wide}}  {move.places[0]:.1f} in {move.higher}, "
            f"{move.places[1]:.1f} in {move.lower}{sure}"
        )
    return lines
