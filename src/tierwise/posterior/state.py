"""Where a chain stands, and how it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, nan
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tierwise.errors import InputError
from tierwise.model.priors import log_prior_of_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.posterior.target import Target
    from tierwise.tiers.sizes import Sizes

_MOST_ATTEMPTS = 10_000


class State(NamedTuple):
    """A point of the chain: tiers and theta, and what the moves need to go on."""

    labels: NDArray[np.int64]
    """The tier of each item, counted from 0."""
    sizes: Sizes
    """Number of items in each tier."""
    total: float
    """Total distance of the rankings from the tiers."""
    theta: float
    log_posterior: float = nan
    """Log posterior probability of the tiers (and of theta, where that is not integrated out)."""
    iteration: int = 0
    """Number of iterations made; adaptation ends with the warm-up."""
    log_step: float = -1.0
    """Log of the scale on which log theta is proposed, where it is."""
    accepted_tiers: float = nan
    """Share of the switches of labels that were accepted in the last iteration."""
    accepted_theta: float = nan
    """Whether the last theta proposed was accepted."""
    accepted_sizes: float = nan
    """Share of the changes of sizes that were accepted in the last iteration."""
    mistake_probability: float = nan
    """Probability of a mistake, where answers may be mistaken."""
    completions: NDArray[np.int32] | None = None
    """Place of each item in the completed answer of each assessor, where completions are drawn."""


Move: TypeAlias = Callable[[State, np.random.Generator], State]
"""A step of the chain that leaves the posterior as it is."""


def random_state(target: Target, sizes: Sizes | None, rng: np.random.Generator) -> State:
    """Tiers that know nothing of the rankings, so that chains start far from each other."""
    if sizes is None:
        sizes = _random_sizes(target, rng)
    problem = target.at(sizes).problem
    labels = rng.permutation(problem.sorted_labels)
    total = problem.total(labels)
    # A theta of the right size, for moves that cannot draw one afresh.
    mean_distance = max(total / float(target.data.n_rankings), 1e-3)
    return State(labels, sizes, total, theta=float(rng.exponential()) / mean_distance)


def _random_sizes(target: Target, rng: np.random.Generator) -> Sizes:
    """Any sizes that the prior allows."""
    if isinstance(target.prior_sizes, Mapping):
        listed = [sizes for sizes, share in target.prior_sizes.items() if share > 0]
        return listed[int(rng.integers(len(listed)))]
    for _ in range(_MOST_ATTEMPTS):
        cuts = np.flatnonzero(rng.random(target.n_items - 1) < 0.5) + 1
        sizes = tuple(np.diff([0, *cuts.tolist(), target.n_items]).tolist())
        if log_prior_of_sizes(target.prior_sizes, sizes) > -inf:
            return sizes
    raise InputError(
        f"prior_sizes is -inf for all of {_MOST_ATTEMPTS} random size vectors: it must allow more"
    )
