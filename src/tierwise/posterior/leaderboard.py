"""leaderboard: what is published about each item: tier, rank interval, and how sure they are."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.checks import (
    check_choice,
    check_count,
    check_iterable,
    check_level,
    check_number,
    spawn_seeds,
)
from tierwise._util.provenance import Stopwatch
from tierwise._util.resources import whole_file
from tierwise._util.results import Result
from tierwise._util.tables import Table
from tierwise._util.tasks import run_tasks
from tierwise._util.types import NOT_LISTED, plain_item
from tierwise.data.battles import Battles
from tierwise.data.connection import parts_in_words, stack_parts
from tierwise.data.counts import Counts
from tierwise.data.frames import make_frame
from tierwise.data.kinds import KnownData, check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.weights import EffectiveNumber, answers_in_words
from tierwise.errors import (
    InputError,
    counted,
    listed,
    number_in_words,
    percent,
    share_in_words,
    use,
)
from tierwise.fitting.solve import named_tiers
from tierwise.luce.judges import at_effective_number
from tierwise.model.priors import DEFAULT_PRIORS, Priors, check_priors
from tierwise.model.ranks import (
    added_up,
    cut_shares,
    rank_intervals,
    rank_shares,
    shares_of_tiers,
    simultaneous_ranks,
    tiers_among,
)
from tierwise.posterior.changes import Standing, changes_between, saved_standing
from tierwise.posterior.estimates import share_above, sure_tiers, surely_above, tiers_of_leaders
from tierwise.posterior.flips import flips_of, searched_labels
from tierwise.posterior.line import line_of
from tierwise.posterior.run import sample_posterior
from tierwise.posterior.samplers import DEFAULT_SAMPLER, Sampler
from tierwise.posterior.ties import NEARLY_IN_WORDS, verdicts_in_words
from tierwise.searching.choice import Choice, choose
from tierwise.tiers import plain_tiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.provenance import Provenance
    from tierwise._util.tasks import Progress
    from tierwise._util.types import Item
    from tierwise.data.frames import Backend
    from tierwise.data.scan import RankingScan
    from tierwise.distances import Distance
    from tierwise.fitting.fit import ConcentrationChoice
    from tierwise.fitting.result import Family, Fit
    from tierwise.model.priors import SizesPrior
    from tierwise.posterior.changes import Changes
    from tierwise.posterior.flips import Flips
    from tierwise.posterior.line import Line
    from tierwise.searching.compared import FamilyChoice
    from tierwise.tiers import Tiers

Uncertainty: TypeAlias = Literal["posterior", "bootstrap"]
Published: TypeAlias = Literal["best", "leader", "sure"]
"""Which tiers a leaderboard publishes."""

_REPLICATES_PER_TASK = 10


@dataclass(frozen=True, eq=False)
class LeaderboardRow(Result):
    """What is known about one item.

    Attributes
    ----------
    item
        The item.
    tier
        Its tier, 1 being the best.
    mean_rank
        Its rank on average.
    rank_low, rank_high
        Interval of its rank, from better to worse.
    tier_probabilities
        For each tier, the probability that the rank of the item is among those of the tier.
    best_k_probabilities
        Probability of being among the best ``k``, one for each ``k`` of the leaderboard.
    next_item
        The item in the next row; None in the last.
    better_than_next, tied_with_next
        Probability of being in a better tier than that, and of being tied with it or nearly:
        neither would be preferred by more than 55%. The first is given under the prior as it is,
        the second under one that does not favour few tiers (`Posterior.sameness_weights`), so both
        may be low: then the answers leave it open. A bootstrap says nothing of ties (None).
    upper_rank
        One more than the number of items that are surely better: its best rank.
    rank_set
        Lowest and highest rank, such that these sets hold for all items together at the level of
        the leaderboard; an interval holds for its own item.
    strength, strength_interval
        Mean strength on the Elo scale and its interval, where tiers have worths; else None.
    n_answers
        In how many battles, tasks or answers the item is; None where only counts are known.
    share_won
        How often it won, of the pairs with it that were decided; half of those that were drawn
        where these count. None if there are none.
    tied_with
        The items from which it does not surely differ, best first: they may be tied, or the
        answers leave it open.
    """

    item: Item
    tier: int
    mean_rank: float
    rank_low: int
    rank_high: int
    tier_probabilities: tuple[float, ...]
    best_k_probabilities: tuple[float, ...]
    next_item: Item | None
    better_than_next: float | None
    tied_with_next: float | None
    upper_rank: int
    rank_set: tuple[int, int]
    strength: float | None = None
    strength_interval: tuple[float, float] | None = None
    n_answers: float | None = None
    share_won: float | None = None
    tied_with: tuple[Item, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Items with their tiers and how sure these are, best first; `leaderboard` makes it.

    Attributes
    ----------
    rows : tuple of LeaderboardRow
        The items by tier, and by their mean rank within a tier.
    tiers : Tiers
        The tiers to publish, as ``published`` says.
    published : str
        "best": the most probable tiers. "leader": a tier holds the items that do not surely differ
        from its first. "sure": no two items of a tier surely differ.
    choice : Choice
        The model, what it was compared with, and its most probable tiers.
    level : float
        Level of the rank intervals.
    certainty : float
        Two items surely differ where one is better with this probability or more.
    sure_share : float or None
        Share of the pairs of items in different tiers that surely differ; None if there is one
        tier only.
    above_probabilities : numpy.ndarray
        Probability that each item is in a better tier than each other, ``[row, row]``.
    tied_or_nearly_probabilities : numpy.ndarray or None
        Probability that two items are tied or nearly, ``[row, row]``; None for a bootstrap.
    rank_probabilities : numpy.ndarray
        Probability of each rank for each item, ``[row, rank - 1]``; tied items share ranks.
    cut_probabilities : numpy.ndarray
        Probability that a tier ends at each place, ``[place - 1]``, the last place left out.
    one_tier_probability : float or None
        Probability that all items are tied or nearly; None for a bootstrap.
    wins : numpy.ndarray or None
        How often each item won against each other, ``[row, row]``, where answers are battles.
    k : tuple of int
        The numbers of best items that probabilities are given for.
    uncertainty : str
        "posterior", or "bootstrap over battles" or "bootstrap over judges".
    n_draws : int
        Number of draws or replicates that probabilities are shares of.
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
        """The most probable tiers, with worths or theta, and what they are compared to."""
        return self.choice.fit

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.rows)

    def __repr__(self) -> str:
        tiers = counted(len(self.tiers), "tier")
        return f"Leaderboard({counted(len(self), 'item')} in {tiers}, by {self.uncertainty})"

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns; they are named as in all files."""
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
        """Say who is among the best k, who is not, and who would have to draw lots.

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
        """Say who changed tier since an earlier leaderboard, and whether it is more than chance.

        Parameters
        ----------
        previous
            The earlier leaderboard, or the JSON that its `to_json` wrote: a file, or what it holds.

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
        """Say how few votes, if reversed, would change the first place or a tier.

        For battles. The first place is that of the strengths of Bradley and Terry.

        Examples
        --------
        >>> import tierwise as tw
        >>> battles = tw.Battles.from_rows([("x", "y", "x")] * 6 + [("x", "y", "y")] * 3)
        >>> tw.leaderboard(battles, rng=1).flips().first
        Flip(votes=2, item='x', other='y', exact=True, between_two=True)
        """
        if self.wins is None:
            raise InputError(
                "only battles consist of votes that can be reversed one by one, and this is a "
                "leaderboard of rankings"
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
        """Return the leaderboard as JSON, and write it to a file if one is named."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)
        return _written(text + "\n", path)

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as CSV, and write it to a file if one is named."""
        return _written(self.as_table().to_csv(), path)

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as Markdown, and write it to a file if one is named."""
        return _written(self.as_table().to_markdown() + "\n", path)

    def to_latex(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as LaTeX (booktabs), and write it to a file if one is named."""
        return _written(self.as_table().to_latex() + "\n", path)

    def as_table(self) -> Table:
        """Return the table in all the ways in which tables are written."""
        header, cells = self.table()
        # What a narrow terminal does without, in this order.
        less_wanted = (
            *("P(best ", "P(this tier)", "share won", self.unit, "strength"),
            *("open or tied", "P(near)", "P(better)", "P(best)"),
        )
        droppable = [
            place
            for name in less_wanted
            for place, one in enumerate(header)
            if one.startswith(name)
        ]
        return Table(
            header,
            cells,
            left=(2,),
            note=" ".join(filter(None, (self.note(), self.note_on_next(), self.note_on_ties()))),
            values=self.columns(),
            droppable=droppable,
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as people read them."""
        header = ["no.", "tier", "item", f"rank ({percent(self.level)})"]
        counts_answers = self.rows[0].n_answers is not None
        header += [self.unit, "share won"] if counts_answers else ["share won"]
        header += ["P(best)" if k == 1 else f"P(best {k})" for k in self.k]
        knows_ties = self.tied_or_nearly_probabilities is not None
        header += ["P(this tier)", "P(better)"]
        header += ["P(near)"] if knows_ties else []
        header += ["strength"] if self.rows[0].strength is not None else []
        header += ["open or tied"]
        number_of = {row.item: number for number, row in enumerate(self.rows, start=1)}
        cells = []
        for row in self.rows:
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

    def note(self) -> str:
        """Say what the numbers are, and with what care they are to be read."""
        sentences = [
            self.choice.sentence(),
            f"Ranks with {percent(self.level)} intervals, from {self.n_draws:,} "
            f"{'draws of the posterior' if self.uncertainty == 'posterior' else 'replicates'}"
            f"{'' if self.uncertainty == 'posterior' else f' ({self.uncertainty})'}.",
            "100% is all of them, 0% none.",
            self.note_on_tiers(),
            *self._note_on_divided(),
            *(effect.sentence() for effect in self.fit.effect_estimates),
        ]
        number = self.fit.n_rankings
        if isinstance(number, EffectiveNumber):
            sentences.append(f"Data: {answers_in_words(number)}.")
        if len(self.fit.parts) > 1:
            sentences.append(
                f"{parts_in_words(self.fit.parts)} Each part has tiers of its own, and stands "
                "above every other in as many draws as below it."
            )
        return " ".join(sentences)

    def note_on_next(self) -> str:
        """Say what the columns about the next row mean, and what is known of neighbouring rows."""
        if self.tied_or_nearly_probabilities is None:
            return "P(better): than the next row."
        better = [row.better_than_next for row in self.rows if row.better_than_next is not None]
        near = [row.tied_with_next for row in self.rows if row.tied_with_next is not None]
        verdicts = verdicts_in_words(better, near, self.certainty)
        nearly = f"{NEARLY_IN_WORDS[0].upper()}{NEARLY_IN_WORDS[1:]}"
        return f"P(better) and P(near) compare a row with the next. {nearly}. {verdicts}"

    @property
    def divided(self) -> tuple[Item, ...]:
        """Items that people are divided about: they are in no row, for they have no rank."""
        return self.fit.divided

    def _note_on_divided(self) -> list[str]:
        if not self.divided:
            return []
        have, them = ("has", "it") if len(self.divided) == 1 else ("have", "them")
        return [
            f"People are divided about {listed(self.divided)}, which {have} no rank: some put "
            f"{them} high and others low."
        ]

    def note_on_ties(self) -> str:
        """Say what the last column of the table is; nothing if all items are separated."""
        if not any(row.tied_with for row in self.rows):
            return ""
        return (
            "Open or tied: the numbers of the items from which it does not differ with "
            f"{percent(self.certainty)} probability."
        )

    def note_on_tiers(self) -> str:
        """Say what the tiers are, and what they are not."""
        sure = percent(self.certainty)
        said = {
            "best": "The tiers are the most probable ones",
            "leader": f"No item of a tier differs from its first with {sure} probability",
            "sure": f"No two items of a tier differ with {sure} probability",
        }[self.published]
        if self.sure_share is not None:
            share = share_in_words(self.sure_share)
            said += (
                f"; of the pairs in different tiers, {share} differ with {sure} probability or more"
            )
        if self.tiers != self.fit.agreed_tiers:
            tiers = counted(len(self.fit.agreed_tiers), "tier")
            said += f"; the most probable division is another, of {tiers}"
        return f"{said}."

    def summary(self, width: int = 88) -> str:
        """Return the leaderboard for people.

        Parameters
        ----------
        width
            How many columns there are to write in.
        """
        return self.as_table().to_text(width)


def leaderboard(
    data: Rankings | RankingScan | Counts | Preferences | Battles,
    *,
    family: FamilyChoice = "auto",
    distance: str | Distance = "auto",
    concentration: ConcentrationChoice | None = None,
    choice: Choice | None = None,
    tiers: Published = "best",
    max_tiers: int | None = None,
    margin: float = 0.5,
    level: float = 0.95,
    certainty: float = 0.95,
    k: int | Iterable[int] = (1, 3),
    uncertainty: Uncertainty = "posterior",
    priors: Priors = DEFAULT_PRIORS,
    chains: int = 4,
    draws: int = 1000,
    replicates: int = 200,
    seconds: float | None = None,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Leaderboard:
    """Find tiers, and say for each item how sure its tier and its rank are.

    The model is the one that describes the data best, unless one is named. Items of a tier share
    the ranks that the tier occupies, in any order with the same probability. How sure everything
    is comes from draws of tiers of all sizes. A claim about two items is in
    `Leaderboard.above_probabilities`.

    Parameters
    ----------
    data
        Battles, or rankings (of scores: `Rankings.from_scores`), or counts of them, or preferences:
        where judges gave many answers each, these have the full likelihood, and battles do not.
    family, distance, concentration, max_tiers, margin
        Which model; see `search`. What is left open is decided by `choose`.
    choice
        What `choose` found for these data; then the models are not compared again.
    tiers
        Which tiers to publish. "best" are the most probable ones, as `fit` and `search` find them.
        "leader": a tier holds every item that does not surely differ from the first item of the
        tier. "sure": no two items of a tier surely differ, and of all such tiers these have the
        least expected cost over all pairs, where it costs ``certainty`` to separate a tied pair and
        ``1 - certainty`` to tie one that differs; items next to a cut may well be tied.
    level
        Level of the rank intervals.
    certainty
        Two items surely differ if one is better with this probability or more.
    k
        Report the probability of being among the best ``k``; several may be named.
    uncertainty
        "posterior" draws tiers of all sizes from their posterior. "bootstrap", for battles,
        searches tiers again in battles that are drawn with replacement: whole judges, where judges
        decided several battles each.
    priors
        Priors of theta and of sizes; see `Priors`. Noise is seldom taken for tiers if the prior of
        sizes is "sceptical", the default.
    chains, draws
        Number of chains, and of draws of each.
    replicates
        Number of data sets that are drawn for "bootstrap".
    seconds
        How long a distance may take to be compared with other models, 5 if None, and how long
        chains that have not settled may go on, 60 if None; see `search` and `Sampler`.
    workers, progress, rng
        As for `search`. The same seed gives the same leaderboard.

    Examples
    --------
    >>> import tierwise as tw
    >>> board = tw.leaderboard(tw.load_political_goals(), rng=1)
    >>> [(row.item, row.tier, row.rank_low, row.rank_high) for row in board.rows]
    [('order', 1, 1, 2), ('prices', 1, 1, 2), ('say', 2, 3, 3), ('speech', 3, 4, 4)]
    """
    watch = Stopwatch()
    known = at_effective_number(
        check_data(data, "leaderboard", Battles, Rankings, Counts, Preferences, weights="effective")
    )
    # Answers are counted as they are.
    given = data if isinstance(data, Battles | Rankings) else known
    check_level(level)
    check_choice("uncertainty", uncertainty, get_args(Uncertainty))
    if not 0.5 <= check_number("certainty", certainty) < 1.0:
        raise InputError(f"certainty must be at least one half, and below 1; got {certainty}")
    numbers = _check_k(k, len(known.items))
    first_seed, second_seed = spawn_seeds(rng, 2)
    check_choice("tiers", tiers, get_args(Published))
    prior_sizes = check_priors(priors).sizes_or("sceptical")
    if choice is None:
        choice = choose(
            known,
            family=family,
            distance=distance,
            concentration=concentration,
            priors=priors,
            max_tiers=max_tiers,
            margin=margin,
            seconds=seconds,
            workers=workers,
            progress=progress,
            rng=first_seed,
        )
    _check_choice(choice, known, uncertainty)
    ranked = np.array([item not in choice.fit.divided for item in known.items])
    items = tuple(item for item in known.items if item not in choice.fit.divided)
    if choice.concentration == "place":
        raise InputError(
            "draws of tiers with a theta per place are not possible",
            [use(concentration="single"), use(concentration="tier")],
        )
    strengths, near, all_near = None, None, None
    part_of = _part_of(items, choice.fit)
    if uncertainty == "posterior":
        how = "posterior"
        posterior = sample_posterior(
            known,
            distance=choice.distance or None,
            family=choice.family,
            concentration=choice.concentration,
            chains=chains,
            draws=draws,
            sampler=Sampler(
                thin="auto", seconds=DEFAULT_SAMPLER.seconds if seconds is None else seconds
            ),
            priors=priors,
            workers=workers,
            progress=progress,
            rng=second_seed,
        )
        labels = tiers_among(posterior.labels, ranked)
        near = posterior.tied_or_nearly_probabilities().to_numpy()[np.ix_(ranked, ranked)]
        # Nothing is known of items that never met, not even through others.
        near = np.where(part_of[:, None] == part_of, near, 0.0)
        all_near = 0.0 if part_of.any() else posterior.all_tied_or_nearly_probability()
        if choice.family == "luce":
            strengths = posterior.strengths(level).to_numpy()
    else:
        assert isinstance(known, Battles)
        how = f"bootstrap over {known.unit_of_resampling()}s"
        seeds = second_seed.spawn(check_count("replicates", replicates))
        labels = _resampled_labels(known, choice.family, prior_sizes, seeds, workers, progress)
    if part_of.any():
        labels = stack_parts(labels, part_of, np.random.default_rng(second_seed))
    above = share_above(labels)
    best = choice.fit.agreed_tiers.label_array(items)
    own = _published(tiers, best, above, labels, certainty)
    own = stack_parts(own[None, :], part_of)[0] - 1
    named = named_tiers(own, items)
    separated = surely_above(above, certainty)[own[:, None] < own]
    rows = _rows(items, named, labels, above, near, numbers, level, certainty, strengths)
    n_answers, shares_won, unit = _answers_of_items(given, ranked)
    sure = surely_above(above, certainty)
    wins = given.wins if isinstance(given, Battles) else None
    order = [items.index(row.item) for row in rows]
    rows = tuple(
        replace(
            row,
            n_answers=None if n_answers is None else n_answers[item],
            share_won=shares_won[item],
            tied_with=tuple(
                items[other]
                for other in order
                if other != item and not (sure[item, other] or sure[other, item])
            ),
        )
        for row, item in zip(rows, order, strict=True)
    )
    return Leaderboard(
        rows=rows,
        tiers=named,
        published=tiers,
        choice=choice,
        level=level,
        certainty=certainty,
        sure_share=float(separated.mean()) if len(separated) else None,
        above_probabilities=above[np.ix_(order, order)],
        tied_or_nearly_probabilities=None if near is None else near[np.ix_(order, order)],
        rank_probabilities=rank_shares(labels)[order],
        cut_probabilities=cut_shares(labels),
        one_tier_probability=all_near,
        wins=None if wins is None else wins[np.ix_(order, order)],
        k=numbers,
        uncertainty=how,
        n_draws=len(labels),
        provenance=watch.provenance(rng),
        unit=unit,
    )


def _part_of(items: tuple[Item, ...], fit: Fit) -> NDArray[np.int64]:
    """Return the part of each item, from 0: nothing is claimed of items of different parts."""
    number_of = {item: number for number, part in enumerate(fit.parts) for item in part}
    return np.array([number_of.get(item, 0) for item in items], dtype=np.int64)


def _check_choice(choice: Choice, data: KnownData, uncertainty: Uncertainty) -> None:
    """Refuse a choice for other data, and a bootstrap where there is none."""
    if set(choice.fit.tiers.items) != set(data.items):
        raise InputError("the choice is of other items than the data: choose for these data")
    if uncertainty == "bootstrap" and not isinstance(data, Battles):
        raise InputError(
            "rankings are drawn again by the function bootstrap; a leaderboard of rankings takes "
            "its uncertainty from the posterior",
            [use(uncertainty="posterior")],
        )


def _published(
    kind: Published,
    best: NDArray[np.int64],
    above: NDArray[np.float64],
    labels: NDArray[np.int64],
    certainty: float,
) -> NDArray[np.int64]:
    """Return the tiers to publish, counted from 0."""
    if kind == "best":
        return best
    if kind == "sure":
        return sure_tiers(above, certainty)
    return tiers_of_leaders(above, rank_shares(labels) @ np.arange(labels.shape[1]), certainty)


def _check_k(k: int | Iterable[int], n_items: int) -> tuple[int, ...]:
    given = [k] if isinstance(k, int) else list(check_iterable("k", k, "numbers"))
    numbers = tuple(check_count("k", one) for one in given)
    return tuple(one for one in numbers if one < n_items) or (1,)


def _resampled_labels(
    data: Battles,
    family: Family,
    prior_sizes: SizesPrior,
    seeds: Sequence[np.random.SeedSequence],
    workers: int | None,
    progress: Progress,
) -> NDArray[np.int64]:
    """Return the tiers, counted from 1, of battles that are drawn again, one row per seed."""
    found = run_tasks(
        _search_replicates,
        [
            (data, family, prior_sizes, seeds[start : start + _REPLICATES_PER_TASK])
            for start in range(0, len(seeds), _REPLICATES_PER_TASK)
        ],
        description="bootstrap",
        workers=workers,
        progress=progress,
    )
    return np.concatenate(found) + 1


def _search_replicates(
    data: Battles,
    family: Family,
    prior_sizes: SizesPrior,
    seeds: Sequence[np.random.SeedSequence],
) -> NDArray[np.int64]:
    rngs = [np.random.default_rng(seed) for seed in seeds]
    return np.array(
        [searched_labels(data.resampled(rng), family, prior_sizes, rng) for rng in rngs]
    )


def _rows(
    items: tuple[Item, ...],
    tiers: Tiers,
    labels: NDArray[np.int64],
    above: NDArray[np.float64],
    near: NDArray[np.float64] | None,
    numbers: tuple[int, ...],
    level: float,
    certainty: float,
    strengths: NDArray[np.float64] | None,
) -> tuple[LeaderboardRow, ...]:
    shares = rank_shares(labels)
    sure, sets = surely_above(above, certainty), simultaneous_ranks(labels, level)
    intervals = rank_intervals(shares, level)
    means = shares @ np.arange(1, len(items) + 1)
    own = tiers.label_array(items)
    by_tier = shares_of_tiers(labels, tiers.sizes)
    best = added_up(np.cumsum(shares, axis=1)[:, np.array(numbers) - 1])
    order = np.lexsort((means, own)).tolist()
    rows = []
    for place, number in enumerate(order):
        following = order[place + 1] if place + 1 < len(order) else None
        better, tied = None, None
        if following is not None:
            better = float(above[number, following])
            tied = None if near is None else float(near[number, following])
        strength, interval = None, None
        if strengths is not None:
            strength, low, high = strengths[number].tolist()
            interval = (low, high)
        rows.append(
            LeaderboardRow(
                item=items[number],
                tier=int(own[number]) + 1,
                mean_rank=float(means[number]),
                rank_low=int(intervals[number, 0]),
                rank_high=int(intervals[number, 1]),
                tier_probabilities=tuple(by_tier[number].tolist()),
                best_k_probabilities=tuple(best[number].tolist()),
                next_item=None if following is None else items[following],
                better_than_next=better,
                tied_with_next=tied,
                upper_rank=1 + int(sure[:, number].sum()),
                rank_set=(int(sets[number, 0]), int(sets[number, 1])),
                strength=strength,
                strength_interval=interval,
            )
        )
    return tuple(rows)


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None else round(value, digits)


def _whole(numbers: Sequence[float | None]) -> list[float | None]:
    """Return numbers of answers as whole ones if all of them are; weights may have fractions."""
    known = [number for number in numbers if number is not None]
    if all(float(number).is_integer() for number in known):
        return [None if number is None else int(number) for number in numbers]
    return [_rounded(number) for number in numbers]


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


def _answers_of_items(
    data: KnownData, ranked: NDArray[np.bool_]
) -> tuple[list[float] | None, list[float | None], str]:
    """Return in how many answers each item is, the share of pairs it won, and what answers are.

    Of items that have a rank, in pairs with all.
    """
    wins = np.asarray(data.pair_counts, dtype=np.float64)
    told = (wins.sum(axis=1) + wins.sum(axis=0))[ranked]
    won = [
        share if number else None
        for share, number in zip(
            wins.sum(axis=1)[ranked] / np.maximum(told, 1e-300), told, strict=True
        )
    ]
    shares = [None if share is None else float(share) for share in won]
    if isinstance(data, Rankings):
        of_items = data.pattern_weights @ (data.patterns[:, ranked] != NOT_LISTED)
        is_scores = data.reading is not None and "scores" in data.reading.layout
        return of_items.tolist(), shares, "tasks" if is_scores else "answers"
    if isinstance(data, Counts):
        return None, shares, "answers"
    return told.tolist(), shares, "battles" if isinstance(data, Battles) else "answers"


def _strength(row: LeaderboardRow) -> str:
    low, high = row.strength_interval or (0.0, 0.0)
    return f"{row.strength:+.0f} ({low:+.0f} to {high:+.0f})"


def _written(text: str, path: str | PathLike[str] | None) -> str:
    if path is not None:
        with whole_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    return text
