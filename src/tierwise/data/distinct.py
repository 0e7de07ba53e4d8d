"""Rankings with ties and gaps, kept as distinct answers with their weights: saved, loaded, merged.

Complete rankings are counted by `Counts`, as large for a million rankings as for ten. With ties and
gaps no such table is enough, but the distinct answers and how often each was given are. An update
then reads only what is new.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast
from zipfile import BadZipFile

import numpy as np

from tierwise._util.checks import check_iterable, check_path
from tierwise._util.provenance import digest
from tierwise._util.resources import whole_file
from tierwise._util.types import NOT_LISTED, Item
from tierwise._util.wording import quoted
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from numpy.typing import NDArray


def save_rankings(data: Rankings, path: str | PathLike[str]) -> None:
    """Write the distinct answers with their weights to a file, .npz, with a checksum.

    What is known about the people who gave the answers is not written.

    Parameters
    ----------
    data
        Rankings, with ties and gaps if there are any.
    path
        The file; `load_rankings` reads it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> one = Rankings.from_orderings([["a", ["b", "c"]], ["c", "a"]], unranked="anywhere")
    >>> with TemporaryDirectory() as folder:
    ...     save_rankings(one, f"{folder}/answers.npz")
    ...     load_rankings(f"{folder}/answers.npz")
    Rankings(2 rankings of 3 items, 1 incomplete: not listed = anywhere, 1 with ties)
    """
    rankings = check_data(data, "save_rankings", Rankings)
    wanted = check_path(path)
    if wanted.suffix.lower() != ".npz":
        raise InputError(f"the file of rankings must end in .npz; got {quoted(wanted.name)}")
    if not all(isinstance(item, str) or type(item) is int for item in rankings.items):
        raise InputError("rankings are saved if items are texts or whole numbers: rename them")
    items = json.dumps([rankings.items, rankings.unranked], ensure_ascii=False)
    patterns, weights = rankings.patterns, rankings.pattern_weights
    checksum = digest(items, patterns, weights)
    with whole_file(wanted) as partial, partial.open("wb") as file:
        np.savez_compressed(
            file, patterns=patterns, weights=weights, items=items, checksum=checksum
        )


def load_rankings(path: str | PathLike[str]) -> Rankings:
    """Read what `save_rankings` wrote, and refuse it if it is damaged."""
    wanted = check_path(path)
    try:
        with wanted.open("rb") as file, np.load(file) as saved:
            text, checksum = str(saved["items"]), str(saved["checksum"])
            patterns, weights = saved["patterns"], saved["weights"]
        items, unranked = json.loads(text)
    except FileNotFoundError:
        raise InputError(f"there is no file {quoted(str(wanted))}") from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
        raise InputError(f"{wanted} is no file of rankings, or is damaged") from None
    if checksum != digest(text, patterns, weights):
        raise InputError(f"{wanted} is damaged: its checksum is another; read the rankings again")
    return Rankings(tuple(items), patterns, weights, unranked=unranked)


def merge_rankings(parts: Iterable[Rankings]) -> Rankings:
    """Join rankings, and keep each distinct answer once, with its weight.

    Where what is not listed may be anywhere, parts may have items of their own: a model that is new
    today was not shown yesterday. Otherwise all parts must have the same items.

    Parameters
    ----------
    parts
        Rankings, such as those of `load_rankings` and of today.

    Examples
    --------
    >>> from tierwise import Rankings
    >>> old = Rankings.from_scores([[0.9, 0.8], [0.7, 0.7]], "higher", ["x", "y"])
    >>> new = Rankings.from_scores([[0.9, 0.8, 0.85]], "higher", ["x", "y", "z"])
    >>> merge_rankings([old, new]).to_orderings()
    [['x', 'y'], [['x', 'y']], ['x', 'z', 'y']]
    """
    given = list(check_iterable("parts", parts, "Rankings"))
    for part in given:
        if not isinstance(part, Rankings):
            raise InputError(f"parts must be Rankings; got {quoted(part)}")
    if all(part.unranked != "below" for part in given):
        items = tuple(dict.fromkeys(item for part in given for item in part.items))
        given = [_with_items(part, items) for part in given]
    joined = Rankings.concat(given)
    return Rankings(joined.items, joined.patterns, joined.pattern_weights, unranked=joined.unranked)


def _with_items(part: Rankings, items: tuple[Item, ...]) -> Rankings:
    """Return the same answers among more items, which were not shown."""
    if part.items == items:
        return part
    patterns: NDArray[np.int32] = np.full((len(part.patterns), len(items)), NOT_LISTED, np.int32)
    patterns[:, [items.index(item) for item in part.items]] = part.patterns
    unranked = "anywhere" if len(items) > len(part.items) else part.unranked
    weights = cast("NDArray[np.int64]", part.pattern_weights)
    return Rankings(items, patterns, weights, unranked=unranked)
