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
        """The sizes that were given; None where they were left open."""
        sizes = self._facts["sizes"]
        return None if sizes is None else tuple(sizes)

    @property
    def family(self) -> str:
        """The family of models: "mallows", or "luce" for one worth per tier."""
        return str(self._facts.get("family", "mallows"))

    @property
    def distance(self) -> str:
        """Name of the distance; empty where tiers have worths."""
        return str(self._facts["distance"])

    @property
    def method(self) -> str:
        """How the draws were made: "exact" (independently) or "mcmc"."""
        return str(self._facts["method"])

    @property
    def n_rankings(self) -> float:
        """Number of rankings; an `EffectiveNumber` where they have weights of a survey."""
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
        """Which parts of items never met, so that nothing is known across them; empty if none."""
        return str(self._facts.get("parts", ""))

    @property
    def concentration(self) -> str:
        """Whether there is one theta, "single", or one for each tier but the last, "tier"."""
        return str(self._facts.get("concentration", "single"))

    @property
    def prior_sizes(self) -> str | None:
        """Name of the prior of sizes."""
        return self._facts.get("prior_sizes")

    @property
    def compared(self) -> dict[str, float] | None:
        """How far each model is behind the best, where models were compared, best first."""
        compared = self._facts.get("compared")
        return None if compared is None else {name: float(behind) for name, behind in compared}

    @property
    def choice(self) -> str | None:
        """Which model was chosen, in a sentence, where that was left open."""
        return self._facts.get("choice")

    @property
    def log_evidence(self) -> float | None:
        """Log probability of the rankings, where the draws are exact.

        Given the sizes; with open sizes, summed over all sizes by their prior probabilities. None
        where the draws come from a chain.
        """
        return self._facts.get("log_evidence")

    @property
    def single_tier_log_odds(self) -> Estimate | None:
        """Log odds of a single tier against several, where a chain had them estimated apart.

        That is so for the "sceptical" prior with "inversions", beyond what is drawn exactly.
        Where a single tier is out of the question they are a bound from above, as `method` says.
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
        """``labels[draw, item]`` of all chains one after the other, 1 being the best tier."""
        tiers = self.data["posterior"]["tier"].to_numpy()
        return tiers.reshape(-1, tiers.shape[2]).astype(np.int64)

    @cached_property
    def thetas(self) -> NDArray[np.float64]:
        """Theta of each draw, of all chains one after the other; a row of them per tier."""
        if self.family == "luce":
            raise InputError("this posterior has worths instead of theta: use log_worths")
        thetas: NDArray[np.float64] = self.data["posterior"]["theta"].to_numpy()
        return thetas.reshape(-1, *thetas.shape[2:])

    @cached_property
    def log_worths(self) -> NDArray[np.float64]:
        """``log_worths[draw, item]``, of all chains one after the other; the mean over items is 0.

        Only where tiers have worths.
        """
        if self.family != "luce":
            raise InputError(
                'this posterior has theta instead of worths: draw it with the family "luce"'
            )
        logs: NDArray[np.float64] = self.data["posterior"]["log_worth"].to_numpy()
        return logs.reshape(-1, logs.shape[2])

    @cached_property
    def first_factors(self) -> NDArray[np.float64] | None:
        """Factor of the item shown first, in each draw; None where it is not estimated."""
        return self._effect("first_factor")

    @cached_property
    def draw_factors(self) -> NDArray[np.float64] | None:
        """Davidson's factor of draws, in each draw; None where these are not estimated."""
        return self._effect("draw_factor")

    def _effect(self, name: str) -> NDArray[np.float64] | None:
        draws = self.data["posterior"]
        return np.asarray(draws[name].to_numpy().ravel()) if name in draws else None

    @cached_property
    def item_thetas(self) -> NDArray[np.float64]:
        """``[draw, item]``: theta between the item's tier and all worse ones; NaN in the last tier.

        It says how far people agree about the item: near 0, they place it anywhere.
        """
        if self.concentration == "single":
            last = self.labels == self.labels.max(axis=1, keepdims=True)
            return np.where(last, np.nan, self.thetas[:, None])
        # Behind the last line there is one of NaN, for items in the last tier of strict tiers.
        padded = np.pad(self.thetas, ((0, 0), (0, 1)), constant_values=np.nan)
        return np.take_along_axis(padded, self.labels - 1, axis=1)

    @cached_property
    def mistake_probabilities(self) -> NDArray[np.float64] | None:
        """Probability of a mistake in each draw; None where answers are taken to be right."""
        draws = self.data["posterior"]
        if "mistake_probability" not in draws:
            return None
        probabilities: NDArray[np.float64] = draws["mistake_probability"].to_numpy().ravel()
        return probabilities

    @property
    def pairwise(self) -> bool:
        """Whether answers were given pair by pair."""
        return bool(self._facts.get("pairwise", False))

    @property
    def completions(self) -> str | None:
        """What was done about the completions of answers that leave something open, if any do."""
        return self._facts.get("completions")

    def __len__(self) -> int:
        """Return the number of draws."""
        return len(self.labels)
