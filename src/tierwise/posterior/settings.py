"""What `sample_posterior` was asked for, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from tierwise.errors import InputError
from tierwise.model.priors import Beta, Gamma, SizesPrior, ThetaPrior
from tierwise.posterior.exchange import Auxiliary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.tiers.sizes import Sizes

PosteriorMethod: TypeAlias = Literal["auto", "exact", "mcmc"]
ThetaUpdate: TypeAlias = Literal["exact", "integrated", "exchange"]
PosteriorLikelihood: TypeAlias = Literal["exact", "pseudo"]
CompletionsMethod: TypeAlias = Literal["auto", "reinsert", "refill"]

_LEAST_WARMUP = 500


@dataclass(frozen=True)
class Settings:
    """Everything that `sample_posterior` takes besides the data and the place to work."""

    sizes: Sizes | None
    distance: str
    chains: int
    draws: int
    warmup: int | None
    thin: int
    method: PosteriorMethod
    theta_update: ThetaUpdate
    auxiliary: Auxiliary
    auxiliary_steps: int
    likelihood: PosteriorLikelihood
    completions: CompletionsMethod
    prior_theta: ThetaPrior | Callable[[Any], Any]
    prior_sizes: SizesPrior
    prior_mistakes: Beta

    def __post_init__(self) -> None:
        for name, least in (("chains", 1), ("draws", 1), ("thin", 1), ("auxiliary_steps", 1)):
            _check_count(name, getattr(self, name), least)
        if self.warmup is not None:
            _check_count("warmup", self.warmup, 0)
        _check_choice("method", self.method, get_args(PosteriorMethod))
        _check_choice("theta_update", self.theta_update, get_args(ThetaUpdate))
        _check_choice("auxiliary", self.auxiliary, get_args(Auxiliary))
        _check_choice("likelihood", self.likelihood, get_args(PosteriorLikelihood))
        _check_choice("completions", self.completions, get_args(CompletionsMethod))
        if self.method == "exact" and self.needs_chain:
            raise InputError(
                'method="exact" draws theta and tiers together from the exact posterior: leave '
                "theta_update and likelihood as they are, or use method='mcmc'"
            )
        if self.sizes is None and self.needs_chain and self.theta_update != "integrated":
            raise InputError(
                'the exchange algorithm and likelihood="pseudo" are for given sizes: give sizes'
            )

    @property
    def needs_chain(self) -> bool:
        """Whether something was asked for that only a chain does."""
        return self.theta_update != "exact" or self.likelihood != "exact"

    @property
    def default_warmup(self) -> int:
        """Iterations before the first draw, where the user leaves it open."""
        return max(_LEAST_WARMUP, self.draws // 2) if self.warmup is None else self.warmup

    def plain(self) -> dict[str, Any]:
        """Return the settings as text and numbers, for people and files."""
        names = ("distance", "chains", "draws", "warmup", "thin", "theta_update", "likelihood")
        plain = {name: getattr(self, name) for name in names}
        plain["prior_theta"] = _name(self.prior_theta)
        plain["prior_sizes"] = _name(self.prior_sizes)
        if self.theta_update == "exchange":
            plain["auxiliary"] = self.auxiliary
            plain["auxiliary_steps"] = self.auxiliary_steps
        return plain


def _check_count(name: str, value: object, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more; got {value!r}")


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        choices = ", ".join(f'"{choice}"' for choice in known)
        raise InputError(f"{name} must be one of {choices}; got {value!r}")


def _name(prior: object) -> str:
    if isinstance(prior, str):
        return prior
    if isinstance(prior, Gamma):
        return f"Gamma({prior.shape:g}, {prior.rate:g})"
    return getattr(prior, "__name__", type(prior).__name__)
