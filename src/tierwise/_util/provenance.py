"""What made a result: kept with it, so that it can be made again."""

from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from tierwise._util.random import RandomSource
from tierwise._version import __version__


@dataclass(frozen=True)
class Provenance:
    """Version, seed and time of a computation.

    Attributes
    ----------
    seed
        The seed that was given as ``rng``; None where there was none, or it was a generator.
    seconds
        How long it took.
    version
        The version of tierwise.
    """

    seed: int | None
    seconds: float
    version: str = __version__

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Stopwatch:
    """Measures from its making to `provenance`."""

    started: float = field(default_factory=perf_counter)

    def provenance(self, rng: RandomSource) -> Provenance:
        """Say what made the result, now that it is there."""
        seed = rng if isinstance(rng, int) else None
        return Provenance(seed=seed, seconds=perf_counter() - self.started)
