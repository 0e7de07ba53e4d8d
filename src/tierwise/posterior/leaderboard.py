"""leaderboard: what is published about each item: tier, rank interval, and how sure they are."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.checks import (
    check_choice,
    check_count,
    check_iterable,
    check_level,
    check_number,
    spawn_seeds,
)
from tierwise._util.columns import aligned
from tierwise._util.provenance import Stopwatch
from tierwise._util.resources import whole_file
from tierwise._util.results import Result
from tierwise._util.tasks import run_tasks
from tierwise._util.types import plain_item
from tierwise.answers.likelihood import source_of
from tierwise.data.battles import Battles
from tierwise.data.counts import Counts
from tierwise.data.frames import make_frame
from tierwise.data.kinds import KnownData, check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, counted, percent, use
from tierwise.fitting.fit import fit_parted, fit_source
from tierwise.fitting.solve import (
    Settings,
    Solution,
    named_tiers,
    solution_at,
    unproved,
    unproved_at,
)
from tierwise.model.priors import log_prior_of_sizes
from tierwise.posterior.estimates import (
    rank_intervals,
    rank_shares,
    share_above,
    sure_tiers,
    surely_above,
)
from tierwise.posterior.run import sample_posterior
from tierwise.searching.all_sizes import best_tiers_of_battles
from tierwise.theta.estimate import ThetaEstimate
from tierwise.tiers import log_number_of_tiers, plain_tiers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.provenance import Provenance
    from tierwise._util.tasks import Progress
    from tierwise._util.types import Item
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.data.frames import Backend
    from tierwise.data.scan import RankingScan
    from tierwise.fitting.result import Fit
    from tierwise.posterior.result import Posterior
    from tierwise.tiers import Tiers

Uncertainty: TypeAlias = Literal["posterior", "bootstrap"]

_REPLICATES_PER_TASK = 10
# Sweeps for each draw: neighbouring ones are much alike.
_THIN_OF_BATTLES = 6
# Where draws cannot be compared by their probability, tiers with so sure differences are.
_CERTAINTIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


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
        Probability to be among the best ``k``, one for each ``k`` of the leaderboard.
    next_item
        The item in the next row; None in the last.
    better_than_next
        Probability to be in a better tier than that.
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


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Items with their tiers and how sure these are, best first; `leaderboard` makes it.

    Attributes
    ----------
    rows : tuple of LeaderboardRow
        The items by tier, and by their mean rank within a tier.
    tiers : Tiers
        The tiers to publish: no two items of a tier surely differ.
    fit : Fit
        The most probable tiers, with theta, and what they are compared to. They describe the data
        best, and part more items than one can be sure of.
    level : float
        Level of the rank intervals.
    certainty : float
        Two items surely differ where one is better with this probability or more.
    sure_share : float or None
        Share of the pairs of items in different tiers that surely differ; None if there is one
        tier only.
    above_probabilities : numpy.ndarray
        Probability of each item to be in a better tier than each other, ``[row, row]``.
    k : tuple of int
        The numbers of best items that probabilities are given for.
    uncertainty : str
        "posterior", or "bootstrap over battles" or "bootstrap over judges".
    n_draws : int
        Number of draws or replicates that probabilities are shares of.
    provenance : Provenance
        Version, seed and time.
    """

    rows: tuple[LeaderboardRow, ...]
    tiers: Tiers
    fit: Fit
    level: float
    certainty: float
    sure_share: float | None
    above_probabilities: NDArray[np.float64]
    k: tuple[int, ...]
    uncertainty: str
    n_draws: int
    provenance: Provenance

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
            "rank_low": [row.rank_low for row in rows],
            "rank_high": [row.rank_high for row in rows],
            "mean_rank": [round(row.mean_rank, 4) for row in rows],
        }
        for number, k in enumerate(self.k):
            found[f"p_best_{k}"] = [round(row.best_k_probabilities[number], 6) for row in rows]
        found["p_better_than_next"] = [
            None if row.better_than_next is None else round(row.better_than_next, 6) for row in rows
        ]
        for tier in range(len(self.tiers)):
            found[f"p_tier_{tier + 1}"] = [round(row.tier_probabilities[tier], 6) for row in rows]
        return found

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the table as a data frame of pandas, polars or pyarrow."""
        return make_frame(self.columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        columns = self.columns()
        return {
            "tiers": plain_tiers(self.tiers),
            "most_probable_tiers": plain_tiers(self.fit.tiers),
            "certainty": self.certainty,
            "sure_share": self.sure_share,
            "level": self.level,
            "uncertainty": self.uncertainty,
            "draws": self.n_draws,
            "likelihood": self.fit.likelihood,
            "answers": self.fit.n_rankings,
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
        import csv
        from io import StringIO

        columns = self.columns()
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return _written(text.getvalue(), path)

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as Markdown, and write it to a file if one is named."""
        header, cells = self.table()
        lines = [header, ["---" if place == 1 else "---:" for place in range(len(header))], *cells]
        escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        text = "\n".join(f"| {' | '.join(line)} |" for line in escaped)
        return _written(f"{text}\n\n{self.note()}\n", path)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as people read them."""
        header = ["tier", "item", f"rank ({percent(self.level)})"]
        header += ["P(best)" if k == 1 else f"P(best {k})" for k in self.k]
        header += ["P(this tier)", "P(better than next)"]
        cells = []
        for row in self.rows:
            span = f"{row.rank_low} to {row.rank_high}"
            if row.rank_low == row.rank_high:
                span = str(row.rank_low)
            sure = row.tier_probabilities[row.tier - 1]
            following = "" if row.better_than_next is None else _share(row.better_than_next)
            shares = [_share(share) for share in row.best_k_probabilities]
            cells.append([str(row.tier), str(row.item), span, *shares, _share(sure), following])
        return header, cells

    def note(self) -> str:
        """Say what the numbers are, and with what care they are to be read."""
        sentences = [
            f"Ranks with {percent(self.level)} intervals, from {self.n_draws:,} "
            f"{'draws of the posterior' if self.uncertainty == 'posterior' else 'replicates'}"
            f"{'' if self.uncertainty == 'posterior' else f' ({self.uncertainty})'}.",
            self.note_on_tiers(),
        ]
        if self.fit.likelihood == "composite":
            sentences.append(
                "Judges decided several battles each, which are taken as independent (composite "
                "likelihood)"
                + (
                    ": intervals may be too narrow; the bootstrap over judges is safe from that."
                    if self.uncertainty == "posterior"
                    else "; judges were resampled, so that intervals allow for that."
                )
            )
        return " ".join(sentences)

    def note_on_tiers(self) -> str:
        """Say what the tiers are, and what they are not."""
        said = f"No two items of a tier differ with {percent(self.certainty)} probability"
        if self.sure_share is not None:
            said += f"; of the pairs in different tiers, {_share(self.sure_share)} do"
        if self.tiers != self.fit.tiers:
            tiers = counted(len(self.fit.tiers), "tier")
            said += f"; the most probable division is another, of {tiers}"
        return f"{said}."

    def summary(self) -> str:
        """Return the leaderboard for people."""
        header, cells = self.table()
        return "\n".join([*aligned([header, *cells], left=(1,)), "", self.note()])


def leaderboard(
    data: Rankings | RankingScan | Counts | Preferences | Battles,
    *,
    level: float = 0.95,
    certainty: float = 0.95,
    k: int | Iterable[int] = (1, 3),
    uncertainty: Uncertainty = "posterior",
    concentration: Literal["single", "tier"] = "single",
    prior_sizes: Literal["uniform", "penalised", "sceptical"] = "sceptical",
    chains: int = 4,
    draws: int = 1000,
    replicates: int = 200,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Leaderboard:
    """Find tiers, and say for each item how sure its tier and its rank are.

    The distance is inversions. Items of a tier share the ranks that the tier takes up, in any order
    with the same probability.

    The tiers are not the most probable ones, which also part items that may well be tied. No two
    items of a tier surely differ: that one is better has a probability below ``certainty``. Of all
    tiers of that kind these have the least expected cost over all pairs, where to part a pair
    wrongly costs ``certainty`` and to tie it wrongly ``1 - certainty``. A cut lies between whole
    groups, so that items next to it may well be tied; `Leaderboard.sure_share` says how many pairs
    across cuts surely differ. A claim about two items is in `Leaderboard.above_probabilities`.

    Parameters
    ----------
    data
        Battles, or rankings (of scores: `Rankings.from_scores`), or counts of them, or preferences:
        where judges gave many answers each, these have the full likelihood, and battles do not.
    level
        Level of the rank intervals.
    certainty
        Items of which one is better with this probability or more are never in one tier; one half
        parts whatever is more probable than not.
    k
        Of how many best items the probability to be among them is wanted; several may be named.
    uncertainty
        "posterior" draws tiers of all sizes from their posterior. "bootstrap", for battles,
        searches tiers anew in battles that are drawn with replacement: whole judges, where judges
        decided several battles each.
    concentration
        For rankings, "tier" is a theta for each tier but the last: agreement may differ from top
        to bottom.
    prior_sizes
        Prior of the sizes, as for `search`: noise is seldom taken for tiers if it is "sceptical".
    chains, draws
        Number of chains, and of draws of each.
    replicates
        Number of data sets that are drawn for "bootstrap".
    workers, progress, rng
        As for `search`. The same seed gives the same leaderboard.

    Examples
    --------
    >>> import tierwise as tw
    >>> board = tw.leaderboard(tw.load_political_goals(), rng=1)
    >>> [(row.item, row.tier, row.rank_low, row.rank_high) for row in board.rows]
    [('order', 1, 1, 2), ('prices', 1, 1, 2), ('say', 2, 3, 4), ('speech', 2, 3, 4)]
    """
    watch = Stopwatch()
    known = check_data(data, "leaderboard", Battles, Rankings, Counts, Preferences)
    check_level(level)
    check_choice("uncertainty", uncertainty, get_args(Uncertainty))
    if not 0.5 <= check_number("certainty", certainty) < 1.0:
        raise InputError(f"certainty must be at least one half, and below 1; got {certainty}")
    numbers = _check_k(k, len(known.items))
    first_seed, second_seed = spawn_seeds(rng, 2)
    generator = np.random.default_rng(first_seed)

    def made() -> Provenance:
        return watch.provenance(rng)

    def sample(thin: int) -> Posterior:
        return sample_posterior(
            known,
            distance="inversions",
            concentration=concentration,
            chains=chains,
            draws=draws,
            thin=thin,
            prior_sizes=prior_sizes,
            workers=workers,
            progress=progress,
            rng=second_seed,
        )

    how = "posterior"
    if isinstance(known, Battles):
        fit = _fit_of_search(known, prior_sizes, generator, made)
        if uncertainty == "posterior":
            labels = sample(_THIN_OF_BATTLES).labels
        else:
            how = f"bootstrap over {known.unit_of_resampling()}s"
            seeds = second_seed.spawn(check_count("replicates", replicates))
            labels = _resampled_labels(known, prior_sizes, seeds, workers, progress)
    elif uncertainty == "posterior":
        posterior = sample(1)
        labels = posterior.labels
        fit = _fit_of_draws(known, posterior, prior_sizes, generator, made)
    else:
        raise InputError(
            "rankings have a posterior, and the bootstrap here is for battles",
            [use(uncertainty="posterior")],
        )
    above = share_above(labels)
    own = sure_tiers(above, certainty)
    tiers = named_tiers(own, known.items)
    parted = surely_above(above, certainty)[own[:, None] < own]
    rows = _rows(known.items, tiers, labels, above, numbers, level)
    order = [known.items.index(row.item) for row in rows]
    return Leaderboard(
        rows=rows,
        tiers=tiers,
        fit=fit,
        level=level,
        certainty=certainty,
        sure_share=float(parted.mean()) if len(parted) else None,
        above_probabilities=above[np.ix_(order, order)],
        k=numbers,
        uncertainty=how,
        n_draws=len(labels),
        provenance=made(),
    )


def _fit_of_search(
    data: Battles,
    prior_sizes: Literal["uniform", "penalised", "sceptical"],
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Search tiers of all sizes, and compare the best with others."""
    source, settings = source_of(data, None), Settings()
    labels = best_tiers_of_battles(source, rng, prior_sizes)[0]
    solution = solution_at(source, unproved_at(source, labels, "local search"), settings)
    sizes = tuple(np.bincount(labels).tolist())
    return fit_source(source, sizes, settings, rng, provenance, {sizes: solution})


