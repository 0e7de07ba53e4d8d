"""Kernels are compiled before they are called, by processes beside the one that calls them.

Numba looks for a kernel on disk when it is first called. A first use calls its kernels one after
the other; meanwhile another process compiles the second half of them. A server has them compiled
while people choose a file. ``first_uses.json`` lists what is called, with the types of the
arguments; ``tools/first_uses.py`` writes it.
"""

import atexit
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from hashlib import sha1, sha256
from importlib import import_module
from itertools import groupby
from pathlib import Path
from shutil import rmtree
from struct import pack
from tempfile import mkdtemp
from time import sleep
from typing import Any, cast
from zlib import crc32

from tierwise._util.processes import end_with_parent, n_cores

LISTED = Path(__file__).resolve().parent / "first_uses.json"
# Where the kernels are.
_PACKAGE = "tierwise._kernels"
KERNELS = LISTED.parents[1] / "_kernels"
# Where fewer kernels are missing, another process would load the compiler for next to nothing.
_WORTH_A_PROCESS = 4
_MOST_PROCESSES = 3
_SECONDS_BETWEEN_LOOKS = 0.01


@dataclass(frozen=True)
class Listed:
    """A kernel, and the types that it is compiled for.

    Attributes
    ----------
    name
        Its module and its own name, such as ``luce.derivatives``.
    types
        The types of its arguments, as `spelled` writes them.
    """

    name: str
    types: tuple[Any, ...]

    @property
    def module(self) -> str:
        """The module that it is in."""
        return self.name.partition(".")[0]


@cache
def _read() -> dict[str, Any]:
    listed: dict[str, Any] = json.loads(LISTED.read_text(encoding="utf-8"))
    return listed


def uses_of_command(command: str) -> list[str]:
    """Return the names of what a command does with data of each kind.

    Examples
    --------
    >>> uses_of_command("search")
    ['search: rankings, complete, very few items', 'search: rankings, complete']
    """
    return [use for use in _read()["uses"] if use.startswith(f"{command}: ")]


def from_the_middle(*uses: str) -> list[Listed]:
    """Return the kernels of uses, those of the second half of each first, each after what it calls.

    Those that most of the uses call come before the others. What kernels call is listed by itself,
    so that processes can share one large kernel.
    """
    calls = _read()["calls"]
    called = [one for use in uses for one in _second_half_first(_read()["uses"].get(use, []))]
    times = Counter(called)
    keys = (
        one
        for last in sorted(called, key=lambda key: -times[key])
        for one in (*reversed(calls.get(last, ())), last)
    )
    return [_listed(one) for one in dict.fromkeys(keys)]


def _second_half_first(called: list[str]) -> list[str]:
    """Return kernels from where about half of the work is left, and then back from there.

    The process that calls them compiles the first half meanwhile.
    """
    calls = _read()["calls"]
    work = [1 + len(calls.get(one, ())) for one in called]
    longest = [max(sum(work[:place]), sum(work[place:])) for place in range(len(work))]
    middle = longest.index(min(longest)) if called else 0
    return called[middle:] + called[:middle][::-1]


def _listed(key: str) -> Listed:
    """Return what is listed under a name and a number."""
    name, _, number = key.rpartition(" ")
    return Listed(name, tuple(_read()["kernels"][name][int(number)]))


def kernels_by_module() -> list[list[Listed]]:
    """Return all kernels, those of a module together, because they have parts in common."""
    calls = _read()["calls"]
    called = {one for of_use in _read()["uses"].values() for one in of_use}
    parts = {one for parts in calls.values() for one in parts} - called
    keys = [
        f"{name} {number}"
        for name, known in sorted(_read()["kernels"].items())
        for number in range(len(known))
        if f"{name} {number}" not in parts
    ]
    modules = [list(group) for _, group in groupby(keys, key=lambda key: _listed(key).module)]
    # Those with much to compile first, so that no process is left with one of them at the end.
    modules.sort(key=lambda own: sum(1 + len(calls.get(key, ())) for key in own), reverse=True)
    return [[_listed(key) for key in own] for own in modules]


