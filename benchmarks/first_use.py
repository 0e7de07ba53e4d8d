"""How long a first answer takes: a fresh process, with and without compiled kernels in a cache."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.rows import Row

_PROGRAM = "from tierwise.cli.main import main; main()"
_ANSWERS = "a,b,c,d,e\n1,2,3,4,5\n2,1,3,4,5\n1,2,4,3,5\n1,3,2,4,5\n2,3,4,5,1\n"


def core_seconds(command: list[str], **environment: str) -> float:
    """Run a command and return the seconds that cores worked on it: others do not disturb it."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return spent() - before


def first_answers() -> list[Row]:
    """Time the import, the version, and a fit of a small file on a cold and on a warm cache."""
    python = [sys.executable, "-c"]
    rows = [
        Row("first use", case, min(core_seconds([*python, *words]) for _ in range(3)), remark)
        for case, words, remark in (
            ("nothing", ["pass"], "what Python itself takes"),
            ("import tierwise", ["import tierwise"], "loads no numpy"),
            ("tierwise --version", [_PROGRAM, "--version"], "loads no numpy"),
        )
    ]
    with TemporaryDirectory() as folder:
        file = Path(folder, "answers.csv")
        file.write_text(_ANSWERS)
        ten = Path(folder, "ten.csv")
        rng = np.random.default_rng(1)
        orders = [",".join(map(str, 1 + rng.permutation(10))) for _ in range(50)]
        ten.write_text("\n".join([",".join("abcdefghij"), *orders]) + "\n")
        strict = ",".join("1" * 10)
        for number, (path, sizes) in enumerate(
            ((file, ["--sizes", "2,2,1"]), (file, []), (ten, ["--sizes", strict]), (ten, []))
        ):
            cache = str(Path(folder, "cache", str(number)))
            n_items = "ten items" if path == ten else "five items"
            for state in ("cold", "warm"):
                command = [*python, _PROGRAM, "fit", str(path), *sizes]
                seconds = core_seconds(command, NUMBA_CACHE_DIR=cache)
                case = ", ".join([" ".join(["tierwise fit FILE", *sizes]), n_items, state])
                peer = ("BayesMallows", 2.2) if path == ten and state == "cold" else ("", None)
                remark = f"kernels compiled: {state} cache"
                remark += "; peer's first fit, as of 2026-11" if peer[0] else ""
                rows.append(Row("first use", case, seconds, remark, *peer))
    return rows
