"""Checks of arguments, which name the argument and say what it may be; the keyword ``rng``."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from errno import ENAMETOOLONG
from math import isfinite
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from tierwise._util.types import Item, python_item
from tierwise.errors import InputError, has_control_characters, quoted

# Beyond this, a number of draws, chains or starts is a slip of the pen.
MOST_COUNT = 10**9
_Group = TypeVar("_Group")
RandomSource: TypeAlias = "int | np.random.SeedSequence | np.random.Generator | None"


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    """Refuse what is not one of a few words.

    Examples
    --------
    >>> check_choice("ties", "maybe", ("error", "allow"))
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: ties must be "error" or "allow"; got 'maybe'
    """
    # An array compares entry by entry, so what is no word is not compared.
    if (value is None or isinstance(value, str)) and value in choices:
        return
    words = [f'"{choice}"' for choice in choices if choice is not None]
    known = " or ".join(words) if len(words) < 3 else f"one of {', '.join(words)}"
    raise InputError(f"must be {known}; got {quoted(value)}", argument=name)


def check_count(name: str, value: Any, least: int = 1, most: int = MOST_COUNT) -> int:
    """Return a whole number as an int, or say between which limits it must lie.

    Examples
    --------
    >>> import numpy as np
    >>> check_count("draws", np.int64(1000))
    1000
    >>> check_count("draws", 10**12)
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: draws must be at most 1,000,000,000; got 1,000,000,000,000
    """
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None:
        raise InputError(
            f"must be a whole number, at least {least:,}; got {quoted(value)}", argument=name
        )
    if number < least:
        raise InputError(f"must be at least {least:,}; got {_written(number)}", argument=name)
    if number > most:
        raise InputError(f"must be at most {most:,}; got {_written(number)}", argument=name)
    return number


def check_number(
    name: str, value: Any, *, least: float = -float("inf"), above: float | None = None
) -> float:
    """Return a finite number as a float, or say which numbers there may be.

    Parameters
    ----------
    name
        What the argument is called.
    value
        What was given.
    least
        The smallest number there may be.
    above
        What the number must exceed, if anything.

    Examples
    --------
    >>> check_number("tolerance", -1, least=0)
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: tolerance must be at least 0; got -1
    """
    number = _as_float(value)
    if number is None or not isfinite(number):
        raise InputError(f"must be a finite number; got {quoted(value)}", argument=name)
    if number < least:
        raise InputError(f"must be at least {least:g}; got {number:g}", argument=name)
    if above is not None and number <= above:
        raise InputError(f"must be above {above:g}; got {number:g}", argument=name)
    return number


def check_group(name: str, value: Any, kind: type[_Group], example: str) -> _Group:
    """Return a group of options, or say of which class it must be.

    Examples
    --------
    >>> check_group("rates", 3, dict, "dict(tea=1)")
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: rates must be a dict, such as dict(tea=1); got 3
    """
    if not isinstance(value, kind):
        raise InputError(
            f"must be a {kind.__name__}, such as {example}; got {quoted(value)}", argument=name
        )
    return value


def check_level(value: Any, name: str = "level") -> float:
    """Return the level of an interval, which lies strictly between 0 and 1.

    Examples
    --------
    >>> check_level(95)
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: level must lie between 0 and 1, such as 0.95; got 95
    """
    number = _as_float(value)
    if number is None or not 0 < number < 1:
        raise InputError(
            f"must lie between 0 and 1, such as 0.95; got {quoted(value)}", argument=name
        )
    return number


def check_path(value: Any, name: str = "path") -> Path:
    r"""Return the name of a file or folder as a path, or say why there can be none of that name.

    Examples
    --------
    >>> check_path("answers\0.csv")
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: path 'answers\x00.csv' is not a valid file name: embedded null byte
    """
    if not isinstance(value, str | PathLike):
        raise InputError(f"must be the name of a file; got {quoted(value)}", argument=name)
    path = Path(value)
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            raise InputError(
                f"{quoted(str(path))} is too long for a file name", argument=name
            ) from None
    except ValueError as error:
        raise InputError(
            f"{quoted(str(path))} is not a valid file name: {error}", argument=name
        ) from None
    return path


def check_counts(name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Refuse what is not an array of this shape with numbers from 0.

    Examples
    --------
    >>> check_counts("decided", np.zeros((2, 2)), (3, 3))
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: decided must be an array of shape (3, 3) with finite ...
    """
    fits = isinstance(value, np.ndarray) and value.dtype.kind in "if" and value.shape == shape
    if not fits or not np.isfinite(value).all() or value.min() < 0:
        raise InputError(
            f"must be an array of shape {shape} with finite numbers of 0 or more", argument=name
        )


