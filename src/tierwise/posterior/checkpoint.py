"""Chains on disk while they run, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn
from zipfile import BadZipFile

import numpy as np

from tierwise._util.checks import RandomSource, spawn_seeds
from tierwise._util.provenance import digest
from tierwise._util.resources import whole_file
from tierwise._util.wording import quoted
from tierwise.errors import InputError
from tierwise.posterior.chain import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from tierwise.posterior.chain import Trace

FORMAT = 2
# How long a chain runs, at least, before it is written again.
SECONDS_BETWEEN = 5.0
_RUN_FILE = "run.json"

_ARRAYS_OF_STATE = {"labels", "sizes", "completions"}
_NUMBERS_OF_STATE = tuple(name for name in State._fields if name not in _ARRAYS_OF_STATE)


@dataclass(frozen=True)
class Checkpoint:
    """A folder with one file for the run and one for each chain, each written whole or not at all.

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
            What was asked for and a fingerprint of the data, as plain values by name; a run is
            resumed by its like only.
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
                f"{self.folder} holds another run, with {' and '.join(differences)}: name another "
                "folder as checkpoint, or delete this one"
            )
        if len(seeds) != count:
            self._refuse_damaged(path)
        return seeds

    def _make_folder(self) -> None:
        try:
            if self.folder.is_file():
                raise InputError(f"checkpoint {self.folder} is a file: name a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be made: {error.strerror}: name another folder as checkpoint"
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
                "that version, or name another folder as checkpoint"
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
        try:
            with path.open("rb") as file, np.load(file) as saved:
                arrays = {name: saved[name] for name in saved.files}
            numbers = json.loads(_verified(arrays))
            kept = {name: numbers[name] for name in _NUMBERS_OF_STATE}
            labels, completions = arrays.pop("state_labels"), arrays.pop("completions", None)
            trace.restore(arrays.pop("labels"), arrays, int(numbers["draws"]))
            rng.bit_generator.state = numbers["random"]
        except (OSError, ValueError, KeyError, TypeError, BadZipFile, EOFError):
            raise InputError(f"{path} is damaged: delete it, and the chain starts again") from None
        sizes = tuple(np.bincount(labels).tolist())
        return start._replace(labels=labels, sizes=sizes, completions=completions, **kept)


def _verified(arrays: dict[str, NDArray[Any]]) -> str:
    """Take the text that says where a chain stood out of what was kept, if that is whole."""
    stand = str(arrays.pop("stand"))
    if str(arrays.pop("checksum")) != _checksum(stand, arrays):
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
