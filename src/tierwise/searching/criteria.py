"""What makes one size vector better than another.

==================  ==========================================================================
``"posterior"``     the log posterior probability, up to a constant, of the best tiers of these
                    sizes: theta is averaged over, and half of the prior probability belongs to no
                    tiers at all, so that noise is seldom taken for tiers. The default.
``"likelihood"``    the paper's I: the log-likelihood at the best tiers and theta, less the log of
                    the number of tiers of these sizes.
``"evidence"``      the log probability of the rankings given the sizes only, tiers and theta being
                    averaged over; with a prior over sizes it gives posterior probabilities.
``"agreement"``     the paper's D: the share of pairs of different tiers that the rankings order as
                    the tiers do. Alone it drifts to degenerate tiers, such as all items but one
                    against the last: it is for narrowing a search only.
``"both"``          D to narrow, I to decide: of the size vectors with equally many tiers, those
                    that D likes best are compared by I.
==================  ==========================================================================
"""

from dataclasses import dataclass
from math import ceil, inf, isnan, log
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tierwise._util.checks import check_choice
from tierwise.errors import InputError
from tierwise.model.priors import SizesPrior, log_prior_of_sizes
from tierwise.searching.evaluate import Depth
from tierwise.tiers.sizes import Sizes, log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tierwise.searching.evaluate import Evaluation

Criterion: TypeAlias = Literal["posterior", "likelihood", "evidence", "agreement", "both"]


@dataclass(frozen=True)
class Judge:
    """Tells how good size vectors are, by a criterion.

    Attributes
    ----------
    criterion
        Name of the criterion.
    prior_sizes
        Prior of size vectors, for "posterior" and "evidence".
    n_families
        Number of kinds of models that are compared. They share the prior probability that there
        are tiers.
    shortlist
        For "both": the share of size vectors, among those with equally many tiers, that are
        compared by I.
    """

    criterion: Criterion
    prior_sizes: SizesPrior = "uniform"
    shortlist: float = 0.25
    n_families: int = 1

    def __post_init__(self) -> None:
        check_choice("criterion", self.criterion, get_args(Criterion))
        if not 0 < self.shortlist <= 1:
            raise InputError(
                f"shortlist must be a share, above 0 and up to 1; got {self.shortlist:g}"
            )

    @property
    def depth(self) -> Depth:
        """What must be computed for a size vector to be judged."""
        return "likelihood" if self.criterion == "both" else self.criterion

    def score(self, evaluation: "Evaluation") -> float:
        """Return how good a size vector is, more being better; minus infinity if unknown."""
        if self.criterion == "agreement":
            value = evaluation.agreement
        elif self.criterion == "evidence":
            value = evaluation.log_evidence + self._log_prior(evaluation.sizes)
        elif self.criterion == "posterior":
            value = evaluation.log_integrated - log_number_of_tiers(evaluation.sizes)
            value += self._log_prior(evaluation.sizes)
        else:
            value = evaluation.criterion
        return -inf if isnan(value) else value

    def _log_prior(self, sizes: Sizes) -> float:
        """Log prior of sizes, up to a constant that is the same for all kinds of models."""
        shared = log(self.n_families) if len(sizes) > 1 else 0.0
        return log_prior_of_sizes(self.prior_sizes, sizes) - shared

    def error(self, evaluation: "Evaluation") -> float:
        """Return the standard error of that."""
        if self.criterion == "evidence":
            return evaluation.log_evidence_error
        return evaluation.log_likelihood_error

    def narrow(self, evaluations: "Iterable[Evaluation]") -> list[Sizes]:
        """Keep the size vectors with the best agreement, for each number of tiers."""
        by_number: dict[int, list[Evaluation]] = {}
        for evaluation in evaluations:
            by_number.setdefault(len(evaluation.sizes), []).append(evaluation)
        kept: list[Sizes] = []
        for group in by_number.values():
            ranked = sorted(group, key=lambda one: (one.agreement, one.sizes), reverse=True)
            kept += [one.sizes for one in ranked[: ceil(self.shortlist * len(ranked))]]
        return kept
