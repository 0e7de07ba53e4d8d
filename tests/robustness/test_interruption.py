"""Ctrl-C half-way: what was found so far, or an end at once."""

import signal
import sys

import pytest

from tests.robustness.programs import start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix signals")


def test_an_interrupted_search_gives_what_it_has():
    code = """
    import os, warnings
    import numpy as np
    import tierwise as tw
    warnings.simplefilter("ignore")
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(13), (50, 1)), axis=1)
    rankings = tw.Rankings.from_order_array(range(13), orders)
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
    import sys
    import numpy as np
    import tierwise as tw
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(8), (20_000, 1)), axis=1)
    rankings = tw.Rankings.from_order_array(range(8), orders)
    for part in range(20):
        tw.write_rankings(rankings, f"{sys.argv[1]}/{part:02}.csv")
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
