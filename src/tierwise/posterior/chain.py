"""One chain from its start to its last draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tierwise._util.progress import Progress, track
from tierwise.posterior.state import State, random_state

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.posterior.checkpoint import Checkpoint
    from tierwise.posterior.state import Move
    from tierwise.posterior.target import Target
    from tierwise.tiers.sizes import Sizes

# Parts in which a chain is run: between them it tells how far it is, and may be saved.
_PARTS = 100


@dataclass(frozen=True)
class Schedule:
    """How many iterations a chain makes, and which it keeps."""

    draws: int
    warmup: int
    thin: int

    @property
    def iterations(self) -> int:
        """Number of iterations altogether."""
        return self.warmup + self.draws * self.thin

    def parts(self, done: int) -> list[NDArray[np.bool_]]:
        """Tell of each iteration still to be made whether it is kept, part by part.

        The parts do not depend on what is done: a chain can stop and go on between any two of them.
        """
        made = np.arange(1, self.iterations + 1)
        kept = (made > self.warmup) & ((made - self.warmup) % self.thin == 0)
        length = -(-self.iterations // _PARTS)
        starts = range(0, self.iterations, length)
        return [kept[start : start + length] for start in starts if start >= done]


RECORDED = (
    "total",
    "theta",
    "mistake_probability",
    "log_posterior",
    "accepted_tiers",
    "accepted_theta",
    "accepted_sizes",
)


class Trace:
    """Draws of one chain.

    Attributes
    ----------
    labels
        ``labels[draw, item]``, tiers counted from 0.
    numbers
        ``numbers[name][draw]``; NaN where nothing was written down.
    length
        Number of draws there are so far.
    """

    def __init__(self, n_draws: int, n_items: int) -> None:
        self.labels = np.zeros((n_draws, n_items), dtype=np.int64)
        self.numbers = {name: np.full(n_draws, np.nan) for name in RECORDED}
        self.length = 0

    def record(self, state: State) -> None:
        """Write down one draw."""
        self.labels[self.length] = state.labels
        for name in RECORDED:
            self.numbers[name][self.length] = getattr(state, name)
        self.length += 1

    def extend(self, labels: NDArray[np.int64], **numbers: NDArray[np.float64]) -> None:
        """Write down several draws."""
        rows = slice(self.length, self.length + len(labels))
        self.labels[rows] = labels
        for name, values in numbers.items():
            self.numbers[name][rows] = values
        self.length += len(labels)


Sampler: TypeAlias = Callable[[State, "NDArray[np.bool_]", Trace, np.random.Generator], State]
"""Makes an iteration for each entry of an array, and records the draws where it is true."""


@dataclass(frozen=True)
class Moves:
    """A sampler whose iterations are a list of moves."""

    moves: tuple[Move, ...]

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make every move once an iteration."""
        for keep in kept.tolist():
            for move in self.moves:
                state = move(state, rng)
            state = state._replace(iteration=state.iteration + 1)
            if keep:
                trace.record(state)
        return state


def run_chain(
    number: int,
    target: Target,
    sizes: Sizes | None,
    sampler: Sampler,
    schedule: Schedule,
    seed: np.random.SeedSequence,
    checkpoint: Checkpoint | None,
    progress: Progress,
) -> Trace:
    """Run a chain, from its checkpoint if there is one."""
    rng = np.random.default_rng(seed)
    state = random_state(target, sizes, rng)
    trace = Trace(schedule.draws, target.n_items)
    if checkpoint is not None:
        state = checkpoint.resume(number, state, trace, rng)
    parts = schedule.parts(state.iteration)
    stand = (state, trace.length, rng.bit_generator.state)
    try:
        for part in track(parts, f"chain {number}", len(parts), progress):
            state = sampler(state, part, trace, rng)
            stand = (state, trace.length, rng.bit_generator.state)
            if checkpoint is not None and checkpoint.is_due(number):
                checkpoint.save(number, trace, *stand)
    finally:
        # Also when the user interrupts: the chain goes on from the end of its last whole part.
        if checkpoint is not None:
            checkpoint.save(number, trace, *stand)
    return trace
