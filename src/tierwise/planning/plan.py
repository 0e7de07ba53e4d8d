"""plan: how many answers are needed to find tiers, by simulation."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import singledispatch
from math import inf, isfinite, log
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tierwise._util.cards import Card
from tierwise._util.checks import check_count, check_iterable, check_number, spawn_seeds
from tierwise._util.columns import aligned, within
from tierwise._util.provenance import Stopwatch
from tierwise._util.results import Result
from tierwise._util.tasks import run_tasks
from tierwise.data.battles import Battles
from tierwise.data.frames import make_frame
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, TierwiseWarning, counted, percent, quoted
from tierwise.fitting.result import Fit
from tierwise.leaderboards.leaderboard import leaderboard
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.planning.asking import Ask, Asking, Design, Model
from tierwise.posterior.result import Posterior
from tierwise.tiers import plain_tiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.provenance import Provenance
    from tierwise._util.tasks import Progress
    from tierwise.data.frames import Backend
    from tierwise.leaderboards.result import Leaderboard
    from tierwise.tiers import Tiers

    Floats = NDArray[np.float64]

Goal: TypeAlias = Literal["tiers", "differences"] | tuple[int, int]
"""The goal: all tiers, the pairs that differ, or the pairs between two tiers."""

_FEWEST, _MOST_DOUBLINGS = 25, 10
# Short chains suffice: sets of answers differ far more than draws of one posterior do.
CHAINS, DRAWS = 2, 250
_RESAMPLES = 400


class Needed(NamedTuple):
    """The number of answers needed, with a 90% interval; None means "more than tried".

    Attributes
    ----------
    n_answers
        The number of answers at which the power is reached.
    low, high
        The interval of the number, given the error of the simulation.
    """

    n_answers: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """How much each number of answers would find; `plan` makes it.

    Each table has one row per number of answers and one column per simulated set of answers.

    Attributes
    ----------
    tiers : Tiers or None
        The assumed tiers; None if each set has its own tiers, drawn from a posterior.
    asked : str
        The kind of answer, in words.
    n_answers : tuple of int
        The numbers of answers that were tried.
    found : numpy.ndarray
        Whether the published tiers are the true ones.
    separated : numpy.ndarray
        Share of the pairs of items from different tiers that are clearly different, in the right
        order.
    tied : numpy.ndarray
        Share of the pairs of items of one tier that are published as tied.
    wrong : numpy.ndarray
        Share of the pairs of items that are declared clearly different although they are tied or in
        the opposite order.
    rank_width : numpy.ndarray
        Mean width of the rank interval of an item.
    between_tiers : numpy.ndarray or None
        ``[row, set, k, l]``: share of the pairs of an item of tier ``k`` and one of tier ``l`` that
        are clearly different, in the right order.
    certainty : float
        Two items are clearly different if one is better with this probability or more.
    power : float
        The required probability of success.
    provenance : Provenance
        Version, seed and time.
    """

    tiers: Tiers | None
    asked: str
    n_answers: tuple[int, ...]
    found: Floats
    separated: Floats
    tied: Floats
    wrong: Floats
    rank_width: Floats
    between_tiers: NDArray[np.float64] | None
    certainty: float
    power: float
    provenance: Provenance

    @property
    def n_sets(self) -> int:
        """Number of simulated sets of answers."""
        return int(self.found.shape[1])

    def success(self, of: Goal = "tiers") -> Floats:
        """Return the success of each set at each number of answers.

        Parameters
        ----------
        of
            "tiers": whether all tiers are found. "differences": the share of the pairs from
            different tiers that are clearly different. ``(1, 2)``: the same share, between tiers 1
            and 2.
        """
        if of == "tiers":
            return self.found
        if of == "differences":
            return self.separated
        if self.between_tiers is None:
            raise InputError(
                "each set has its own tiers, so the goal cannot name two of them: use tiers or "
                "differences"
            )
        n_tiers = self.between_tiers.shape[2]
        if (
            not isinstance(of, tuple)
            or len(of) != 2
            or not all(isinstance(tier, int) and 1 <= tier <= n_tiers for tier in of)
            or of[0] == of[1]
        ):
            raise InputError(
                'of must be "tiers", "differences", or the numbers of two tiers, such as (1, 2); '
                f"got {quoted(of)}"
            )
        upper, lower = sorted(of)
        return self.between_tiers[:, :, upper - 1, lower - 1]

    def needed(self, power: float | None = None, of: Goal = "tiers") -> Needed:
        """Return how many answers are needed, with a 90% interval.

        Parameters
        ----------
        power
            The required probability of success (for shares of pairs, the mean share); None means
            that of the plan.
        of
            As in `success`.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (6.0, 1.0))
        >>> plan = tw.plan(model, answers=(5, 80), sets=10, rng=1)
        >>> plan.needed(of="differences").n_answers < 80
        True
        """
        wanted = self.power if power is None else check_number("power", power)
        if not 0.0 < wanted < 1.0:
            raise InputError(f"power must be between 0 and 1; got {wanted}")
        success = self.success(of)
        columns = np.random.default_rng(0).integers(self.n_sets, size=(_RESAMPLES, self.n_sets))
        again = [
            where_reached(self.n_answers, success[:, chosen].mean(axis=1), wanted)
            for chosen in columns
        ]
        low, high = np.quantile(again, (0.05, 0.95), method="nearest").tolist()
        reached = where_reached(self.n_answers, success.mean(axis=1), wanted)
        return Needed(*map(_whole, (reached, low, high)))

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns: means over the sets, and standard errors."""
        found: dict[str, list[Any]] = {"n_answers": list(self.n_answers)}
        tables = {
            "found": self.found,
            "separated": self.separated,
            "tied": self.tied,
            "wrong": self.wrong,
            "rank_width": self.rank_width,
        }
        for name, table in tables.items():
            found[name] = _rounded(table.mean(axis=1))
            found[f"{name}_error"] = _rounded(_errors(table))
        if self.between_tiers is not None:
            n_tiers = self.between_tiers.shape[2]
            for upper in range(n_tiers - 1):
                shares = self.between_tiers[:, :, upper, upper + 1]
                found[f"separated_{upper + 1}_{upper + 2}"] = _rounded(shares.mean(axis=1))
        return found

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the table as a data frame of pandas, polars or pyarrow."""
        return make_frame(self.columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "tiers": None if self.tiers is None else plain_tiers(self.tiers),
            "asked": self.asked,
            "certainty": self.certainty,
            "power": self.power,
            "sets": self.n_sets,
            "needed": {goal: self.needed(of=goal)._asdict() for goal in ("tiers", "differences")},
            "table": self.columns(),
            "provenance": self.provenance.to_dict(),
        }

    def sentence(self) -> str:
        """Return in words how many answers are needed."""
        said = []
        for goal, what in (
            ("differences", f"separate {percent(self.power)} of the pairs that differ"),
            ("tiers", f"find all tiers with a probability of {percent(self.power)}"),
        ):
            number = self.needed(of=goal)  # type: ignore[arg-type]
            if number.n_answers is None:
                said.append(f"more than {self.n_answers[-1]:,} are needed to {what}")
                continue
            low = f"{number.low:,}" if number.low is not None else f"{self.n_answers[-1]:,}"
            high = f"{number.high:,}" if number.high is not None else f"over {self.n_answers[-1]:,}"
            said.append(f"about {number.n_answers:,} ({low} to {high}) {what}")
        return f"With {self.asked}: {'; '.join(said)}."

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as text."""
        header = ["answers", "tiers found", "pairs separated", "tied pairs tied", "wrong", "ranks"]
        cells = [
            [
                f"{number:,}",
                *(f"{share:.0%}" for share in (found, separated, tied)),
                f"{wrong:.1%}",
                f"+/- {width / 2:.1f}",
            ]
            for number, found, separated, tied, wrong, width in zip(
                self.n_answers,
                *(
                    table.mean(axis=1).tolist()
                    for table in (
                        self.found,
                        self.separated,
                        self.tied,
                        self.wrong,
                        self.rank_width,
                    )
                ),
                strict=True,
            )
        ]
        return header, cells

    def summary(self, width: int = 88) -> str:
        """Return the plan as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        header, cells = self.table()
        lines = aligned([header, *cells], left=())
        note = (
            f"From {counted(self.n_sets, 'simulated set')} of answers per row. Pairs are "
            "separated if one item is better with a probability of "
            f"{percent(self.certainty)} or more. Wrong: the share of all pairs that are "
            "separated although they are tied, or in the wrong order."
        )
        return within("\n".join([self.sentence(), "", *lines, "", note]), width)

    def __repr__(self) -> str:
        return f"Plan({self.sentence()!r})"

    def _card(self) -> Card:
        return Card("How many answers", table=self.table(), note=self.sentence())


def plan(
    truth: Model | Fit | Posterior,
    ask: Ask = "complete",
    *,
    size: int | None = None,
    answers: Iterable[int] | None = None,
    power: float = 0.8,
    certainty: float = 0.95,
    sets: int = 60,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Plan:
    """Find by simulation how many answers are needed to find tiers.

    Answers of the chosen kind are drawn from a model and analysed as by `leaderboard`, with the
    true family given.

    Parameters
    ----------
    truth
        The assumed truth: a model (`ClusteredLuce`, `ClusteredMallows`), a fit of a pilot study, or
        its posterior. With a posterior each set of answers has its own tiers, drawn from it, so the
        plan accounts for the uncertainty of the pilot.
    ask
        The kind of answer. "complete": a ranking of all items (or scores of all of them for one
        task). "top": a list of the best ``size``. "subsets": a ranking of ``size`` random items.
        "pairs": a comparison of two random items. "best-worst": the best and the worst of ``size``
        random items (MaxDiff).
    size
        How many items are listed or shown, for "top", "subsets" and "best-worst".
    answers
        The numbers of answers to try. None doubles them, from 25, until the power is reached.
    power
        The required probability of finding the tiers, and the required share of separated pairs.
    certainty
        Two items are separated if one is better with this probability or more.
    sets
        The number of simulated data sets for each number of answers.
    workers, progress, rng
        As in `search`. The same seed gives the same plan.

    Examples
    --------
    >>> import tierwise as tw
    >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d"]]), (9.0, 3.0, 1.0))
    >>> plan = tw.plan(model, "pairs", answers=(50, 400), sets=4, rng=1)
    >>> plan.separated.mean(axis=1).round(1).tolist()
    [0.6, 1.0]
    """
    watch = Stopwatch()
    design = Design(ask, size)
    if not 0.0 < check_number("power", power) < 1.0:
        raise InputError(f"power must be between 0 and 1; got {power}")
    if not 0.5 <= check_number("certainty", certainty) < 1.0:
        raise InputError(f"certainty must be at least 0.5 and below 1; got {certainty}")
    n_sets = check_count("sets", sets, 2)
    first_seed, second_seed = spawn_seeds(rng, 2)
    models = supposed_models(truth, n_sets, np.random.default_rng(first_seed))
    seeds = second_seed.spawn(n_sets)
    numbers = _ladder(answers, design, len(models[0].tiers.items))
    tried: list[int] = []
    outcomes: list[list[Outcome]] = []
    for number in numbers:
        tried.append(number)
        outcomes.append(
            run_tasks(
                _one_set,
                [
                    (model, design, tuple(tried), certainty, seed)
                    for model, seed in zip(models, seeds, strict=True)
                ],
                description=f"sets of {number:,} answers",
                workers=workers,
                progress=progress,
            )
        )
        if answers is None and _are_enough(outcomes[-1], power):
            break
    tables = {
        name: np.array([[getattr(one, name) for one in row] for row in outcomes], dtype=np.float64)
        for name in ("found", "separated", "tied", "wrong", "rank_width")
    }
    fixed = all(model is models[0] for model in models)
    between = None
    if fixed:
        between = np.array([[one.between_tiers for one in row] for row in outcomes])
    return Plan(
        tiers=models[0].tiers if fixed else None,
        asked=design.in_words,
        n_answers=tuple(tried),
        between_tiers=between,
        certainty=certainty,
        power=power,
        provenance=watch.provenance(rng),
        **tables,
    )


def where_reached(numbers: Sequence[int], shares: Floats, wanted: float) -> float:
    """Return the number of answers at which growing shares reach a value.

    Examples
    --------
    >>> import numpy as np
    >>> round(where_reached([10, 40], np.array([0.5, 0.9]), 0.7), 6)
    20.0
    """
    from scipy.optimize import isotonic_regression

    if not len(shares):
        return inf
    rising = isotonic_regression(shares).x
    enough = np.flatnonzero(rising >= wanted)
    if not len(enough):
        return inf
    at = int(enough[0])
    if at == 0:
        return float(numbers[0])
    before, after = float(rising[at - 1]), float(rising[at])
    share = (wanted - before) / (after - before)
    logs = log(numbers[at - 1]), log(numbers[at])
    return float(np.exp(logs[0] + share * (logs[1] - logs[0])))


class Outcome(NamedTuple):
    """What the analysis of one set of answers says, beside the truth."""

    found: bool
    separated: float
    tied: float
    wrong: float
    rank_width: float
    between_tiers: Floats


def supposed_models(
    truth: Model | Fit | Posterior, number: int, rng: np.random.Generator
) -> list[Model]:
    """Return the model of each simulated set of answers."""
    if isinstance(truth, Fit):
        truth = truth.model()
    if isinstance(truth, ClusteredMallows | ClusteredLuce):
        return [truth] * number
    if not isinstance(truth, Posterior):
        raise InputError(
            "truth must be a model, such as ClusteredLuce(tiers, worths), a fit, or a posterior; "
            f"got {quoted(truth)}"
        )
    draws = rng.integers(len(truth.labels), size=number)
    return [model_of_draw(truth, int(draw)) for draw in draws]


def model_of_draw(posterior: Posterior, draw: int) -> Model:
    """Return the model of one draw of a posterior."""
    from tierwise.fitting.solve import named_tiers

    labels = posterior.labels[draw] - 1
    tiers = named_tiers(labels, posterior.items)
    if posterior.family == "luce":
        logs = posterior.log_worths[draw]
        first_of_tier = [int(np.argmax(labels == tier)) for tier in range(len(tiers))]
        return ClusteredLuce(tiers, np.exp(logs[first_of_tier]).tolist())
    if posterior.concentration == "single":
        return ClusteredMallows(tiers, float(posterior.thetas[draw]), posterior.distance)
    thetas = posterior.thetas[draw][: len(tiers) - 1]
    return ClusteredMallows(tiers, thetas.tolist(), posterior.distance, "tier")


def board_of(
    data: Rankings | Battles, model: Model, certainty: float, seed: np.random.SeedSequence
) -> Leaderboard:
    """Analyse simulated answers with the model that they come from named."""
    with short_chains():
        return leaderboard(
            data,
            certainty=certainty,
            chains=CHAINS,
            draws=DRAWS,
            workers=1,
            progress="off",
            rng=seed,
            **named_model(model, data),
        )


def named_model(model: Model, data: Rankings | Battles) -> dict[str, Any]:
    """Return the keywords that name a family of models and its distance."""
    if isinstance(model, ClusteredLuce):
        return {"family": "luce"}
    if data.pairwise:
        return {"family": "mallows"}
    return {"distance": model.distance, "concentration": model.concentration}


@contextmanager
def short_chains() -> Iterator[None]:
    """Do not warn that chains are short: those of a simulation are, on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)
        yield


