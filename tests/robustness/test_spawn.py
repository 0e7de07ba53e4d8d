"""Processes started as Windows and macOS start them: from scratch, with nothing inherited."""

import subprocess
import sys

import pytest

PROGRAM = """
from joblib.externals.loky.backend.context import set_start_method

import tierwise as tw

goals = tw.load_political_goals()


def main():
    best = tw.fit(goals, (2, 2))
    runs = [tw.bootstrap(goals, best, replicates=8, workers=n, rng=1) for n in (None, 2)]
    print(runs[0].thetas.tolist() == runs[1].thetas.tolist(), len(runs[1].thetas))


if __name__ == "__main__":
    set_start_method("spawn")
    main()
"""


@pytest.mark.slow
def test_workers_that_are_spawned_give_the_same(tmp_path):
    script = tmp_path / "a script.py"
    script.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "8"]
