"""Values as JSON can hold them."""

from collections.abc import Hashable
from math import isfinite
from numbers import Integral


def plain_item(item: Hashable) -> str | int:
    """Return an item as JSON can hold it: text and whole numbers as they are, the rest as text.

    Examples
    --------
    >>> plain_item("a"), plain_item(3), plain_item(2.5)
    ('a', 3, '2.5')
    """
    if isinstance(item, str):
        return str(item)
    return int(item) if isinstance(item, Integral) else str(item)


def plain_number(number: float) -> float | None:
    """Return a number as JSON can hold it: None stands for NaN and infinity.

    Examples
    --------
    >>> plain_number(0.5), plain_number(float("nan")), plain_number(float("inf"))
    (0.5, None, None)
    """
    return number if isfinite(number) else None
