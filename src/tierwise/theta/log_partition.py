"""The log partition function at many thetas at once."""

from math import inf

import numpy as np
from numpy.typing import NDArray

from tierwise.partition.base import PartitionFunction
from tierwise.theta.series import ThetaSeries

# Estimated values are no smoother than their error, and more of them add nothing.
_DEGREE_OF_ESTIMATES = 64


class LogPartition:
    """Log partition function of given sizes and distance as a series.

    It is smooth for all thetas, so that the series is good to the rounding error of its values.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.partition.choose import partition_function
    >>> log_psi = LogPartition(partition_function((1, 1, 1, 2, 3, 2)))
    >>> log_psi(np.array([0.25]))
    array([10.44563934])
    """

    def __init__(self, partition: PartitionFunction) -> None:
        def values(thetas: NDArray[np.float64]) -> NDArray[np.float64]:
            # From the smallest theta upwards, which is how estimates are made.
            upwards = [float(partition.log_value(theta)) for theta in thetas[::-1].tolist()]
            return np.array(upwards[::-1])

        degrees = {} if partition.exact else {"last_degree": _DEGREE_OF_ESTIMATES}
        self._series = ThetaSeries(values, 0.0, inf, **degrees)

    def __call__(self, thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at many thetas."""
        return self._series(thetas)
