"""Searches of tiers of strength: one worth per tier, all sizes at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

from tierwise.answers.races import races_of
from tierwise.errors import InputError, counted, use
from tierwise.fitting.luce import evidence_of_found, fit_of_found
from tierwise.fitting.result import agreement_of_counts
from tierwise.fitting.solve import named_tiers
from tierwise.luce.search import Limits, TierSearch, search_tiers
from tierwise.searching.result import Candidate, Search
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise._util.provenance import Provenance
    from tierwise.data.kinds import KnownData
    from tierwise.luce.search import Found, LogPrior
    from tierwise.searching.merging import Merging
    from tierwise.tiers import Sizes

# Level of the intervals of worths.
_LEVEL = 0.95


def search_races(data: KnownData, log_prior: LogPrior, limits: Limits) -> RaceSearch:
    """Search tiers of all sizes with one worth per tier.

    Parameters
    ----------
    data
        Answers of any kind but counts.
    log_prior
        Log prior probability of sizes.
    limits
        Which tiers are allowed.
    """
    search = TierSearch(races_of(data), log_prior, limits)  # type: ignore[arg-type]
    return RaceSearch(data, search, tuple(search_tiers(search)))


@dataclass(frozen=True, eq=False)
class RaceSearch:
    """Tiers with worths that were met, the best first, before they are compared with others.

    Attributes
    ----------
    data
        The answers.
    search
        What tiers were searched by.
    ranked
        All tiers that were met.
    """

    data: KnownData
    search: TierSearch
    ranked: tuple[Found, ...]

    @property
    def best(self) -> Found:
        """The best tiers that are allowed."""
        limits = self.search.limits
        best = next((one for one in self.ranked if limits.allow(one.worths)), None)
        if best is None:
            fewest = counted(limits.fewest, "tier")
            raise InputError(
                f"no {fewest} of these items differ so much that the better one wins with a "
                f"probability above {limits.margin:g}",
                [use("for a smaller margin", margin=0.5), "do not fix the number of tiers"],
            )
        return best

    def without_tiers(self) -> RaceSearch:
        """Return the same search as if only a single tier were allowed."""
        return replace(self, search=replace(self.search, limits=Limits(1, 1)))

    def conclude(
        self,
        merging: Merging,
        provenance: Callable[[], Provenance],
    ) -> Search:
        """Make the result of a search.

        Parameters
        ----------
        merging
            What the search of other families starts from, which the result shows.
        provenance
            Tells version, seed and time when all is done.
        """
        data, search, best, ranked = self.data, self.search, self.best, self.ranked
        races, limits = search.races, search.limits
        method = "local search over tiers of all sizes"
        # Compared with other families, and with other tiers, without Laplace's error.
        of_best = evidence_of_found(races, best)
        fitted = fit_of_found(data, races, best, of_best, search, method, _LEVEL, provenance)
        by_sizes: dict[Sizes, Found] = {}
        for one in ranked:
            by_sizes.setdefault(one.sizes, one)

        def candidate(one: Found) -> Candidate:
            evidence, error, score = one.worths.log_evidence, 0.0, one.score
            if one is best:
                evidence, error = float(of_best), of_best.standard_error
                score = fitted.log_posterior
            return Candidate(
                sizes=one.sizes,
                tiers=named_tiers(one.labels, races.items),
                score=score,
                criterion=one.worths.log_likelihood - log_number_of_tiers(one.sizes),
                criterion_error=0.0,
                agreement=agreement_of_counts(data.pair_counts, one.labels).overall,
                theta=nan,
                log_evidence=evidence,
                log_evidence_error=error,
                probability=nan,
                optimal=False,
                allowed=limits.allow(one.worths),
            )

        board = sorted(map(candidate, by_sizes.values()), key=lambda one: -one.score)
        # The head is what was found best: importance sampling may move it by less than its error.
        head = next(one for one in board if one.tiers == fitted.tiers)
        board = [head, *(one for one in board if one is not head)]
        return Search(
            best=fitted,
            leaderboard=tuple(board),
            criterion="posterior",
            method="all sizes",
            exhaustive=False,
            path=(),
            start=merging,
            doubtful=(),
            interrupted=False,
            provenance=provenance(),
        )
