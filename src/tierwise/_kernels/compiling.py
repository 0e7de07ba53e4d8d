"""The one way kernels are compiled."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


# Numba's stubs do not know the options that leave out wrappers.
_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function to machine code on first call, and keep the result on disk.

    The global interpreter lock is released, so kernels run side by side in threads. No kernel is
    called from C, so the wrapper for that, a tenth of the time to compile, is left out.
    """
    return cast("Callable[_Parameters, _Result]", numba.njit(**_OPTIONS)(function))


def compiled_part(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function that only other kernels call, not Python.

    What would translate its arguments from Python is left out: where they are large tuples of
    arrays, it takes as long to compile as the function itself.
    """
    options = {**_OPTIONS, "no_cpython_wrapper": True}
    return cast("Callable[_Parameters, _Result]", numba.njit(**options)(function))


def inlined_part(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Copy a function into each kernel that calls it, to be compiled as a part of that kernel.

    A function with a name of its own is compiled once by itself and then again with every kernel
    that calls it, directly or not. For what is called in one or two places a copy is cheaper.
    """
    options = {**_OPTIONS, "no_cpython_wrapper": True, "inline": "always"}
    return cast("Callable[_Parameters, _Result]", numba.njit(**options)(function))
