"""A Markov chain: its state, an iteration, the loop, and its checkpoints on disk.

Chains are saved to disk while they run, so a run that was stopped can resume.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isnan, nan
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import numpy as np

from tierwise._util.checks import RandomSource, spawn_seeds
from tierwise._util.provenance import digest
from tierwise._util.resources import whole_file
from tierwise._util.saved import open_arrays
from tierwise._util.tasks import Progress, track
from tierwise.errors import InputError, quoted
from tierwise.model.priors import log_prior_of_sizes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from tierwise.posterior.target import Target
    from tierwise.tiers import Sizes

FORMAT = 2
# How long a chain runs, at least, before it is written again.
SECONDS_BETWEEN = 5.0
_RUN_FILE = "run.json"


@dataclass(frozen=True)
class Checkpoint:
    """A folder with one file for the run and one for each chain; files are written atomically.

    Attributes
    ----------
    folder
        Where the files are.
    """

    folder: Path
    _written: dict[int, float] = field(default_factory=dict)

    def seeds(
        self, identity: Mapping[str, Any], rng: RandomSource, count: int
    ) -> list[np.random.SeedSequence]:
        """Return the seeds of the chains: those of the run to be resumed, if there is one.

        Parameters
        ----------
        identity
            The arguments and a fingerprint of the data, as plain values by name; only an identical
            run can resume a run.
        rng
            What the user gave.
        count
            Number of chains.
        """
        self._make_folder()
        fresh = spawn_seeds(rng, count)
        path = self.folder / _RUN_FILE
        wanted = json.loads(json.dumps(identity))
        if not path.exists():
            run = {"format": FORMAT, "run": wanted, "seeds": [_plain(seed) for seed in fresh]}
            with whole_file(path) as partial:
                partial.write_text(json.dumps(run, indent=1))
            return fresh
        known, seeds = self._read_run(path)
        differences = _differences(known, wanted)
        seeded = isinstance(rng, int | np.integer | np.random.SeedSequence)
        if seeded and list(map(_plain, seeds)) != list(map(_plain, fresh)):
            differences.append("another seed")
        if differences:
            raise InputError(
                f"{self.folder} holds another run, with {' and '.join(differences)}: choose "
                "another checkpoint folder, or delete this one"
            )
        if len(seeds) != count:
            self._refuse_damaged(path)
        return seeds

    def _make_folder(self) -> None:
        try:
            if self.folder.is_file():
                raise InputError(f"checkpoint {self.folder} is a file: choose a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be created ({error.strerror}): choose another checkpoint "
                "folder"
            ) from None

    def _read_run(self, path: Path) -> tuple[dict[str, Any], list[np.random.SeedSequence]]:
        try:
            run: dict[str, Any] = json.loads(path.read_text())
            version = int(run["format"])
        except (ValueError, KeyError, TypeError, RecursionError):
            self._refuse_damaged(path)
        if version != FORMAT:
            age = "newer" if version > FORMAT else "older"
            raise InputError(
                f"{path} was written by a {age} version of tierwise (format {version}): install "
                "that version, or choose another checkpoint folder"
            )
        try:
            seeds = [
                np.random.SeedSequence(seed["entropy"], spawn_key=tuple(seed["spawn_key"]))
                for seed in run["seeds"]
            ]
            return dict(run["run"]), seeds
        except (ValueError, KeyError, TypeError, OverflowError):
            self._refuse_damaged(path)

    def _refuse_damaged(self, path: Path) -> NoReturn:
        raise InputError(f"{path} is damaged: delete {self.folder} and start again") from None

    def _path(self, number: int) -> Path:
        return self.folder / f"chain-{number}.npz"

    def is_due(self, number: int) -> bool:
        """Whether a chain has not been written for some time."""
        now = monotonic()
        return now - self._written.setdefault(number, now) >= SECONDS_BETWEEN

    def save(
        self, number: int, trace: Trace, state: State, n_draws: int, random: Mapping[str, Any]
    ) -> None:
        """Write a chain: its draws, and where it stood and its random numbers after so many."""
        self._written[number] = monotonic()
        numbers = {name: getattr(state, name) for name in _NUMBERS_OF_STATE}
        stand = json.dumps({"draws": n_draws, "random": random, **numbers})
        arrays = {"state_labels": state.labels, "labels": trace.labels, **trace.numbers}
        if state.completions is not None:
            arrays["completions"] = state.completions
        if state.log_worths is not None:
            arrays["log_worths"] = state.log_worths
        texts = {"stand": np.array(stand), "checksum": np.array(_checksum(stand, arrays))}
        with whole_file(self._path(number)) as partial, partial.open("wb") as file:
            np.savez(file, **texts, **arrays)  # type: ignore[arg-type]

    def resume(self, number: int, start: State, trace: Trace, rng: np.random.Generator) -> State:
        """Return the state a chain was left in, having put its draws and random numbers in place.

        The start is returned where the chain has not been written yet.
        """
        path = self._path(number)
        if not path.exists():
            return start
        n_items = len(start.labels)
        shapes: dict[str, tuple[int | None, ...]] = {
            "state_labels": (n_items,),
            "labels": trace.labels.shape,
            **{name: values.shape for name, values in trace.numbers.items()},
        }
        try:
            with open_arrays(path, "draws") as saved:
                further = {"completions": (None, n_items), "log_worths": (n_items,)}
                shapes |= {name: further[name] for name in saved.names if name in further}
                arrays = {name: saved.array(name, shape, "if") for name, shape in shapes.items()}
                numbers = json.loads(_verified(saved.text("stand"), saved.text("checksum"), arrays))
                kept = {name: numbers[name] for name in _NUMBERS_OF_STATE}
                labels, completions = arrays.pop("state_labels"), arrays.pop("completions", None)
                log_worths = arrays.pop("log_worths", None)
                sizes = tuple(np.bincount(labels).tolist())
                ordered = None if completions is None else np.sort(completions, axis=1)
                if 0 in sizes or not (ordered is None or (ordered == np.arange(n_items)).all()):
                    raise ValueError("no chain was ever in that state")
                trace.restore(arrays.pop("labels"), arrays, int(numbers["draws"]))
                rng.bit_generator.state = numbers["random"]
        except InputError:
            raise InputError(f"{path} is damaged: delete it to restart this chain") from None
        return start._replace(
            labels=labels, sizes=sizes, completions=completions, log_worths=log_worths, **kept
        )


def _verified(stand: str, checksum: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the text that says where a chain stood, if all that was kept is whole."""
    if checksum != _checksum(stand, arrays):
        raise ValueError("the checksum is another")
    return stand


