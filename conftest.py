"""What all tests and docstrings share: figures without a display, and the order of the tests.

Compiling takes most of the time of a first run, and processes do not wait for what another one is
compiling. So the packages that compile most come first, each of them in one process; what they
compiled is read from the disk by all that comes later.
"""

import gc
import os
import sys
from pathlib import PurePosixPath

import pytest

os.environ.setdefault("MPLBACKEND", "agg")
# There are as many processes as cores. Threads for small matrices would wait for one another:
# searches for tiers with worths then take twice the processor time.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Compiled code first, then what takes long, then the rest, the smallest parts last.
_COMPILING = (
    "tests/inversions",
    "tests/partition",
    "tests/consensus",
    "tests/answers",
    "tests/luce",
)
_LONG = (
    "tests/posterior",
    "tests/mixture",
    "tests/searching",
    "tests/fitting",
    "tests/evidence",
    "tests/model",
    "tests/checking",
    "tests/golden",
    "tests/scale",
    "tests/cli",
    "tests/e2e",
    "tests/reporting",
    "tests/web",
    "tests/robustness",
    "tests/planning",
    "tests/docs",
    "tests/fuzz",
    "tests/leaderboards",
)


# Servers, browsers, processes, large files: whoever changes them runs them, and the gate does.
_THOROUGH = ("tests/web", "tests/e2e", "tests/robustness", "tests/scale", "tests/fuzz")


def _package(nodeid):
    path = PurePosixPath(nodeid.partition("::")[0])
    return "/".join(path.parts[:2])


def _turn(item):
    package = _package(item.nodeid)
    order = (*_COMPILING, *_LONG)
    return order.index(package) if package in order else len(order)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put the tests in order, and look for garbage less often: what they import stays."""
    items.sort(key=_turn)
    for item in items:
        if _package(item.nodeid) in _THOROUGH:
            item.add_marker(pytest.mark.thorough)
    # Not frozen: hypothesis asks who refers to its generators, and frozen objects do not tell.
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deal out packages that compile much as a whole, others file by file."""
    from xdist.scheduler import LoadScopeScheduling

    class ByPackageThenByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            package = _package(nodeid)
            return package if package in _COMPILING else nodeid.partition("::")[0]

    return ByPackageThenByFile(config, log)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
