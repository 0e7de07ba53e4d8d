"""Maximum likelihood for battles: tiers of given sizes by exchanges, theta by a scan; bootstrap.

Every battle is a comparison of its own, so the likelihood is a closed form in the table of wins.
Where judges decide several battles each it is a composite likelihood (Varin, Reid and Firth 2011),
and is called that.

References
----------
C. Varin, N. Reid and D. Firth (2011). An overview of composite likelihood methods. Statistica
Sinica 21, 5-42.
"""

from __future__ import annotations

from math import lgamma, log
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from tierwise._util.tasks import run_tasks
from tierwise.errors import InputError
from tierwise.fitting.agreement import agreement_of_counts
from tierwise.fitting.result import Fit, Reference
from tierwise.fitting.solution import named_tiers
from tierwise.inversions.comparisons import (
    best_tiers_of_sizes,
    estimate_theta_of_wins,
    log_likelihood_at_best,
)
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tierwise._util.provenance import Provenance
    from tierwise._util.tasks import Progress
    from tierwise.data.battles import Battles
    from tierwise.distances.base import Distance
    from tierwise.tiers.sizes import Sizes

Resampling: TypeAlias = Literal["auto", "battle", "judge"]
"""What is drawn anew: battles, or judges with all that they decided."""

_REPLICATES_PER_TASK = 25


def check_distance_of_battles(distance: str | Distance | None) -> None:
    """Refuse distances under which battles have no closed form."""
    if distance is None:
        return
    name = distance if isinstance(distance, str) else distance.name
    if name not in ("auto", "inversions"):
        raise InputError(
            f'battles are fitted with distance="inversions", not "{name}": leave distance out, or '
            "give the answers of each judge as Preferences"
        )


def fit_battles(
    data: Battles,
    sizes: Sizes,
    level: float,
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Find tiers of given sizes, and theta, under which the battles are most probable."""
    labels = best_tiers_of_sizes(data.wins, sizes, rng)
    return fit_of_labels(data, labels, "exchanges", level, rng, provenance)


def fit_of_labels(
    data: Battles,
    labels: NDArray[np.int64],
    method: str,
    level: float,
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Make a fit of tiers that were found, beside the strict consensus and no tiers at all."""
    wins = data.wins
    n_items = len(data.items)
    sizes = tuple(np.bincount(labels).tolist())
    theta = estimate_theta_of_wins(wins, labels, level)
    log_likelihood = log_likelihood_at_best(wins, labels, theta.value)
    shares = agreement_of_counts(wins, labels)
    strict = best_tiers_of_sizes(wins, (1,) * n_items, rng)
    references = [] if max(sizes) == 1 else [_reference("strict consensus", data, strict)]
    references.append(_reference("no tiers", data, np.zeros(n_items, dtype=np.int64)))
    member = np.eye(len(sizes))[labels]
    between = member.T @ wins @ member
    return Fit(
        tiers=named_tiers(labels, data.items),
        sizes=sizes,
        theta=theta.value,
        theta_estimates=(theta,),
        distance="inversions",
        likelihood="composite" if data.composite else "independent",
        level=level,
        total_distance=float(np.tril(between, k=-1).sum()),
        log_likelihood=log_likelihood,
        log_likelihood_error=0.0,
        criterion=log_likelihood - log_number_of_tiers(sizes),
        agreement=shares.overall,
        agreement_by_tier=shares,
        n_rankings=data.n_battles,
        log_completions=data.n_battles * (lgamma(n_items + 1) - log(2)),
        method=method,
        partition_method="closed form",
        optimal=len(sizes) == 1,
        gap=0.0,
        alternatives=(),
        n_optima=None,
        references=tuple(references),
        provenance=provenance(),
        pairwise=True,
    )


def _reference(name: str, data: Battles, labels: NDArray[np.int64]) -> Reference:
    theta = estimate_theta_of_wins(data.wins, labels).value
    log_likelihood = log_likelihood_at_best(data.wins, labels, theta)
    tiers = named_tiers(labels, data.items)
    return Reference(
        name=name,
        tiers=tiers,
        theta=theta,
        log_likelihood=log_likelihood,
        log_likelihood_error=0.0,
        criterion=log_likelihood - log_number_of_tiers(tiers.sizes),
        optimal=len(tiers.sizes) == 1,
    )


def settle_resampling(data: Battles, by: Resampling) -> Literal["battle", "judge"]:
    """Draw judges where judges decide several battles each, unless the user says otherwise."""
    if by == "auto":
        return "judge" if data.composite else "battle"
    return by


def fit_resampled_battles(
    data: Battles,
    sizes: Sizes,
    by: Resampling,
    seeds: Sequence[np.random.SeedSequence],
    workers: int | None,
    progress: Progress,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Fit battles that are drawn anew, once for each seed: thetas, and the tier of each item."""
    how = settle_resampling(data, by)
    results = run_tasks(
        _fit_replicates,
        [
            (data, sizes, how, seeds[start : start + _REPLICATES_PER_TASK])
            for start in range(0, len(seeds), _REPLICATES_PER_TASK)
        ],
        description="bootstrap",
        workers=workers,
        progress=progress,
    )
    thetas, labels = (np.concatenate(parts) for parts in zip(*results, strict=True))
    return thetas, labels


def _fit_replicates(
    data: Battles,
    sizes: Sizes,
    by: Literal["battle", "judge"],
    seeds: Sequence[np.random.SeedSequence],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    thetas = np.empty(len(seeds))
    labels = np.empty((len(seeds), len(data.items)), dtype=np.int64)
    for replicate, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        wins = data.resampled(rng, by=by).wins
        labels[replicate] = best_tiers_of_sizes(wins, sizes, rng)
        thetas[replicate] = estimate_theta_of_wins(wins, labels[replicate]).value
    return thetas, labels
