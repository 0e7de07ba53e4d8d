"""Priors of theta, sizes, mistakes and shares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, expm1, inf, lgamma, log, log1p
from numbers import Real
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_group, check_number
from tierwise.errors import InputError, quoted
from tierwise.tiers import Sizes, check_sizes

_Floats = NDArray[np.float64]

# A mistake probability of 0 could not be left again: no mistake would be possible.
_LEAST_PROBABILITY = 1e-12

# Where a prior of theta that is known up to a constant is integrated.
_LOG_THETAS = np.linspace(log(1e-12), log(1e3), 20_001)

# What each further tier adds to the log prior of sizes.
LOG_SHARES = {"uniform": 0.0, "penalised": -1.0}
NAMED_PRIORS = (*LOG_SHARES, "sceptical")

SizesPrior: TypeAlias = (
    Literal["uniform", "penalised", "sceptical"] | Mapping[Sizes, float] | Callable[[Sizes], float]
)
"""The name of a prior of sizes, probabilities by sizes, or a function that gives their log, both
up to a constant."""


class ThetaPrior(Protocol):
    """Any object with a log density of theta, up to a constant."""

    def log_density(self, theta: _Floats) -> _Floats:
        """Log of the density; ``-inf`` where it is zero."""


@dataclass(frozen=True)
class Gamma:
    """Gamma distribution of theta.

    Parameters
    ----------
    shape, rate
        The density is proportional to ``theta ** (shape - 1) * exp(-rate * theta)``.

    Examples
    --------
    >>> import numpy as np
    >>> Gamma(2, 2).log_density(np.array([1.0]))
    array([-0.61370564])
    >>> Gamma(2, 2).quantile(np.array([0.5])).round(4)
    array([0.8392])
    """

    shape: float = 2.0
    rate: float = 2.0

    def __post_init__(self) -> None:
        if not (_is_positive(self.shape) and _is_positive(self.rate)):
            raise InputError(
                "a Gamma prior of theta needs a positive shape and a positive rate, such as "
                "(2, 2); "
                f"got ({self.shape!r}, {self.rate!r})"
            )

    def log_density(self, theta: _Floats) -> _Floats:
        """Log of the density at each theta."""
        constant = self.shape * log(self.rate) - lgamma(self.shape)
        return constant + (self.shape - 1) * np.log(theta) - self.rate * theta

    def quantile(self, shares: _Floats) -> _Floats:
        """Quantiles of theta."""
        from scipy.special import gammaincinv

        thetas: _Floats = gammaincinv(self.shape, shares) / self.rate
        return thetas

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a theta."""
        return float(self.quantile(rng.random(1))[0])