def _fit_of_draws(
    data: KnownData,
    posterior: Posterior,
    prior_sizes: Literal["uniform", "penalised", "sceptical"],
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Fit theta to the most probable tiers drawn, and compare them with others."""
    settings = Settings()
    source = source_of(data, "inversions")
    if posterior.completions is None:
        tried, how = [posterior.tiers().label_array(posterior.items)], "most probable draw"
    else:
        # Given completions, draws cannot be compared: summaries of them are, by their probability.
        above = share_above(posterior.labels)
        tried = [sure_tiers(above, certainty) for certainty in _CERTAINTIES]
        how = "most probable summary of the draws"
    solutions = [
        _solution_at(source, labels, how, posterior, settings)
        for labels in {labels.tobytes(): labels for labels in tried}.values()
    ]

    def log_probability(solution: Solution) -> float:
        sizes = tuple(np.bincount(solution.consensus.labels).tolist())
        likely = solution.log_likelihood - log_number_of_tiers(sizes)
        return likely + log_prior_of_sizes(prior_sizes, sizes)

    best = max(solutions, key=log_probability)
    sizes = tuple(np.bincount(best.consensus.labels).tolist())
    solved = {sizes: best}
    strict = (1,) * len(source.items)
    if not source.at(strict, rng=np.random.default_rng(0)).exact:
        # To look for the best strict order would take longer than all else.
        order = rank_shares(posterior.labels) @ np.arange(len(strict))
        ranks = order.argsort(kind="stable").argsort()
        solved[strict] = _solution_at(source, ranks, "order of mean ranks", posterior, settings)
    single = fit_source(source, sizes, settings, rng, provenance, {**solved, sizes: best})
    if posterior.concentration == "single" or len(sizes) == 1:
        return single
    return fit_parted(source, single, "tier", settings, rng, provenance)


def _solution_at(
    source: AnswerSource,
    labels: NDArray[np.int64],
    how: str,
    posterior: Posterior,
    settings: Settings,
) -> Solution:
    """Fit theta to tiers; where completions cannot be summed over, it is that of the draws."""
    sizes = tuple(np.bincount(labels).tolist())
    likelihood = source.at(sizes, rng=np.random.default_rng(0))
    if likelihood.exact:
        solution = solution_at(source, unproved(labels, np.nan, how), settings)
        theta = solution.theta
    else:
        low, middle, high = np.quantile(posterior.thetas, (0.025, 0.5, 0.975)).tolist()
        theta = ThetaEstimate(middle, float(posterior.thetas.std()), (low, high), "monte-carlo")
        value = likelihood.value(labels, middle)
        solution = Solution(
            unproved(labels, np.nan, how),
            theta,
            float(value),
            value.standard_error,
            likelihood.method,
            likelihood.log_completions,
        )
    total = likelihood.total_distance(labels, min(theta.value, likelihood.largest_theta))
    consensus = replace(unproved(labels, total, how), optimal=len(sizes) == 1)
    return replace(solution, consensus=consensus)


def _check_k(k: int | Iterable[int], n_items: int) -> tuple[int, ...]:
    given = [k] if isinstance(k, int) else list(check_iterable("k", k, "numbers"))
    numbers = tuple(check_count("k", one) for one in given)
    return tuple(one for one in numbers if one < n_items) or (1,)


def _resampled_labels(
    data: Battles,
    prior_sizes: Literal["uniform", "penalised", "sceptical"],
    seeds: Sequence[np.random.SeedSequence],
    workers: int | None,
    progress: Progress,
) -> NDArray[np.int64]:
    """Return the tiers, counted from 1, of battles that are drawn anew, one row per seed."""
    found = run_tasks(
        _search_replicates,
        [
            (data, prior_sizes, seeds[start : start + _REPLICATES_PER_TASK])
            for start in range(0, len(seeds), _REPLICATES_PER_TASK)
        ],
        description="bootstrap",
        workers=workers,
        progress=progress,
    )
    return np.concatenate(found) + 1


def _search_replicates(
    data: Battles,
    prior_sizes: Literal["uniform", "penalised", "sceptical"],
    seeds: Sequence[np.random.SeedSequence],
) -> NDArray[np.int64]:
    labels = np.empty((len(seeds), len(data.items)), dtype=np.int64)
    for replicate, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        again = source_of(data.resampled(rng), None)
        labels[replicate] = best_tiers_of_battles(again, rng, prior_sizes, starts=1)[0]
    return labels


def _rows(
    items: tuple[Item, ...],
    tiers: Tiers,
    labels: NDArray[np.int64],
    above: NDArray[np.float64],
    numbers: tuple[int, ...],
    level: float,
) -> tuple[LeaderboardRow, ...]:
    shares = rank_shares(labels)
    intervals = rank_intervals(shares, level)
    means = shares @ np.arange(1, len(items) + 1)
    own = tiers.label_array(items)
    starts = np.cumsum((0, *tiers.sizes[:-1]))
    by_tier = np.add.reduceat(shares, starts, axis=1).clip(0.0, 1.0)
    order = np.lexsort((means, own)).tolist()
    rows = []
    for place, number in enumerate(order):
        following = order[place + 1] if place + 1 < len(order) else None
        rows.append(
            LeaderboardRow(
                item=items[number],
                tier=int(own[number]) + 1,
                mean_rank=float(means[number]),
                rank_low=int(intervals[number, 0]),
                rank_high=int(intervals[number, 1]),
                tier_probabilities=tuple(by_tier[number].tolist()),
                best_k_probabilities=tuple(
                    min(float(shares[number, :k].sum()), 1.0) for k in numbers
                ),
                next_item=None if following is None else items[following],
                better_than_next=None if following is None else float(above[number, following]),
            )
        )
    return tuple(rows)


def _share(share: float) -> str:
    """Write a probability; what is not certain is not called so."""
    if 0.0 < share < 0.005:
        return "< 1%"
    return "> 99%" if 0.995 < share < 1.0 else f"{share:.0%}"


def _written(text: str, path: str | PathLike[str] | None) -> str:
    if path is not None:
        with whole_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    return text
