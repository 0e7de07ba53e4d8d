"""Leaderboard: tier, rank interval and probabilities of each item."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.resources import whole_file
from tierwise._util.results import Result
from tierwise._util.types import plain_item
from tierwise.data.frames import make_frame
from tierwise.errors import InputError, counted
from tierwise.leaderboards.changes import Standing, changes_between, saved_standing
from tierwise.leaderboards.flips import flips_of
from tierwise.leaderboards.line import line_of
from tierwise.leaderboards.wording import header_and_cells, whole_note, written_table
from tierwise.tiers import plain_tiers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from tierwise._util.provenance import Provenance
    from tierwise._util.tables import Table
    from tierwise._util.types import Item
    from tierwise.data.frames import Backend
    from tierwise.fitting.result import Fit
    from tierwise.leaderboards.changes import Changes
    from tierwise.leaderboards.flips import Flips
    from tierwise.leaderboards.line import Line
    from tierwise.leaderboards.rows import LeaderboardRow
    from tierwise.searching.choice import Choice
    from tierwise.tiers import Tiers

Published: TypeAlias = Literal["best", "leader", "sure"]
"""Which tiers a leaderboard publishes."""


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Items with their tiers and probabilities, best first; `leaderboard` makes it.

    Attributes
    ----------
    rows : tuple of LeaderboardRow
        The items by tier, and by their mean rank within a tier.
    tiers : Tiers
        The tiers to publish, as ``published`` says.
    published : str
        "best": the most probable tiers. "leader": a tier holds the items that are not clearly
        different from its first. "sure": no two items of a tier are clearly different.
    choice : Choice
        The model, what it was compared with, and its most probable tiers.
    level : float
        Level of the rank intervals.
    certainty : float
        Two items are clearly different if one is better with this probability or more.
    sure_share : float or None
        Share of the pairs of items in different tiers that are clearly different; None if there is
        only one tier.
    above_probabilities : numpy.ndarray
        Probability that each item is in a better tier than each other, ``[row, row]``.
    tied_or_nearly_probabilities : numpy.ndarray or None
        Probability that two items are tied or nearly tied, ``[row, row]``; None for a bootstrap.
    rank_probabilities : numpy.ndarray
        Probability of each rank for each item, ``[row, rank - 1]``; tied items share ranks.
    cut_probabilities : numpy.ndarray
        Probability that a tier ends at each place, ``[place - 1]``, except the last.
    one_tier_probability : float or None
        Probability that all items are tied or nearly tied; None for a bootstrap.
    wins : numpy.ndarray or None
        How often each item won against each other, ``[row, row]``, if answers are battles.
    k : tuple of int
        The values of k with probabilities of being among the best k.
    uncertainty : str
        "posterior", or "bootstrap over battles" or "bootstrap over judges".
    n_draws : int
        Number of draws or replicates behind the probabilities.
    provenance : Provenance
        Version, seed and time.
    unit : str
        What is counted for each item: "battles", "tasks" or "answers".
    """

    rows: tuple[LeaderboardRow, ...]
    tiers: Tiers
    published: Published
    choice: Choice
    level: float
    certainty: float
    sure_share: float | None
    above_probabilities: NDArray[np.float64]
    tied_or_nearly_probabilities: NDArray[np.float64] | None
    rank_probabilities: NDArray[np.float64]
    cut_probabilities: NDArray[np.float64]
    one_tier_probability: float | None
    wins: NDArray[np.float64] | None
    k: tuple[int, ...]
    uncertainty: str
    n_draws: int
    provenance: Provenance
    unit: str = "answers"

    @property
    def fit(self) -> Fit:
        """The fit of the most probable tiers, with worths or theta, and its references."""
        return self.choice.fit

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.rows)

    def __repr__(self) -> str:
        tiers = counted(len(self.tiers), "tier")
        return f"Leaderboard({counted(len(self), 'item')} in {tiers}, by {self.uncertainty})"

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns, named as in files."""
        rows = self.rows
        found: dict[str, list[Any]] = {
            "item": [plain_item(row.item) for row in rows],
            "tier": [row.tier for row in rows],
            "upper_rank": [row.upper_rank for row in rows],
            "rank_low": [row.rank_low for row in rows],
            "rank_high": [row.rank_high for row in rows],
            "rank_set_low": [row.rank_set[0] for row in rows],
            "rank_set_high": [row.rank_set[1] for row in rows],
            "mean_rank": [round(row.mean_rank, 4) for row in rows],
        }
        if rows[0].n_answers is not None:
            found[self.unit] = _whole([row.n_answers for row in rows])
        found["share_won"] = [_rounded(row.share_won) for row in rows]
        if self.wins is not None:
            found["wins"] = [_rounded(float(won)) for won in self.wins.sum(axis=1)]
        for number, k in enumerate(self.k):
            found[f"p_best_{k}"] = [round(row.best_k_probabilities[number], 6) for row in rows]
        found["p_better_than_next"] = [_rounded(row.better_than_next) for row in rows]
        found["p_tied_with_next"] = [_rounded(row.tied_with_next) for row in rows]
        if rows[0].strength is not None:
            found["strength"] = [_rounded(row.strength, 2) for row in rows]
            for bound, name in enumerate(("strength_low", "strength_high")):
                found[name] = [
                    _rounded((row.strength_interval or (None, None))[bound], 2) for row in rows
                ]
        for tier in range(len(self.tiers)):
            found[f"p_tier_{tier + 1}"] = [round(row.tier_probabilities[tier], 6) for row in rows]
        found["tied_with"] = ["; ".join(map(str, row.tied_with)) for row in rows]
        return found

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the table as a data frame of pandas, polars or pyarrow."""
        return make_frame(self.columns(), backend)

    def _card(self) -> Card:
        title = f"{counted(len(self), 'item')} in {counted(len(self.tiers), 'tier')}"
        sections = [Section(rows_of(self.tiers))]
        return Card(title, (), sections, table=self.table(), note=self.note())

    def line(self, k: int) -> Line:
        """Return who is among the best k, who is not, and who would have to draw lots.

        Parameters
        ----------
        k
            Number of places.

        Examples
        --------
        >>> import tierwise as tw
        >>> line = tw.leaderboard(tw.load_political_goals(), rng=1).line(1)
        >>> line.inside, line.lots, line.places
        ((), ('order', 'prices'), 1)
        """
        tiers = [row.tier for row in self.rows]
        items = [row.item for row in self.rows]
        return line_of(
            k, items, tiers, self.rank_probabilities, self.cut_probabilities, self.certainty
        )

    def changes(self, previous: Leaderboard | Mapping[str, Any] | str | PathLike[str]) -> Changes:
        """Return who changed tier since an earlier leaderboard, and whether it is more than chance.

        Parameters
        ----------
        previous
            The earlier leaderboard, or the JSON that its `to_json` wrote: a file or its content.

        Examples
        --------
        >>> import tierwise as tw
        >>> board = tw.leaderboard(tw.load_political_goals(), rng=1)
        >>> board.changes(board).rows
        ()
        """
        if isinstance(previous, Leaderboard):
            return changes_between(self._standing(), previous._standing(), self.certainty)
        return changes_between(self._standing(), saved_standing(previous), self.certainty)

    def _standing(self) -> Standing:
        return Standing(
            tuple(row.item for row in self.rows),
            tuple(row.tier for row in self.rows),
            self.above_probabilities,
        )

    def flips(self) -> Flips:
        """Return how few reversed votes would change the first place or a tier.

        Only for battles. The first place is by Bradley-Terry strengths.

        Examples
        --------
        >>> import tierwise as tw
        >>> battles = tw.Battles.from_rows([("x", "y", "x")] * 6 + [("x", "y", "y")] * 3)
        >>> tw.leaderboard(battles, rng=1).flips().first
        Flip(votes=2, item='x', other='y', exact=True, between_two=True)
        """
        if self.wins is None:
            raise InputError(
                "only battles consist of votes that can be reversed, but this is a leaderboard "
                "of rankings"
            )
        items, tiers = [row.item for row in self.rows], [row.tier for row in self.rows]
        return flips_of(items, self.wins, self.above_probabilities, tiers, self.choice.family)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        columns = self.columns()
        return {
            "tiers": plain_tiers(self.tiers),
            "published": self.published,
            "choice": self.choice.to_dict(),
            "most_probable_tiers": plain_tiers(self.fit.agreed_tiers),
            "divided": [plain_item(item) for item in self.divided],
            "certainty": self.certainty,
            "sure_share": self.sure_share,
            "level": self.level,
            "uncertainty": self.uncertainty,
            "draws": self.n_draws,
            "likelihood": self.fit.likelihood,
            "answers": self.fit.n_rankings,
            "one_tier_probability": self.one_tier_probability,
            "above_probabilities": self.above_probabilities.round(4).tolist(),
            "tied_or_nearly_probabilities": None
            if self.tied_or_nearly_probabilities is None
            else self.tied_or_nearly_probabilities.round(4).tolist(),
            "effects": [effect.to_dict() for effect in self.fit.effect_estimates],
            "rows": [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the leaderboard as JSON, and write it to a file if you name one."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)
        return _written(text + "\n", path)

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as CSV, and write it to a file if you name one."""
        return _written(self.as_table().to_csv(), path)

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as Markdown, and write it to a file if you name one."""
        return _written(self.as_table().to_markdown() + "\n", path)

    def to_latex(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as LaTeX (booktabs), and write it to a file if you name one."""
        return _written(self.as_table().to_latex() + "\n", path)

    @property
    def divided(self) -> tuple[Item, ...]:
        """Items that people are divided about: they have no rank, so they have no row."""
        return self.fit.divided

    def as_table(self) -> Table:
        """Return the table, which can be written in all formats."""
        return written_table(self)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as text."""
        return header_and_cells(self)

    def note(self) -> str:
        """Return the notes: what the numbers mean, and their limits."""
        return whole_note(self)

    def summary(self, width: int = 88) -> str:
        """Return the leaderboard as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        return self.as_table().to_text(width)


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None else round(value, digits) + 0.0  # not -0.0


def _whole(numbers: Sequence[float | None]) -> list[float | None]:
    """Return numbers of answers as whole ones if all of them are; weights may have fractions."""
    known = [number for number in numbers if number is not None]
    if all(float(number).is_integer() for number in known):
        return [None if number is None else int(number) for number in numbers]
    return [_rounded(number) for number in numbers]


def _written(text: str, path: str | PathLike[str] | None) -> str:
    if path is not None:
        with whole_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    return text