@dataclass(frozen=True)
class Beta:
    """Beta distribution of the probability of a mistake, cut off at one half.

    Parameters
    ----------
    mistakes, right
        The density is proportional to ``p ** (mistakes - 1) * (1 - p) ** (right - 1)``.

    Examples
    --------
    >>> import numpy as np
    >>> Beta(1, 3).log_density(np.array([0.1])).round(4)
    array([1.0214])
    >>> Beta(1, 3).given(n_mistakes=10, n_answers=100)
    Beta(mistakes=11, right=93)
    """

    mistakes: float = 1.0
    right: float = 3.0

    def __post_init__(self) -> None:
        if not (_is_positive(self.mistakes) and _is_positive(self.right)):
            raise InputError(
                "a Beta prior of the mistake probability needs two positive parameters, such as "
                f"(1, 3); got ({self.mistakes!r}, {self.right!r})"
            )

    def log_density(self, probability: _Floats | float) -> _Floats:
        """Log of the density at each probability."""
        from scipy.special import betainc, betaln

        wrong, right = self.mistakes, self.right
        log_constant = float(betaln(wrong, right) + np.log(betainc(wrong, right, 0.5)))
        logs: _Floats = (wrong - 1) * np.log(probability) + (right - 1) * np.log1p(
            -np.asarray(probability)
        )
        return logs - log_constant

    def quantile(self, shares: _Floats) -> _Floats:
        """Quantiles of the probability."""
        from scipy.special import betainc, betaincinv

        of_all = shares * betainc(self.mistakes, self.right, 0.5)
        # Far more mistakes than not leave nothing below one half that a float can tell from it.
        found = np.where(of_all > 0.0, betaincinv(self.mistakes, self.right, of_all), 0.5)
        return np.clip(found, _LEAST_PROBABILITY, 0.5)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a probability."""
        return float(self.quantile(rng.random(1))[0])

    def given(self, n_mistakes: float, n_answers: float) -> "Beta":
        """Return the posterior given the number of mistaken answers."""
        return Beta(self.mistakes + n_mistakes, self.right + n_answers - n_mistakes)


def _is_positive(value: object) -> bool:
    return isinstance(value, Real) and 0 < float(value) < inf


@dataclass(frozen=True)
class _FunctionPrior:
    """A prior that the user gave as a function of theta, made to integrate to 1."""

    function: Callable[[Any], Any]

    def log_density(self, theta: _Floats) -> _Floats:
        return self.values(theta) - self._log_integral

    @cached_property
    def _log_integral(self) -> float:
        """Log of the integral over the thetas that are looked at first; a prior may have none."""
        heights = self.values(np.exp(_LOG_THETAS)) + _LOG_THETAS
        return float(np.logaddexp.reduce(heights)) + log(_LOG_THETAS[1] - _LOG_THETAS[0])

    def values(self, theta: _Floats) -> _Floats:
        """Return what the function gives."""
        try:
            values = np.asarray(self.function(theta), dtype=np.float64)
        except (TypeError, ValueError):  # it takes one number at a time, as those of math do
            values = np.empty(0)
        if values.shape != theta.shape:
            values = np.array([float(self.function(one)) for one in theta.tolist()])
        return values


def as_theta_prior(prior: ThetaPrior | Callable[[Any], Any]) -> ThetaPrior:
    """Return a prior whose log density takes an array, or raise an error.

    Examples
    --------
    >>> import numpy as np
    >>> prior = as_theta_prior(lambda theta: -3 * theta)  # up to a constant, log(3)
    >>> prior.log_density(np.array([1.0, 2.0])).round(4)
    array([-1.9014, -4.9014])
    """
    if hasattr(prior, "log_density"):
        made: ThetaPrior = prior
    elif callable(prior):
        made = _FunctionPrior(prior)
    else:
        raise InputError(
            "the prior of theta must be a distribution such as Gamma(2, 2), or a function that "
            f"returns the log density at theta; got {quoted(prior)}"
        )
    given = made.values if isinstance(made, _FunctionPrior) else made.log_density
    values = given(np.geomspace(1e-9, 1e3, 400))
    if np.isnan(values).any() or (values == inf).any():
        raise InputError(
            "the prior of theta is not a density: its logarithm is NaN or infinite at some theta "
            "between 0 and 1000; use -inf only where theta is impossible"
        )
    if (values == -inf).all():
        raise InputError(
            "the prior of theta is not a density, because its logarithm is -inf everywhere: "
            "use a prior that allows some theta"
        )
    return made


def allows_every_theta(prior: ThetaPrior) -> bool:
    """Whether a prior allows every theta, from very small to very large.

    Examples
    --------
    >>> allows_every_theta(Gamma(1.0, 1.0))
    True
    >>> allows_every_theta(as_theta_prior(lambda theta: np.where(theta < 2.0, 0.0, -np.inf)))
    False
    """
    return bool(np.isfinite(prior.log_density(np.exp(_LOG_THETAS)) + _LOG_THETAS).all())


def log_prior_of_sizes(prior: SizesPrior, sizes: Sizes) -> float:
    """Log prior probability of sizes, up to a constant.

    "uniform" gives all sizes the same probability; "penalised" makes sizes ``e`` times less
    probable with every further tier; "sceptical" does the same, but gives half of all probability
    to no tiers. Sizes that a mapping does not list are impossible.

    Examples
    --------
    >>> log_prior_of_sizes("penalised", (2, 1, 1))
    -3.0
    >>> log_prior_of_sizes("sceptical", (2,)), log_prior_of_sizes("sceptical", (1, 1))
    (0.0, 0.0)
    >>> log_prior_of_sizes({(2, 2): 3, (1, 3): 1}, (1, 3))
    0.0
    >>> log_prior_of_sizes({(2, 2): 3, (1, 3): 1}, (2, 1, 1))
    -inf
    """
    if isinstance(prior, Mapping):
        return _log_prior_of_listed(prior, sizes)
    if isinstance(prior, str) and prior in LOG_SHARES:
        return LOG_SHARES[prior] * len(sizes)
    if isinstance(prior, str) and prior == "sceptical":
        return _sceptical(sizes)
    if not callable(prior):
        raise InputError(
            'the prior of sizes must be "uniform", "penalised", "sceptical", probabilities such as '
            "{(2, 2): 0.7, (1, 3): 0.3}, or a function that returns the log prior probability of "
            "sizes; "
            f"got {quoted(prior)}"
        )
    value = float(prior(sizes))
    if np.isnan(value) or value == inf:
        raise InputError(
            f"the prior of sizes gives {value} for sizes {sizes}: it must be a log probability, "
            "or -inf for impossible sizes"
        )
    return value


@dataclass(frozen=True)
class Priors:
    """Prior distributions, for all functions that use priors.

    Each function uses only some of them; its documentation says which.

    Parameters
    ----------
    theta
        Prior of theta: a distribution such as ``Gamma(2, 2)``, the default, or a function that
        returns the log density at theta, up to a constant.
    sizes
        Prior of the sizes: "uniform"; "penalised", which makes sizes ``e`` times less probable with
        every further tier; "sceptical", which is the same with half of all probability for a single
        tier; probabilities by sizes, such as ``{(2, 2): 0.7, (1, 3): 0.3}``, with others
        impossible; or a function that returns the log prior probability of sizes, up to a constant.
        Tiers of the same sizes are equally probable. None means "sceptical", or "uniform" if
        `search` compares by evidence.
    mistakes
        Prior of the probability that an answer is mistaken, for preferences with ``cycles="keep"``.
    shares
        Parameter of the symmetric Dirichlet prior of the shares of groups.

    Examples
    --------
    >>> import tierwise as tw
    >>> priors = tw.Priors(theta=tw.Gamma(3, 1), sizes="penalised")
    >>> tw.search(tw.load_political_goals(), priors=priors).best.tiers
    Tiers('order ~ prices > say > speech')
    """

    theta: ThetaPrior | Callable[[Any], Any] = Gamma(2.0, 2.0)
    sizes: SizesPrior | None = None
    mistakes: Beta = Beta(1.0, 3.0)
    shares: float = 1.0

    def __post_init__(self) -> None:
        as_theta_prior(self.theta)  # refuses what is no prior
        if self.sizes is not None and not (isinstance(self.sizes, Mapping) or callable(self.sizes)):
            log_prior_of_sizes(self.sizes, (1,))  # refuses what is no prior
        if not isinstance(self.mistakes, Beta):
            raise InputError(
                "the prior of mistakes must be a Beta distribution, such as Beta(1, 3); "
                f"got {quoted(self.mistakes)}"
            )
        check_number("shares", self.shares, above=0)

    def sizes_or(self, default: SizesPrior) -> SizesPrior:
        """Return the prior of sizes, or the default."""
        return default if self.sizes is None else self.sizes


DEFAULT_PRIORS = Priors()


def check_priors(priors: Priors) -> Priors:
    """Return priors, or raise an error."""
    return check_group("priors", priors, Priors, "Priors(theta=Gamma(2, 2))")


def _sceptical(sizes: Sizes) -> float:
    """Penalise tiers so that all of them together are as probable as no tiers."""
    if len(sizes) == 1:
        return 0.0
    return -len(sizes) - log_total_of_several(sum(sizes))


def log_total_of_sizes(name: str, n_items: int) -> float:
    """Log of the sum over all sizes of what a prior gives them: "uniform" or "penalised".

    Examples
    --------
    >>> round(log_total_of_sizes("uniform", 3), 4)  # log 4
    1.3863
    """
    share = LOG_SHARES[name]
    return (n_items - 1) * log1p(exp(share)) + share


def log_total_of_several(n_items: int) -> float:
    """Log of the sum over all sizes of two tiers or more of exp(-number of tiers)."""
    log_all = (n_items - 1) * log1p(exp(-1.0))
    # Beyond some 2,000 items the number overflows, and a single tier less does not show.
    return (log(expm1(log_all)) if log_all < 700.0 else log_all) - 1.0


def _log_prior_of_listed(prior: Mapping[Sizes, float], sizes: Sizes) -> float:
    """Log of what a mapping says about sizes, once all that it says makes sense."""
    for listed, probability in prior.items():
        if not isinstance(listed, tuple):
            raise InputError(
                f"the prior of sizes lists {listed!r}: its keys must be sizes, such as (1, 2, 2)"
            )
        try:
            check_sizes(listed, sum(sizes))
        except InputError as error:
            raise InputError(f"the prior of sizes: {error}") from None
        if not isinstance(probability, Real) or not 0 <= probability < inf:
            raise InputError(
                f"the prior of sizes gives {probability!r} for sizes {listed}: it must be a "
                "probability (they need not sum to 1)"
            )
    if not any(prior.values()):
        raise InputError(
            "the prior of sizes makes all sizes impossible: give some a positive probability"
        )
    probability = float(prior.get(sizes, 0.0))
    return log(probability) if probability else -inf
