"""Tiers of battles, searched once; and again in battles that are drawn with replacement."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.tasks import run_tasks
from tierwise.answers.likelihood import source_of
from tierwise.luce.search import Limits
from tierwise.model.priors import log_prior_of_sizes
from tierwise.searching.all_sizes import best_tiers_of_battles
from tierwise.searching.luce import search_races

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise._util.tasks import Progress
    from tierwise.data.battles import Battles
    from tierwise.fitting.result import Family
    from tierwise.model.priors import SizesPrior

_REPLICATES_PER_TASK = 10


def resampled_labels(
    data: Battles,
    family: Family,
    prior_sizes: SizesPrior,
    seeds: Sequence[np.random.SeedSequence],
    workers: int | None,
    progress: Progress,
) -> NDArray[np.int64]:
    """Return the tiers, counted from 1, of battles that are drawn again, one row per seed."""
    found = run_tasks(
        _search_replicates,
        [
            (data, family, prior_sizes, seeds[start : start + _REPLICATES_PER_TASK])
            for start in range(0, len(seeds), _REPLICATES_PER_TASK)
        ],
        description="bootstrap",
        workers=workers,
        progress=progress,
    )
    return np.concatenate(found) + 1


def _search_replicates(
    data: Battles,
    family: Family,
    prior_sizes: SizesPrior,
    seeds: Sequence[np.random.SeedSequence],
) -> NDArray[np.int64]:
    rngs = [np.random.default_rng(seed) for seed in seeds]
    return np.array(
        [searched_labels(data.resampled(rng), family, prior_sizes, rng) for rng in rngs]
    )


def searched_labels(
    battles: Battles, family: Family, prior_sizes: SizesPrior, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Search the tiers of battles once, and return them counted from 0.

    Parameters
    ----------
    battles
        The battles.
    family, prior_sizes
        The family of models, and the prior of sizes.
    rng
        Generator.
    """
    if family == "luce":
        prior = partial(log_prior_of_sizes, prior_sizes)
        return np.asarray(search_races(battles, prior, Limits()).best.labels)
    source = source_of(battles, None)
    return np.asarray(best_tiers_of_battles(source, rng, prior_sizes, starts=1)[0])
