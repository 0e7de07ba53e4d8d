"""impute: probable places of the items that an incomplete answer leaves open.

Probabilities of places are for one model or averaged over several.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from math import log, log1p
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from tierwise._kernels.augmentation import list_extensions
from tierwise._kernels.counting import add_place_counts
from tierwise._kernels.luce import complete_blocks, move_times
from tierwise._util.cards import Card
from tierwise._util.checks import RandomSource, as_generator, check_count
from tierwise._util.results import Result
from tierwise._util.types import NOT_LISTED
from tierwise.answers.dispatch import MOST_COMPLETIONS
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.given_sizes import LARGEST_THETA_OF_UNIT
from tierwise.answers.likelihood import source_of
from tierwise.answers.races import blocks_of_places
from tierwise.answers.votes import DrawnVotes, Votes, allowed
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.distances import get_distance
from tierwise.errors import InputError, TooLargeError, counted, quoted, use
from tierwise.fitting.result import Fit
from tierwise.fitting.tied_groups import TiedGroups
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.partition.choose import partition_function
from tierwise.partition.scope import is_for
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from tierwise._util.types import Item, Places
    from tierwise.answers.base import Floats, Labels
    from tierwise.answers.partial import PartialOrders
    from tierwise.data.scan import RankingScan
    from tierwise.distances import Distance, Rule
    from tierwise.partition.base import Concentration, PartitionFunction
    from tierwise.posterior.result import Posterior
    from tierwise.tiers import Sizes

# Completions, times models, that are summed over: some seconds.
MOST_WORK = 100_000_000
# An answer under a model takes as long as so many more completions.
WORK_OF_AN_ANSWER = 500
# The places of a tied group take as long as so many completions.
WORK_OF_A_TABLE = 5_000
# An average over more models than this need not be exact under each of them.
ENOUGH_MODELS = 100
# Where completions are drawn, so many follow each other under the same model.
DRAWS_OF_A_MODEL = 20


class GivenModel(NamedTuple):
    """Tiers, counted from 0, and thetas; a mistake probability if answers may be mistaken.

    There is one theta, or one for each part of the distance.
    """

    labels: Labels
    thetas: Floats
    mistake_probability: float | None

    @property
    def sizes(self) -> Sizes:
        """Sizes of the tiers."""
        return tuple(np.bincount(self.labels).tolist())


@dataclass(frozen=True, eq=False)
class OpenAnswers(ABC):
    """Distinct answers that leave something open, or may be mistaken.

    Attributes
    ----------
    pattern_of
        Which of the distinct answers each answer is.
    """

    pattern_of: npt.NDArray[np.int64]

    @property
    @abstractmethod
    def log_numbers(self) -> Floats:
        """Log number of the orderings that are possible, for each answer."""

    @abstractmethod
    def completions(self, pattern: int) -> tuple[Places, npt.NDArray[np.int64]]:
        """List all orderings that are possible, and how many answers each goes against."""

    @abstractmethod
    def drawn(self, models: Models, rng: np.random.Generator) -> _Scattered | _Racing:
        """Complete each answer in some way."""

    @property
    def first_places(self) -> Places | None:
        """First place of each item's tied group, if answers leave nothing but ties open."""
        return None


@dataclass(frozen=True, eq=False)
class PartialAnswers(OpenAnswers):
    """Answers that are right: orderings that agree with them are possible."""

    said: PartialOrders

    @property
    def first_places(self) -> Places | None:
        """First place of each item's tied group, if answers leave nothing but ties open."""
        first = self.said.first
        return first if first is not None and (first != NOT_LISTED).all() else None

    @property
    def log_numbers(self) -> Floats:
        """Log number of the linear extensions of each answer."""
        return self.said.log_numbers

    def completions(self, pattern: int) -> tuple[Places, npt.NDArray[np.int64]]:
        """List the linear extensions of an answer, which go against nothing."""
        number = round(float(np.exp(self.said.log_numbers[pattern])))
        places = list_extensions(self.said.relations[pattern], number)
        return places, np.zeros(len(places), dtype=np.int64)

    def drawn(self, models: Models, rng: np.random.Generator) -> _Scattered | _Racing:
        """Complete each answer in some way."""
        if isinstance(models, GivenWorths):
            return _Racing(models, self.said, rng)
        drawn = DrawnCompletions(self.said, models.given[0].sizes, models.distance, rng)
        return _Scattered(models, drawn)


