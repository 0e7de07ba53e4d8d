"""How likely each place is to hold an item of each tier, and each pair of tiers to be in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.tiers import Sizes


@dataclass(frozen=True, eq=False)
class _TierProbabilities:
    """Probabilities in a table that can be used as their array."""

    probabilities: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]
    method: str

    def __getitem__(self, index: Any) -> Any:
        """Return probabilities by row and column, counted from 0."""
        return self.probabilities[index]

    def __array__(
        self,
        dtype: npt.DTypeLike | None = None,
        copy: bool | None = None,  # noqa: FBT001 - numpy calls it so
    ) -> npt.NDArray[Any]:
        """Return the probabilities, for numpy."""
        return np.array(self.probabilities, dtype=dtype, copy=copy)

    @property
    def exact(self) -> bool:
        """Whether there is no Monte Carlo error in them."""
        return self.method == "exact"


class RankTierProbabilities(_TierProbabilities):
    """How likely each place is to hold an item of each tier.

    It can be used as the array of its probabilities: ``found[place, tier]``, ``np.asarray(found)``.

    Attributes
    ----------
    probabilities
        ``probabilities[place, tier]``, both counted from 0; rows sum to 1.
    standard_errors
        Their Monte Carlo errors; all 0 where the probabilities are exact.
    method
        "exact" or "monte-carlo".
    """


class PairTierProbabilities(_TierProbabilities):
    """How likely an item of one tier is to be ranked before one of another.

    It can be used as the array of its probabilities: ``found[tier, other]``, ``np.asarray(found)``.

    Attributes
    ----------
    probabilities
        ``probabilities[tier, other]``, both counted from 0; one half within a tier.
    standard_errors
        Their Monte Carlo errors; all 0 where the probabilities are exact.
    method
        "exact" or "monte-carlo".
    """


def from_expected_table(table: npt.NDArray[np.float64], blocks: Sizes) -> RankTierProbabilities:
    """Exact probabilities from the expected number of items of each tier in each block."""
    probabilities = np.repeat(table / np.array(blocks)[:, None], blocks, axis=0)
    return RankTierProbabilities(probabilities, np.zeros_like(probabilities), "exact")


def from_sequences(
    sequences: npt.NDArray[np.int64], blocks: Sizes, n_tiers: int
) -> RankTierProbabilities:
    """Estimated probabilities from the tiers, place by place, of sampled orderings."""
    block_sizes = np.array(blocks, dtype=np.int64)
    starts = np.cumsum(block_sizes) - block_sizes
    means, errors = [], []
    for tier in range(n_tiers):
        # Places of a block are alike: their average is a better estimate than each alone.
        shares = np.add.reduceat(sequences == tier, starts, axis=1, dtype=np.int64) / block_sizes
        means.append(shares.mean(axis=0))
        errors.append(shares.std(axis=0, ddof=1) / len(sequences) ** 0.5)
    return RankTierProbabilities(
        np.repeat(np.transpose(means), blocks, axis=0),
        np.repeat(np.transpose(errors), blocks, axis=0),
        "monte-carlo",
    )


def pairs_from_sequences(sequences: npt.NDArray[np.int64], sizes: Sizes) -> PairTierProbabilities:
    """Estimate probabilities from the tiers, place by place, of sampled orderings."""
    n_tiers = len(sizes)
    means, errors = np.full((n_tiers, n_tiers), 0.5), np.zeros((n_tiers, n_tiers))
    for worse in range(n_tiers):
        is_worse = sequences == worse
        n_later = sizes[worse] - np.cumsum(is_worse, axis=1)
        for better in range(worse):
            before = ((sequences == better) * n_later).sum(axis=1)
            shares = before / (sizes[better] * sizes[worse])
            means[better, worse] = shares.mean()
            means[worse, better] = 1.0 - means[better, worse]
            errors[better, worse] = shares.std(ddof=1) / len(shares) ** 0.5
            errors[worse, better] = errors[better, worse]
    return PairTierProbabilities(means, errors, "monte-carlo")
