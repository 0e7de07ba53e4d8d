"""DrawnTiers: draws of tiers, theta and worths as arrays, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import Estimate
from tierwise.data.weights import EffectiveNumber
from tierwise.errors import InputError
from tierwise.posterior.storage import SCHEMA, StoredDraws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.tiers import Sizes


@dataclass(frozen=True, eq=False, repr=False)
class DrawnTiers(StoredDraws):
    """Draws of tiers with theta or worths, each kind as an array with one row per draw."""

    schema = SCHEMA

    @property
    def sizes(self) -> Sizes | None:
        """The given sizes; None if sizes were drawn too."""
        sizes = self._facts["sizes"]
        return None if sizes is None else tuple(sizes)

    @property
    def family(self) -> str:
        """The family of models: "mallows", or "luce" for one worth per tier."""
        return str(self._facts.get("family", "mallows"))

    @property
    def distance(self) -> str:
        """The name of the distance; empty if tiers have worths."""
        return str(self._facts["distance"])

    @property
    def method(self) -> str:
        """How the draws were made: "exact" (independently) or "mcmc"."""
        return str(self._facts["method"])

    @property
    def n_rankings(self) -> float:
        """The number of rankings; an `EffectiveNumber` if they have survey weights."""
        number = float(self._facts["n_rankings"])
        n_answers = self._facts.get("n_answers")
        return (
            number
            if n_answers is None
            else EffectiveNumber(
                number, n_answers, self._facts.get("n_judges"), self._facts.get("unit")
            )
        )

    @property
    def caution(self) -> str:
        """Groups of items that were never compared with each other; empty if there are none."""
        return str(self._facts.get("parts", ""))

    @property
    def concentration(self) -> str:
        """Whether there is one theta ("single") or one for each tier but the last ("tier")."""
        return str(self._facts.get("concentration", "single"))

    @property
    def prior_sizes(self) -> str | None:
        """Name of the prior of sizes."""
        return self._facts.get("prior_sizes")

    @property
    def compared(self) -> dict[str, float] | None:
        """How far each model is behind the best, best first, if models were compared."""
        compared = self._facts.get("compared")
        return None if compared is None else {name: float(behind) for name, behind in compared}

    @property
    def choice(self) -> str | None:
        """A sentence on which model was chosen, if that was left open."""
        return self._facts.get("choice")

    @property
    def log_evidence(self) -> float | None:
        """Log probability of the rankings, if the draws are exact.

        It is for the given sizes; with open sizes, it is summed over all sizes with their prior
        probabilities. None if the draws come from a chain.
        """
        return self._facts.get("log_evidence")

    @property
    def single_tier_log_odds(self) -> Estimate | None:
        """Log odds of a single tier against several, if they were estimated separately.

        This is the case for the "sceptical" prior with "inversions" and a chain. If a single tier
        is practically impossible, it is an upper bound, as `method` says.
        """
        value = self._facts.get("single_tier_log_odds")
        if value is None:
            return None
        error = float(self._facts["single_tier_log_odds_error"])
        at_most = self._facts.get("single_tier_log_odds_at_most", False)
        method = "bound from above" if at_most else "bridge sampling"
        return Estimate(value, standard_error=error, method=method)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """``labels[draw, item]`` of all chains, concatenated; 1 is the best tier."""
        tiers = self.data["posterior"]["tier"].to_numpy()
        return tiers.reshape(-1, tiers.shape[2]).astype(np.int64)

    @cached_property
    def thetas(self) -> NDArray[np.float64]:
        """Theta of each draw of all chains, concatenated; a row per draw if there are several."""
        if self.family == "luce":
            raise InputError("this posterior has worths instead of theta: use log_worths")
        thetas: NDArray[np.float64] = self.data["posterior"]["theta"].to_numpy()
        return thetas.reshape(-1, *thetas.shape[2:])

    @cached_property
    def log_worths(self) -> NDArray[np.float64]:
        """``log_worths[draw, item]`` of all chains, concatenated; the mean over items is 0.

        Only if tiers have worths.
        """
        if self.family != "luce":
            raise InputError(
                'this posterior has theta instead of worths: sample with the family "luce"'
            )
        logs: NDArray[np.float64] = self.data["posterior"]["log_worth"].to_numpy()
        return logs.reshape(-1, logs.shape[2])

    @cached_property
    def first_factors(self) -> NDArray[np.float64] | None:
        """Factor of the item shown first in each draw; None if it is not estimated."""
        return self._effect("first_factor")

    @cached_property
    def draw_factors(self) -> NDArray[np.float64] | None:
        """Davidson's factor of drawn battles in each draw; None if it is not estimated."""
        return self._effect("draw_factor")

    def _effect(self, name: str) -> NDArray[np.float64] | None:
        draws = self.data["posterior"]
        return np.asarray(draws[name].to_numpy().ravel()) if name in draws else None

    @cached_property
    def item_thetas(self) -> NDArray[np.float64]:
        """``[draw, item]``: theta between the item's tier and all worse ones; NaN in the last tier.

        It shows how much people agree about the item; near 0, they rank it anywhere.
        """
        if self.concentration == "single":
            last = self.labels == self.labels.max(axis=1, keepdims=True)
            return np.where(last, np.nan, self.thetas[:, None])
        # Behind the last line there is one of NaN, for items in the last tier of strict tiers.
        padded = np.pad(self.thetas, ((0, 0), (0, 1)), constant_values=np.nan)
        return np.take_along_axis(padded, self.labels - 1, axis=1)

    @cached_property
    def mistake_probabilities(self) -> NDArray[np.float64] | None:
        """Probability of a mistake in each draw; None if answers are assumed to be correct."""
        draws = self.data["posterior"]
        if "mistake_probability" not in draws:
            return None
        probabilities: NDArray[np.float64] = draws["mistake_probability"].to_numpy().ravel()
        return probabilities

    @property
    def likelihood(self) -> str:
        """The likelihood: "exact", or for battles "independent" or "composite" (see `Fit`)."""
        return str(self._facts.get("likelihood", "exact"))

    @property
    def pairwise(self) -> bool:
        """Whether answers are pairwise."""
        return bool(self._facts.get("pairwise", False))

    @property
    def completions(self) -> str | None:
        """How incomplete answers were completed, if there are any."""
        return self._facts.get("completions")

    def __len__(self) -> int:
        """Return the number of draws."""
        return len(self.labels)
