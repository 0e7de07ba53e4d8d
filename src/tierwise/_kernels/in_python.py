"""Kernels as Python runs them, where that is over before they would be compiled.

Results are those of machine code to the last bit: exponentials and logarithms are those of the C
library, which compiled code calls, too, and which NumPy replaces with its own on some machines.
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
    code = function.__code__
    own = {
        name: _numpy_of_kernels() if value is np else found(value)
        for name, value in function.__globals__.items()
        if name in _names_in(code)
    }
    return FunctionType(code, own, code.co_name, function.__defaults__, function.__closure__)


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