def _checksum(stand: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a text that differs whenever anything that is kept of a chain does."""
    parts: list[object] = [stand]
    for name in sorted(arrays):
        parts += [name, str(arrays[name].dtype), arrays[name].shape, arrays[name].tobytes()]
    return digest(*parts)


def _differences(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Name what is different about two runs."""
    found = []
    for name in dict.fromkeys((*wanted, *known)):
        before, now = known.get(name), wanted.get(name)
        if before == now:
            continue
        if name == "data":
            found.append("other data")
        elif name.startswith("values of "):
            found.append(f"another {name.removeprefix('values of ')}")
        else:
            found.append(f"{name} {quoted(before)} instead of {quoted(now)}")
    return found


def _plain(seed: np.random.SeedSequence) -> dict[str, Any]:
    return {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}


# Parts in which a chain is run: between them it tells how far it is, and may be saved.
_PARTS = 100
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
    log_worths: NDArray[np.float64] | None = None
    """Log worth of each item, where tiers have worths."""
    first_factor: float = nan
    """Factor of the item shown first, where that is estimated."""
    draw_factor: float = nan
    """Davidson's factor of draws, if these are a separate outcome."""


_ARRAYS_OF_STATE = {"labels", "sizes", "completions", "log_worths"}
_NUMBERS_OF_STATE = tuple(name for name in State._fields if name not in _ARRAYS_OF_STATE)


@dataclass(frozen=True)
class Schedule:
    """How many iterations a chain makes, and which it keeps."""

    draws: int
    warmup: int
    thin: int
    n_parts: int = _PARTS

    @property
    def iterations(self) -> int:
        """Number of iterations altogether."""
        return self.warmup + self.draws * self.thin

    def parts(self, done: int) -> list[NDArray[np.bool_]]:
        """Yield, part by part, whether each remaining iteration is kept.

        The parts do not depend on what is done: a chain can stop and go on between any two of them.
        """
        made = np.arange(1, self.iterations + 1)
        kept = (made > self.warmup) & ((made - self.warmup) % self.thin == 0)
        length = -(-self.iterations // self.n_parts)
        starts = range(0, self.iterations, length)
        return [kept[start : start + length] for start in starts if start >= done]


# Numbers that are recorded where the start of a chain has them.
EFFECTS = ("first_factor", "draw_factor")
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
        ``numbers[name][draw]``, ``numbers["theta"][draw, line]`` with a theta per tier,
        ``numbers["log_worth"][draw, item]`` with worths; NaN if nothing was written down.
    length
        Number of draws there are so far.
    """

    def __init__(self, n_draws: int, start: State, n_lines: int | None = None) -> None:
        n_items = len(start.labels)
        self.labels = np.zeros((n_draws, n_items), dtype=np.int64)
        self.numbers = {name: np.full(n_draws, np.nan) for name in RECORDED}
        if n_lines is not None:
            self.numbers["theta"] = np.full((n_draws, n_lines), np.nan)
        if start.log_worths is not None:
            self.numbers["log_worth"] = np.full((n_draws, n_items), np.nan)
        for name in EFFECTS:
            if not isnan(getattr(start, name)):
                self.numbers[name] = np.full(n_draws, np.nan)
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

    def keep(self, rows: slice) -> None:
        """Keep some of the draws, to make room for others."""
        labels = self.labels[: self.length][rows].copy()
        for values in self.numbers.values():
            values[: len(labels)] = values[: self.length][rows].copy()
        self.labels[: len(labels)] = labels
        self.length = len(labels)

    def restore(
        self, labels: NDArray[np.int64], numbers: Mapping[str, NDArray[np.float64]], length: int
    ) -> None:
        """Restore saved draws and their number."""
        if labels.shape != self.labels.shape or not 0 <= length <= len(labels):
            raise ValueError("another number of draws")
        self.labels[:] = labels
        for name, values in self.numbers.items():
            values[:] = numbers[name]
        self.length = length


class Chain(NamedTuple):
    """A chain as it stands: its number, where it is, its draws, and its randomness."""

    number: int
    state: State
    trace: Trace
    rng: np.random.Generator


class Move(Protocol):
    """A step of the chain that leaves the posterior invariant."""

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Make the step."""


class TierSampler(Protocol):
    """What a chain does, iteration by iteration."""

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make an iteration for each entry of ``kept``, and record the draws where it is true."""

    def facts(self) -> dict[str, Any]:
        """Return what is known without looking at draws, as plain values."""


@dataclass(frozen=True)
class Cycle:
    """A sampler whose iterations make a list of moves in turn.

    Attributes
    ----------
    moves
        The moves, in the order in which they are made.
    known
        What is known without looking at draws.
    """

    moves: tuple[Move, ...]
    known: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Make every move once in each iteration."""
        for keep in kept.tolist():
            for move in self.moves:
                state = move(state, rng)
            state = state._replace(iteration=state.iteration + 1)
            if keep:
                trace.record(state)
        return state

    def facts(self) -> dict[str, Any]:
        """Return what is known without looking at draws, as plain values."""
        return dict(self.known)


def random_state(target: Target, sizes: Sizes | None, rng: np.random.Generator) -> State:
    """Return random tiers that ignore the data, so chains start far from each other."""
    if sizes is None:
        sizes = _random_sizes(target, rng)
    problem = target.at(sizes).problem
    labels = rng.permutation(problem.sorted_labels)
    total = problem.total(labels)
    # A theta of the right size, for moves that cannot draw one afresh.
    mean_distance = max(total / float(target.n_rankings), 1e-3)
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
        f"the prior is -inf for all of {_MOST_ATTEMPTS} random size vectors: use a prior that "
        "allows more sizes"
    )


def run_chain(
    number: int,
    start: Callable[[np.random.Generator], State],
    n_lines: int | None,
    sampler: TierSampler,
    schedule: Schedule,
    seed: np.random.SeedSequence,
    checkpoint: Checkpoint | None,
    progress: Progress,
) -> Chain:
    """Run a chain, from its checkpoint if there is one."""
    rng = np.random.default_rng(seed)
    state = start(rng)
    trace = Trace(schedule.draws, state, n_lines)
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
    return Chain(number, state, trace, rng)


def prolong_chain(
    chain: Chain, sampler: TierSampler, thin: int, n_dropped: int, progress: Progress
) -> Chain:
    """Continue a chain until the same number of draws lie twice as far apart.

    Parameters
    ----------
    chain
        The chain; its trace is changed.
    sampler
        What makes the iterations.
    thin
        Iterations from one draw to the next so far.
    n_dropped
        How many of the first draws are dropped, as if the warm-up had been longer.
    progress
        As in `tierwise._util.tasks.track`.
    """
    trace, n_draws = chain.trace, chain.trace.length
    # Every other draw is kept, counted so that the last one of an even number is.
    trace.keep(slice(n_dropped + 1 - n_dropped % 2, None, 2))
    n_more = n_draws - trace.length
    made = np.arange(1, 2 * thin * n_more + 1 - thin * (n_draws % 2))
    which = (made + thin * (n_draws % 2)) % (2 * thin) == 0
    length = -(-len(which) // _PARTS)
    parts = [which[start : start + length] for start in range(0, len(which), length)]
    state = chain.state
    for part in track(parts, f"continuing chain {chain.number}", len(parts), progress):
        state = sampler(state, part, trace, chain.rng)
    return chain._replace(state=state)