@dataclass(frozen=True, eq=False)
class MistakenAnswers(OpenAnswers):
    """Answers that may be mistaken: all orderings are possible."""

    said: Votes

    @property
    def log_numbers(self) -> Floats:
        """Log number of all orderings, for each answer."""
        n_rows, n_items, _ = self.said.said.shape
        return np.full(n_rows, log_factorials(n_items)[-1])

    def completions(self, pattern: int) -> tuple[Places, npt.NDArray[np.int64]]:
        """List all orderings, and how many answers each goes against."""
        said, places = self.said.said[pattern], self.said.orderings
        mistakes = np.zeros(len(places), dtype=np.int64)
        for first, second in np.argwhere(said).tolist():
            mistakes += said[first, second] * (places[:, first] > places[:, second])
        return places, mistakes

    def drawn(self, models: Models, rng: np.random.Generator) -> _Scattered:
        """Let each assessor have some ordering in mind."""
        assert isinstance(models, GivenTiers)
        sizes, distance = models.given[0].sizes, models.distance
        votes = DrawnVotes(self.said, sizes, distance, rng, mistake_probability=0.5)
        return _Scattered(models, votes)


def models_to_sum(answers: OpenAnswers, n_models: int) -> int:
    """Return over how many models the exact probabilities can be averaged; 0 if they are drawn."""
    if answers.log_numbers.max() >= log(MOST_COMPLETIONS) + 1e-9:
        return 0
    work = float((np.exp(answers.log_numbers) + WORK_OF_AN_ANSWER).sum())
    affordable = max(int(MOST_WORK / work), 1)
    return min(n_models, affordable) if affordable >= min(n_models, ENOUGH_MODELS) else 0


def summed_places(answers: OpenAnswers, models: Models) -> Floats:
    """Sum over all completions of each answer, on the average over models."""
    groups = models.groups()
    n_patterns, n_items = len(answers.log_numbers), models.n_items
    probabilities = np.zeros((n_patterns, n_items, n_items))
    for pattern in range(n_patterns):
        places, mistakes = answers.completions(pattern)
        weights = np.zeros(len(places))
        for group in groups:
            weights += group.weigh(places, mistakes)
        add_place_counts(places, weights / len(models), probabilities[pattern])
    return probabilities


@dataclass(frozen=True, eq=False)
class _Group:
    """Models that have their tiers in common.

    ``energies[model]`` are minus the logs of the weights of a unit of distance, and of a mistake.
    """

    labels: Labels
    block_of_place: npt.NDArray[np.int32]
    rule: Rule
    energies: Floats

    def weigh(self, places: Places, mistakes: npt.NDArray[np.int64]) -> Floats:
        """Sum over models the probability of each ordering among those given."""
        units = self.rule.units(self.block_of_place[places], self.labels[None])
        # Orderings at the same distance with as many mistakes are equally probable.
        n_mistakes = int(mistakes.max()) + 1
        kind = units * n_mistakes + mistakes
        numbers = np.bincount(kind)
        energies = self.energies @ np.divmod(np.arange(len(numbers)), n_mistakes)
        energies[:, numbers == 0] = np.inf
        shares = np.exp(energies.min(axis=1, keepdims=True) - energies)
        sums: Floats = (shares / (shares @ numbers)[:, None]).sum(axis=0)
        weights: Floats = sums[kind]
        return weights


@dataclass(frozen=True, eq=False)
class _ByParts:
    """A model with a theta for each part of the distance."""

    model: GivenModel
    partition: PartitionFunction

    def weigh(self, places: Places, mistakes: npt.NDArray[np.int64]) -> Floats:  # noqa: ARG002
        """Return the probability of each ordering among those given."""
        blocks = self.partition.distance.block_of_place(self.partition.sizes)[places]
        thetas = np.minimum(self.model.thetas, LARGEST_THETA_OF_UNIT / self.partition.rule.unit)
        energies = self.partition.part_distances(blocks, self.model.labels) @ thetas
        weights = np.exp(energies.min() - energies)
        shares: Floats = weights / weights.sum()
        return shares


