"""Where few steps are asked of kernels, Python runs them: with the same bits as machine code."""

import sys
from copy import deepcopy
from importlib import import_module
from typing import NamedTuple

import numpy as np
import pytest

import tierwise as tw
from tierwise._compiling import kernel as compiling
from tierwise._compiling.beforehand import KERNELS
from tierwise._compiling.in_python import run as run_in_python
from tierwise._compiling.kernel import Kernel, compiled_if_many
from tierwise._kernels.inversions_lines import make_factorial_grid

# Calls of each kernel in a test.
MOST_COMPARED = 20
LARGEST = sys.float_info.max


def kernels_that_python_may_run():
    """All kernels that say how many steps they take, by name."""
    modules = [
        import_module(f"tierwise._kernels.{path.stem}") for path in KERNELS.glob("[a-z]*.py")
    ]
    kernels = [value for module in modules for value in vars(module).values()]
    return {
        f"{one.__module__}.{one.__name__}"
        for one in kernels
        if isinstance(one, Kernel) and one._steps is not None
    }


def same(one, other):
    """Whether two results have the same type and bits, whatever they are made of."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.random.Generator):
        return one.bit_generator.state == other.bit_generator.state
    if isinstance(one, np.ndarray):
        equal = np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return one.dtype == other.dtype and equal
    if type(one) is not type(other):
        return False
    return one is other or one == other or (one != one and other != other)


@pytest.fixture
def both_ways(monkeypatch):
    """Have every kernel run by machine code and, on a copy of what it is given, by Python."""
    run = {}
    call = Kernel.__call__

    def call_both_ways(kernel, *args, **kwargs):
        name = f"{kernel.__module__}.{kernel.__name__}"
        few = kernel._steps is not None and kernel._steps(*args, **kwargs) <= 500_000
        if not few or run.get(name, 0) == MOST_COMPARED:
            return call(kernel, *args, **kwargs)
        copies = deepcopy(args)
        of_python = run_in_python(kernel.in_python, *copies, **kwargs)
        result = kernel.dispatcher(*args, **kwargs)
        assert same(result, of_python), f"{name} returns {result}, in Python {of_python}"
        assert same(args, copies), f"{name} does not change its arguments as Python does"
        run[name] = run.get(name, 0) + 1
        return result

    monkeypatch.setattr(Kernel, "__call__", call_both_ways)
    return run


class Rate(NamedTuple):
    name: str
    value: float


def test_division_by_0_is_that_of_machines():
    @compiled_if_many(lambda *_: 1)
    def quotients(number, rate, values):
        values[0] = 1.0 / number
        return 1.0 / (2.0 * number), -1.0 / rate.value, LARGEST * 10.0, 0.0 / number, 3

    values = np.zeros(1)
    found = quotients(0.0, Rate("none", 0.0), values)
    assert "dispatcher" not in vars(quotients)
    assert found[:3] == (np.inf, -np.inf, np.inf)
    assert values[0] == np.inf
    assert np.isnan(found[3])
    assert [type(one) for one in found] == [float] * 4 + [int]


def ranks(rng, n_answers, n_items):
    values = rng.gumbel(size=(n_answers, n_items)) - 0.7 * (np.arange(n_items) // 2)
    return 1 + np.argsort(np.argsort(-values, axis=1), axis=1)


def names(n_items):
    return [f"i{item}" for item in range(n_items)]


def complete(rng):
    return tw.Rankings.from_ranks(ranks(rng, 30, 5), names(5))


def with_ties(rng):
    return tw.Rankings.from_ranks((1 + ranks(rng, 30, 5)) // 2, names(5), ties="allow")


def top_lists(rng):
    some = ranks(rng, 40, 6).astype(float)
    some[some > rng.integers(1, 6, size=(40, 1))] = np.nan
    return tw.Rankings.from_ranks(some, names(6), unranked="below")


def with_gaps(rng):
    some = ranks(rng, 20, 5).astype(float)
    some[rng.random(some.shape) < 0.2] = np.nan
    return tw.Rankings.from_ranks(
        some[np.isfinite(some).any(axis=1)], names(5), unranked="anywhere"
    )


def battles(rng):
    pairs = [rng.choice(6, 2, replace=False) for _ in range(150)]
    rows = [
        (f"m{one}", f"m{two}", "model_a" if (one < two) == (rng.random() < 0.7) else "model_b")
        for one, two in pairs
    ]
    return tw.Battles.from_rows(rows)


QUICK = {"chains": 1, "draws": 20, "rng": 1, "progress": "off"}
PROGRAMS = {
    "complete": lambda rng: tw.leaderboard(complete(rng), **QUICK),
    "a theta per tier": lambda rng: tw.search(complete(rng), "inversions", concentration="tier"),
    "Kendall": lambda rng: tw.sample_posterior(complete(rng), distance="kendall", **QUICK),
    "ties": lambda rng: tw.leaderboard(with_ties(rng), **QUICK),
    "the rest below": lambda rng: tw.leaderboard(top_lists(rng), **QUICK),
    "gaps": lambda rng: tw.search(with_gaps(rng)),
    "battles": lambda rng: tw.leaderboard(battles(rng), **QUICK),
    "worths": lambda rng: tw.fit(complete(rng), (2, 3), family="luce"),
    "inversions": lambda rng: tw.sample_posterior(complete(rng), distance="inversions", **QUICK),
    "draws with a theta per tier": lambda rng: tw.sample_posterior(
        complete(rng), distance="inversions", concentration="tier", **QUICK
    ),
    "twelve items": lambda rng: tw.search(
        tw.Rankings.from_ranks(ranks(rng, 20, 12), names(12)), "inversions", family="mallows"
    ),
    "a grid of thetas": lambda rng: make_factorial_grid(5),
    "Hamming": lambda rng: tw.fit(complete(rng), (2, 3), "hamming"),
}


@pytest.fixture(scope="module")
def run_by_python():
    """Collect the names of all kernels that were compared."""
    return set()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::tierwise.errors.TierwiseWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_python_and_machine_code_give_the_same_bits(name, both_ways, run_by_python):
    PROGRAMS[name](np.random.default_rng(1))
    assert both_ways
    run_by_python.update(both_ways)


@pytest.mark.thorough
def test_all_of_them_were_compared(run_by_python):
    assert kernels_that_python_may_run() == run_by_python


@compiled_if_many(lambda number: number)
def _doubled(number: int) -> int:
    return 2 * number


def test_python_runs_few_steps_and_what_is_called_often_is_compiled(monkeypatch):
    monkeypatch.setattr(compiling, "is_on_disk", lambda name: False)
    kernel = compiled_if_many(lambda number: number)(_doubled.__wrapped__)
    assert [kernel(200_000) for _ in range(2)] == [400_000] * 2
    assert "dispatcher" not in vars(kernel)
    assert kernel(200_000) == 400_000
    assert "dispatcher" in vars(kernel)
    # What has been loaded is used.
    assert not kernel.is_light(1)


def test_what_lies_on_disk_is_loaded_sooner(monkeypatch):
    monkeypatch.setattr(compiling, "is_on_disk", lambda name: True)
    kernel = compiled_if_many(lambda number: number)(_doubled.__wrapped__)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert kernel.is_light(2_000)
    assert not kernel.is_light(2_000)
    monkeypatch.delitem(sys.modules, "numba")
    assert kernel.is_light(20_000)
    assert not kernel.is_light(20_000)


@compiled_if_many(lambda *_: 1.0)
def _functions(x: float, xs: np.ndarray) -> tuple:
    logs = np.log(x), np.log1p(x), np.arcsinh(x), np.tanh(x)
    return np.exp(x), np.expm1(x), np.sinh(x), np.cosh(x), *logs, np.exp(xs)


@pytest.mark.parametrize("x", [0.0, 0.3, 1e3, -0.7, -1.0, -2.0, np.inf, -np.inf, np.nan])
def test_functions_are_those_of_the_c_library(x):
    xs = np.random.default_rng(1).normal(size=(3, 100))
    with np.errstate(all="ignore"):
        assert same(_functions.dispatcher(x, xs), run_in_python(_functions.in_python, x, xs))
