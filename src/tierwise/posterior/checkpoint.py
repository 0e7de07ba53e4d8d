"""Chains on disk while they run, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from tierwise._util.atomic import whole_file
from tierwise._util.random import RandomSource, spawn_seeds
from tierwise.errors import InputError
from tierwise.posterior.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tierwise.posterior.chain import Trace

FORMAT = 1
# How long a chain runs, at least, before it is written again.
SECONDS_BETWEEN = 5.0
_RUN_FILE = "run.json"


@dataclass(frozen=True)
class Checkpoint:
    """A folder with one file a chain, each written whole or not at all.

    Attributes
    ----------
    folder
        Where the files are.
    """

    folder: Path
    _written: dict[int, float] = field(default_factory=dict)

    def seeds(self, identity: str, rng: RandomSource, count: int) -> list[np.random.SeedSequence]:
        """Return the seeds of the chains: those of the run to be resumed, if there is one.

        Parameters
        ----------
        identity
            Stands for the data and for all that was asked for; a run is resumed by its like only.
        rng
            What the user gave.
        count
            Number of chains.
        """
        if self.folder.is_file():
            raise InputError(f"checkpoint {self.folder} is a file: name a folder")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be made: {error.strerror}: name another folder as checkpoint"
            ) from None
        fresh = spawn_seeds(rng, count)
        path = self.folder / _RUN_FILE
        if not path.exists():
            run = {
                "format": FORMAT,
                "identity": identity,
                "seeds": [_plain(seed) for seed in fresh],
            }
            with whole_file(path) as partial:
                partial.write_text(json.dumps(run))
            return fresh
        known = self._read_run(path)
        seeds = [
            np.random.SeedSequence(seed["entropy"], spawn_key=tuple(seed["spawn_key"]))
            for seed in known["seeds"]
        ]
        seeded = isinstance(rng, int | np.random.SeedSequence)
        if known["identity"] != identity or (
            seeded and [_plain(seed) for seed in seeds] != [_plain(seed) for seed in fresh]
        ):
            raise InputError(
                f"{self.folder} holds a run with other rankings, settings or seed: name another "
                "folder as checkpoint, or delete this one"
            )
        return seeds

    def _read_run(self, path: Path) -> dict[str, Any]:
        try:
            run: dict[str, Any] = json.loads(path.read_text())
            newer = run["format"] > FORMAT
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path} is damaged: delete {self.folder} and start again") from None
        if newer:
            raise InputError(
                f"{path} was written by a newer version of tierwise (format {run['format']}): "
                "install that version, or name another folder as checkpoint"
            )
        return run

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
        stand = {"format": FORMAT, "draws": n_draws, "random": random, **numbers}
        arrays = {"state_labels": state.labels, "labels": trace.labels, **trace.numbers}
        if state.completions is not None:
            arrays["completions"] = state.completions
        with whole_file(self._path(number)) as partial, partial.open("wb") as file:
            np.savez(file, stand=np.array(json.dumps(stand)), **arrays)  # type: ignore[arg-type]

    def resume(self, number: int, start: State, trace: Trace, rng: np.random.Generator) -> State:
        """Return the state a chain was left in, having put its draws and random numbers in place.

        The start is returned where the chain has not been written yet.
        """
        path = self._path(number)
        if not path.exists():
            return start
        try:
            with path.open("rb") as file, np.load(file) as saved:
                stand = json.loads(str(saved["stand"]))
                labels = saved["state_labels"]
                completions = saved.get("completions")
                trace.labels[:] = saved["labels"]
                for name, numbers in trace.numbers.items():
                    numbers[:] = saved[name]
        except (OSError, ValueError, KeyError, BadZipFile, EOFError):
            raise InputError(f"{path} is damaged: delete it, and the chain starts again") from None
        trace.length = stand["draws"]
        rng.bit_generator.state = stand["random"]
        kept = {name: stand[name] for name in _NUMBERS_OF_STATE}
        sizes = tuple(np.bincount(labels).tolist())
        return start._replace(labels=labels, sizes=sizes, completions=completions, **kept)


_ARRAYS_OF_STATE = {"labels", "sizes", "completions"}
_NUMBERS_OF_STATE = tuple(name for name in State._fields if name not in _ARRAYS_OF_STATE)


def identity_of(*parts: object) -> str:
    """Return a text that differs whenever one of the parts does."""
    digest = sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(str((part.shape, part.dtype)).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"|")
    return digest.hexdigest()


def _plain(seed: np.random.SeedSequence) -> dict[str, Any]:
    return {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
