"""Ctrl-C half-way: what was found so far, or an end at once; and nothing stays behind."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import pytest

import tierwise as tw
from tests.cli.program import run_program
from tests.robustness.programs import python, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix signals")


def test_an_interrupted_search_gives_what_it_has():
    code = """
    import os, warnings
    import numpy as np
    import tierwise as tw
    warnings.simplefilter("ignore")
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(13), (50, 1)), axis=1)
    rankings = tw.Rankings.from_order_array(orders, range(13))
    told = lambda *step: os.write(1, b"step\\n")  # whole, even when interrupted
    found = tw.search(rankings, method="exhaustive", progress=told)
    print(found.interrupted, found.exhaustive, found.best.optimal)
    """
    running = start(code)
    steps = 0
    while steps < 5:
        assert running.stdout.readline() == "step\n", running.stderr.read()
        steps += 1
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert output.splitlines()[-1] == "True False True"


def test_interrupted_counting_ends_at_once(tmp_path):
    code = """
    import shutil
    import sys
    import numpy as np
    import tierwise as tw
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(8), (20_000, 1)), axis=1)
    rankings = tw.Rankings.from_order_array(orders, range(8))
    tw.write_rankings(rankings, f"{sys.argv[1]}/00.csv")
    for part in range(1, 20):
        shutil.copy(f"{sys.argv[1]}/00.csv", f"{sys.argv[1]}/{part:02}.csv")
    scan = tw.Rankings.scan(sys.argv[1])
    scan.counts(progress=lambda *told: print("step", flush=True))
    print("done", flush=True)
    """
    running = start(code, tmp_path)
    assert running.stdout.readline() == "step\n", running.stderr.read()
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=60)
    assert running.returncode != 0
    assert "done" not in output
    assert "KeyboardInterrupt" in errors


TIERWISE = "from tierwise.__main__ import main\nmain()"


@pytest.fixture
def goals(tmp_path):
    tw.write_rankings(tw.load_political_goals(), tmp_path / "goals.csv")
    return tmp_path / "goals.csv"


def test_interrupted_while_its_parts_are_loaded(goals):
    code = """
    import signal, sys

    class Interrupting:
        def find_spec(self, name, *_):
            if name == "typer":
                signal.raise_signal(signal.SIGINT)

    sys.meta_path.insert(0, Interrupting())
    """
    running = start(code + "\n    " + TIERWISE.replace("\n", "\n    "), "fit", goals)
    output, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors
    assert output == ""
    assert errors.strip() == "tierwise: interrupted before any work was done"


@pytest.fixture
def listening_to_ctrl_c():
    """Ctrl-C raises KeyboardInterrupt, even where the tests run in the background of a shell."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.mark.usefixtures("listening_to_ctrl_c")
@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        (signal.SIGTERM, 143, ""),
        (signal.SIGINT, 130, "\ntierwise: interrupted: unfinished work is lost\n"),
    ],
)
def test_an_end_that_the_compiler_drops_is_an_end(sent, code, said, monkeypatch):
    @ctypes.CFUNCTYPE(None)
    def called_from_c():
        signal.raise_signal(sent)

    def compiling():
        called_from_c()
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr("tierwise.data.datasets.load_political_goals", compiling)
    done = run_program("demo")
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


@pytest.mark.usefixtures("listening_to_ctrl_c")
@pytest.mark.parametrize("keep", [False, True])
def test_an_interrupted_command_says_what_is_kept(goals, keep, monkeypatch):
    def interrupting(steps, *_):
        for step in steps:
            yield step
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("tierwise.posterior.chain.track", interrupting)
    folder = goals.parent / "run"
    chains = ["--method", "mcmc", "--sizes", "2,2", "--draws", "5000", "--seed", "1"]
    kept = ["--checkpoint", folder] if keep else []
    done = run_program("posterior", goals, *chains, *kept)
    errors = " ".join(done.stderr.split())
    assert done.returncode == 130, errors
    assert done.stdout == ""
    message = f"the chains are saved in {folder}" if keep else "unfinished work is lost"
    assert f"tierwise: interrupted: {message}" in errors
    assert "Traceback" not in errors
    assert [file.name for file in folder.glob("chain-*")] == (["chain-1.npz"] if keep else [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["describe", "--json"], ["describe"]])
def test_output_that_cannot_be_written(goals, arguments):
    command, *more = [*arguments, *([] if "--help" in arguments else [str(goals)])]
    code = f"import os, sys\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1)\n{TIERWISE}"
    done = python(code, command, *more)
    assert done.returncode == 1, done.stderr
    assert "tierwise: standard output cannot be used: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def processes_of(session):
    """Return the processes of a session that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(("ended_by", "code"), [("SIGTERM", 143), ("SIGKILL", -9)])
def test_workers_end_with_the_program(goals, ended_by, code):
    """Within seconds; without being told to, they would stay for minutes."""
    program = """
    import os, sys, time
    os.setsid()
    from tierwise._util import tasks

    def work(number):
        time.sleep(0 if number < 2 else 3600)
        return number

    class Command:
        def __call__(self):
            for number in tasks.stream_tasks(work, [(n,) for n in range(4)], workers=2):
                os.write(1, b"step\\n")

    from tierwise.cli import main as program
    program.app = Command()
    program.main()
    """
    running = start(program)
    for _ in range(2):
        assert running.stdout.readline() == "step\n", running.stderr.read()
    assert len(processes_of(running.pid)) > 2
    running.send_signal(getattr(signal, ended_by))
    end = time.monotonic() + 60
    while processes_of(running.pid) and time.monotonic() < end:
        time.sleep(0.1)
    left = processes_of(running.pid)
    for process in left:
        os.kill(process, signal.SIGKILL)
    running.communicate(timeout=60)
    assert left == []
    assert running.returncode == code