def _by_tiers(models: Iterable[GivenModel], distance: Distance) -> list[_Group]:
    together: dict[bytes, list[GivenModel]] = {}
    for model in models:
        together.setdefault(model.labels.tobytes(), []).append(model)
    groups = []
    for same in together.values():
        labels, sizes = same[0].labels, same[0].sizes
        rule = distance.rule(sizes).in_largest_units()
        energies = [
            (
                min(model.thetas[0] * rule.unit, LARGEST_THETA_OF_UNIT),
                _cost_of_mistake(model.mistake_probability),
            )
            for model in same
        ]
        block_of_place = distance.block_of_place(sizes)
        groups.append(_Group(labels, block_of_place, rule, np.array(energies)))
    return groups


def _cost_of_mistake(probability: float | None) -> float:
    if probability is None:
        return 0.0
    probability = allowed(probability)
    return log1p(-probability) - log(probability)


@dataclass(frozen=True, eq=False)
class GivenTiers:
    """Tiers with theta, each a model: completions are scattered around them.

    Attributes
    ----------
    given
        The models.
    distance
        The distance.
    concentration
        What there is a theta for: "single", "tier" or "place".
    """

    given: list[GivenModel]
    distance: Distance
    concentration: Concentration

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.given)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.given[0].labels)

    def take(self, rows: npt.NDArray[np.int64]) -> GivenTiers:
        """Keep some of the models."""
        given = [self.given[row] for row in rows.tolist()]
        return GivenTiers(given, self.distance, self.concentration)

    def groups(self) -> list[_Group] | list[_ByParts]:
        """Return the models, those with the same tiers together if they have one theta."""
        if self.concentration == "single":
            return _by_tiers(self.given, self.distance)
        partitions = {
            sizes: partition_function(sizes, self.distance, concentration=self.concentration)
            for sizes in {model.sizes for model in self.given}
        }
        return [_ByParts(model, partitions[model.sizes]) for model in self.given]

    @property
    def orders_groups_apart(self) -> bool:
        """Whether tied groups of an answer are ordered independently of each other."""
        return self.concentration != "place" and all(
            is_for("lines", sizes, self.distance) for sizes in {model.sizes for model in self.given}
        )

    def thetas_of_tiers(self, model: GivenModel) -> Floats:
        """Return theta of each tier but the last, for one reversed pair."""
        rule = self.distance.rule(model.sizes)
        return np.broadcast_to(model.thetas, len(model.sizes) - 1) * (rule.misplaced * rule.unit)


@dataclass(frozen=True, eq=False)
class GivenWorths:
    """Log worths of items, each row a model: completions are races.

    Attributes
    ----------
    log_worths
        ``[model, item]``.
    """

    log_worths: Floats

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.log_worths)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.log_worths.shape[1])

    def take(self, rows: npt.NDArray[np.int64]) -> GivenWorths:
        """Keep some of the models."""
        return GivenWorths(self.log_worths[rows])

    def groups(self) -> list[GivenWorths]:
        """Return the models together."""
        return [self]

    def weigh(self, places: Places, mistakes: npt.NDArray[np.int64]) -> Floats:  # noqa: ARG002
        """Sum over models the probability of each ordering among those given."""
        order = np.argsort(places, axis=1)
        sums = np.zeros(len(places))
        for logs in self.log_worths:
            worths = np.exp(logs - logs.max())[order]
            rests = np.cumsum(worths[:, ::-1], axis=1)
            # All orderings hold the same worths, so their product says nothing.
            log_weights = -np.log(rests).sum(axis=1)
            weights = np.exp(log_weights - log_weights.max())
            sums += weights / weights.sum()
        return sums


Models: TypeAlias = GivenTiers | GivenWorths


class _Scattered:
    """Completions that are scattered around tiers, each drawn after the one before."""

    def __init__(self, models: GivenTiers, drawn: DrawnCompletions) -> None:
        self._models, self._drawn = models, drawn

    @property
    def places(self) -> Places:
        """The place of each item in each answer as it is completed now."""
        return self._drawn.places

    def under(self, number: int) -> Callable[[], None]:
        """Return what changes all completions once, under one of the models."""
        model = self._models.given[number]
        drawn = self._drawn = self._drawn.resized(model.sizes)
        if model.mistake_probability is not None:
            drawn.mistake_probability = allowed(model.mistake_probability)
        theta = min(float(model.thetas[0]), LARGEST_THETA_OF_UNIT / drawn.rule.unit)
        return partial(drawn.sweep, model.labels, theta)


