"""Compiled code: what calls it, and single steps of it against their definition."""

import ast
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tierwise
from tierwise._compiling.kernel import compiled, compiled_part
from tierwise._kernels import inversions_weak_orders as weak_orders
from tierwise._kernels.augmentation import (
    Completion,
    reinsert_item,
    weights_of_reversals,
)
from tierwise._kernels.choice_sets import count_choices

PACKAGE = Path(tierwise.__file__).parent
PART = "compiled_part"


def parts_of_kernels():
    """Modules and names of the functions that have no way in from Python."""
    return {
        (f"tierwise._kernels.{path.stem}", function.name)
        for path in (PACKAGE / "_kernels").glob("*.py")
        for function in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(function, ast.FunctionDef)
        and PART in {ast.unparse(decorator) for decorator in function.decorator_list}
    }


@pytest.mark.thorough
def test_parts_of_kernels_are_imported_by_kernels_only():
    parts = parts_of_kernels()
    assert parts
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent.name == "_kernels":
            continue
        imported = {
            (node.module, name.name)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        assert not imported & parts, path.name


@compiled_part
def _increased(number: int) -> int:
    return number + 1


@compiled
def _increased_twice(number: int) -> int:
    return _increased(_increased(number))


def test_a_part_of_kernels_refuses_python_where_it_would_crash():
    assert _increased_twice(1) == 3
    with pytest.raises(TypeError, match="only kernels call it"):
        _increased(1)


COMPILES = """
import sys
from contextlib import nullcontext
from tierwise._compiling.kernel import Kernel, silent_compiling

sys.stderr.isatty = lambda: {terminal}
with silent_compiling() if {silent} else nullcontext():
    for number in (1, 2.0):
        Kernel(lambda x: x + 1, dict())(number)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("terminal", "silent", "times"), [(True, False, 1), (True, True, 0), (False, False, 0)]
)
def test_compiling_is_told_of_once_on_a_terminal(terminal, silent, times):
    program = COMPILES.format(terminal=terminal, silent=silent)
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stderr.count("compiling, once") == times


def test_an_item_is_put_back_with_the_probability_of_each_place():
    labels = np.array([2, 0, 1, 3, 1])
    relation = np.zeros((5, 5), dtype=np.bool_)
    relation[3, 2] = True
    first, powers = np.array([3, 0, 1, 2, 4]), 0.6 ** np.arange(-5, 6)
    decay = powers[6]

    def put_back(order, uniform, *, overrelaxed):
        order, places = order.copy(), np.argsort(order).astype(np.int32)
        completion = Completion(order, places, relation, labels, powers, np.empty(5))
        reinsert_item(completion, 2, overrelaxed, uniform)
        assert [item for item in order if item != 2] == [3, 0, 1, 4]
        assert places.tolist() == np.argsort(order).tolist()
        return places[2]

    shares = np.zeros(5)
    uniforms = (np.arange(8_000) + 0.5) / 8_000
    for uniform in uniforms:
        shares[put_back(first, uniform, overrelaxed=False)] += 1 / len(uniforms)
    weights = np.zeros(5)
    for place in range(1, 5):
        order = [3, 0, 1, 4]
        order.insert(place, 2)
        reversed_pairs = sum(
            labels[order[later]] < labels[order[earlier]]
            for later in range(5)
            for earlier in range(later)
        )
        weights[place] = decay**reversed_pairs
    expected = weights / weights.sum()
    assert shares == pytest.approx(expected, abs=1e-3)
    # Overrelaxed, an item that is where it is with these probabilities is so again, elsewhere.
    after, stayed = np.zeros(5), 0.0
    for place in range(1, 5):
        order = np.insert([3, 0, 1, 4], place, 2)
        for uniform in uniforms[::4]:
            now = put_back(order, uniform, overrelaxed=True)
            after[now] += expected[place] / 2000
            stayed += (now == place) * expected[place] / 2000
    assert after == pytest.approx(expected, abs=1e-3)
    assert stayed < (expected**2).sum()


def test_weights_of_many_reversals_are_numbers():
    assert weights_of_reversals(0.3, 2) == pytest.approx(np.exp([0.6, 0.3, 0.0, -0.3, -0.6]))
    # 150 items at the theta of people who agree: the product is far beyond what a float holds.
    weights = weights_of_reversals(8.0, 150)
    assert np.isfinite(weights.sum())
    assert weights[150] == 1.0
    assert (np.diff(weights) <= 0.0).all()


def tied_blocks(first, weights, run):
    n_blocks, n_members = run(weak_orders.count_tied_blocks)(first)
    words, block_weights = np.zeros((n_blocks, 2), np.uint64), np.zeros(n_blocks)
    run(weak_orders.list_tied_blocks)(first, weights, words, block_weights)
    sizes = np.unpackbits(words.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
    offsets, members = np.append(0, np.cumsum(sizes)), np.zeros(n_members, np.int64)
    run(weak_orders.members_of_words)(words, 70, offsets, members)
    labels = np.arange(70) % 4
    lines = run(weak_orders.count_inversions_by_line)(1.0 * first.T @ first, labels, 4)
    histograms = run(weak_orders.block_histograms)(offsets, members, block_weights, labels, 4, 71)
    return words, block_weights, members, lines, *histograms


def test_tied_blocks_are_the_same_in_python():
    rng = np.random.default_rng(2)
    # More items than a word has bits.
    grades = rng.integers(40, size=(20, 70))
    first = (grades[:, None, :] < grades[:, :, None]).sum(axis=2).astype(np.int32)
    weights = rng.random(20)
    one = tied_blocks(first, weights, lambda kernel: kernel)
    other = tied_blocks(first, weights, lambda kernel: kernel.in_python)
    for kernel, python in zip(one, other, strict=True):
        assert kernel.any()
        assert kernel.dtype == python.dtype
        assert np.array_equal(kernel, python)


def test_choices_are_counted_the_same_in_python():
    before, sets, items = np.array([[0, 0, 1, 1], [0, 0, 1, 2], [0, 2, 0, 1]], np.uint32)
    ends, weights = np.array([2, 3, 1], np.uint32), np.array([0.1, 0.2, 0.3])
    given = before, sets, items, ends, weights, 3, 3
    for one, other in zip(count_choices(*given), count_choices.in_python(*given), strict=True):
        assert one.any()
        assert np.array_equal(one, other)


@compiled
def _twice(number: int) -> int:
    return 2 * number


def test_what_an_older_version_kept_of_a_kernel_does_not_end_the_program():
    file = _twice.dispatcher._cache._cache_file
    path = Path(file._index_path)
    path.parent.mkdir(exist_ok=True)
    # The index of a kernel that took an argument of a class that has gone.
    path.write_bytes(pickle.dumps(file._version) + b"ctierwise._kernels.gone\nSetting\n.")
    assert _twice(21) == 42
    assert b"gone" not in path.read_bytes()
