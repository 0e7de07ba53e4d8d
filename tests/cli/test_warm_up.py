"""What first uses would wait for is compiled by one command."""

import os
import subprocess
import sys
import warnings

import pytest

from tests.cli.program import run_program
from tests.test_compiling_beforehand import kernels_of, uses
from tierwise._compiling import beforehand
from tierwise.cli.warm_up import warm_up_command

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


def test_workers_that_are_replaced_while_they_compile_are_not_reported(monkeypatch):
    def grow(*_arguments, **_options):
        warnings.warn("A worker stopped while some jobs were given", UserWarning, stacklevel=1)
        warnings.warn("something else", UserWarning, stacklevel=1)

    monkeypatch.setattr("tierwise._util.tasks.run_tasks", grow)
    done = run_program("warm-up", "--quiet")
    assert done.returncode == 0
    assert done.stderr.strip() == "tierwise: warning: something else"


def test_every_kernel_of_the_list_is_compiled_by_as_many_processes_as_cores(monkeypatch):
    asked = []

    def note(function, tasks, **options):
        asked.append((function, tasks, options["workers"]))

    monkeypatch.setattr("tierwise._util.tasks.run_tasks", note)
    monkeypatch.setattr("tierwise._util.processes.n_cores", lambda: 7)
    warm_up_command(quiet=True)
    ((function, tasks, workers),) = asked
    assert function is beforehand.compile_kernels
    assert workers == 7
    compiled = [kernel for (kernels,) in tasks for kernel in kernels]
    assert {"report: battles", "fit: rankings, complete", "leaderboard: battles"} <= set(uses())
    assert all(kernel in compiled for use in uses() for kernel in kernels_of(use))


@pytest.mark.slow
def test_nothing_is_compiled_after_the_command(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(*command):
        return subprocess.run(
            [sys.executable, *command], check=True, capture_output=True, text=True, env=environment
        )

    output = run("-c", "from tierwise.cli.main import main; main()", "warm-up").stderr
    assert "Compiling" in output
    for program in (DEMO, README):
        done = run("-c", COUNTED.format(program=program))
        assert done.stdout.splitlines()[-1] == "compiled: []"


def test_the_program_does_not_look_for_garbage_when_it_ends():
    seen = (
        "import atexit, gc; from tierwise._util.processes import collect_seldom\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
        "collect_seldom()\n"
        "print(gc.get_threshold()[0] > 700)"
    )
    run = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "True"]
