"""compare: methods over data sets, with tiers instead of overlapping groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from tierwise._util.checks import check_choice, check_number, spawn_seeds
from tierwise.checking.check import check_fit
from tierwise.comparing.friedman import friedman_test
from tierwise.comparing.mean_ranks import mean_ranks
from tierwise.comparing.result import Comparison
from tierwise.comparing.signed_ranks import signed_ranks
from tierwise.data.scores import (
    grades_as_scores,
    grades_question,
    open_scores,
    rankings_of,
    score_table_of,
)
from tierwise.errors import InputError, counted, use
from tierwise.files.options import Better
from tierwise.files.screening import are_rankings
from tierwise.files.source import errors_name
from tierwise.leaderboards.leaderboard import leaderboard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tierwise._util.checks import RandomSource
    from tierwise._util.tasks import Progress
    from tierwise._util.types import Item
    from tierwise.data.score_table import ItemsIn
    from tierwise.data.scores import ScoresLayout
    from tierwise.data.tables import DataSource
    from tierwise.files.cells import Decimal
    from tierwise.files.missing import Missing
    from tierwise.files.spellings import Spellings


def compare(
    source: DataSource,
    better: Better | None = None,
    *,
    rope: float = 0.0,
    tolerance: float = 0.0,
    items_in: ItemsIn = "auto",
    items: str | Iterable[Item] | None = None,
    tasks: str | Iterable[str] | None = None,
    lower: str | Iterable[str] | None = None,
    layout: ScoresLayout = "auto",
    task: str | None = None,
    item: str | None = None,
    score: str | None = None,
    decimal: Decimal | None = None,
    missing: Missing | None = None,
    order: str | Iterable[str] | None = None,
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
    format: Literal["auto", "csv", "parquet", "jsonl", "xlsx"] = "auto",  # noqa: A002
    encoding: str | None = None,
    sheet: str | int | None = None,
    alpha: float = 0.05,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
    **of_leaderboard: Any,
) -> Comparison:
    """Compare methods over data sets: tiers, their uncertainty, and significance tests.

    Each data set ranks the methods by their scores, and the rankings give a `leaderboard` with the
    same tiers and probabilities. Repeated scores of a method on a data set, for seeds or folds, are
    averaged. Missing scores stay missing.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow. One row per data
        set and one column per method, the reverse, or one row per data set and method.
    better
        Which scores are better: "higher" or "lower". None means higher, except that a table whose
        rows are rankings needs an explicit choice.
    rope
        The region of practical equivalence: differences of scores up to this do not matter, and
        "better" means better by more than this. Tiers depend only on ranks, not on it.
    tolerance
        Scores within this distance of the best of a group are tied on a data set. A tie is evidence
        neither for a difference between two methods nor for their equality.
    items_in
        Whether methods are in "rows" or in "columns"; "auto" detects this, and raises an error if
        in doubt.
    items, tasks
        The methods to compare, and the data sets to compare them on; by default all that look like
        methods and data sets.
    lower
        Data sets on which lower scores are better, if higher ones are better on the others.
    layout
        "wide", or "long" with one row per data set and method; "auto" detects this.
    task, item, score
        The columns of data sets, methods and scores, if their titles do not make this clear.
    decimal, missing, order, rename, spellings, format, encoding, sheet
        As in `read_scores`. All steps between neighbouring grades have the same size.
    alpha
        Significance level of the Friedman and Nemenyi tests.
    workers, progress, rng
        As in `leaderboard`. The same seed gives the same comparison.
    **of_leaderboard
        Other arguments of `leaderboard`: family, tiers, level, certainty and so on.

    Examples
    --------
    >>> import pandas as pd, tierwise as tw
    >>> table = pd.DataFrame(
    ...     {
    ...         "forest": [0.91, 0.84, 0.77, 0.95, 0.88, 0.81],
    ...         "boosting": [0.92, 0.83, 0.78, 0.94, 0.89, 0.80],
    ...         "stump": [0.61, 0.55, 0.58, 0.70, 0.64, None],
    ...     }
    ... )
    >>> tw.compare(table, better="higher", rng=1).tiers
    Tiers('forest ~ boosting > stump')
    """
    if not 0.0 < check_number("alpha", alpha) < 1.0:
        raise InputError(f"must be between 0 and 1; got {alpha}", argument="alpha")
    check_choice("better", better, (*get_args(Better), None))
    check_number("rope", rope, least=0.0)
    check_number("tolerance", tolerance, least=0.0)
    name, opened = open_scores(source, format, encoding, sheet)
    with errors_name(name):
        said: dict[str, Any] = {
            "layout": layout,
            "items": items,
            "decimal": decimal,
            "missing": missing,
            "task": task,
            "item": item,
            "score": score,
            "items_in": items_in,
            "tasks": tasks,
            "lower": lower,
            "repeats": "mean",
            "rename": rename,
            "spellings": spellings,
        }
        scored, direction = grades_as_scores(opened, better or "higher", order, said)
        if scored is not opened and better is None and order is None:
            # Letters may also be names.
            raise grades_question(opened) or AssertionError
        found, notes = score_table_of(scored, direction, **said)
        if better is None and scored is opened and are_rankings(found.scores):
            raise InputError(
                f"the numbers are ranks from 1 to {len(found.items)}, not scores",
                [
                    use("if 1 is best", better="lower"),
                    use(f"if {len(found.items)} is best", better="higher"),
                ],
            )
        if better is None and scored is opened and found.lower_is_likely():
            raise InputError(
                "the scores look like times or errors, of which lower ones may be better",
                [
                    use("if they are", better="lower"),
                    use("if higher ones are better", better="higher"),
                ],
            )
        better = direction
        known = ~np.isnan(found.scores)
        if not known.any(axis=1).all():
            kept = known.any(axis=1)
            names = tuple(np.array(found.tasks, dtype=object)[kept]) if found.tasks else ()
            found = replace(found, scores=found.scores[kept], tasks=names)
            left_out = f"Left out: {counted(int((~kept).sum()), 'data set')} without any score."
            notes = replace(notes, remarks=(*notes.remarks, left_out))
        rankings = rankings_of(found, notes, better, tolerance)
    # The leaderboard of a seed is the same here as if it were made alone: it takes two of these.
    board = leaderboard(rankings, workers=workers, progress=progress, rng=rng, **of_leaderboard)
    ranks_seed, signed_seed = spawn_seeds(rng, 5)[3:]
    best_first = [found.items.index(row.item) for row in board.rows]
    scores = found.scores[:, best_first]
    upward = scores if better == "higher" else -scores
    return Comparison(
        board=board,
        methods=tuple(row.item for row in board.rows),
        scores=scores,
        data_sets=found.tasks,
        better=better,
        rope=rope,
        tolerance=tolerance,
        mean_ranks=mean_ranks(upward, board.level, np.random.default_rng(ranks_seed)),
        friedman=friedman_test(upward, alpha),
        signed_ranks=signed_ranks(upward, rope, np.random.default_rng(signed_seed)),
        check=check_fit(rankings, board.fit),
        reading=rankings.reading,
    )
