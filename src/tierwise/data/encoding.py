"""Answers as tables of places: distinct rows, tied groups, and items that are not listed."""

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import NOT_LISTED, Places
from tierwise.files.cells import codes_of


def collapse(places: Places) -> tuple[Places, NDArray[np.int64]]:
    """Find the distinct rows, in order of first appearance, and which of them each row is."""
    import pyarrow as pa

    contiguous = np.ascontiguousarray(places)
    width = contiguous.shape[1] * contiguous.itemsize
    rows = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(contiguous), [None, pa.py_buffer(contiguous)]
    )
    encoded = rows.dictionary_encode()
    which = codes_of(encoded).astype(np.int64)
    first = np.full(len(encoded.dictionary), len(which), dtype=np.int64)
    np.minimum.at(first, which, np.arange(len(which)))
    return contiguous[first], which


def with_ties(places: Places) -> NDArray[np.bool_]:
    """Tell which rows have two items in one place."""
    n_listed = np.count_nonzero(places != NOT_LISTED, axis=1)
    # Without ties the places are 0, 1, ...; sharing the first of several lowers their sum.
    total = places.sum(axis=1) - NOT_LISTED * (places.shape[1] - n_listed)
    tied: NDArray[np.bool_] = total != n_listed * (n_listed - 1) // 2
    return tied


def first_places(patterns: Places) -> Places:
    """Put items that are not listed behind all that are, as one tied group."""
    n_listed = (patterns != NOT_LISTED).sum(axis=1, dtype=np.int32)[:, None]
    return np.where(patterns == NOT_LISTED, n_listed, patterns)


def sizes_of_groups(first: Places) -> NDArray[np.int64]:
    """Return the size of the tied group of each item, given the first place of the group."""
    n_rows, n_items = first.shape
    cells = first + np.arange(n_rows)[:, None] * n_items
    occupied = np.bincount(cells.ravel(), minlength=n_rows * n_items)
    group_sizes: NDArray[np.int64] = occupied[cells]
    return group_sizes
