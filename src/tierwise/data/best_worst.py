"""Choices of the best and the worst of items shown (MaxDiff), as rankings with ties and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tierwise._util.checks import RandomSource, as_generator, check_count
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.data.tables import open_table
from tierwise.errors import InputError, use
from tierwise.files.best_worst import choose_best_and_worst, encode_best_worst
from tierwise.files.best_worst_long import encode_long_best_worst, recognised_long
from tierwise.files.source import errors_name

if TYPE_CHECKING:
    from tierwise.data.tables import DataSource
    from tierwise.files.options import Columns
    from tierwise.files.table_file import TableFile


def read_best_worst(
    source: DataSource,
    *,
    format: Literal["auto", "csv", "parquet", "jsonl", "xlsx"] = "auto",  # noqa: A002
    shown: Columns | None = None,
    best: str | None = None,
    worst: str | None = None,
    item: str | None = None,
    choice_set: Columns | None = None,
    weights: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Rankings:
    r"""Read choices of the best and the worst of items shown (MaxDiff).

    There is one row per choice set, or one row per item shown.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    format
        As in `read_battles`.
    shown
        The columns of the items shown, one item each; or the one column that lists them, with "|",
        ";" or "," between them. Columns such as item1, item2, ... or shown are recognised.
    best, worst
        The columns with the names of the best and the worst item; either may be empty in a row.
        Columns called best, most, most important and worst, least, least important are recognised.
        With one row per item they hold marks, such as 1 and 0. If one column says "best" or "worst"
        (or 1 and -1), name it twice.
    item, choice_set
        For one row per item shown: the column of the items, and the column or columns that say
        which rows belong together, such as the person and the number of the question. Columns
        called item, and set, task or question, with respondent, are recognised.
    weights
        The column that says how often a row counts; weight and count are recognised.
    encoding, sheet
        As in `read_rankings`.

    Returns
    -------
    Rankings
        One for each choice set: the best, then all others shown, which are tied, then the worst.
        The ranks of items not shown are unknown.

    Examples
    --------
    >>> from io import StringIO
    >>> sets = StringIO("item1,item2,item3,item4,best,worst\na,b,c,d,b,d\nc,d,e,a,a,d\n")
    >>> rankings = read_best_worst(sets)
    >>> rankings
    Rankings(2 rankings of 5 items, 2 incomplete: not listed = anywhere, 2 with ties)
    >>> rankings.to_orderings()[0]
    ['b', ['a', 'c'], 'd']
    """
    name, table = open_table(source, format, encoding, sheet)
    with errors_name(name):
        return best_worst_of_table(
            table,
            shown=shown,
            best=best,
            worst=worst,
            item=item,
            choice_set=choice_set,
            weights=weights,
        )


def best_worst_of_table(
    table: TableFile,
    *,
    shown: Columns | None = None,
    best: str | None = None,
    worst: str | None = None,
    item: str | None = None,
    choice_set: Columns | None = None,
    weights: str | None = None,
) -> Rankings:
    """Make rankings from a table of choices; options as in `read_best_worst`."""
    if shown is None:
        names = [str(name) for name in table.columns]
        long = recognised_long(names, item, _listed(choice_set), best, worst, weights)
        if long is not None:
            return Rankings.from_encoded(encode_long_best_worst(table, long))
    if item is not None or choice_set is not None:
        raise InputError(
            "item and choice_set are for tables with one row per item shown, which also have a "
            "column that marks the best or the worst",
            [use("to name all columns", item=..., choice_set=..., best=..., worst=...)],
        )
    return Rankings.from_encoded(encode_best_worst(table, _listed(shown), best, worst, weights))


def _listed(columns: Columns | None) -> list[str] | None:
    """Return names of columns as a list."""
    if columns is None:
        return None
    return [columns] if isinstance(columns, str) else list(columns)


def sample_best_worst(rankings: Rankings, set_size: int, rng: RandomSource = None) -> Rankings:
    """Show a random set of items for each complete ranking; keep its best and its worst.

    This simulates MaxDiff choices from any model that draws rankings.

    Parameters
    ----------
    rankings
        Complete rankings, as ``ClusteredLuce.sample`` and ``ClusteredMallows.sample`` draw them.
    set_size
        How many items are shown, at least two.
    rng
        Seed or generator.

    Examples
    --------
    >>> import tierwise as tw
    >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d", "e"]]), (4.0, 2.0, 1.0))
    >>> sample_best_worst(model.sample(500, rng=1), set_size=4, rng=2)
    Rankings(500 rankings of 5 items, 500 incomplete: not listed = anywhere, 500 with ties)
    """
    known = check_data(rankings, "sample_best_worst", Rankings)
    size = check_count("set_size", set_size)
    if known.unranked is not None:
        raise InputError("some rankings are incomplete: use complete ones")
    if not 2 <= size <= len(known.items):
        raise InputError(
            f"set_size must be from 2 to the number of items, {len(known.items)}; got {size}"
        )
    places = choose_best_and_worst(known.places, size, as_generator(rng))
    return Rankings(known.items, places, known.weights, unranked="anywhere")