class Beside:
    """Processes that compile for the same use, and what each of them is compiling now.

    Files in a folder of theirs say so: the process that waits for a kernel does not compile it once
    more, and the others leave to it what it has begun.

    Parameters
    ----------
    folder
        The folder; None if there is one process.
    number
        The number of this process; that of the one that calls the kernels is 0.
    processes
        The other processes.
    """

    def __init__(
        self,
        folder: Path | None = None,
        number: int = 0,
        processes: Sequence["subprocess.Popen[bytes]"] = (),
    ) -> None:
        self.folder = folder
        self.number = number
        self.processes = processes

    def is_compiled_elsewhere(self, kernel: str) -> bool:
        """Whether another process is compiling a kernel, as `name_with_types` names it."""
        if self.folder is None or not (self.folder / kernel).is_dir():
            return False
        marks = {file.name for file in (self.folder / kernel).iterdir()}
        running = any(process.poll() is None for process in self.processes)
        return bool(marks - {str(self.number)}) and (running or self.number > 0)

    def wait_for(self, kernel: str) -> None:
        """Wait until no other process compiles a kernel."""
        while self.is_compiled_elsewhere(kernel):
            sleep(_SECONDS_BETWEEN_LOOKS)

    def end(self) -> None:
        """End the other processes; what they have compiled stays on disk."""
        for process in self.processes:
            process.kill()
            process.wait()
        if self.processes and self.folder is not None:
            rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def marking(self, kernel: str) -> Iterator[None]:
        """Let the other processes know that this one compiles a kernel."""
        if self.folder is None:
            yield
            return
        mark = self.folder / kernel / str(self.number)
        with suppress(OSError):
            mark.parent.mkdir(exist_ok=True)
            mark.touch()
        try:
            yield
        finally:
            mark.unlink(missing_ok=True)


_beside = ContextVar("_beside", default=Beside())  # noqa: B039 - it is not changed


def beside() -> Beside:
    """Return the processes that compile beside this one."""
    return _beside.get()


def name_with_types(name: str, types: Any) -> str:
    """Return a name for a kernel as it is compiled for arguments of these types."""
    return f"{name}-{crc32(str(types).encode()):08x}"


def compile_kernels(kernels: Iterable[Listed]) -> None:
    """Compile kernels that are not on disk yet, and keep them there."""
    for one in kernels:
        # A list that is older than the kernels is no reason to stop: what is missing is compiled
        # when it is called.
        with suppress(Exception):
            types = tuple(map(typed, one.types))
            if beside().is_compiled_elsewhere(name_with_types(one.name, types)):
                continue
            _, _, function = one.name.partition(".")
            kernel = getattr(import_module(f"{_PACKAGE}.{one.module}"), function)
            kernel.dispatcher.compile(types)


def compile_beside(*uses: str) -> Beside:
    """Have other cores compile what uses will call, from the middle on, if that is not done.

    They say nothing, and end with this process.

    Parameters
    ----------
    uses
        Names in ``first_uses.json``; nothing happens for others.

    Returns
    -------
    Beside
        The processes that do it, none if too little is missing.
    """
    n_processes = min(n_cores() - 1, _MOST_PROCESSES)
    if (
        n_processes < 1
        or not sys.executable
        or n_missing(from_the_middle(*uses)) < _WORTH_A_PROCESS
    ):
        return Beside()
    folder = Path(mkdtemp(prefix="tierwise-"))
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", __spec__.name, *map(str, (number, n_processes, folder)), *uses],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        for number in range(1, n_processes + 1)
    ]
    found = Beside(folder, 0, processes)
    _beside.set(found)
    atexit.register(found.end)
    return found


def n_missing(kernels: Sequence[Listed]) -> int:
    """Return how many kernels have nothing on disk; for that, Numba need not be loaded."""
    files = _indices_on_disk()
    found = {
        one.name
        for one in kernels
        if any(_is_of_this_source(file, one.module) for file in files.get(one.name, ()))
    }
    return len({one.name for one in kernels} - found)


@cache
def is_on_disk(name: str) -> bool:
    """Whether a kernel has been compiled before, as far as this process has known."""
    module = name.partition(".")[0]
    return any(_is_of_this_source(file, module) for file in _found_at_first().get(name, ()))


@cache
def _found_at_first() -> dict[str, list[Path]]:
    """Return what `_indices_on_disk` did when it was first asked for."""
    return _indices_on_disk()


