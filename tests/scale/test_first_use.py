"""How long a first answer takes, in seconds that a core works: others do not disturb it."""

import os
import resource
import subprocess
import sys

import pytest


def core_seconds(command, **environment):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, **environment}, timeout=200
    )
    return spent() - before


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [["--sizes", "2,2,1"], []])
def test_fit_on_a_cold_and_a_warm_cache(tmp_path, sizes):
    path = tmp_path / "answers.csv"
    rows = ["a,b,c,d,e", "b,a,c,d,e", "a,b,d,c,e", "a,c,b,d,e", "e,a,b,c,d"]
    path.write_text("place 1,place 2,place 3,place 4,place 5\n" + "\n".join(rows))
    program = "from tierwise.cli.main import main; main()"
    command = [sys.executable, "-c", program, "fit", str(path), *sizes]
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert core_seconds(command, **cache) < 10
    assert core_seconds(command, **cache) < 3


def test_importing_takes_no_time():
    nothing = min(core_seconds([sys.executable, "-c", "pass"]) for _ in range(3))
    importing = min(core_seconds([sys.executable, "-c", "import tierwise"]) for _ in range(3))
    assert importing - nothing < 0.3


def test_a_csv_file_is_fitted_without_pandas(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("a,b,c\n1,2,3\n2,1,3\n2,,1\n")
    program = (
        "import sys, tierwise as tw\n"
        "tw.fit(tw.read_rankings(sys.argv[1], unranked='below'), (1, 2))\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
