"""Mixture: several groups of people, each with its own tiers, and the text that it prints."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import isinf, isnan, log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.columns import aligned
from tierwise._util.provenance import Provenance
from tierwise._util.results import Result
from tierwise._util.types import plain_number
from tierwise.data.weights import EffectiveNumber, answers_in_words
from tierwise.errors import InputError, counted, quoted
from tierwise.fitting.result import Family
from tierwise.luce.estimates import WorthEstimate
from tierwise.mixture.scores import Scores
from tierwise.tiers import Sizes, Tiers, plain_tiers

if TYPE_CHECKING:
    from tierwise.data.frames import Backend
    from tierwise.model.clustered_luce import ClusteredLuce
    from tierwise.model.clustered_mallows import ClusteredMallows


def who_said_what(n_rankings: float, n_items: int, *, pairwise: bool) -> str:
    """Return the number and the kind of answers in words."""
    if pairwise:
        people = counted(n_rankings, "assessor")
        return f"{people} who compared pairs of {counted(n_items, 'item')}"
    return answers_in_words(n_rankings, about=f" of {counted(n_items, 'item')}")


def summarise(mixture: "Mixture", width: int) -> str:
    """Write a mixture as lines for people."""
    n_items = len(mixture.groups[0].tiers.items)
    lines = [
        f"{who_said_what(mixture.n_rankings, n_items, pairwise=mixture.pairwise)} in "
        f"{counted(mixture.n_groups, 'group')}, {mixture.model_in_words()}",
        *textwrap.wrap(mixture.chosen_by, width),
        "",
    ]
    for name, group in zip(mixture.names(), mixture.groups, strict=True):
        lines += [*_group_lines(name, group, width), ""]
    lines += textwrap.wrap(_how_sure(mixture), width)
    if len(mixture.comparison) > 1:
        lines += ["", *_comparison_lines(mixture, width)]
    return "\n".join(lines)


def _group_lines(name: str, group: "Group", width: int) -> list[str]:
    head = f"{name}: {group.share:.1%}{_plus_minus(100 * group.share_error, 1)}"
    if group.kind == "uniform":
        return [f"{head}, all orderings equally probable"]
    head += f", {group.parameters()}"
    return [
        head,
        *textwrap.wrap(
            str(group.tiers),
            width,
            initial_indent="  ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        ),
    ]


def _plus_minus(error: float, digits: int) -> str:
    return "" if isnan(error) or error == 0 else f" ± {error:.{digits}f}"


def _how_sure(mixture: "Mixture") -> str:
    text = (
        f"Log-likelihood {mixture.log_likelihood:.2f}, criterion {mixture.criterion:.2f}, "
        f"BIC {mixture.bic:.2f}, ICL {mixture.icl:.2f}. "
    )
    if mixture.scores.log_likelihood_error > 0:
        text += f"These are estimates, standard error {mixture.scores.log_likelihood_error:.2g}. "
    if len(mixture.groups) > 1:
        times = "once" if mixture.n_runs == 1 else f"{mixture.n_runs} times"
        text += (
            f"Separation of the groups: {mixture.separation:.0%}. EM ran to convergence "
            f"{times}; {mixture.n_agreeing} of {mixture.n_runs} runs ended here."
        )
    if not mixture.converged:
        text += " It has NOT CONVERGED: allow more steps."
    return text


def below_in_words(scores: "Scores") -> str:
    """Return how far a number of groups is behind the best one on rankings held out."""
    behind, error = scores.held_out_behind, scores.held_out_behind_error
    if behind is None or error is None:
        return "-"
    return "best" if behind == 0 else f"{behind:.4f}{_plus_minus(error, 4)}"


def _comparison_lines(mixture: "Mixture", width: int) -> list[str]:
    was_held_out = all(scores.held_out is not None for scores in mixture.comparison)
    header = ["groups", "log-likelihood", "BIC", "ICL"]
    header += ["held-out", "below the best"] if was_held_out else []
    cells = [[*header, ""]]
    for scores in mixture.comparison:
        numbers = (scores.log_likelihood, scores.bic, scores.icl)
        line = [str(scores.n_groups), *(f"{number:.2f}" for number in numbers)]
        if was_held_out:
            line += [f"{scores.held_out:.4f}", below_in_words(scores)]
        cells.append([*line, "chosen" if scores.n_groups == mixture.n_groups else ""])
    last = (len(header),)
    lines = aligned(cells, left=last, least=(6, 14, 10, 10, 9, 17)[: len(header)])
    if max(map(len, lines)) > width:
        lines = aligned(cells, left=last)
    explained = "BIC and ICL: lower is better"
    if was_held_out:
        explained += (
            "; held-out: mean log probability of held-out rankings (higher is better), and how "
            "far it is below the best, ± the standard error of the difference"
        )
    lines += textwrap.wrap(f"{explained}.", width)
    if mixture.n_groups == mixture.comparison[-1].n_groups:
        lines.append("The largest number tried was chosen: try larger ones too.")
    return lines


@dataclass(frozen=True, eq=False, repr=False)
class Group(Result):
    """A group of people with its own tiers.

    Attributes
    ----------
    kind : {"tiers", "uniform"}
        "uniform" is the group of people who follow no tiers.
    share : float
        Share of the rankings that belong to it.
    share_error : float
        Its standard error, given the tiers; NaN if there is none.
    tiers : Tiers
        Its tiers.
    sizes : tuple of int
        Their sizes.
    theta : float
        How closely the group agrees with its tiers; NaN if they have worths.
    theta_error : float
        Its standard error, given the tiers; NaN if there is none.
    distance : str
        Name of the distance.
    n_rankings : float
        Expected number of rankings that belong to it.
    agreement : float
        Share of pairs of items of different tiers that the group's rankings order in the same way.
    worth_estimates : tuple of WorthEstimate
        The worth of each tier with an interval, given the tiers; empty if the model has theta.
    """

    kind: Literal["tiers", "uniform"]
    share: float
    share_error: float
    tiers: Tiers
    sizes: Sizes
    theta: float
    theta_error: float
    distance: str
    n_rankings: float
    agreement: float
    worth_estimates: tuple[WorthEstimate, ...] = ()

    @property
    def worths(self) -> tuple[float, ...]:
        """Worth of each tier, with geometric mean 1 over items; empty if none."""
        return tuple(estimate.value for estimate in self.worth_estimates)

    def parameters(self, digits: int = 4) -> str:
        """Return theta with its error, or worths, as text.

        Parameters
        ----------
        digits
            Number of decimals of theta.
        """
        if self.worth_estimates:
            return f"worths {', '.join(format(worth, '.3g') for worth in self.worths)}"
        theta = "infinite" if isinf(self.theta) else f"{self.theta:.{digits}f}"
        # Where the likelihood hardly falls towards infinity, the standard error, which is that of a
        # normal approximation, says nothing else.
        if self.theta_error > max(self.theta, 1.0):
            return f"theta {theta}, which the answers hardly determine"
        return f"theta {theta}{_plus_minus(self.theta_error, digits)}"

    @property
    def model(self) -> "ClusteredMallows | ClusteredLuce":
        """The model of the group's rankings."""
        from tierwise.model.clustered_luce import ClusteredLuce
        from tierwise.model.clustered_mallows import ClusteredMallows

        if self.worth_estimates:
            return ClusteredLuce(self.tiers, self.worths)
        return ClusteredMallows(self.tiers, self.theta, self.distance)

    def __repr__(self) -> str:
        tiers = "uniform" if self.kind == "uniform" else str(self.tiers)
        numbers = self.parameters() if self.worth_estimates else f"theta={self.theta:.4g}"
        return f"Group({self.share:.1%}: {tiers}, {numbers})"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for NaN and infinity."""
        return {
            "kind": self.kind,
            "share": self.share,
            "share_error": plain_number(self.share_error),
            "tiers": plain_tiers(self.tiers),
            "sizes": list(self.sizes),
            "theta": plain_number(self.theta),
            "theta_error": plain_number(self.theta_error),
            "worths": [estimate.to_dict() for estimate in self.worth_estimates],
            "distance": self.distance or None,
            "n_rankings": self.n_rankings,
            "agreement": plain_number(self.agreement),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(Result):
    """Groups of people, each with its own tiers and theta or worths, that describe rankings best.

    Attributes
    ----------
    groups : tuple of Group
        The groups, largest first; a uniform one comes last.
    scores : Scores
        Log-likelihood and the criteria by which numbers of groups are compared.
    comparison : tuple of Scores
        The same for every number of groups that was tried.
    selected_by : str or None
        The criterion that chose the number of groups; None if the number was given.
    pattern_memberships, pattern_of : numpy.ndarray
        Probability of each group for each distinct answer, and which of these each answer is.
    weights : numpy.ndarray
        The weight of each answer.
    history : tuple of float
        The criterion after each step of EM; it never decreases.
    converged : bool
        Whether EM converged.
    n_runs, n_agreeing : int
        How many runs of EM converged, and how many ended as high as the best. If only one of many
        did, a better result may exist: use more starts.
    distance : str
        Name of the distance; empty if tiers have worths.
    provenance : Provenance
        Version, seed and time.
    pairwise : bool
        Whether answers are pairwise; rankings are then people.
    people : pyarrow.Table or None
        Columns about people, as in `Rankings.people`.
    family : str
        "mallows" for theta and a distance, or "luce" for one worth per tier.
    n_answers : int or None
        The number of answers, if they have survey weights.
    chosen_by : str
        Why groups have these models, if the data chose.
    """

    groups: tuple[Group, ...]
    scores: Scores
    comparison: tuple[Scores, ...]
    selected_by: str | None
    pattern_memberships: NDArray[np.float64]
    pattern_of: NDArray[np.int64]
    weights: NDArray[Any]
    history: tuple[float, ...]
    converged: bool
    n_runs: int
    n_agreeing: int
    distance: str
    provenance: Provenance
    pairwise: bool = False
    people: Any = None
    family: Family = "mallows"
    n_answers: int | None = None
    chosen_by: str = ""

    def model_in_words(self) -> str:
        """Say what the models of groups are."""
        return "one worth per tier" if self.family == "luce" else f"{self.distance} distance"

    @property
    def n_groups(self) -> int:
        """Number of groups, without a uniform one."""
        return self.scores.n_groups

    @property
    def n_rankings(self) -> int | float:
        """Number of rankings, the sum of the weights."""
        total: int | float = self.weights.sum().item()
        return total if self.n_answers is None else EffectiveNumber(total, self.n_answers)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of each group."""
        return np.array([group.share for group in self.groups])

    @cached_property
    def memberships(self) -> NDArray[np.float64]:
        """Probability that each answer (row) belongs to each group (column)."""
        return self.pattern_memberships[self.pattern_of]

    @property
    def log_likelihood(self) -> float:
        """Log probability of the rankings."""
        return self.scores.log_likelihood

    @property
    def criterion(self) -> float:
        """Log-likelihood minus the log number of tier lists with each group's sizes."""
        return self.scores.criterion

    @property
    def bic(self) -> float:
        """Bayesian information criterion; lower is better. See `Scores`."""
        return self.scores.bic

    @property
    def icl(self) -> float:
        """Integrated completed likelihood criterion; lower is better. See `Scores`."""
        return self.scores.icl

    @property
    def entropy(self) -> float:
        """Entropy of the memberships, summed over rankings."""
        return self.scores.entropy

    @property
    def separation(self) -> float:
        """How well the groups are separated: 1 means no doubt, 0 not at all."""
        if len(self.groups) == 1:
            return 1.0
        return 1 - self.entropy / (self.n_rankings * log(len(self.groups)))

    def names(self) -> list[str]:
        """Return names for the groups: group 1, group 2, ..., and uniform."""
        return [
            "uniform" if group.kind == "uniform" else f"group {number}"
            for number, group in enumerate(self.groups, start=1)
        ]

    def to_frame(
        self, covariate: str | Iterable[Any] | None = None, *, backend: "Backend" = "pandas"
    ) -> Any:
        """Return the groups as a data frame, or how they relate to other columns about people.

        Parameters
        ----------
        covariate
            A column of ``people``, by name; or a value for each answer, such as a region.
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".

        Returns
        -------
        data frame
            One row per group. With a covariate, one row per value of it: the number of rankings,
            and the expected share of each group in them.

        Examples
        --------
        >>> import tierwise as tw
        >>> found = tw.fit_mixture(tw.load_political_goals(), 2, (2, 2), "kendall", starts=5, rng=1)
        >>> found.to_frame()[["group", "share", "theta", "tiers"]].round(2)
             group  share  theta                          tiers
        0  group 1   0.58   0.95  order ~ prices > say ~ speech
        1  group 2   0.42   0.16  say ~ prices > order ~ speech
        """
        from tierwise.data.frames import make_frame

        if covariate is None:
            fitted = ("worths",) if self.family == "luce" else ("theta", "theta_error")
            names = ("kind", "share", "share_error", *fitted, "agreement")
            columns: dict[str, Any] = {"group": self.names()}
            columns |= {name: [getattr(group, name) for group in self.groups] for name in names}
            columns["n_rankings"] = [group.n_rankings for group in self.groups]
            columns["tiers"] = [str(group.tiers) for group in self.groups]
            return make_frame(columns, backend)
        values = self._column(covariate) if isinstance(covariate, str) else list(covariate)
        if len(values) != len(self.pattern_of):
            raise InputError(
                f"the covariate has {len(values)} values for {len(self.pattern_of)} answers: "
                "pass one value for each answer, in the same order"
            )
        # None, a missing value, has no place among others: it comes last.
        distinct = sorted(
            set(values), key=lambda value: (value is None, str(type(value)), value or 0)
        )
        numbers = {value: number for number, value in enumerate(distinct)}
        rows = np.array([numbers[value] for value in values])
        n_rankings = np.zeros(len(distinct), dtype=self.weights.dtype)
        np.add.at(n_rankings, rows, self.weights)
        totals = np.zeros((len(distinct), len(self.groups)))
        np.add.at(totals, rows, self.weights[:, None] * self.memberships)
        columns = {"value": distinct, "rankings": n_rankings}
        shares = totals / np.maximum(n_rankings, np.finfo(float).tiny)[:, None]
        return make_frame(columns | dict(zip(self.names(), shares.T, strict=True)), backend)

    def _card(self) -> Card:
        sections = [
            Section(
                rows_of(group.tiers),
                f"{name}: {group.share:.1%}"
                + ("" if group.kind == "uniform" else f", {group.parameters(3)}"),
            )
            for name, group in zip(self.names(), self.groups, strict=True)
        ]
        facts = [("BIC", f"{self.bic:,.2f}"), ("separation", f"{self.separation:.2f}")]
        noun = "people" if self.pairwise else "rankings"
        title = f"{counted(self.n_groups, 'group')} in {self.n_rankings:,} {noun}"
        return Card(title, facts, sections)

    def _column(self, name: str) -> list[Any]:
        """Return columns about people, by the name of a column."""
        if self.people is None or name not in self.people.column_names:
            known = [] if self.people is None else self.people.column_names
            there = ", ".join(map(quoted, known)) or "nothing"
            raise InputError(
                f"there is no column {quoted(name)}: the columns about people are {there}; you "
                "can also pass a list of values, one per answer"
            )
        values: list[Any] = self.people.column(name).to_pylist()
        return values

    def summary(self, width: int = 88) -> str:
        """Return the groups, and the numbers of groups tried, as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        return summarise(self, width)

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.3f}" for share in self.shares)
        noun = "group" if self.n_groups == 1 else "groups"
        return f"Mixture({self.n_groups} {noun}, shares {shares}, bic={self.bic:.2f})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        return {
            "n_groups": self.n_groups,
            "groups": [group.to_dict() for group in self.groups],
            "shares": self.shares.tolist(),
            **{key: value for key, value in self.scores.to_dict().items() if key != "n_groups"},
            "separation": plain_number(self.separation),
            "comparison": [scores.to_dict() for scores in self.comparison],
            "selected_by": self.selected_by,
            "memberships": self.memberships.tolist(),
            "history": [plain_number(value) for value in self.history],
            "converged": self.converged,
            "n_runs": self.n_runs,
            "n_agreeing": self.n_agreeing,
            "family": self.family,
            "distance": self.distance or None,
            "n_rankings": self.n_rankings,
            "pairwise": self.pairwise,
            "provenance": self.provenance.to_dict(),
        }
