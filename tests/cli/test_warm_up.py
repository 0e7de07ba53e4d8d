"""What first uses would wait for is compiled by one command."""

import os
import subprocess
import sys

import pytest

from tierwise.cli.warm_up import steps

# Counts what Numba compiles while commands run.
COUNTED = """
import sys
from numba.core import event

class Counting(event.Listener):
    names = []

    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass

event.register("numba:compile", Counting())
{program}
print("compiled:", Counting.names)
"""
DEMO = """
sys.argv = ["tierwise", "demo", "--quiet"]
from tierwise.cli.main import app
app(standalone_mode=False)
"""
README = """
import tierwise as tw
rankings = tw.load_political_goals()
found = tw.search(rankings)
print(found.best.summary())
posterior = tw.sample_posterior(rankings, distance=found.best.distance, rng=1)
model = found.best.model()
model.log_partition()
model.sample(1000, rng=1)
"""


NAMES = [
    "pages",
    "complete rankings",
    "rankings of many items",
    "ballots",
    "rankings with gaps",
    "pairwise answers",
    "pairwise answers that may be mistaken",
    "battles",
    "groups of people",
]


def test_every_kind_of_answers_is_among_the_steps(tmp_path):
    assert [name for name, _ in steps(tmp_path)] == NAMES


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in ("ballots", "battles")))
        for name in NAMES
    ],
)
def test_steps_run(tmp_path, name):
    dict(steps(tmp_path))[name]()


@pytest.mark.slow
def test_nothing_is_compiled_after_the_command(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(*command):
        return subprocess.run(
            [sys.executable, *command], check=True, capture_output=True, text=True, env=environment
        )

    output = run("-c", "from tierwise.cli.main import main; main()", "warm-up").stderr
    assert "Compiling the code for battles." in output
    for program in (DEMO, README):
        done = run("-c", COUNTED.format(program=program))
        assert done.stdout.splitlines()[-1] == "compiled: []"
