"""How long a first answer takes: a fresh process, with and without compiled kernels in a cache."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

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
        for sizes in (["--sizes", "2,2,1"], []):
            cache = str(Path(folder, "cache", str(len(sizes))))
            for state in ("cold", "warm"):
                command = [*python, _PROGRAM, "fit", str(file), *sizes]
                seconds = core_seconds(command, NUMBA_CACHE_DIR=cache)
                case = " ".join(["tierwise fit FILE", *sizes])
                rows.append(Row("first use", case, seconds, f"kernels compiled: {state} cache"))
    return rows
