"""Smooth functions of theta as Chebyshev series, from their values at a few thetas.

The series is in ``theta / (1 + theta)``, so that an infinite theta is a point like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.chebyshev import evaluate_series

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_MOST_NODES = 1024
_LAST_COEFFICIENTS = 6


class ThetaSeries:
    """A function of theta between two thetas, of which the upper one may be infinite.

    Parameters
    ----------
    function
        Gives the values at many thetas.
    low, high
        The least and the largest theta.
    first_degree, last_degree
        The degree is doubled until the last coefficients are negligible, or it is large enough.
    tolerance
        What is negligible, relative to the largest coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> series = ThetaSeries(lambda thetas: np.exp(-thetas), 0.0, np.inf)
    >>> series(np.array([0.5, 2.0]))
    array([0.60653066, 0.13533528])
    """

    def __init__(
        self,
        function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        low: float,
        high: float,
        *,
        first_degree: int = 64,
        last_degree: int = _MOST_NODES,
        tolerance: float = 1e-15,
    ) -> None:
        self._low, self._high = 1.0 / (1.0 + high), 1.0 / (1.0 + low)
        degree = first_degree
        while True:
            self._coefficients = self._fit(function, degree)
            size = np.abs(self._coefficients)
            settled = size[-_LAST_COEFFICIENTS:].max() <= tolerance * max(size.max(), 1e-300)
            if settled or degree >= last_degree:
                break
            degree *= 2

    def __call__(self, thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at many thetas."""
        share = (1.0 / (1.0 + thetas) - self._low) / (self._high - self._low)
        return evaluate_series(self._coefficients, 1.0 - 2.0 * np.clip(share, 0.0, 1.0))

    def _fit(
        self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]], degree: int
    ) -> NDArray[np.float64]:
        from scipy.fft import dct

        share = (1.0 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2.0
        shrunk = self._low + share * (self._high - self._low)
        # The largest theta comes first.
        thetas = np.full(degree + 1, np.inf)
        np.divide(1.0 - shrunk, shrunk, out=thetas, where=shrunk > 0.0)
        coefficients: NDArray[np.float64] = dct(function(thetas), type=1) / degree
        coefficients[[0, -1]] /= 2.0
        return coefficients
