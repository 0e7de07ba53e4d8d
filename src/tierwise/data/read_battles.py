"""read_battles: battles from files and data frames, counted in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tierwise.data.battles import Battles
from tierwise.data.tables import open_table
from tierwise.files.source import errors_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tierwise._util.types import WeightsAre
    from tierwise.data.battles import DrawnAs, Position
    from tierwise.data.tables import DataSource
    from tierwise.files.spellings import Spellings


def read_battles(
    source: DataSource,
    *,
    format: Literal["auto", "csv", "parquet", "jsonl", "xlsx"] = "auto",  # noqa: A002
    first: str | None = None,
    second: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    judge: str | None = None,
    weights: str | None = None,
    weights_are: WeightsAre | None = None,
    drawn: DrawnAs = "half",
    position: Position = "ignore",
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Battles:
    r"""Read battles, one row each, in pieces: only counts are kept.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    format
        "csv", "parquet", "jsonl" (one JSON object per line) or "xlsx"; "auto" tells it from the end
        of the name, or how the file begins.
    first, second
        The columns of the two models; model_a and model_b, left and right, and the like are
        recognised.
    winner
        The column that says who won: "model_a", "model_b" (or "left", "right", or the column's
        name), "tie", "tie (bothbad)", "both_bad", the name of the model, or the points of both,
        such as "1-0" or "3:1".
    loser
        The column of the model that lost, where the winner's column names the model that won and
        there are no others.
    judge
        The column that says who decided; judge, worker, annotator, voter and the like are
        recognised.
    weights
        The column that says how often a row counts; weight and count are recognised.
    weights_are
        Whether weights are "counts" of battles or weights of a "survey", which are brought to the
        number of battles of equal weight that say as much (Kish). None takes fractions for weights
        of a survey, halves and whole numbers for counts; where judges repeat, models find the
        effective number from their answers.
    drawn
        "half" counts a drawn battle half to each side, "drop" leaves it out, "model" takes it as an
        outcome of its own, the more probable the closer the two are (Davidson's model). Needs
        worths, ``family="luce"``.
    position
        "model" estimates how much it helps a model to be shown first, that is in the first of the
        two columns, and corrects the worths for it; "ignore" does not ask. Needs worths.
    rename
        Other names for models, by the names they have in the file.
    spellings
        "ask" refuses names that differ by case and space alone; "keep" takes them for different
        models.
    encoding, sheet
        As for `read_rankings`.

    Examples
    --------
    >>> from io import StringIO
    >>> read_battles(StringIO("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"))
    Battles(2 battles of 3 items, 1 drawn: half to each side)
    """
    name, table = open_table(source, format, encoding, sheet)
    with errors_name(name):
        return Battles.from_table(
            table,
            first=first,
            second=second,
            winner=winner,
            loser=loser,
            judge=judge,
            weights=weights,
            weights_are=weights_are,
            drawn=drawn,
            position=position,
            rename=rename,
            spellings=spellings,
        )
