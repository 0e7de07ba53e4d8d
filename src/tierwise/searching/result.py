"""Search: the best sizes, how far others are behind, and the printed summary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isinf, isnan
from typing import Any, Literal, Protocol

from tierwise._util.cards import Card
from tierwise._util.columns import aligned, within
from tierwise._util.provenance import Provenance
from tierwise._util.results import Result
from tierwise._util.types import plain_number
from tierwise.data.connection import parts_in_words
from tierwise.data.frames import Backend, make_frame
from tierwise.data.weights import EffectiveNumber, answers_in_words
from tierwise.errors import BEHIND_IS, behind_in_words, listed, odds_in_words, share_in_words
from tierwise.fitting.result import Fit
from tierwise.fitting.summary import tiers_in_words
from tierwise.searching.evaluate import Criterion
from tierwise.searching.merging import Merging
from tierwise.tiers import Sizes, Tiers, plain_tiers

NOT_DECIDED = "No model is clearly ahead, so one worth per tier is used"

CRITERIA = {
    "posterior": "posterior probability of the tiers",
    "likelihood": "criterion I (log-likelihood minus log number of tier lists)",
    "evidence": "evidence (probability of the rankings given the sizes)",
    "agreement": "agreement D, which drifts to degenerate tiers: use it only to narrow a search",
    "both": "criterion I among the sizes with the best agreement D",
}


def summarise(search: "Search", rows: int) -> str:
    """Write a search as lines for people."""
    shown = list(search.leaderboard[:rows])
    shown += [one for one in search.leaderboard[rows:] if one.name]
    names = header(search)
    # Sizes, the first, and names, the last, stand left.
    table = aligned(
        [names, *(row(search, one) for one in shown)],
        left=(0, len(names) - 1),
    )
    left_out = search.evaluated - len(shown)
    if left_out:
        table.append(f"... and {left_out:,} more")
    return "\n".join(
        [
            f"{search.evaluated:,} size vectors evaluated; best by {CRITERIA[search.criterion]}",
            *_weights(search),
            "",
            *table,
            "",
            tiers_in_words(search.best),
            "",
            *remarks(search),
        ]
    )


def _weights(search: "Search") -> list[str]:
    """Say what survey weights count as."""
    number = search.best.n_rankings
    return [f"Data: {answers_in_words(number)}."] if isinstance(number, EffectiveNumber) else []


def header(search: "Search") -> list[str]:
    """Return the names of the columns."""
    evidence = ["log evidence", "probability"] if search.criterion == "evidence" else []
    theta = ["theta"] if _has_one_theta(search) else []
    if search.criterion == "posterior":  # elsewhere what is behind is not log evidence
        return ["sizes", "tiers", *theta, "criterion", "behind", "odds", ""]
    return ["sizes", "tiers", *theta, "agreement", "criterion", *evidence, "behind", ""]


def _has_one_theta(search: "Search") -> bool:
    """Return whether tiers of each sizes have one theta: not worths, nor a theta per tier."""
    return search.best.family != "luce" and search.best.concentration == "single"


def row(search: "Search", one: "Candidate") -> list[str]:
    """Return a size vector's cells, as text."""
    criterion = _number(one.criterion, ".2f")
    if one.criterion_error:
        criterion += f" ± {one.criterion_error:.2g}"
    evidence = []
    if search.criterion == "evidence":
        evidence = [_number(one.log_evidence, ".2f"), _number(one.probability, ".4f")]
        if one.log_evidence_error:
            evidence[0] += f" ± {one.log_evidence_error:.2g}"
    places = ".4f" if search.criterion == "agreement" else ".2f"
    behind = search.behind(one)
    agreement, odds = [_number(one.agreement, ".4f")], []
    if search.criterion == "posterior":
        agreement, odds = [], [odds_in_words(behind, "digits") if behind > 0.0 else ""]
    name = one.name if one.allowed else f"{one.name}, for comparison only"
    return [
        " ".join(map(str, one.sizes)),
        str(len(one.sizes)),
        *([_number(one.theta, ".4f")] if _has_one_theta(search) else []),
        *agreement,
        criterion,
        *evidence,
        _number(behind, places),
        *odds,
        name,
    ]


