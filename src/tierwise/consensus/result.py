"""What a consensus method found, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_ALTERNATIVES = 10


@dataclass(frozen=True, eq=False)
class Consensus:
    """The best tiers that were found for given sizes.

    Attributes
    ----------
    labels
        Tier of each item, counted from 0.
    total
        Total distance of the data from these tiers.
    method
        Which method found them: "assignment", "subsets", "milp" or "annealing".
    optimal
        Whether it is proved that no tiers of these sizes have a smaller total.
    bound
        No tiers of these sizes have a total below this; equals ``total`` when proved.
    alternatives
        Labels of other tiers with the same total that were found, at most ten.
    n_optima
        How many tiers have the least total, where that is known exactly.

    Examples
    --------
    >>> import numpy as np
    >>> found = Consensus(
    ...     labels=np.array([0, 1]), total=100.0, method="milp", optimal=False, bound=98.0
    ... )
    >>> found.gap
    0.02
    """

    labels: npt.NDArray[np.int64]
    total: float
    method: str
    optimal: bool
    bound: float
    alternatives: tuple[npt.NDArray[np.int64], ...] = ()
    n_optima: int | None = None

    @property
    def gap(self) -> float:
        """How far the total may be above the least possible, as a share of the total."""
        return 0.0 if self.total == self.bound else (self.total - self.bound) / abs(self.total)
