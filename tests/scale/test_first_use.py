"""What a first answer loads: nothing that it does not need. Benchmarks take the time."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "numba", "scipy", "pandas", "xarray", "matplotlib", "rich.console")


def loaded_by(program, *arguments):
    """Run a program in a fresh process and return the heavy packages that it has loaded."""
    asked = f"import sys\n{program}\nprint([name for name in {HEAVY} if name in sys.modules])"
    command = [sys.executable, "-c", asked, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=200)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("program", ["import tierwise", "import tierwise.cli.main"])
def test_importing_loads_nothing_heavy(program):
    assert loaded_by(program) == "[]"


def test_a_csv_file_is_fitted_without_pandas(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("a,b,c\n1,2,3\n2,1,3\n2,,1\n")
    program = (
        "import tierwise as tw\ntw.fit(tw.read_rankings(sys.argv[1], unranked='below'), (1, 2))\n"
    )
    assert "pandas" not in loaded_by(program, path)
