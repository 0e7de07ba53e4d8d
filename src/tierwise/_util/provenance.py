"""What made a result: kept with it, so that it can be made again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import nan
from time import perf_counter
from typing import Any, Self

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

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Make it of plain values; what a later version may have written besides is ignored.

        Examples
        --------
        >>> Provenance.from_dict({"seed": 1, "seconds": 2.0, "version": "9", "machine": "m"})
        Provenance(seed=1, seconds=2.0, version='9')
        """
        known = {one.name: plain[one.name] for one in fields(cls) if one.name in plain}
        return cls(**{"seed": None, "seconds": nan, **known})

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
