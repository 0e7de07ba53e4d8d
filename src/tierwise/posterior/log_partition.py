"""The log partition function at many thetas at once."""

from math import inf

import numpy as np
from numpy.typing import NDArray

from tierwise.partition import PartitionFunction
from tierwise.posterior.series import ThetaSeries

# Estimated values are no smoother than their error, and more of them add nothing.
_DEGREE_OF_ESTIMATES = 64


class LogPartition:
    """Log partition function of given sizes and distance as a series.

    It is smooth for all thetas, so that the series is good to the rounding error of its values.

    Attributes
    ----------
    exact
        Whether there is no Monte Carlo error in it.
    standard_error
        The largest standard error of the values it was made from.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.partition import partition_function
    >>> log_psi = LogPartition(partition_function((1, 1, 1, 2, 3, 2)))
    >>> log_psi(np.array([0.25])).round(10)
    array([10.4456393426])
    """

    def __init__(self, partition: PartitionFunction) -> None:
        self.exact = partition.exact
        self.standard_error = 0.0

        def values(thetas: NDArray[np.float64]) -> NDArray[np.float64]:
            # From the smallest theta upwards, which is how estimates are made.
            estimates = [partition.log_value(theta) for theta in thetas[::-1].tolist()]
            errors = [estimate.standard_error for estimate in estimates]
            self.standard_error = max(self.standard_error, *errors)
            return np.array(estimates[::-1], dtype=np.float64)

        degrees = {} if partition.exact else {"last_degree": _DEGREE_OF_ESTIMATES}
        self._series = ThetaSeries(values, 0.0, inf, **degrees)

    def __call__(self, thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at many thetas."""
        return self._series(thetas)
