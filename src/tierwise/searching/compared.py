"""Which families of models and which distances a search compares, and why not others."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tierwise._util.checks import (
    check_choice,
    check_count,
    check_number,
)
from tierwise.answers.likelihood import AnswerSource, source_of
from tierwise.data.kinds import KnownData
from tierwise.distances import Distance
from tierwise.errors import InputError, drop, instead, use
from tierwise.fitting.every_size import MOST_ITEMS as MOST_ITEMS_TOGETHER
from tierwise.fitting.fit import (
    ConcentrationChoice,
)
from tierwise.fitting.solve import Settings as FitSettings
from tierwise.fitting.solve import solution_at, unproved_at
from tierwise.luce.search import Limits
from tierwise.model.priors import Priors, allows_every_theta, as_theta_prior
from tierwise.searching import structural_em
from tierwise.searching.all_sizes import ComparedThetas, kinds_of
from tierwise.searching.evaluate import (
    Criterion,
    Depth,
    seconds_of,
    seconds_of_answers,
)
from tierwise.searching.luce import RaceSearch
from tierwise.searching.result import Search
from tierwise.searching.size_space import SizeSpace
from tierwise.searching.strategies import (
    Strategy,
)
from tierwise.tiers import Sizes

FamilyChoice: TypeAlias = Literal["mallows", "luce", "auto"]
"""Which family of models is searched, or "auto", which compares them."""

# Why "drawn" leaves out what "auto" compares.
_NOT_DRAWN = "its tiers cannot be drawn"

# A distance that is so far behind with the tiers that are best for worths is not searched.
_FAR_BEHIND = 200.0
# "auto" compares all sizes if that takes, on one core, about half a minute at most.
MOST_SECONDS = 30.0
# Beside inversions, of which all sizes are searched at once, a distance may take so long.
MOST_SECONDS_OF_COMPARISON = 5.0
# What "auto" compares, if that takes seconds. Hamming is not among them: it goes by who is in which
# block of places, whatever lies between, so two opposed halves of people get tiers by it.
COMPARED_DISTANCES = ("kendall", "inversions")
# A greedy search compares about so many sizes for each item.
_SIZES_OF_A_GREEDY_STEP = 20


@dataclass(frozen=True)
class Plan:
    """Which families of models are compared."""

    mallows: bool
    luce: bool


def family_of(
    family: FamilyChoice, distance: str | Distance, concentration: ComparedThetas
) -> FamilyChoice:
    """Return the family that was requested; who names a distance or thetas asks for Mallows."""
    check_choice("family", family, get_args(FamilyChoice))
    named = not (isinstance(distance, str) and distance == "auto")
    named = named or concentration in ("tier", "place")
    return "mallows" if family == "auto" and named else family


def concentration_of(
    concentration: ConcentrationChoice | None,
    distance: str | Distance,
    criterion: Criterion,
    strategy: Strategy | Literal["auto", "exhaustive"],
    space: SizeSpace,
    priors: Priors,
) -> ComparedThetas:
    """Return which thetas are compared; this is the one place that decides what the default is.

    What is named is used as named, and who names a distance, or how to search, means one theta.
    Where the model is open, several thetas are compared as far as tiers can then be drawn.
    """
    if concentration is not None:
        check_choice("concentration", concentration, get_args(ConcentrationChoice))
        if concentration != "single" and criterion != "posterior":
            raise InputError(
                "several thetas need another criterion",
                [use(criterion="posterior"), instead("fit", "for given sizes", command="fit")],
            )
        return concentration
    model_is_open = isinstance(distance, str) and distance == "auto"
    search_is_open = criterion == "posterior" and strategy == "auto"
    search_is_open = search_is_open and space == SizeSpace(space.n_items)
    has_draws = isinstance(priors.sizes_or("sceptical"), str)
    has_draws = has_draws and allows_every_theta(as_theta_prior(priors.theta))
    return "drawn" if model_is_open and search_is_open and has_draws else "single"


def make_plan(
    family: FamilyChoice,
    data: KnownData,
    space: SizeSpace,
    criterion: Criterion,
    strategy: Strategy | Literal["auto", "exhaustive"],
    limits: Limits,
) -> Plan:
    """Decide which families are compared, and refuse what one of them alone cannot do."""
    limited = limits.margin > 0.5 or (limits.most is not None and space.n_tiers is None)
    if family == "auto" and "mallows" not in data.families:
        family = "luce"
    if family == "mallows" or (family == "auto" and "luce" not in data.families):
        if limited:
            raise InputError(
                "limits of the tiers need worths",
                [use(family="luce"), drop("max_tiers", "margin")],
            )
        return Plan(mallows=True, luce=False)
    possible = criterion == "posterior" and strategy == "auto" and not (space.top or space.bottom)
    if not possible and family == "luce":
        raise InputError(
            'the family "luce" is searched over all sizes at once by the criterion "posterior": '
            "leave out criterion, method, top and bottom"
        )
    if not possible and limited:
        raise InputError(
            "limits of the tiers need worths, which are searched over all sizes at once by the "
            "posterior",
            [drop("max_tiers", "margin"), drop("criterion", "method", "top", "bottom")],
        )
    if "luce" not in data.families:
        raise InputError(
            'counts do not hold the orderings that the family "luce" needs: pass the rankings that '
            "they were made from"
        )
    return Plan(mallows=family == "auto" and not limited, luce=possible)


def limits_of(space: SizeSpace, max_tiers: int | None, margin: float) -> Limits:
    """Check and collect what tiers with worths must be like."""
    if not 0.5 <= check_number("margin", margin) < 1.0:
        raise InputError(f"margin must be at least 0.5 and below 1; got {margin}")
    most = None if max_tiers is None else check_count("max_tiers", max_tiers)
    if space.n_tiers is not None:
        return Limits(space.n_tiers, space.n_tiers, margin)
    return Limits(1, most, margin)


def without_draws(
    found: Search, sources: list[AnswerSource], concentration: ComparedThetas
) -> dict[str, str]:
    """Return the distances that several thetas are not compared of, as tiers cannot be drawn.

    Where no tiers were found there is nothing that further thetas could be about.
    """
    if concentration != "drawn" or len(found.best.tiers) == 1:
        return {}
    return {
        f"{source.distance.name} with several thetas": _NOT_DRAWN
        for source in sources
        if not kinds_of(source, "drawn") and kinds_of(source, "auto")
    }


def not_compared(
    data: KnownData, distance: str | Distance, sources: list[AnswerSource], plan: Plan
) -> dict[str, str]:
    """Return the distances that would be compared if they could be, and why they are not."""
    if "mallows" not in data.families and data.only_distance is not None:
        return {data.only_distance: "it models neither draws nor the first place"}
    if not plan.mallows:
        return {}
    if not (isinstance(distance, str) and distance == "auto") or data.only_distance is not None:
        return {}
    compared = {source.distance.name for source in sources}
    return {name: "that would take too long" for name in COMPARED_DISTANCES if name not in compared}


@dataclass(frozen=True)
class Budget:
    """How long a search with a distance may take, in seconds, to be compared.

    Attributes
    ----------
    beside_others
        Where there are other models.
    alone
        Where there are none but distances that take as long.
    """

    beside_others: float
    alone: float

    @classmethod
    def of(cls, seconds: float | None) -> "Budget":
        """Take what the user says, or what is usual."""
        if seconds is None:
            return cls(MOST_SECONDS_OF_COMPARISON, MOST_SECONDS)
        most = check_number("seconds", seconds)
        if most < 0.0:
            raise InputError(f"seconds must be at least 0; got {seconds}")
        return cls(most, most)

    def among(self, n_families: int) -> float:
        """Return the time limit of a search if several kinds of models are compared."""
        return self.alone if n_families == 1 else self.beside_others


def worth_comparing(
    sources: list[AnswerSource],
    races: RaceSearch,
    depth: Depth,
    start: Sizes,
    concentration: ComparedThetas,
    budget: "Budget",
) -> tuple[list[AnswerSource], dict[str, str]]:
    """Leave out distances that take longer than some seconds, or are far behind, and say why.

    With the tiers that are best for worths a distance has a theta that is found at once. It may
    gain by other tiers, but not what it is behind where that is hundreds of log units; by several
    thetas it may.
    """
    kept, left_out = [], {}
    for source in sources:
        name = source.distance.name
        if not source.capabilities.searched_in_seconds:
            if _seconds_of_search(source, depth, start) <= budget.beside_others:
                kept.append(source)
            else:
                left_out[name] = "that would take too long"
            continue
        if concentration != "single" and source.capabilities.all_sizes == "weak orders":
            kept.append(source)
            continue
        behind = _behind_with_same_tiers(source, races)
        if behind > _FAR_BEHIND and len(source.items) > MOST_ITEMS_TOGETHER:
            left_out[name] = f"with the same tiers it is {behind:,.0f} behind"
        else:
            kept.append(source)
    return kept, left_out


def _behind_with_same_tiers(source: AnswerSource, races: RaceSearch) -> float:
    """Return how much less probable answers are under a distance, with the best tiers of races."""
    best = races.best.worths
    solution = solution_at(source, unproved_at(source, best.labels, "given"), FitSettings())
    return best.log_likelihood - solution.log_likelihood


def refuse_without_evidence(sources: list[AnswerSource]) -> None:
    """Raise if the evidence of some answers is not known."""
    for can in (source.capabilities for source in sources):
        if not can.evidence:
            raise InputError(
                f"the evidence of {can.answers} cannot be computed",
                [use(criterion=one) for one in can.criteria],
            )


def sources_of(
    data: KnownData, distance: str | Distance, depth: Depth, start: Sizes, budget: "Budget"
) -> list[AnswerSource]:
    """Return the answers under each distance to compare.

    Distances are left out if their search would take longer than some seconds, estimated from the
    cost of a step near the start, except for inversions if all sizes are searched at once.
    """
    if not (isinstance(distance, str) and distance == "auto") or data.only_distance is not None:
        return [source_of(data, distance)]
    every = [source_of(data, name) for name in COMPARED_DISTANCES]
    at_once = [source for source in every if source.capabilities.searched_in_seconds]
    most = budget.beside_others if at_once else budget.alone
    affordable = [
        source
        for source in every
        if source in at_once or _seconds_of_search(source, depth, start) <= most
    ]
    return affordable or every[:1]


def _seconds_of_search(source: AnswerSource, depth: Depth, start: Sizes) -> float:
    """Estimate how long a search takes: all sizes, at once or one by one, or a greedy search."""
    n_items = len(source.items)
    n_compared = float(min(2 ** (n_items - 1), _SIZES_OF_A_GREEDY_STEP * n_items))
    if not source.is_known(start):
        one_by_one = n_compared * seconds_of_answers(source, start, depth)
        return min(one_by_one, structural_em.seconds_of_search(source, start))
    strict = seconds_of((1,) * n_items, source.distance, depth)
    return n_compared * max(seconds_of(start, source.distance, depth), strict)
