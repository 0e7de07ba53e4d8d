"""Kernels are compiled beside the process that calls them, from a list that fits them."""

import hashlib
import importlib
import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from tierwise._compiling import beforehand
from tierwise._compiling import kernel as compiling
from tierwise._compiling.beforehand import Listed, compile_kernels, n_missing, spelled, typed
from tierwise._compiling.kernel import Kernel
from tierwise._kernels import counting

ONE = Listed("counting.add_place_counts", ("int32[2C]", "float64[1C]", "float64[2C]"))

USE = "leaderboard: battles"


def uses():
    """The names of all uses."""
    return list(beforehand._read()["uses"])


def kernels_of(use):
    """The kernels of a use in the order of their first calls."""
    return [beforehand._listed(one) for one in beforehand._read()["uses"][use]]


def classes_and_lengths(spelling):
    """The tuples of a type: the fields that their class has, and those that are listed."""
    if isinstance(spelling, dict):
        ((_, fields),) = spelling.items()
        for _, one in fields:
            yield from classes_and_lengths(one)
    if isinstance(spelling, list):
        name, *parts = spelling
        if name:
            yield len(typed_class(name)._fields), len(parts)
        for one in parts:
            yield from classes_and_lengths(one)


def typed_class(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module("tierwise._kernels" + module), attribute)


def test_the_list_fits_the_kernels():
    # If it does not any more, tools/first_uses.py writes it again.
    from_python = [kernel for use in uses() for kernel in kernels_of(use)]
    with_parts = [one for use in uses() for one in beforehand.from_the_middle(use)]
    assert len(set(map(str, with_parts))) > len(set(map(str, from_python))) > 30
    for one in {str(one): one for one in (*with_parts, *listed())}.values():
        module, _, name = one.name.partition(".")
        kernel = getattr(importlib.import_module(f"tierwise._kernels.{module}"), name)
        assert isinstance(kernel, Kernel), one.name
        assert kernel.is_called_from_python or one not in from_python, one.name
        assert len(signature(kernel.__wrapped__).parameters) == len(one.types), one.name
        for there, said in classes_and_lengths(["", *one.types]):
            assert there == said, one.name


def listed():
    return [kernel for kernels in beforehand.kernels_by_module() for kernel in kernels]


def test_types_are_read_as_they_are_spelled():
    for one in (*listed(), *beforehand.from_the_middle(USE)):
        assert [spelled(typed(spelling)) for spelling in one.types] == list(one.types)


@pytest.mark.parametrize("use", uses())
def test_other_processes_begin_where_half_of_the_work_is_left(use):
    read = beforehand._read()
    called = read["uses"][use]
    work = [1 + len(read["calls"].get(one, ())) for one in called]
    order = beforehand._second_half_first(called)
    assert sorted(order) == sorted(called)
    if called:
        first = called.index(order[0])
        assert order == called[first:] + called[:first][::-1]
        longest = [max(sum(work[:place]), sum(work[place:])) for place in range(len(work))]
        assert longest[first] == min(longest)


def test_kernels_are_kept_on_disk_by_one_process_at_a_time(monkeypatch):
    # A list that was read before another process wrote it would lose an entry, or give the code for
    # one type to the other.
    file = counting.count_bits.dispatcher._cache._cache_file
    written = []
    for step in ("_save_index", "_save_data"):
        monkeypatch.setattr(file, step, lambda *_, step=step: written.append(step))
    monkeypatch.setattr(compiling, "_SECONDS_TO_KEEP", 30.0)
    with compiling._alone_with(Path(f"{file._index_path}.lock")):
        keeping = threading.Thread(target=file.save, args=("made-up types", b"code"))
        keeping.start()
        time.sleep(0.1)
        assert not written
    keeping.join(10)
    assert written == ["_save_index", "_save_data"]


def test_a_kernel_that_is_given_a_constant_is_compiled_for_any_number():
    from numba import types

    dispatcher = counting.count_bits.dispatcher
    dispatcher.compile((types.literal(5),))
    compiled = [signature.args for signature in dispatcher.nopython_signatures]
    assert (types.int64,) in compiled
    assert not any(isinstance(one, types.Literal) for args in compiled for one in args)


def test_unknown_types_are_refused():
    with pytest.raises(TypeError, match="no type is spelled heap"):
        typed("heap")
    import numba

    with pytest.raises(TypeError, match="no type is spelled ListType"):
        spelled(numba.types.ListType(numba.types.int64))


def test_read_only_arrays_and_generators_have_a_spelling():
    import numba

    fixed = np.arange(3)
    fixed.flags.writeable = False
    for value, text in ((fixed, "int64[1C]!"), (np.random.default_rng(1), None), (True, "bool")):
        found = spelled(numba.typeof(value))
        assert text in (None, found)
        assert typed(found) == numba.typeof(value)


PROGRAM = """
import sys
from tierwise._compiling import beforehand
from tierwise._compiling import kernel as compiling
from tierwise._kernels import counting
from tierwise._util import processes
beforehand.n_cores = lambda: {cores}
started = []
popen = beforehand.subprocess.Popen
beforehand.subprocess.Popen = lambda *a, **k: started.append(popen(*a, **k)) or started[-1]
beforehand._WORTH_A_PROCESS = {least}
beforehand.compile_beside("{use}")
print([process.pid for process in started], "numba" in sys.modules, flush=True)
{after}
"""


def start(tmp_path, use=USE, cores=2, least=1, after="sys.stdin.read()"):
    program = PROGRAM.format(use=use, cores=cores, least=least, after=after)
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )


def children(process):
    pids, _, loaded = process.stdout.readline().strip().rpartition(" ")
    assert loaded == "False"
    return json.loads(pids)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123 - not a path
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid, seconds=20):
    end = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_running(pid)


needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"),  # noqa: PTH110
    reason="the system does not list processes in /proc",
)


@needs_proc
@pytest.mark.parametrize("how", ["kill", "terminate", "end"])
def test_the_other_process_ends_with_the_one_that_started_it(tmp_path, how):
    with start(tmp_path) as process:
        (child,) = children(process)
        assert is_running(child)
        if how == "end":
            process.stdin.close()
        else:
            getattr(process, how)()
        assert ends(child)
        assert process.stderr.read() == ""


@needs_proc
def test_what_compiles_can_be_ended_and_leaves_nothing_behind(tmp_path):
    after = """
found = beforehand.beside()
found.end()
print([process.poll() is None for process in started], found.folder.exists(), flush=True)
"""
    with start(tmp_path, cores=3, after=after) as process:
        assert len(children(process)) == 2
        assert process.stdout.readline().strip() == "[False, False] False"
        assert process.stderr.read() == ""


def test_kernels_of_several_uses_are_listed_once():
    uses = beforehand.uses_of_command("report")
    assert len(uses) > 1
    kernels = beforehand.from_the_middle(*uses)
    assert len(set(map(str, kernels))) == len(kernels)
    for use in uses:
        assert set(map(str, beforehand.from_the_middle(use))) <= set(map(str, kernels))
    # What most of them wait for is compiled first.
    called = Counter(str(one) for use in uses for one in kernels_of(use))
    first = next(str(one) for one in kernels if str(one) in called)
    assert called[first] == max(called.values())


def test_nothing_is_started_where_it_would_not_help(tmp_path):
    for given in ({"cores": 1}, {"use": "an unknown use"}, {"least": 10_000}):
        with start(tmp_path, after="", **given) as process:
            assert children(process) == []


@pytest.mark.thorough
def test_what_is_on_disk_is_not_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert n_missing([ONE]) == 1
    # In a process of its own: Numba reads where to keep what it compiles when it is loaded.
    code = f"from tierwise._compiling.beforehand import *; compile_kernels([{ONE!r}])"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert n_missing([ONE]) == 0


@pytest.mark.thorough
def test_what_was_compiled_from_an_older_source_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = f"from tierwise._compiling.beforehand import *; compile_kernels([{ONE!r}])"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    (index,) = tmp_path.rglob("*.nbi")
    written_for = hashlib.sha256(Path(counting.__file__).read_bytes()).digest()
    content = index.read_bytes()
    if written_for not in content:  # Before Numba 0.68 it was the time of the source.
        written_for = struct.pack(">d", Path(counting.__file__).stat().st_mtime)
    index.write_bytes(content.replace(written_for, bytes(len(written_for))))
    assert n_missing([ONE]) == 1
    index.write_bytes(content)
    assert n_missing([ONE]) == 0


def test_a_list_that_is_out_of_date_is_no_reason_to_stop():
    compile_kernels(
        [Listed("gone.at_all", ()), Listed("counting.gone", ()), Listed(ONE.name, ("heap",))]
    )


class Running:
    @staticmethod
    def poll():
        return None


class Ended:
    @staticmethod
    def poll():
        return 0


def test_a_kernel_that_another_process_compiles_is_waited_for(tmp_path):
    here = beforehand.Beside(tmp_path, 0, [Running()])
    there = beforehand.Beside(tmp_path, 1)
    seen = []
    with there.marking("a.kernel"):
        assert here.is_compiled_elsewhere("a.kernel")
        assert not there.is_compiled_elsewhere("a.kernel")
        waiting = threading.Thread(target=lambda: seen.append(here.wait_for("a.kernel")))
        waiting.start()
        time.sleep(0.1)
        assert not seen
    waiting.join(10)
    assert seen == [None]
    with here.marking("a.kernel"):
        assert there.is_compiled_elsewhere("a.kernel")


def test_nobody_waits_for_a_process_that_has_ended(tmp_path):
    with beforehand.Beside(tmp_path, 1).marking("a.kernel"):
        assert not beforehand.Beside(tmp_path, 0, [Ended()]).is_compiled_elsewhere("a.kernel")
        assert not beforehand.Beside().is_compiled_elsewhere("a.kernel")


def test_the_other_process_says_what_it_compiles(tmp_path):
    folder = tmp_path / "said"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "tierwise._compiling.beforehand", "1", "1", str(folder), USE],
        stdin=subprocess.PIPE,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    ) as process:
        kernels = {
            beforehand.name_with_types(one.name, tuple(map(typed, one.types)))
            for one in beforehand.from_the_middle(USE)
        }
        end = time.monotonic() + 60
        while not any(folder.iterdir()) and time.monotonic() < end:
            time.sleep(0.05)
        process.kill()
    assert {one.name for one in folder.iterdir()} & kernels


def test_what_is_kept_waits_for_a_lock_but_not_for_one_that_was_left(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_SECONDS_TO_KEEP", 30.0)
    lock, seen = tmp_path / "index.lock", []

    def keep():
        with compiling._alone_with(lock):
            seen.append("kept")

    with compiling._alone_with(lock):
        waiting = threading.Thread(target=keep)
        waiting.start()
        time.sleep(0.1)
        assert not seen
    waiting.join(10)
    assert seen == ["kept"]
    assert not lock.exists()
    # A process that was killed has left it.
    monkeypatch.setattr(compiling, "_SECONDS_TO_KEEP", 0.1)
    lock.touch()
    keep()
    assert len(seen) == 2
    assert not lock.exists()
    # Where nothing can be written, nothing is kept, and nobody waits.
    with compiling._alone_with(tmp_path / "no folder" / "index.lock"):
        pass