def _one_set(
    model: Model,
    asking: Asking,
    numbers: Sequence[int],
    certainty: float,
    seed: np.random.SeedSequence,
) -> Outcome:
    """Draw answers, as many as the last number says, and compare what they say with the truth."""
    answers = first_answers(model, asking, numbers, seed)
    # The seed is fresh for every number: what is random of the analysis is independent.
    analysis = np.random.SeedSequence(
        entropy=seed.entropy, spawn_key=(*seed.spawn_key, numbers[-1])
    )
    return outcome_of(board_of(answers, model, certainty, analysis), model.tiers)


def first_answers(
    model: Model, asking: Asking, numbers: Sequence[int], seed: np.random.SeedSequence
) -> Rankings | Battles:
    """Draw answers so that fewer of them are the first ones of more."""
    joined: Rankings | Battles | None = None
    for place, number in enumerate(numbers):
        before = numbers[place - 1] if place else 0
        rng = np.random.default_rng(
            np.random.SeedSequence(entropy=seed.entropy, spawn_key=(*seed.spawn_key, 0, place))
        )
        joined = add_answers(joined, asking.answers(model, number - before, rng))
    assert joined is not None
    return joined


def add_answers(data: Rankings | Battles | None, further: Rankings | Battles) -> Rankings | Battles:
    """Join answers with further ones of the same kind, about the same items in the same order."""
    return further if data is None else _joined(data, further)


