"""A number that says how it was found and how far off it may be."""

from __future__ import annotations


class Estimate(float):
    """A number with its standard error and the method that gave it.

    It is a float and computes like one; what is computed from it is a plain float.

    Parameters
    ----------
    value
        The number.
    standard_error
        Standard deviation of the Monte Carlo error; 0 where the number is exact.
    method
        How it was found.

    Examples
    --------
    >>> Estimate(10.4, method="recursion")
    10.4 (exact, recursion)
    >>> noisy = Estimate(43.62, standard_error=0.03, method="path")
    >>> noisy
    43.62 +- 0.03 (path)
    >>> noisy.exact
    False
    >>> noisy + 1
    44.62
    """

    __slots__ = ("method", "standard_error")

    standard_error: float
    method: str

    def __new__(cls, value: float, *, standard_error: float = 0.0, method: str) -> Estimate:
        """Make a float and remember where it came from."""
        made = super().__new__(cls, value)
        made.standard_error = float(standard_error)
        made.method = method
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, float | str]]:
        """Say how to make it again, so that it can be copied and pickled."""
        return (float(self),), {"standard_error": self.standard_error, "method": self.method}

    @property
    def exact(self) -> bool:
        """Whether there is no Monte Carlo error in it."""
        return self.standard_error == 0.0

    def __repr__(self) -> str:
        if self.exact:
            return f"{float(self)!r} (exact, {self.method})"
        return f"{float(self):.10g} +- {self.standard_error:.2g} ({self.method})"
