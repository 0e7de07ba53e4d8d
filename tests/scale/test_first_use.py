"""A first answer does not wait for what it does not need: compilers, readers, data frames."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "scipy", "pandas", "pyarrow", "matplotlib", "joblib", "rich", "xarray")


def loaded_by(program, *arguments):
    """Return which heavy modules a program has loaded at its end."""
    message = f"{program}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", message, *arguments], check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("a,b,c\n1,2,3\n2,1,3\n2,,1\n")
    return str(path)


READ = "import sys, tierwise as tw\ndata = tw.read_rankings(sys.argv[1], unranked='below')\n"


def test_importing_loads_nothing_heavy():
    assert loaded_by("import tierwise") == set()


def test_plots_are_there_and_load_at_first_use():
    listed = "import tierwise as tw\nassert 'plots' in dir(tw)\n"
    assert "matplotlib" not in loaded_by(listed)
    assert "numba" not in loaded_by(listed + "assert callable(tw.plots.tier_list)")


def test_reading_waits_for_no_compiler(answers):
    assert loaded_by(READ, answers) == {"pyarrow"}


SHELL = """
import contextlib, io, sys
from tierwise.cli.main import app
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    app(sys.argv[1:])
"""


@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_describing_a_small_file_waits_for_no_compiler(answers, unranked):
    loaded = loaded_by(SHELL, "describe", answers, "--unranked", unranked)
    assert "pyarrow" in loaded
    assert not loaded & {"numba", "scipy", "matplotlib", "pandas", "xarray"}


def test_help_waits_for_no_compiler():
    assert loaded_by(SHELL, "leaderboard", "--help") <= {"rich"}


def test_a_csv_file_is_fitted_without_pandas(answers):
    assert "pandas" not in loaded_by(READ + "tw.fit(data, (1, 2))", answers)