def remarks(search: "Search") -> list[str]:
    """Say how far the answer can be trusted."""
    lines = [parts_in_words(search.best.parts)] if len(search.best.parts) > 1 else []
    if search.interrupted:
        lines.append("The search was interrupted: better sizes may not have been tried.")
    elif search.exhaustive:
        proved = all(
            one.optimal and not one.criterion_error and not one.log_evidence_error
            for one in search.contenders
        )
        lines.append(
            "All allowed sizes were compared: there are no better ones."
            if proved
            else "All allowed sizes were compared, some by tiers or numbers that are not "
            "proved exact."
        )
    elif search.method == "all sizes":
        lines.append(
            "Tiers of all sizes were searched at once, from several starts, until no move of "
            "an item or a tier helped. Better ones may exist."
        )
    elif search.method == "exhaustive":
        lines.append("Only sizes with good agreement were compared. Better ones may exist.")
    else:
        lines.append(
            f"Found by {search.method} search, which does not compare all sizes. Better ones "
            "may exist."
        )
    if not isinf(search.runner_up_gap):
        lines.append(verdict(search))
    lines += _families(search)
    if search.doubtful:
        one = len(search.doubtful) == 1
        others = "another size vector is" if one else f"{len(search.doubtful)} others are"
        lines.append(f"Monte Carlo error leaves open whether {others} better.")
    return lines


def not_compared(search: "Search") -> list[str]:
    """Say which models were not compared, and why."""
    names_of: dict[str, list[str]] = {}
    for name, why in search.left_out.items():
        names_of.setdefault(why, []).append(name)
    return [f"Not compared: {listed(names)}, because {why}." for why, names in names_of.items()]


def _families(search: "Search") -> list[str]:
    """Say which model describes the data best, and by how much."""
    slow = not_compared(search)
    if len(search.families) < 2:
        return slow
    best, *others = search.families
    # Without tiers all families are the same model.
    if len(best.sizes) == 1:
        names = ", ".join(family.name for family in search.families)
        return [f"That holds for all models compared: {names}.", *slow]
    standings = ", ".join(f"{other.name} is {other.standing}" for other in others)
    if others[0].behind < 0.0:
        return [f"{NOT_DECIDED}: {standings}.", *slow]
    return [f"Of the models compared, {best.name} describes the data best: {standings}.", *slow]


def verdict(search: "Search", items: Literal["named", "left out"] = "named") -> str:
    """Say how far the best sizes are ahead of the second best."""
    gap = search.runner_up_gap
    if search.criterion == "agreement":
        return f"The agreement of the runner-up is {gap:.4f} lower."
    if search.probabilities is not None:
        share = search.probabilities[search.best.sizes]
        return f"The best sizes have a posterior probability of {share_in_words(share, 3)}."
    second = search.contenders[1]
    if search.criterion != "posterior":
        firmness = "close" if gap < 3 else "clear"
        return f"The criterion of the runner-up, {second.sizes}, is {gap:.2f} lower: {firmness}."
    named = f", {second.tiers}," if items == "named" else ""
    return f"The best tiers with other sizes{named} are {behind_in_words(gap)} in {BEHIND_IS}."


def _number(value: float, how: str) -> str:
    return "" if isnan(value) or isinf(value) else format(value, how)


class Checked(Protocol):
    """What looks at whether a model describes the data: a `FitCheck`."""

    def caution(self) -> str:
        """Say in a sentence that it does not, and what to do; empty if it does."""


def name_of_model(family: str, distance: str, concentration: str) -> str:
    """Return what a kind of model is called in a sentence.

    Examples
    --------
    >>> name_of_model("mallows", "inversions", "tier")
    'inversions with a theta per tier'
    """
    if family == "luce":
        return "one worth per tier"
    return distance + ("" if concentration == "single" else f" with a theta per {concentration}")


