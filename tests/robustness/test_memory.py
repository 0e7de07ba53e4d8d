"""Requests that are too large: an error before or instead of a crash, where memory is scarce."""

import sys

import pytest

from tests.robustness.programs import python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")

# What must be refused by its size alone, before anything is allocated.
REFUSED = {
    "recursion": "tw.log_partition((10,) * 12, 0.1, method='recursion')",
    "joint counts": "tw.Counts.of(many)",
    "subsets": "tw.fit(many, (1,) * 60, method='subsets')",
    "evidence": "tw.search(many, criterion='evidence')",
    "exact posterior": "sample_posterior(many, (20, 20, 20), sampler=tw.Sampler(method='exact'))",
}
# What only the memory decides.
MEMORY_DECIDES = {
    "draws": "tw.ClusteredMallows(tw.Tiers.from_sizes((1,) * 60, range(60)), 0.1).sample(10**10)",
    "ranks": "tw.Rankings.from_ranks(np.broadcast_to(np.arange(1.0, 61), (10**9, 60)))",
}
PROGRAM = """
import resource, sys, warnings
import numpy as np
import tierwise as tw
from tierwise.posterior.run import sample_posterior
warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
orders = rng.permuted(np.tile(np.arange(60), (20, 1)), axis=1)
many = tw.Rankings.from_order_array(orders, range(60))
tw.fit(many, (30, 30), "hamming")
limit = 6 * 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for request in sys.argv[1:]:
    try:
        eval(request)
    except (tw.TierwiseError, MemoryError) as error:
        print(type(error).__name__)
    else:
        print("done")
"""


@pytest.fixture(scope="module")
def outcomes():
    """What became of all requests, one after the other in a process of their own."""
    requests = REFUSED | MEMORY_DECIDES
    done = python(PROGRAM, *requests.values())
    assert done.returncode == 0, done.stderr
    return dict(zip(requests, done.stdout.split(), strict=True))


def test_too_large_by_its_size(outcomes):
    assert {name: outcomes[name] for name in REFUSED} == dict.fromkeys(REFUSED, "TooLargeError")


def test_too_large_for_the_memory(outcomes):
    # A number of draws beyond all reason is refused by name before memory is asked for.
    allowed = {"InputError", "TooLargeError", "MemoryError", "_ArrayMemoryError"}
    assert {outcomes[name] for name in MEMORY_DECIDES} <= allowed


def test_the_program_says_that_memory_ran_out(tmp_path):
    """A limit as by `ulimit -v`: one line and an exit code, no trace of its insides."""
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text("a,b,c\n1,2,3\n3,1,2\n2,3,1\n")
    large.write_text("a,b,c\n" + "1,2,3\n3,1,2\n2,3,1\n" * 500_000)
    code = """
    import resource, sys
    from tierwise.cli.main import main

    def fit(path):
        sys.argv = ["tierwise", "fit", path, "--sizes", "1,2"]
        main()

    small, large = sys.argv[1:]
    try:
        fit(small)
    except SystemExit as ended:
        assert not ended.code
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + 2**26
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    fit(large)
    """
    done = python(code, small, large)
    assert done.returncode == 1, (done.returncode, done.stderr)
    [reports] = [line for line in done.stderr.splitlines() if not line.startswith("Read ")]
    assert reports.startswith("tierwise: not enough memory")
