"""The one way kernels are compiled."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Generic, ParamSpec, TypeVar

from tierwise._compiling.beforehand import beside, is_on_disk, name_with_types

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_silent = ContextVar("_silent", default=False)


# Numba's stubs do not know the options that leave out wrappers.
_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


# A step takes Python about a microsecond. A kernel takes a tenth of a second to several seconds to
# compile, and some hundredths to load once it is compiled, beside a second for the compiler itself.
_STEPS_OF_COMPILING, _STEPS_OF_LOADING, _STEPS_WITH_COMPILER = 500_000, 30_000, 3_000


# To keep a kernel on disk takes some milliseconds.
_SECONDS_TO_KEEP, _SECONDS_BETWEEN_LOOKS = 2.0, 0.002


# `CompilerOfParts` relies on the inside of Numba: with other versions parts are compiled as all
# functions are, which takes longer.
_NUMBA_OF_PARTS = (0, 68)


class Kernel(Generic[_Parameters, _Result]):
    """A function that is compiled when it is first called.

    Loading the compiler takes a second, so only the first call of a kernel does it.

    Parameters
    ----------
    function
        The function.
    options
        Those of Numba's compiler.
    steps
        How many steps of about a microsecond Python would take, given the same arguments; None if
        that is not known, or always many.
    """

    def __init__(
        self,
        function: Callable[_Parameters, _Result],
        options: dict[str, Any],
        steps: Callable[..., float] | None = None,
    ) -> None:
        self._function = function
        self._options = options
        self._steps = steps
        self._n_steps_in_python = 0.0
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        """What Numba makes of the function."""
        import numba

        _introduce_kernels()
        _tell_of_compiling()
        options = self._options
        if self._is_part and numba.version_info.short == _NUMBA_OF_PARTS:
            from tierwise._compiling.compiler_of_parts import CompilerOfParts

            options = {**options, "pipeline_class": CompilerOfParts}
        try:
            return self._in_turn(_kept_in_turn(numba.njit(**options)(self._function)))
        except RuntimeError:
            # Nothing may be written, neither beside the package nor at home: compile each time.
            return numba.njit(**{**options, "cache": False})(self._function)

    def _in_turn(self, dispatcher: Any) -> Any:
        """Have a kernel read from disk that another process is compiling just now.

        A kernel that another one gives a number such as 0 is compiled for any number, not for this
        one and then again.
        """
        from numba.core.types import unliteral

        compile_now = getattr(dispatcher, "compile", None)
        if compile_now is None:
            return dispatcher
        name = self._name

        def compile_in_turn(types: Any) -> Any:
            if isinstance(types, tuple):
                types = tuple(map(unliteral, types))
            others, kernel = beside(), name_with_types(name, types)
            if others.number == 0 and others.is_compiled_elsewhere(kernel):
                # For clocks that stand still meanwhile, waiting is compiling.
                telling = _tell_of_compiling()
                telling.on_start(None)
                others.wait_for(kernel)
                telling.on_end(None)
            with others.marking(kernel):
                return compile_now(types)

        dispatcher.compile = compile_in_turn
        return dispatcher

    @property
    def _is_part(self) -> bool:
        return "no_cpython_wrapper" in self._options

    @cached_property
    def in_python(self) -> Callable[_Parameters, _Result]:
        """The same function as Python runs it, with the same results to the last bit."""
        from tierwise._compiling.in_python import with_globals

        plain: Callable[_Parameters, _Result] = with_globals(
            self._function, lambda value: value.in_python if isinstance(value, Kernel) else value
        )
        return plain

    def is_light(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> bool:
        """Whether Python takes this call, and those before, sooner than they would be compiled.

        What is loaded already is used, and what is called often is compiled after all.
        """
        if self._steps is None or "dispatcher" in vars(self):
            return False
        self._n_steps_in_python += self._steps(*args, **kwargs)
        most = _STEPS_OF_COMPILING
        if is_on_disk(self._name):
            # Where the compiler is there, what is used at all will be used again.
            most = _STEPS_WITH_COMPILER if "numba" in sys.modules else _STEPS_OF_LOADING
        return self._n_steps_in_python <= most

    @property
    def _name(self) -> str:
        """Its module and its own name, as in ``first_uses.json``."""
        return f"{self.__module__.rpartition('.')[2]}.{self.__name__}"

    @property
    def is_called_from_python(self) -> bool:
        """Whether Python calls it, not only other kernels."""
        return not self._is_part and "inline" not in self._options

    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        if self.is_light(*args, **kwargs):
            from tierwise._compiling.in_python import run

            light: _Result = run(self.in_python, *args, **kwargs)
            return light
        # Without a wrapper the process would crash. Where compiling is switched off, Numba leaves
        # the function as it is, and other kernels call it here.
        if self._is_part and self.dispatcher is not self._function:
            raise TypeError(f"{self.__name__} has no way in from Python: only kernels call it")
        result: _Result = self.dispatcher(*args, **kwargs)
        return result

    def __getattr__(self, name: str) -> Any:
        # What the compiler asks a function that another one calls.
        if name.startswith("__") or name == "dispatcher":
            raise AttributeError(name)
        return getattr(self.dispatcher, name)


def _kept_in_turn(dispatcher: Any) -> Any:
    """Make what a kernel keeps on disk safe from older versions and from other processes.

    Types of arguments are kept by the name of their class, which may have gone since then; Numba
    looks for it before it looks at whether the source is the same. And Numba reads its list of what
    is kept, and writes it with one more: two processes at once would lose one of theirs, or mix up
    the two.
    """
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if file is None:
        return dispatcher
    load_index, save = file._load_index, file.save

    def load() -> Any:
        try:
            return load_index()
        except (ImportError, AttributeError):
            return {}

    def save_in_turn(key: Any, data: Any) -> None:
        with _alone_with(Path(f"{file._index_path}.lock")):
            save(key, data)

    file._load_index, file.save = load, save_in_turn
    return dispatcher


@contextmanager
def _alone_with(lock: Path) -> Iterator[None]:
    """Let one process at a time do something; one that was killed meanwhile is not waited for."""
    until = monotonic() + _SECONDS_TO_KEEP
    while monotonic() < until:
        try:
            lock.touch(exist_ok=False)
        except FileExistsError:
            sleep(_SECONDS_BETWEEN_LOOKS)
        except OSError:
            break
        else:
            break
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink(missing_ok=True)


def _introduce_kernels() -> None:
    """Tell Numba that a kernel that another one calls is what it makes of it."""
    from numba import types
    from numba.extending import typeof_impl

    if Kernel not in typeof_impl.registry:
        typeof_impl.register(Kernel)(lambda kernel, _: types.Dispatcher(kernel.dispatcher))


@cache
def _tell_of_compiling() -> Any:
    """Have Numba say on a terminal, once, that code is compiled, which takes some seconds."""
    from numba.core import event

    class Telling(event.Listener):
        announced = False
        # What a kernel calls is compiled within its own compiling.
        depth, since, seconds, collects = 0, 0.0, 0.0, True

        def on_start(self, _event: object) -> None:
            if self.depth == 0:
                self.since = monotonic()
                # The compiler makes a million objects that live as long as it runs: looking for
                # garbage among them takes an eighth of the time.
                self.collects = gc.isenabled()
                gc.disable()
            self.depth += 1
            if not (self.announced or _silent.get()) and sys.stderr.isatty():
                self.announced = True
                sys.stderr.write("tierwise: compiling, once: this use takes some seconds longer\n")

        def on_end(self, _event: object) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += monotonic() - self.since
                if self.collects:
                    gc.enable()

    telling = Telling()
    event.register("numba:compile", telling)  # type: ignore[no-untyped-call]
    return telling


def working_time() -> float:
    """Return seconds on a clock that stands still while kernels are compiled."""
    compiling = _tell_of_compiling().seconds if "numba" in sys.modules else 0.0
    return monotonic() - float(compiling)


@contextmanager
def silent_compiling() -> Iterator[None]:
    """Say nothing of what is compiled meanwhile."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function to machine code on first call, and keep the result on disk.

    The global interpreter lock is released, so kernels run side by side in threads. No kernel is
    called from C, so the wrapper for that, a tenth of the time to compile, is left out.

    Arrays are copied to others in loops: ``one[:] = other`` takes two seconds to compile, for the
    text of an error that cannot occur.
    """
    return Kernel(function, _OPTIONS)


def compiled_if_many(
    steps: Callable[..., float],
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Compile a function unless few steps are asked of it, which Python takes sooner.

    Parameters
    ----------
    steps
        How many steps of about a microsecond Python takes, given the same arguments.
    """

    def with_steps(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        return Kernel(function, _OPTIONS, steps)

    return with_steps


def compiled_part(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function that only other kernels call, not Python.

    What would translate its arguments from Python is left out: where they are large tuples of
    arrays, it takes as long to compile as the function itself.
    """
    return Kernel(function, {**_OPTIONS, "no_cpython_wrapper": True})


def inlined(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Copy a function into each kernel that calls it, to be compiled as a part of that kernel.

    A function with a name of its own is compiled once by itself and then again with every kernel
    that calls it, directly or not. For what is called in one or two places a copy is cheaper. It is
    faster, too, where arrays are passed on in the innermost loop: at every call references to each
    of them are counted.
    """
    return Kernel(function, {**_OPTIONS, "inline": "always"})