@dataclass(frozen=True, eq=False)
class Candidate(Result):
    """A size vector with its best tiers and their criteria; NaN if not computed.

    Attributes
    ----------
    sizes, tiers
        The sizes, and the best tiers with these sizes.
    score
        The value that the search compares; minus infinity if not computed.
    criterion
        The paper's I.
    criterion_error
        Its standard error; 0 if the partition function is exact.
    agreement
        The paper's D.
    theta
        Concentration at the best tiers.
    log_evidence
        Log probability of the rankings given the sizes only.
    log_evidence_error
        Its standard error; 0 if nothing was estimated.
    probability
        Posterior probability of the sizes, among all evaluated ones.
    optimal
        Whether the tiers are proved to be the best with these sizes.
    allowed
        Whether the sizes satisfy the constraints; the strict consensus and the single tier are
        evaluated for comparison even if they do not.
    """

    sizes: Sizes
    tiers: Tiers
    score: float
    criterion: float
    criterion_error: float
    agreement: float
    theta: float
    log_evidence: float
    log_evidence_error: float
    probability: float
    optimal: bool
    allowed: bool

    @property
    def name(self) -> str:
        """The name of these sizes, if they have one."""
        if len(self.sizes) == 1:
            return "no tiers"
        return "strict consensus" if max(self.sizes) == 1 else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for NaN and infinity."""
        numbers = {
            name: plain_number(value) for name, value in vars(self).items() if type(value) is float
        }
        return {
            "sizes": list(self.sizes),
            "tiers": plain_tiers(self.tiers),
            **numbers,
            "optimal": self.optimal,
            "allowed": self.allowed,
        }


@dataclass(frozen=True, eq=False)
class Family(Result):
    """A kind of model that a search compared, with its best tiers.

    Attributes
    ----------
    family
        "mallows", or "luce" for one worth per tier.
    distance
        The distance; empty for "luce".
    concentration
        "single" for one theta, "tier" or "place" for one of each.
    sizes, tiers, criterion
        The best tiers, their sizes and their criterion (the paper's I).
    score
        The value that the search compares.
    behind
        How far its best tiers are behind those of the chosen model; below 0 if they are ahead, but
        not clearly.
    """

    family: str
    distance: str
    concentration: str
    sizes: Sizes
    tiers: Tiers
    criterion: float
    score: float
    behind: float

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        return name_of_model(self.family, self.distance, self.concentration)

    @property
    def standing(self) -> str:
        """How far it is behind or ahead of the chosen model, in words."""
        return behind_in_words(self.behind)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return {
            "family": self.family,
            "distance": self.distance or None,
            "concentration": self.concentration,
            "sizes": list(self.sizes),
            "tiers": plain_tiers(self.tiers),
            "criterion": plain_number(self.criterion),
            "score": plain_number(self.score),
            "behind": plain_number(self.behind),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Search(Result):
    """The best sizes found, and all others that were evaluated.

    Attributes
    ----------
    best : Fit
        The fit with the best sizes.
    leaderboard : tuple of Candidate
        All size vectors that were evaluated, best first. The strict consensus and the single tier
        are always among them (unless answers are too incomplete for them).
    criterion : str
        The criterion: "posterior", "likelihood", "evidence", "agreement" or "both".
    method : str
        The method: "exhaustive", "greedy", "tabu", "genetic" or "all sizes" (at once).
    exhaustive : bool
        Whether every allowed size vector was compared.
    path : tuple of tuple of int
        The size vectors that the search moved through, from its start; for a genetic search the
        best of each generation; empty for an exhaustive one.
    start : Merging
        The merging of near-even pairs that suggests where to start, with its steps.
    doubtful : tuple of tuple of int
        Size vectors that could be better than the winner, within two standard errors of Monte Carlo
        error.
    interrupted : bool
        Whether the user interrupted the search.
    provenance : Provenance
        Version, seed and time.
    families : tuple of Family
        The kinds of models that were compared, best first, each with its best tiers.
    left_out : dict of str to str
        Distances that were not compared, and why.
    """

    best: Fit
    leaderboard: tuple[Candidate, ...]
    criterion: Criterion
    method: str
    exhaustive: bool
    path: tuple[Sizes, ...]
    start: Merging
    doubtful: tuple[Sizes, ...]
    interrupted: bool
    provenance: Provenance
    families: tuple[Family, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        luce = self.best.family == "luce"
        model = "family='luce'" if luce else f"distance={self.best.distance!r}"
        return (
            f"Search(best={self.best.sizes}, {model}, "
            f"criterion={self.criterion!r}, method={self.method!r}, "
            f"evaluated={self.evaluated}, exhaustive={self.exhaustive})"
        )

    @property
    def evaluated(self) -> int:
        """Number of size vectors that were evaluated."""
        return len(self.leaderboard)

    @property
    def contenders(self) -> tuple[Candidate, ...]:
        """The part of the leaderboard that could have won: allowed, and compared."""
        return tuple(one for one in self.leaderboard if one.allowed and one.score > -inf)

    @property
    def runner_up_gap(self) -> float:
        """How far the second best is behind the best; infinite if there is none."""
        scores = [one.score for one in self.contenders[:2]]
        return scores[0] - scores[1] if len(scores) > 1 else inf

    @property
    def probabilities(self) -> dict[Sizes, float] | None:
        """Posterior probability of each size vector; None unless the evidence was computed.

        They sum to 1 over all evaluated and allowed size vectors, so they are the full posterior
        only if the search was exhaustive.
        """
        if self.criterion != "evidence":
            return None
        return {one.sizes: one.probability for one in self.leaderboard if one.allowed}

    @property
    def table(self) -> Any:
        """The leaderboard as a pandas data frame, best first."""
        return self.to_frame()

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the leaderboard as a data frame, best first.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".

        Examples
        --------
        >>> import tierwise as tw
        >>> found = tw.search(tw.load_political_goals(), "kendall")
        >>> found.to_frame(backend="pyarrow").column("sizes").to_pylist()[:3]
        [[2, 2], [2, 1, 1], [1, 1, 2]]
        """
        rows = self.leaderboard
        columns: dict[str, list[Any]] = {
            "sizes": [one.sizes for one in rows],
            "criterion": [one.criterion for one in rows],
            "agreement": [one.agreement for one in rows],
            "theta": [one.theta for one in rows],
            "tiers": [str(one.tiers) for one in rows],
            "behind": [self.behind(one) for one in rows],
            "name": [one.name for one in rows],
            "optimal": [one.optimal for one in rows],
            "allowed": [one.allowed for one in rows],
        }
        if any(one.criterion_error > 0 for one in rows):
            columns["criterion_error"] = [one.criterion_error for one in rows]
        if self.criterion == "evidence":
            columns["log_evidence"] = [one.log_evidence for one in rows]
            if any(one.log_evidence_error > 0 for one in rows):
                columns["log_evidence_error"] = [one.log_evidence_error for one in rows]
            columns["probability"] = [one.probability for one in rows]
        return make_frame(columns, backend)

    def _card(self) -> Card:
        header = ("sizes", "tiers", "behind")
        by_posterior = self.criterion == "posterior"
        cells = [
            (
                ", ".join(map(str, one.sizes)),
                str(one.tiers),
                behind_in_words(behind) if by_posterior and behind > 0.0 else f"{behind:.2f}",
            )
            for one, behind in ((one, self.behind(one)) for one in self.contenders[:5])
        ]
        facts = [("method", self.method), ("criterion", self.criterion)]
        return Card(
            f"Best of {self.evaluated:,} size vectors, {self.best.distance or 'luce'}",
            facts,
            [self.best.tier_section()],
            table=(header, cells),
            note=" ".join(remarks(self)),
        )

    def behind(self, candidate: Candidate) -> float:
        """Return how far a size vector is behind the best; below 0 if it was not allowed."""
        winner = next(one for one in self.leaderboard if one.allowed)
        return winner.score - candidate.score

    def summary(self, width: int = 88, *, rows: int = 10, check: Checked | None = None) -> str:
        """Return the top of the leaderboard and its interpretation as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        rows
            The number of size vectors to show, in addition to the strict consensus and the single
            tier.
        check
            The result of `check_fit` for the best tiers. If the model does not fit, the text begins
            with a caution.
        """
        caution = "" if check is None else check.caution()
        text = summarise(self, rows)
        return within(f"{caution}\n\n{text}" if caution else text, width)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        return {
            "best": self.best.to_dict(),
            "criterion": self.criterion,
            "method": self.method,
            "evaluated": self.evaluated,
            "exhaustive": self.exhaustive,
            "runner_up_gap": plain_number(self.runner_up_gap),
            "leaderboard": [one.to_dict() for one in self.leaderboard],
            "path": [list(sizes) for sizes in self.path],
            "start": self.start.to_dict(),
            "doubtful": [list(sizes) for sizes in self.doubtful],
            "families": [one.to_dict() for one in self.families],
            "left_out": dict(self.left_out),
            "interrupted": self.interrupted,
            "provenance": self.provenance.to_dict(),
        }