class _Racing:
    """Completions that are races: drawn as they are of rankings, from times before of pairs."""

    def __init__(
        self, models: GivenWorths, orders: PartialOrders, rng: np.random.Generator
    ) -> None:
        self._models, self._orders, self._rng = models, orders, rng
        self.places: Places = orders.some_completions.copy()
        self._times = 1.0 + self.places.astype(np.float64)
        if orders.first is not None:
            self._blocks = blocks_of_places(orders.first, rest_is_below=False)

    def under(self, number: int) -> Callable[[], None]:
        """Return what changes all completions once, under one of the models."""
        logs = self._models.log_worths[number]
        worths = np.exp(logs - logs.max())
        return partial(self._complete if self._orders.first is not None else self._move, worths)

    def _complete(self, worths: Floats) -> None:
        complete_blocks(*self._blocks, worths, self.places, self._rng)

    def _move(self, worths: Floats) -> None:
        move_times(self._orders.relations, worths, self._times, self._rng)
        order = np.argsort(self._times, axis=1)
        ranks = np.arange(order.shape[1], dtype=np.int32)
        np.put_along_axis(self.places, order, ranks[None], axis=1)


def drawn_places(
    answers: OpenAnswers, models: Models, draws: int, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Draw completions of each answer, in two halves that tell how far off they are.

    Parameters
    ----------
    answers, models
        The answers, and what they are completed by.
    draws
        Number of completions of each answer that are counted.
    rng
        Generator.
    """
    drawn = answers.drawn(models, rng)
    n_patterns, n_items = drawn.places.shape
    rows, items = np.arange(n_patterns)[:, None], np.arange(n_items)
    halves = []
    for first in range(2):
        # Each half goes through every other model, from one to the next with the same completions.
        chosen = range(first, len(models), 2) if len(models) > 1 else range(1)
        each = max(draws // 2 // len(chosen), 1)
        share = 1.0 / (each * len(chosen))
        counts = np.zeros((n_patterns, n_items, n_items))
        for number in chosen:
            sweep = drawn.under(number)
            for _ in range(max(each // 10, 5)):
                sweep()
            for _ in range(each):
                sweep()
                counts[rows, items, drawn.places] += share
        halves.append(counts)
    mean, other = halves
    spread = (mean - other) / 2
    mean += other
    mean /= 2
    in_doubt = (mean > 0) & (mean < 1)
    return mean, float(np.sqrt((spread[in_doubt] ** 2).mean()))


# Numbers that the probabilities of all distinct answers may take, three times over: 700 MB.
MOST_PROBABILITIES = 30_000_000
_ANSWERS_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Imputation(Result):
    """Probabilities of the places of all items in every answer.

    Attributes
    ----------
    items : tuple
        The items.
    exact : bool
        Whether all completions were summed over; otherwise they were drawn.
    error : float
        Typical standard error of a probability that is neither 0 nor 1; 0 where exact.
    n_models : int
        Number of posterior draws in the average; 1 for a model or a fit.
    pattern_probabilities, pattern_of : numpy.ndarray
        ``pattern_probabilities[pattern, item, place]`` of the distinct answers, places counted from
        0, and which of them each answer is.
    """

    items: tuple[Item, ...]
    exact: bool
    error: float
    n_models: int
    pattern_probabilities: Floats
    pattern_of: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self.pattern_of)

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"drawn, standard error about {self.error:.2g}"
        over = f", {self.n_models} draws of the posterior" if self.n_models > 1 else ""
        return f"Imputation({len(self)} answers, {len(self.items)} items{over}, {how})"

    def _card(self) -> Card:
        how = "exact" if self.exact else f"drawn, standard error about {self.error:.2g}"
        means = self.mean_ranks()[:_ANSWERS_SHOWN]
        cells = [
            [str(number), *(f"{mean:.2f}" for mean in row)]
            for number, row in enumerate(means.tolist(), start=1)
        ]
        items, answers = counted(len(self.items), "item"), counted(len(self), "answer")
        title = f"Expected ranks of {items} in {answers}"
        return Card(title, [("", how)], table=(["answer", *map(str, self.items)], cells))

    def place_probabilities(self, answer: int) -> Floats:
        """Probability of each place (column) of each item (row) in an answer, by its number from 0.

        An item whose place is observed, or follows from the answer, has probability 1 there.
        """
        probabilities: Floats = self.pattern_probabilities[self.pattern_of[answer]]
        return probabilities

    def mean_ranks(self) -> Floats:
        """Return the expected rank of each item (column) in each answer (row); 1 is best."""
        ranks = np.arange(1, len(self.items) + 1)
        means: Floats = (self.pattern_probabilities * ranks).sum(axis=2)
        return means[self.pattern_of]


def impute(
    data: Rankings | RankingScan | Preferences,
    model: ClusteredMallows | ClusteredLuce | Fit | Posterior,
    *,
    draws: int = 2000,
    rng: RandomSource = None,
) -> Imputation:
    """Find where each assessor would probably have placed the items that the answer leaves open.

    Given tiers and theta or worths, each complete ordering that agrees with an answer has a
    probability. Under inversions, and if answers leave nothing but ties open, places have a closed
    form. Elsewhere orderings are summed over if no answer has many of them, and otherwise drawn. If
    answers may be mistaken, every complete ordering is possible, and no place is certain.

    Parameters
    ----------
    data
        Incomplete rankings, or preferences.
    model
        A model, a fit, or a posterior. For a posterior, probabilities are averaged over all draws,
        or over evenly spaced ones if there are too many. Preferences that may be mistaken need a
        fit or a posterior of such preferences with theta, because worths treat each answer as a
        separate race.
    draws
        Number of completions to draw for each answer, if they are drawn.
    rng
        Seed or generator.

    Examples
    --------
    >>> import tierwise as tw
    >>> model = tw.ClusteredMallows(tw.Tiers([["a"], ["b"], ["c"]]), theta=1.0)
    >>> best = tw.Rankings.from_orderings([["c"]], items="abc", unranked="below")
    >>> imputed = tw.impute(best, model)
    >>> imputed
    Imputation(1 answers, 3 items, exact)
    >>> imputed.place_probabilities(0).round(2)
    array([[0.  , 0.73, 0.27],
           [0.  , 0.27, 0.73],
           [1.  , 0.  , 0.  ]])
    """
    known = check_data(data, "impute", Rankings, Preferences)
    draws = check_count("draws", draws, least=2)
    found = _models_of(model, known.items)
    source = source_of(known, found.distance if isinstance(found, GivenTiers) else None)
    mistaken = source.capabilities.may_be_mistaken
    if isinstance(found, GivenWorths):
        _refuse_contradictions(mistaken=mistaken)
    elif mistaken and found.given[0].mistake_probability is None:
        raise InputError(
            "these preferences may be mistaken, and the model does not say how often: use a "
            "fit or a posterior of these preferences"
        )
    answers: OpenAnswers
    if mistaken:
        answers = MistakenAnswers(source.pattern_of, source.votes)
    else:
        answers = PartialAnswers(source.pattern_of, source.partial_orders())
    n_patterns, n_items = len(answers.log_numbers), len(known.items)
    if n_patterns * n_items**2 > MOST_PROBABILITIES:
        raise TooLargeError(
            f"probabilities of {n_patterns} distinct answers on {n_items} items are too many to "
            "store: impute a subset of the answers"
        )
    probabilities, n_models, error = _average_places(answers, found, draws, rng)
    return Imputation(
        known.items, error is None, error or 0.0, n_models, probabilities, answers.pattern_of
    )


def _average_places(
    answers: OpenAnswers, models: Models, draws: int, rng: RandomSource
) -> tuple[Floats, int, float | None]:
    """Average over models, in the best way there is; None is the error of what is exact."""
    first = answers.first_places
    if first is not None and isinstance(models, GivenTiers) and models.orders_groups_apart:
        groups = TiedGroups(first)
        models = models.take(_evenly(len(models), _models_to_average(groups, models)))
        return _places_in_groups(groups, models), len(models), None
    if summed := models_to_sum(answers, len(models)):
        models = models.take(_evenly(len(models), summed))
        return summed_places(answers, models), len(models), None
    _refuse_several_thetas(models)
    models = models.take(_evenly(len(models), max(draws // DRAWS_OF_A_MODEL, 2)))
    probabilities, error = drawn_places(answers, models, draws, as_generator(rng))
    return probabilities, len(models), error


def _models_to_average(groups: TiedGroups, models: GivenTiers) -> int:
    """Return under how many models places in tied groups can be computed."""
    n_cases = len(groups.compositions(models.given[0].labels)[0])
    work = groups.n_answers * groups.n_items**2 + n_cases * WORK_OF_A_TABLE
    return max(int(MOST_WORK / work), ENOUGH_MODELS)


def _places_in_groups(groups: TiedGroups, models: GivenTiers) -> Floats:
    """Average the probabilities of places in tied groups over models."""
    probabilities = np.zeros((groups.n_answers, groups.n_items, groups.n_items))
    for model in models.given:
        thetas = models.thetas_of_tiers(model)
        groups.add_places(model.labels, thetas, 1.0 / len(models), probabilities)
    return probabilities


def _refuse_contradictions(*, mistaken: bool) -> None:
    """Refuse preferences in which people may contradict themselves."""
    if mistaken:
        raise InputError(
            "people contradict themselves in these preferences, and a model with worths treats "
            "each answer as a separate race, which says nothing about other places: use "
            "a fit or a posterior with theta"
        )


def _models_of(
    model: ClusteredMallows | ClusteredLuce | Fit | Posterior, items: tuple[Item, ...]
) -> Models:
    """Return a model, or all draws of a posterior, for given items."""
    if isinstance(model, Fit) and model.family == "luce":
        return _models_of(model.model(), items)
    if isinstance(model, ClusteredLuce):
        return GivenWorths(np.log(np.array(model.worths))[None, model.tiers.label_array(items)])
    if isinstance(model, ClusteredMallows | Fit):
        labels = model.tiers.label_array(items)
        mistakes = model.mistake_probability if isinstance(model, Fit) else None
        given = [GivenModel(labels, np.atleast_1d(model.theta).astype(np.float64), mistakes)]
        return GivenTiers(given, get_distance(model.distance), model.concentration)
    # The package posterior is not among those that this one may import.
    if not hasattr(model, "family"):
        raise InputError(
            "model must be a ClusteredMallows, a ClusteredLuce, a Fit or a Posterior; got "
            f"{quoted(model)}"
        )
    if set(model.items) != set(items):
        raise InputError(
            "the posterior has other items than the answers: use a posterior of these answers"
        )
    order = [model.items.index(item) for item in items]
    if model.family == "luce":
        return GivenWorths(np.ascontiguousarray(model.log_worths[:, order]))
    probabilities = model.mistake_probabilities
    every = [None] * len(model) if probabilities is None else probabilities.tolist()
    labels_of_draws = np.ascontiguousarray(model.labels[:, order]) - 1
    # With one theta per tier, there are as many in each draw as it has tiers but the last.
    thetas_of_draws = model.thetas.reshape(len(model), -1)
    given = [
        GivenModel(labels, thetas[~np.isnan(thetas)], probability)
        for labels, thetas, probability in zip(labels_of_draws, thetas_of_draws, every, strict=True)
    ]
    concentration = cast("Concentration", model.concentration)
    return GivenTiers(given, get_distance(model.distance), concentration)


def _refuse_several_thetas(models: Models) -> None:
    """Refuse to draw completions under models with a theta for each part of the distance."""
    if isinstance(models, GivenTiers) and models.concentration != "single":
        raise InputError(
            "these answers leave so much open that completions are drawn, which needs a model with "
            f"one theta, not one per {models.concentration}",
            [use("when fitting or sampling", concentration="single")],
        )


def _evenly(n_models: int, number: int) -> npt.NDArray[np.int64]:
    """Choose at most so many of the models, evenly spaced."""
    return np.linspace(0, n_models - 1, min(number, n_models)).round().astype(np.int64)