def check_iterable(name: str, value: Any, of: str) -> Iterable[Any]:
    """Return what can be gone through, or say that a list is wanted.

    Examples
    --------
    >>> check_iterable("rows", 3, "answers")
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: rows must be a list of answers; got 3
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(f"must be a list of {of}; got {quoted(value)}", argument=name)
    return value


def check_items(
    items: Iterable[Item], where: Callable[[Item], str] | None = None
) -> tuple[Item, ...]:
    """Return the items as a tuple, or say which one cannot be or stands there twice.

    Parameters
    ----------
    items
        The items.
    where
        Names the place where an item is found, if there is one.
    """
    try:
        checked = tuple(map(python_item, items))
    except TypeError:
        raise InputError(f"items must be a list of names; got {quoted(items)}") from None
    seen: set[Item] = set()
    for item in checked:
        check_item(item, where)
        if item in seen:
            raise InputError(f"item {quoted(item)} is listed twice among the items: list it once")
        seen.add(item)
    if len(checked) == 1:
        raise InputError(
            f"there is only one item, {quoted(checked[0])}: a ranking needs at least two"
        )
    if not checked:
        raise InputError("there are no items: a ranking needs at least two")
    return checked


def check_item(item: Item, where: Callable[[Item], str] | None) -> None:
    """Refuse what cannot be the name of an item."""
    if not isinstance(item, Hashable):
        raise InputError(
            f"item {quoted(item)} is a {type(item).__name__}, which cannot be the name of an item: "
            "use a text or a number"
        )
    if isinstance(item, str) and has_control_characters(item):
        place = "" if where is None else f"{where(item)}: "
        raise InputError(
            f"{place}item {quoted(item)} contains a control character: remove it from the name"
        )


def _as_float(value: Any) -> float | None:
    """Return a single number as a float; None if it is something else."""
    has_entries = hasattr(value, "shape") and value.shape != ()
    if isinstance(value, str | bytes | bool) or has_entries:
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _written(number: int) -> str:
    """Write a whole number, which may have more digits than Python turns into text."""
    if abs(number) < 10**18:
        return f"{number:,}"
    return f"a number of {number.bit_length():,} bits"


def as_generator(rng: RandomSource) -> np.random.Generator:
    """Turn whatever the user gave as ``rng`` into a generator.

    Parameters
    ----------
    rng
        A seed, a ``SeedSequence``, a ``Generator`` (used as it is) or None (fresh entropy).

    Examples
    --------
    >>> as_generator(-1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: rng must be a non-negative whole number, a SeedSequence, ...; got -1
    """
    _check_rng(rng)
    return np.random.default_rng(rng)


def _check_rng(rng: Any) -> None:
    """Refuse what cannot be a seed."""
    known = (np.random.SeedSequence, np.random.Generator)
    whole = isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0
    if not (rng is None or whole or isinstance(rng, known)):
        raise InputError(
            "rng must be a non-negative whole number, a SeedSequence, a Generator or None; got "
            f"{quoted(rng)}"
        )


def spawn_seeds(rng: RandomSource, count: int) -> list[np.random.SeedSequence]:
    """Make independent seeds, one per task: so answers do not depend on who runs which task."""
    _check_rng(rng)
    if isinstance(rng, np.random.SeedSequence):
        # A copy: spawning from the user's own object would change it, and the next answer with it.
        return np.random.SeedSequence(rng.entropy, spawn_key=rng.spawn_key).spawn(count)
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(int(rng.integers(2**63))).spawn(count)
    return np.random.SeedSequence(rng).spawn(count)
