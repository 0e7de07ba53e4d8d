"""Kernels as Python runs them, where that is over before they would be compiled.

Results are those of machine code to the last bit: exponentials and logarithms are those of the C
library, which compiled code calls, too, and which NumPy replaces with its own on some machines.
Numbers are NumPy's, which divide by 0 as machines do: Python's raise an error.
"""

import math
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

_FUNCTIONS_OF_C = {
    "exp": math.exp,
    "expm1": math.expm1,
    "log": math.log,
    "log1p": math.log1p,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "arcsinh": math.asinh,
}


def with_globals(function: Any, found: Callable[[Any], Any]) -> Any:
    """Return a function with other globals, and the C library where it calls NumPy's functions.

    Parameters
    ----------
    function
        The function.
    found
        Gives what each of its globals is replaced with.
    """
    code = _with_numbers_of_numpy(function.__code__)
    own = {
        name: _numpy_of_kernels() if value is np else as_number_of_numpy(found(value))
        for name, value in function.__globals__.items()
        if name in _names_in(code)
    }
    return FunctionType(code, own, code.co_name, function.__defaults__, function.__closure__)


def run(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function from `with_globals` as if it were compiled.

    As in machine code, what is too large is infinite, and nothing is said about it; numbers that it
    returns are Python's.
    """
    numbers = {name: as_number_of_numpy(one) for name, one in kwargs.items()}
    with np.errstate(all="ignore"):
        return _as_returned(function(*map(as_number_of_numpy, args), **numbers))


def _as_returned(value: Any) -> Any:
    """Return a number of NumPy, or those of a tuple, as numbers of Python."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        parts = map(_as_returned, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def as_number_of_numpy(value: Any) -> Any:
    """Return a float, or those of a tuple, as numbers of NumPy; anything else as it is."""
    if type(value) is float:
        return np.float64(value)
    if isinstance(value, tuple) and any(isinstance(one, float | tuple) for one in value):
        parts = map(as_number_of_numpy, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _with_numbers_of_numpy(code: CodeType) -> CodeType:
    """Return code whose constants, and those of functions within it, are numbers of NumPy."""
    constants = tuple(
        _with_numbers_of_numpy(one) if isinstance(one, CodeType) else as_number_of_numpy(one)
        for one in code.co_consts
    )
    return code.replace(co_consts=constants)


def _names_in(code: CodeType) -> set[str]:
    """Return the names that code looks up, and the functions within it."""
    inner = (_names_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


@cache
def _numpy_of_kernels() -> SimpleNamespace:
    """Return NumPy's names, some of them with the functions of the C library."""
    names = {name: getattr(np, name) for name in vars(np) if not name.startswith("_")}
    for name, function in _FUNCTIONS_OF_C.items():
        names[name] = _of_c(function, getattr(np, name))
    return SimpleNamespace(**names)


def _of_c(function: Callable[[float], float], of_numpy: Any) -> Callable[[Any], Any]:
    """Return a function of the C library, also for arrays; without errors beyond its range."""

    def of_number(x: Any) -> np.float64:
        try:
            return np.float64(function(x))
        except (OverflowError, ValueError):
            # Infinite, or not a number: there NumPy has no other value.
            return np.float64(of_numpy(x))

    def of_any(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.array([of_number(one) for one in x.ravel()]).reshape(x.shape)
        return of_number(x)

    return of_any
