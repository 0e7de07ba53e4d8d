"""Theta: what it may be, and the weights it gives."""

from __future__ import annotations

from math import inf, isnan
from typing import TYPE_CHECKING, Literal

import numpy as np

from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt


def check_theta(theta: float, *, infinite: Literal["allowed", "refused"]) -> float:
    """Return theta as a float, or say what is wrong with it."""
    try:
        value = float(theta)
    except (TypeError, ValueError):
        raise InputError(f"theta must be a number, 0 or more; got {theta!r}") from None
    if isnan(value) or value < 0 or (value == inf and infinite == "refused"):
        allowed = "0 or more" if infinite == "allowed" else "0 or more, and finite"
        raise InputError(f"theta must be {allowed}; got {theta!r}")
    return value


def decay_by_units(theta: float, unit: float, largest: int) -> npt.NDArray[np.float64]:
    """Return ``exp(-theta d)`` for distances ``d`` of 0, 1, ..., ``largest`` units."""
    decay: npt.NDArray[np.float64] = np.exp(-theta * unit * np.arange(largest + 1))
    return decay