@singledispatch
def _joined(data: Rankings | Battles, _further: Rankings | Battles) -> Rankings | Battles:
    raise TypeError(f"{data.unit} are not joined")


@_joined.register(Battles)
def _joined_battles(data: Battles, further: Battles) -> Battles:
    # Sums of battles have their items sorted; tiers and claims are by the order of the data.
    decided, drawn = data.decided + further.decided, data.drawn + further.drawn
    return Battles(data.items, decided, drawn, data.drawn_as)


@_joined.register(Rankings)
def _joined_rankings(data: Rankings, further: Rankings) -> Rankings:
    joined = Rankings.concat([data, further])
    if joined.weights.dtype.kind == "i":
        return joined.with_weights_as("counts")
    # Survey weights were scaled before, and are not scaled again.
    return joined.with_scaled_weights(joined.weights, len(joined))


def outcome_of(board: Leaderboard, truth: Tiers) -> Outcome:
    """Compare what is published with the truth."""
    items = tuple(row.item for row in board.rows)
    own = {str(item): tier for item, tier in zip(truth.items, _tier_numbers(truth), strict=True)}
    labels = np.array([own[str(item)] for item in items])
    published = np.array([row.tier for row in board.rows])
    sure = board.above_probabilities >= board.certainty
    above = labels[:, None] < labels
    same = np.triu(labels[:, None] == labels, k=1)
    n_pairs = len(items) * (len(items) - 1) / 2
    tied = published[:, None] == published
    n_tiers = len(truth)
    between = np.full((n_tiers, n_tiers), np.nan)
    for upper in range(n_tiers):
        for lower in range(upper + 1, n_tiers):
            between[upper, lower] = sure[np.ix_(labels == upper, labels == lower)].mean()
    return Outcome(
        found=bool((published - 1 == labels).all()),
        separated=float(sure[above].mean()) if above.any() else 1.0,
        tied=float(tied[same].mean()) if same.any() else 1.0,
        wrong=float((sure & ~above).sum() / n_pairs),
        rank_width=float(np.mean([row.rank_high - row.rank_low for row in board.rows])),
        between_tiers=between,
    )


def _tier_numbers(tiers: Tiers) -> list[int]:
    return [int(tier) for tier in tiers.label_array(tiers.items)]


def _ladder(answers: Iterable[int] | None, design: Design, n_items: int) -> list[int]:
    """Return the numbers of answers to try."""
    if answers is None:
        first = _FEWEST * (n_items if design.ask == "pairs" else 1)
        return [first * 2**step for step in range(_MOST_DOUBLINGS)]
    numbers = [check_count("answers", one) for one in check_iterable("answers", answers, "numbers")]
    if not numbers:
        raise InputError("there are no numbers of answers: pass at least one")
    return sorted(set(numbers))


def _are_enough(outcomes: Sequence[Outcome], power: float) -> bool:
    found = np.mean([one.found for one in outcomes])
    separated = np.mean([one.separated for one in outcomes])
    return bool(found >= power and separated >= power)


def _whole(number: float) -> int | None:
    return round(number) if isfinite(number) else None


def _rounded(values: Floats) -> list[float]:
    return [round(value, 6) for value in values.tolist()]


def _errors(table: Floats) -> Floats:
    errors: Floats = table.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    return errors
