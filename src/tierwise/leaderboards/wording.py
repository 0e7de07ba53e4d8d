"""The text of leaderboards: tables and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tierwise._util.tables import Table
from tierwise.data.connection import parts_in_words
from tierwise.data.weights import EffectiveNumber, answers_in_words
from tierwise.errors import counted, listed, number_in_words, percent, share_in_words
from tierwise.posterior.ties import NEARLY_IN_WORDS, verdicts_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise.leaderboards.result import Leaderboard
    from tierwise.leaderboards.rows import LeaderboardRow


def written_table(board: Leaderboard) -> Table:
    """Return the table, which can be written in all formats."""
    header, cells = header_and_cells(board)
    # What a narrow terminal does without, in this order.
    less_wanted = (
        *("P(best ", "P(this tier)", "share won", board.unit, "strength"),
        *("open or tied", "P(near)", "P(better)", "P(best)"),
    )
    droppable = [
        place for name in less_wanted for place, one in enumerate(header) if one.startswith(name)
    ]
    return Table(
        header,
        cells,
        left=(2,),
        note=" ".join(filter(None, (whole_note(board), note_on_next(board), note_on_ties(board)))),
        values=board.columns(),
        droppable=droppable,
    )


def header_and_cells(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows as text."""
    header = ["no.", "tier", "item", f"rank ({percent(board.level)})"]
    counts_answers = board.rows[0].n_answers is not None
    header += [board.unit, "share won"] if counts_answers else ["share won"]
    header += ["P(best)" if k == 1 else f"P(best {k})" for k in board.k]
    knows_ties = board.tied_or_nearly_probabilities is not None
    header += ["P(this tier)", "P(better)"]
    header += ["P(near)"] if knows_ties else []
    header += ["strength"] if board.rows[0].strength is not None else []
    header += ["open or tied"]
    number_of = {row.item: number for number, row in enumerate(board.rows, start=1)}
    cells = []
    for row in board.rows:
        span = f"{row.rank_low} to {row.rank_high}"
        if row.rank_low == row.rank_high:
            span = str(row.rank_low)
        sure = row.tier_probabilities[row.tier - 1]
        following = [
            "" if share is None else share_in_words(share)
            for share in (row.better_than_next, row.tied_with_next)[: 1 + knows_ties]
        ]
        shares = [share_in_words(share) for share in row.best_k_probabilities]
        strength = [] if row.strength is None else [_strength(row)]
        name = [str(number_of[row.item]), str(row.tier), str(row.item), span]
        name += [_number(row.n_answers)] if counts_answers else []
        name += ["-" if row.share_won is None else f"{row.share_won:.0%}"]
        line = [*name, *shares, share_in_words(sure), *following, *strength]
        cells.append([*line, _runs([number_of[item] for item in row.tied_with])])
    return header, cells


def whole_note(board: Leaderboard) -> str:
    """Return the notes: what the numbers mean, and their limits."""
    drawn = board.uncertainty == "posterior"
    sentences = [
        board.choice.sentence(),
        f"Ranks with {percent(board.level)} intervals, from {board.n_draws:,} "
        f"{'draws of the posterior' if drawn else f'replicates ({board.uncertainty})'}.",
        f"100% means every {'draw' if drawn else 'replicate'}, 0% none.",
        note_on_tiers(board),
        *_note_on_divided(board),
        *(effect.sentence() for effect in board.fit.effect_estimates),
    ]
    number = board.fit.n_rankings
    if isinstance(number, EffectiveNumber):
        sentences.append(f"Data: {answers_in_words(number)}.")
    if len(board.fit.parts) > 1:
        sentences.append(
            f"{parts_in_words(board.fit.parts)} Each group has its own tiers, and is above "
            "every other group in half of the draws."
        )
    return " ".join(sentences)


def note_on_next(board: Leaderboard) -> str:
    """Explain the columns about the next row, and summarise neighbouring rows."""
    if board.tied_or_nearly_probabilities is None:
        return "P(better): than the next row."
    better = [row.better_than_next for row in board.rows if row.better_than_next is not None]
    near = [row.tied_with_next for row in board.rows if row.tied_with_next is not None]
    verdicts = verdicts_in_words(better, near, board.certainty)
    nearly = f"{NEARLY_IN_WORDS[0].upper()}{NEARLY_IN_WORDS[1:]}"
    return f"P(better) and P(near) compare a row with the next. {nearly}. {verdicts}"


def _note_on_divided(board: Leaderboard) -> list[str]:
    if not board.divided:
        return []
    have, them = ("has", "it") if len(board.divided) == 1 else ("have", "them")
    return [
        f"People are divided about {listed(board.divided)}, which {have} no rank: some rank "
        f"{them} high and others low."
    ]


def note_on_ties(board: Leaderboard) -> str:
    """Explain the last column of the table; empty if all items are separated."""
    if not any(row.tied_with for row in board.rows):
        return ""
    return (
        "Open or tied: the row numbers of the items that are not different with "
        f"{percent(board.certainty)} probability."
    )


def note_on_tiers(board: Leaderboard) -> str:
    """Explain what the tiers claim and what not."""
    sure = percent(board.certainty)
    said = {
        "best": "The tiers are the most probable ones",
        "leader": f"No item of a tier differs from its first item with {sure} probability",
        "sure": f"No two items of a tier differ with {sure} probability",
    }[board.published]
    if board.sure_share is not None:
        share = share_in_words(board.sure_share)
        said += f"; of the pairs in different tiers, {share} differ with {sure} probability or more"
    if board.tiers != board.fit.agreed_tiers:
        tiers = counted(len(board.fit.agreed_tiers), "tier")
        said += f"; the most probable tier list is different, with {tiers}"
    return f"{said}."


def _number(number: float | None) -> str:
    return "" if number is None else number_in_words(number)


def _runs(numbers: Sequence[int]) -> str:
    """Write ascending numbers, those that follow each other as a run.

    Examples
    --------
    >>> _runs([1, 2, 3, 5, 7, 8])
    '1-3, 5, 7-8'
    """
    starts = [one for one in numbers if one - 1 not in numbers]
    ends = [one for one in numbers if one + 1 not in numbers]
    return ", ".join(
        str(start) if start == end else f"{start}-{end}"
        for start, end in zip(starts, ends, strict=True)
    )


def _strength(row: LeaderboardRow) -> str:
    low, high = row.strength_interval or (0.0, 0.0)
    return f"{row.strength:+.0f} ({low:+.0f} to {high:+.0f})"
