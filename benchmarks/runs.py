"""A run of the benchmarks as it is kept: what was run, where, and the rows, in one JSON file."""

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import numba
import numpy as np

import tierwise
from benchmarks.floors import memory_bandwidth
from benchmarks.rows import Row


@dataclass(frozen=True)
class Machine:
    """Where a run was made: times of different machines are not to be compared, ratios are.

    ``gigabytes_per_second`` is what one core reads from memory, and ``load`` how many programs
    wanted to run when the benchmarks ended (None where the system does not say). What is empty was
    not recorded.
    """

    system: str
    processor: str
    cores: int | None
    gigabytes_per_second: float
    load: float | None
    python: str
    numpy: str
    numba: str

    @classmethod
    def this(cls) -> Self:
        """Describe the machine that runs this."""
        return cls(
            system=platform.system(),
            processor=platform.machine(),
            cores=os.cpu_count(),
            gigabytes_per_second=round(memory_bandwidth() / 1e9, 1),
            load=round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
            python=platform.python_version(),
            numpy=np.__version__,
            numba=numba.__version__,
        )


@dataclass(frozen=True)
class Run:
    """Rows, with all that is needed to compare them with those of another run.

    ``note`` is what somebody who reads the figures must know about how they came here.
    """

    date: str
    version: str
    commit: str
    machine: Machine
    rows: tuple[Row, ...]
    note: str = ""

    @classmethod
    def of(cls, rows: list[Row]) -> Self:
        """Take rows that were measured just now, here."""
        date = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
        return cls(date, tierwise.__version__, _commit(), Machine.this(), tuple(rows))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``write`` wrote."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple(Row(**{k: v for k, v in row.items() if k != "ratios"}) for row in kept["rows"])
        machine = Machine(**kept["machine"])
        return cls(**kept | {"machine": machine, "rows": rows})

    def write(self, path: Path) -> None:
        """Write everything into one file, with the ratios for those who read it without Python."""
        kept = asdict(self)
        kept["rows"] = [asdict(row) | {"ratios": ratios(row)} for row in self.rows]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def by_key(self) -> dict[tuple[str, str, str], Row]:
        """Rows by what tells them apart."""
        return {key(row): row for row in self.rows}


def key(row: Row) -> tuple[str, str, str]:
    """What a row is about; its times and remarks differ from run to run."""
    return row.what, row.case, row.peer


def ratios(row: Row) -> dict[str, float]:
    """How the times of a row compare, as far as they were taken."""
    found: dict[str, float] = {}
    if row.seconds and row.peer_seconds:
        found["peer / tierwise"] = row.peer_seconds / row.seconds
    if row.seconds and row.floor_seconds:
        found["tierwise / floor"] = row.seconds / row.floor_seconds
    return found


def _commit() -> str:
    """Name the commit that runs, with a ``+`` where files differ from it; empty without git."""
    folder = Path(__file__).parent

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=folder, check=False, capture_output=True, text=True
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except FileNotFoundError:
        return ""