def _indices_on_disk() -> dict[str, list[Path]]:
    """Return the files in which Numba lists what it has compiled, by the name of the kernel."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    # As Numba names the folder of a module that has none beside it.
    apart = f"{KERNELS.name}_{sha1(str(KERNELS).encode(), usedforsecurity=False).hexdigest()}"
    if chosen:
        folders = [Path(chosen, apart)]
    else:
        caches = (Path.home() / ".cache", Path.home() / "Library" / "Caches")
        folders = [KERNELS / "__pycache__", *(folder / "numba" / apart for folder in caches)]
    files: dict[str, list[Path]] = {}
    for folder in folders:
        for file in folder.glob("*.nbi"):
            files.setdefault(file.name.rpartition("-")[0], []).append(file)
    return files


def _is_of_this_source(index: Path, module: str) -> bool:
    """Whether a file of Numba's was written for the source as it is now.

    After an upgrade files for older sources lie beside the new ones, and Numba does not read them.
    """
    with suppress(OSError):
        content = index.read_bytes()
        return any(stamp in content for stamp in _stamps_of(module))
    return False


@cache
def _stamps_of(module: str) -> tuple[bytes, ...]:
    """Return what says how fresh a source is: its hash, or when it was written before Numba 0.68.

    The time is a float as pickled.
    """
    source = KERNELS / f"{module}.py"
    with suppress(OSError):
        return sha256(source.read_bytes()).digest(), pack(">d", source.stat().st_mtime)
    return ()


def spelled(numba_type: Any) -> Any:
    """Return a type of an argument as text and lists, which `typed` reads.

    An array of two dimensions is ``float64[2C]``, followed by ``!`` if it is read-only; a tuple is
    a list that begins with the name of its class, or with nothing.
    """
    from numba.core import types

    if isinstance(numba_type, types.Array):
        mark = "" if numba_type.mutable else "!"
        return f"{numba_type.dtype}[{numba_type.ndim}{numba_type.layout}]{mark}"
    if isinstance(numba_type, types.BaseTuple):
        of_class = getattr(numba_type, "instance_class", None)
        name = "" if of_class is None else _name_of_class(of_class)
        return [name, *(spelled(one) for one in numba_type.types)]  # type: ignore[attr-defined]
    if isinstance(numba_type, types.StructRef):
        fields = [[name, spelled(one)] for name, one in numba_type._fields]
        return {_name_of_class(type(numba_type)): fields}
    text = str(numba_type)
    if typed(text) != numba_type:
        raise TypeError(f"no spelling for the type {text}")
    return text


def typed(spelling: Any) -> Any:
    """Return the type that `spelled` has written."""
    from numba.core import types

    if isinstance(spelling, dict):
        ((name, fields),) = spelling.items()
        return _class_named(name)([(field, typed(one)) for field, one in fields])
    if isinstance(spelling, list):
        name, *parts = spelling
        of_class = _class_named(name) if name else None
        return types.BaseTuple.from_types(tuple(map(typed, parts)), of_class)  # type: ignore[no-untyped-call]
    name, bracket, shape = str(spelling).partition("[")
    scalar = getattr(types, _NAMES_OF_TYPES.get(name, name), None)
    if not isinstance(scalar, types.Type):
        raise TypeError(f"no type is spelled {spelling}")
    if not bracket:
        return scalar
    n_dimensions, layout = int(shape[0]), cast("Any", shape[1])
    return types.Array(scalar, n_dimensions, layout, readonly=shape.endswith("!"))


_NAMES_OF_TYPES = {"bool": "boolean", "NumPyRandomGeneratorType": "npy_rng"}


def _name_of_class(of_class: type) -> str:
    return f"{of_class.__module__.removeprefix(_PACKAGE)}.{of_class.__qualname__}"


def _class_named(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(_PACKAGE + module if name.startswith(".") else module), attribute)


def main() -> None:
    """Compile a share of the kernels of uses, beginning in the middle of each."""
    end_with_parent()
    number, of_processes, folder, *uses = sys.argv[1:]
    _beside.set(Beside(Path(folder), int(number)))
    compile_kernels(from_the_middle(*uses)[int(number) - 1 :: int(of_processes)])


if __name__ == "__main__":
    # Kernels know this module by its name. Run as a program, it is another one, and what the
    # processes say to each other would not reach them.
    import_module(__spec__.name).main()
