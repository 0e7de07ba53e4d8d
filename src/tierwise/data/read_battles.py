"""read_battles: battles from files and data frames, counted in chunks."""

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
    points: tuple[str, str] | None = None,
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
    r"""Read battles, one per row; only counts are kept in memory.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    format
        "csv", "parquet", "jsonl" (one JSON object per line) or "xlsx"; "auto" detects it from the
        extension or the first bytes.
    first, second
        The columns of the two models; names such as model_a and model_b, or left and right, are
        detected.
    winner
        The column that says who won: "model_a", "model_b" (or "left", "right", or the column's
        name), "tie", "tie (bothbad)", "both_bad", the name of the model, the points of both, such
        as "1-0" or "3:1", or a verdict such as "[[A]]" or "A>>B". Matches without a result are left
        out.
    loser
        The column of the model that lost, if the table has only a winner and a loser.
    points
        The columns of the points of the first and of the second model, if no column says who won:
        who has more wins. Names such as home_goals and away_goals, or score_a and score_b, are
        detected. Rows without points are left out. Columns such as wins_a, wins_b and ties count
        the wins of a pair, and are detected as well.
    judge
        The column that says who decided; names such as judge, worker, annotator or voter are
        detected.
    weights
        The column that says how often a row counts; weight and count are detected.
    weights_are
        Whether weights are "counts" of battles or "survey" weights, which are scaled to the
        effective number of battles (Kish). None reads halves and whole numbers as counts and other
        fractions as survey weights. If judges decide several battles, models estimate the effective
        number from their answers.
    drawn
        "half" counts a drawn battle half to each side, "drop" leaves it out, and "model" treats it
        as a separate outcome that is more likely the closer the two are (Davidson's model). "model"
        needs worths, ``family="luce"``.
    position
        "model" estimates the advantage of being shown first (in the first of the two columns) and
        corrects the worths for it; it needs worths. "ignore" does not.
    rename
        New names for models, by their names in the file.
    spellings
        "ask" refuses names that differ only in case, spaces and punctuation; "keep" reads them as
        different models.
    encoding, sheet
        As in `read_rankings`.

    Examples
    --------
    >>> from io import StringIO
    >>> read_battles(StringIO("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"))
    Battles(2 battles of 3 items, 1 drawn: half to each side)
    >>> read_battles(StringIO("home,away,home_goals,away_goals\nx,y,2,0\ny,z,1,1\nz,x,,\n"))
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
            points=points,
            judge=judge,
            weights=weights,
            weights_are=weights_are,
            drawn=drawn,
            position=position,
            rename=rename,
            spellings=spellings,
        )
