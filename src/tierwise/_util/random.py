"""Randomness: one keyword, ``rng``, understood the same way everywhere."""

from typing import TypeAlias

import numpy as np

RandomSource: TypeAlias = "int | np.random.SeedSequence | np.random.Generator | None"


def as_generator(rng: RandomSource) -> np.random.Generator:
    """Turn whatever the user gave as ``rng`` into a generator.

    Parameters
    ----------
    rng
        A seed, a ``SeedSequence``, a ``Generator`` (used as it is) or None (fresh entropy).
    """
    return np.random.default_rng(rng)


def spawn_seeds(rng: RandomSource, count: int) -> list[np.random.SeedSequence]:
    """Make independent seeds, one per task: so answers do not depend on who runs which task."""
    if isinstance(rng, np.random.SeedSequence):
        # A copy: spawning from the user's own object would change it, and the next answer with it.
        return np.random.SeedSequence(rng.entropy, spawn_key=rng.spawn_key).spawn(count)
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(int(rng.integers(2**63))).spawn(count)
    return np.random.SeedSequence(rng).spawn(count)
