"""The one way kernels are compiled."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function to machine code on first call, and keep the result on disk.

    The global interpreter lock is released, so kernels run side by side in threads. No kernel is
    called from C, so the wrapper for that, a tenth of the time to compile, is left out.
    """
    options: dict[str, Any] = {"no_cfunc_wrapper": True}  # the types of Numba do not know of it
    decorate = numba.njit(cache=True, nogil=True, error_model="numpy", **options)
    return cast("Callable[_Parameters, _Result]", decorate(function))
