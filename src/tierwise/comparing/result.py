"""Comparison: methods over data sets, with text and tables for a paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.columns import within
from tierwise._util.results import Result
from tierwise._util.tables import Table
from tierwise._util.types import plain_item
from tierwise.comparing.paragraph import paragraph_of, verdicts_in_words
from tierwise.data.frames import make_frame
from tierwise.errors import counted, percent, share_in_words
from tierwise.leaderboards.wording import note_on_next, note_on_tiers
from tierwise.posterior.estimates import surely_above
from tierwise.tiers import plain_tiers

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.checking.result import FitCheck
    from tierwise.comparing.friedman import FriedmanTest
    from tierwise.comparing.signed_ranks import SignedRanks
    from tierwise.data.frames import Backend
    from tierwise.files.options import Better, ReadingNotes
    from tierwise.leaderboards.result import Leaderboard
    from tierwise.tiers import Tiers

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Methods compared over data sets; `compare` makes it.

    Methods are in the order of the leaderboard, best first, in all arrays.

    Attributes
    ----------
    board : Leaderboard
        Tiers, rank intervals and probabilities.
    methods : tuple
        The methods.
    scores : numpy.ndarray
        ``[data set, method]``: the scores; NaN if a method was not tried.
    data_sets : tuple of str
        The names of the data sets; empty if they have none.
    better : {"higher", "lower"}
        Which scores are better.
    rope : float
        Differences of scores up to this do not matter in ``signed_ranks``.
    tolerance : float
        Scores within this distance of the best of a group are tied on a data set.
    mean_ranks : numpy.ndarray
        ``[method, 3]``: mean rank over data sets, and its bootstrap interval. If a data set has
        missing scores, the ranks of the others are stretched to the full range.
    friedman : FriedmanTest or None
        The results of the Friedman and Nemenyi tests; None if they are not possible.
    signed_ranks : SignedRanks
        Probabilities that one method is better than another by at least ``rope``, on scores.
    check : FitCheck
        Whether the model describes the rankings.
    reading : ReadingNotes or None
        How the table was read.
    """

    board: Leaderboard
    methods: tuple[Item, ...]
    scores: NDArray[np.float64]
    data_sets: tuple[str, ...]
    better: Better
    rope: float
    tolerance: float
    mean_ranks: NDArray[np.float64]
    friedman: FriedmanTest | None
    signed_ranks: SignedRanks
    check: FitCheck
    reading: ReadingNotes | None

    @property
    def tiers(self) -> Tiers:
        """The tiers that the leaderboard publishes."""
        return self.board.tiers

    @property
    def n_gaps(self) -> int:
        """The number of missing scores."""
        return int(np.isnan(self.scores).sum())

    def __repr__(self) -> str:
        methods, tiers = len(self.methods), len(self.tiers)
        return (
            f"Comparison({counted(methods, 'method')} on {counted(len(self.scores), 'data set')}: "
            f"{counted(tiers, 'tier')})"
        )

    def verdicts(self) -> dict[str, NDArray[np.bool_]]:
        """Return for each kind of comparison whether it calls a method (row) better than another.

        "tiers": in a better tier. "probability": in a better tier with the certainty of the
        leaderboard. "nemenyi": mean ranks differ by more than the critical difference, if
        Friedman's test is significant. "signed ranks": better by at least ``rope`` with the same
        certainty.

        Examples
        --------
        >>> import pandas as pd, tierwise as tw
        >>> table = pd.DataFrame({"x": [9, 8, 9, 7] * 4, "y": [5, 6, 5, 4] * 4})
        >>> compared = tw.compare(table, rng=1)
        >>> {name: bool(better[0, 1]) for name, better in compared.verdicts().items()}
        {'tiers': True, 'probability': True, 'signed ranks': True}
        """
        labels = np.array([row.tier for row in self.board.rows])
        certainty = self.board.certainty
        found = {
            "tiers": labels[:, None] < labels,
            "probability": surely_above(self.board.above_probabilities, certainty),
        }
        if self.friedman is not None:
            significant = self.friedman.p_value < self.friedman.alpha
            found["nemenyi"] = self.friedman.differ & significant
        found["signed ranks"] = self.signed_ranks.better >= certainty
        return found

    def letters(self) -> dict[Item, str]:
        """Return letter groups: methods that share a letter are tied; every method has one letter.

        Examples
        --------
        >>> import pandas as pd, tierwise as tw
        >>> table = pd.DataFrame({"x": [9, 8, 9, 7, 9, 8], "y": [5, 6, 5, 4, 5, 6]})
        >>> tw.compare(table, rng=1).letters()
        {'x': 'a', 'y': 'b'}
        """
        return {row.item: letter(row.tier - 1) for row in self.board.rows}

    def nemenyi_letters(self) -> dict[Item, str] | None:
        """Return the letters of Nemenyi's cliques; a method may have several.

        None if there is no test.
        """
        if self.friedman is None:
            return None
        found = dict.fromkeys(self.methods, "")
        for number, clique in enumerate(self.friedman.cliques):
            for method in clique:
                found[self.methods[method]] += letter(number)
        return found

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns, one row per method."""
        board = self.board.columns()
        middle = {
            "letter": list(self.letters().values()),
            "mean_score": _rounded(_means(self.scores)),
            "mean_rank_observed": _rounded(self.mean_ranks[:, 0]),
            "mean_rank_low": _rounded(self.mean_ranks[:, 1]),
            "mean_rank_high": _rounded(self.mean_ranks[:, 2]),
        }
        others = self.nemenyi_letters()
        if others is not None:
            middle["nemenyi_letters"] = list(others.values())
        names = ("item", "tier")
        return {
            "method": board["item"],
            "tier": board["tier"],
            **middle,
            **{name: column for name, column in board.items() if name not in names},
        }

    def pairs(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per pair of methods, the better one first.

        ``p_better_tier``, ``p_tied_or_nearly`` and ``p_worse_tier`` come from the leaderboard;
        ``p_better``, ``p_equivalent`` and ``p_worse`` from Bayesian signed ranks: by at least
        ``rope``.
        """
        one, other = np.triu_indices(len(self.methods), k=1)
        above, signed = self.board.above_probabilities, self.signed_ranks
        near = self.board.tied_or_nearly_probabilities
        assert near is not None  # the board comes from the posterior
        names = [plain_item(method) for method in self.methods]
        columns: dict[str, list[Any]] = {
            "method": [names[number] for number in one.tolist()],
            "other": [names[number] for number in other.tolist()],
            "p_better_tier": _rounded(above[one, other], 6),
            "p_tied_or_nearly": _rounded(near[one, other], 6),
            "p_worse_tier": _rounded(above[other, one], 6),
            "p_better": _rounded(signed.better[one, other], 6),
            "p_equivalent": _rounded(signed.equivalent[one, other], 6),
            "p_worse": _rounded(signed.better[other, one], 6),
        }
        if self.friedman is not None:
            columns["nemenyi_p_value"] = _rounded(self.friedman.p_values[one, other], 6)
        return make_frame(columns, backend)

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the table as a data frame of pandas, polars or pyarrow."""
        return make_frame(self.columns(), backend)

    def as_table(self) -> Table:
        """Return the table, which `write` writes to files."""
        header = ["", "method", "tier", "mean rank", f"rank ({percent(self.board.level)})"]
        header += ["P(this tier)", "P(better)", "P(near)"]
        others = self.nemenyi_letters()
        header += ["Nemenyi"] if others is not None else []
        cells = []
        letters = self.letters()
        for row, (rank, _, _) in zip(self.board.rows, self.mean_ranks, strict=True):
            span = f"{row.rank_low} to {row.rank_high}"
            following = (row.better_than_next, row.tied_with_next)
            line = [letters[row.item], str(row.item), str(row.tier), f"{rank:.2f}"]
            line += [str(row.rank_low) if row.rank_low == row.rank_high else span]
            line += [share_in_words(row.tier_probabilities[row.tier - 1])]
            line += ["" if share is None else share_in_words(share) for share in following]
            cells.append(line if others is None else [*line, others[row.item]])
        return Table(
            header,
            cells,
            left=(0, 1) if others is None else (0, 1, len(header) - 1),
            note=self.note(),
            values=self.columns(),
            droppable=(5, len(header) - 1, 7, 6) if others is not None else (5, 7, 6),
        )

    def note(self) -> str:
        """Explain the letters and numbers."""
        said = (
            "Methods with the same letter are in one tier. "
            f"{note_on_tiers(self.board)} Mean ranks are over {len(self.scores):,} data sets"
        )
        said += "; ranks on incomplete data sets are stretched." if self.n_gaps else "."
        return f"{said} {note_on_next(self.board)} {self.board.choice.sentence()}"

    def to_latex(self) -> str:
        """Return the table as LaTeX, with the rules of the package booktabs."""
        return self.as_table().to_latex()

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return self.as_table().to_markdown()

    def to_html(self) -> str:
        """Return the table as HTML."""
        return self.as_table().to_html()

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table to a file: .txt, .md, .csv, .json, .tex, .html or .xlsx."""
        self.as_table().write(path)

    def paragraph(self) -> str:
        """Return a paragraph for a paper: what was compared, how, and what was found.

        It ends with the references to cite.
        """
        return paragraph_of(self)

    def differences(self) -> str:
        """Say how many pairs each way to compare separates, and where it differs from tiers."""
        return verdicts_in_words(self)

    def summary(self, width: int = 88) -> str:
        """Return the comparison as text."""
        parts = [self.as_table().to_text(width), self.differences()]
        if self.check.caution():
            parts.append(self.check.caution())
        return within("\n\n".join(parts), width)

    def _card(self) -> Card:
        table = self.as_table()
        head = f"{len(self.methods):,} methods on {len(self.scores):,} data sets"
        shown = (list(table.columns), [list(row) for row in table.rows])
        return Card(head, (), [Section(rows_of(self.tiers))], table=shown, note=self.note())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "methods": [plain_item(method) for method in self.methods],
            "data_sets": list(self.data_sets) or len(self.scores),
            "gaps": self.n_gaps,
            "better": self.better,
            "rope": self.rope,
            "tolerance": self.tolerance,
            "tiers": plain_tiers(self.tiers),
            "letters": list(self.letters().values()),
            "mean_ranks": self.mean_ranks.tolist(),
            "friedman": None if self.friedman is None else self.friedman.to_dict(),
            "p_better": self.signed_ranks.better.tolist(),
            "p_equivalent": self.signed_ranks.equivalent.tolist(),
            "paragraph": self.paragraph(),
            "differences": self.differences(),
            "verdict": self.check.verdict,
            "board": self.board.to_dict(),
        }


def letter(number: int) -> str:
    """Return the letter of a group, counted from 0: a to z, then aa, ab, ...

    Examples
    --------
    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    more, last = divmod(number, len(_LETTERS))
    return (letter(more - 1) if more else "") + _LETTERS[last]


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    known = ~np.isnan(scores)
    total = np.where(known, scores, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(known.sum(axis=0), 1))


def _rounded(values: NDArray[np.float64], digits: int = 4) -> list[float]:
    return [round(value, digits) for value in values.tolist()]
