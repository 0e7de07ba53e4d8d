"""Everything that a report shows, computed once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import index
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tierwise._util.checks import RandomSource, check_choice, check_count, spawn_seeds
from tierwise._util.provenance import Provenance, Stopwatch
from tierwise._util.results import Result
from tierwise.checking.check import check_fit
from tierwise.consensus.subsets import subset_work
from tierwise.data.describe import describe
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, TierwiseWarning, drop, instead, use
from tierwise.fitting.bootstrap import bootstrap
from tierwise.fitting.fit import ConcentrationChoice, fit
from tierwise.fitting.neighbours import neighbour_agreement
from tierwise.groups.compare import compare_groups
from tierwise.groups.tree import group_tree
from tierwise.mixture.fit import fit_mixture, refuse_mistakes, refuse_single_pairs
from tierwise.model.priors import Priors
from tierwise.searching.search import search

if TYPE_CHECKING:
    from tierwise._util.tasks import Progress
    from tierwise.checking.result import FitCheck
    from tierwise.data.description import Description
    from tierwise.data.description_of_pairs import PairsDescription
    from tierwise.fitting.neighbours import NeighbourAgreement
    from tierwise.fitting.resampled import Bootstrap
    from tierwise.fitting.result import Fit
    from tierwise.groups.compare import GroupComparison
    from tierwise.groups.tree import GroupTree
    from tierwise.mixture.result import Mixture
    from tierwise.planning.stopping import Enough
    from tierwise.posterior.result import Posterior
    from tierwise.searching.compared import FamilyChoice
    from tierwise.searching.result import Search
    from tierwise.tiers import Sizes

# Replicates where none are requested: many if a fit is cheap, fewer if it takes a second, a handful
# if it takes ten, as fits do for which completions are drawn.
_MOST_REPLICATES = 200
_SOME_REPLICATES = 40
_FEWEST_REPLICATES = 10
_STEPS_OF_ALL_REPLICATES = 5e9
_DRAWN_STEPS_OF_ALL_REPLICATES = 250_000
_DRAWS = 1000
_FOLDS = 5

Uncertainty: TypeAlias = Literal["bootstrap", "posterior"]


@dataclass(frozen=True, eq=False)
class Analysis(Result):
    """The results of an analysis: tiers, how certain they are, and whether the model fits.

    Attributes
    ----------
    data, description
        The rankings, or pairwise answers.
    search
        The search for the sizes; None if they were given.
    fit
        The best tiers.
    sampled
        Many draws of tiers, from resampled rankings or from the posterior.
    check
        What the model expects compared with the rankings.
    groups
        Several groups of people, each with its own tiers; None if not requested.
    people
        Whether people differ by region, age and other columns, and the tree that splits them; None
        if not requested.
    concentration
        What was requested: "single", "tier", "place" or "auto"; None if nothing was, and the data
        chose the model. ``fit.concentration`` is the outcome.
    neighbours
        The probability that an item of each tier is ranked above one of the next; empty for a
        single tier.
    provenance
        Version, seed and time of the analysis.
    forecast
        How many more answers would settle the tiers; None if that takes too long to compute.
    """

    data: Rankings | Preferences
    description: Description | PairsDescription
    search: Search | None
    fit: Fit
    sampled: Bootstrap | Posterior
    check: FitCheck
    groups: Mixture | None
    people: tuple[GroupComparison, GroupTree] | None
    concentration: ConcentrationChoice | None
    neighbours: tuple[NeighbourAgreement, ...]
    provenance: Provenance
    forecast: Enough | None = None

    @property
    def shows_agreement(self) -> bool:
        """Whether the page has a section on where people agree."""
        differs = self.fit.concentration != "single"
        asked = self.concentration not in (None, "single")
        return (differs or asked) and bool(self.neighbours)

    @property
    def thetas_were_open(self) -> bool:
        """Whether the data decided the number of thetas."""
        return self.concentration in (None, "auto")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        return {
            "description": self.description.to_dict(),
            "search": None if self.search is None else self.search.to_dict(),
            "fit": self.fit.to_dict(),
            "sampled": self.sampled.to_dict(),
            "check": self.check.to_dict(),
            "groups": None if self.groups is None else self.groups.to_dict(),
            "people": None if self.people is None else [one.to_dict() for one in self.people],
            "concentration": self.concentration,
            "neighbours": [one.to_dict() for one in self.neighbours],
            "forecast": None if self.forecast is None else self.forecast.to_dict(),
            "provenance": self.provenance.to_dict(),
        }


def analyse(
    data: Rankings | Preferences,
    sizes: Iterable[int] | None,
    family: FamilyChoice,
    distance: str,
    concentration: ConcentrationChoice | None,
    uncertainty: Uncertainty | Literal["auto"],
    replicates: int | None,
    groups: int | Iterable[int] | None,
    by: str | Iterable[str] | None,
    cluster: str | None,
    workers: int | None,
    progress: Progress,
    rng: RandomSource,
) -> Analysis:
    """Compute everything that a report shows."""
    watch = Stopwatch()
    data = check_data(data, "report", Rankings, Preferences, weights="effective")
    check_choice("concentration", concentration, (*get_args(ConcentrationChoice), None))
    open_distance = isinstance(distance, str) and distance == "auto"
    if concentration is None and (sizes is not None or not open_distance):
        concentration = "single"
    check_choice("uncertainty", uncertainty, (*get_args(Uncertainty), "auto"))
    if uncertainty == "posterior" and concentration != "single" and sizes is not None:
        raise InputError(
            "with given sizes, the posterior has draws for one theta only",
            [
                use(uncertainty="bootstrap"),
                use(concentration="single"),
                instead("sample_posterior", "for one theta per tier with sizes that are drawn too"),
            ],
        )
    replicates = None if replicates is None else check_count("replicates", replicates, least=2)
    numbers = None
    if groups is not None:
        refuse_mistakes(data)
        refuse_single_pairs(data)
        numbers = _numbers_of_groups(groups)
    seeds = spawn_seeds(rng, 7)
    found = None
    if sizes is None:
        found = search(
            data,
            distance,
            family=family,
            concentration=concentration,
            workers=workers,
            progress=progress,
            rng=seeds[0],
        )
        best = found.best
    else:
        named = None if distance == "auto" else distance
        best = fit(
            data,
            sizes,
            named if family == "luce" else named or "kendall",
            family="luce" if family == "luce" else "mallows",
            concentration=concentration or "single",
            rng=seeds[1],
        )
    return Analysis(
        data=data,
        description=describe(data),
        search=found,
        fit=best,
        sampled=_sample(
            data,
            best,
            best.sizes if found is None else None,
            _settled(uncertainty, best, sizes_given=found is None, cluster=cluster),
            replicates,
            cluster,
            workers,
            progress,
            seeds[2],
        ),
        check=check_fit(data, best),
        groups=(
            None
            if numbers is None
            else _fit_groups(
                data,
                numbers,
                "search" if found is not None else best.sizes,
                best,
                workers,
                progress,
                seeds[4],
            )
        ),
        people=None if by is None else _compare_people(data, by, best, seeds[5], seeds[6]),
        concentration=concentration,
        neighbours=(
            neighbour_agreement(best) if len(best.sizes) > 1 and best.family == "mallows" else ()
        ),
        provenance=watch.provenance(rng),
    )


def _settled(
    uncertainty: Uncertainty | Literal["auto"],
    best: Fit,
    *,
    sizes_given: bool,
    cluster: str | None,
) -> Uncertainty:
    """Take draws from the posterior where there are any, and resampled answers elsewhere."""
    if uncertainty != "auto":
        return uncertainty
    several = best.concentration != "single"
    has_draws = not several or (best.distance == "inversions" and not sizes_given)
    has_draws = has_draws and best.concentration != "place"
    return "posterior" if has_draws and cluster is None else "bootstrap"


def _sample(
    data: Rankings | Preferences,
    best: Fit,
    sizes: Sizes | None,
    uncertainty: Uncertainty,
    replicates: int | None,
    cluster: str | None,
    workers: int | None,
    progress: Progress,
    seed: RandomSource,
) -> Bootstrap | Posterior:
    """Resample the rankings, or draw from the posterior, with open sizes unless they were given."""
    if uncertainty == "posterior" and cluster is not None:
        raise InputError(
            "clusters need resampling", [drop("cluster"), use(uncertainty="bootstrap")]
        )
    if replicates is None:
        replicates = _DRAWS
        if uncertainty == "bootstrap":
            replicates = _affordable_replicates(best, data.n_distinct)
    if uncertainty == "posterior":
        from tierwise.posterior.run import sample_posterior

        if best.concentration == "place":
            raise InputError(
                "tiers cannot be drawn with one theta per place",
                [use(uncertainty="bootstrap"), use(concentration="single")],
            )
        with warnings.catch_warnings():
            # The page says itself whether chains have settled.
            warnings.simplefilter("ignore", TierwiseWarning)
            return sample_posterior(
                data,
                None if best.family == "luce" else sizes,
                best.distance or None,
                family=best.family,
                concentration=best.concentration,
                priors=Priors(sizes="sceptical" if sizes is None else "uniform"),
                draws=replicates,
                workers=workers,
                progress=progress,
                rng=seed,
            )
    return bootstrap(
        data,
        best,
        replicates=replicates,
        cluster=cluster,
        workers=workers,
        progress=progress,
        rng=seed,
    )


def _compare_people(
    data: Rankings | Preferences, by: str | Iterable[str], best: Fit, *seeds: RandomSource
) -> tuple[GroupComparison, GroupTree]:
    """Ask whether people differ by what is known of them, by the family of the page."""
    rankings = check_data(data, "a comparison of groups", Rankings)
    columns = [by] if isinstance(by, str) else list(by)
    # Without tiers all families are the same: the one is taken whose evidence is exact.
    exact = len(best.sizes) == 1 and rankings.unranked != "anywhere"
    family = "mallows" if exact else best.family
    compared = compare_groups(rankings, columns, family=family, rng=seeds[0])
    return compared, group_tree(rankings, columns, family=family, rng=seeds[1])


def _affordable_replicates(best: Fit, n_distinct: int) -> int:
    """Return how many times the fit can be repeated in reasonable time, judged by its work."""
    if best.method.startswith("stochastic"):
        steps = n_distinct * sum(best.sizes) ** 2
        affordable = int(_DRAWN_STEPS_OF_ALL_REPLICATES / steps)
        return min(_SOME_REPLICATES, max(_FEWEST_REPLICATES, affordable))
    if not best.method.startswith("subsets"):
        return _MOST_REPLICATES if best.method == "assignment" else _SOME_REPLICATES
    affordable = int(_STEPS_OF_ALL_REPLICATES / subset_work(best.sizes).transitions)
    return min(_MOST_REPLICATES, max(_SOME_REPLICATES, affordable))


def _numbers_of_groups(groups: int | Iterable[int]) -> list[int]:
    """Return the numbers of groups to compare with one group."""
    try:
        numbers = [
            index(number) for number in (groups if isinstance(groups, Iterable) else [groups])
        ]
    except TypeError:
        raise InputError(
            f"groups must be whole numbers, such as 3 or [2, 3]; got {groups!r}"
        ) from None
    if min(numbers, default=0) < 1 or max(numbers) == 1:
        raise InputError(
            "groups must be 2 or more, to compare with one group, such as 3 or [2, 3]; got "
            f"{groups!r}"
        )
    return numbers


def _fit_groups(
    data: Rankings | Preferences,
    numbers: list[int],
    sizes: Sizes | Literal["search"],
    fitted: Fit,
    workers: int | None,
    progress: Progress,
    seed: RandomSource,
) -> Mixture:
    """Fit groups; if one number is requested, it is shown whether or not it is the best.

    They have the model of the best tiers; answers pair by pair have a distance in any case.
    """
    with_worths = fitted.family == "luce" and not data.pairwise

    def fit_numbers(n_groups: list[int], folds: int | None) -> Mixture:
        return fit_mixture(
            data,
            n_groups,
            sizes,
            "auto" if with_worths else fitted.distance or "kendall",
            family="luce" if with_worths else "mallows",
            folds=folds,
            workers=workers,
            progress=progress,
            rng=seed,
        )

    enough = data.n_rankings >= _FOLDS
    best = fit_numbers([1, *numbers], _FOLDS if enough else None)
    asked = set(numbers)
    if len(asked) > 1 or best.n_groups in asked:
        return best
    return replace(fit_numbers(numbers, None), comparison=best.comparison)
