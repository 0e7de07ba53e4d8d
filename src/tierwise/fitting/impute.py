"""impute: where an assessor would have placed the items that the answer leaves open.

What is found are probabilities of places, under one model or on the average over several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._kernels.augmentation import block_units, list_extensions
from tierwise._kernels.counting import add_answer_places
from tierwise._util.cards import Card
from tierwise._util.checks import RandomSource, as_generator, check_count
from tierwise._util.results import Result
from tierwise.answers.dispatch import MOST_COMPLETIONS
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.given_sizes import LARGEST_THETA_OF_UNIT
from tierwise.answers.likelihood import source_of
from tierwise.answers.partial import PartialOrders
from tierwise.answers.votes import DrawnVotes, Votes, all_orderings, allowed
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, TooLargeError, quoted, use
from tierwise.fitting.result import Fit
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from tierwise._util.types import Item, Places
    from tierwise.answers.base import Floats, Labels
    from tierwise.data.scan import RankingScan
    from tierwise.distances import Distance, Rule
    from tierwise.posterior.result import Posterior
    from tierwise.tiers import Sizes

# Completions, times models, that are summed over: some seconds.
MOST_WORK = 100_000_000
# An answer under a model takes as long as so many more completions.
WORK_OF_AN_ANSWER = 500
# An average over more models than this need not be exact under each of them.
ENOUGH_MODELS = 100
# Where completions are drawn, so many follow each other under the same model.
DRAWS_OF_A_MODEL = 20


class GivenModel(NamedTuple):
    """Tiers, counted from 0, and theta; a mistake probability if answers may be mistaken."""

    labels: Labels
    theta: float
    mistake_probability: float | None

    @property
    def sizes(self) -> Sizes:
        """Sizes of the tiers."""
        return tuple(np.bincount(self.labels).tolist())


@dataclass(frozen=True, eq=False)
class OpenAnswers:
    """Distinct answers that leave something open, or may be mistaken.

    Attributes
    ----------
    said
        The answers.
    pattern_of
        Which of the distinct answers each answer is.
    """

    said: PartialOrders | Votes
    pattern_of: npt.NDArray[np.int64]

    @property
    def log_numbers(self) -> Floats:
        """Log number of the orderings that are possible, for each answer."""
        if isinstance(self.said, PartialOrders):
            return self.said.log_numbers
        n_rows, n_items, _ = self.said.said.shape
        return np.full(n_rows, log_factorials(n_items)[-1])

    @cached_property
    def _orderings(self) -> Places:
        said = self.said.relations if isinstance(self.said, PartialOrders) else self.said.said
        return all_orderings(said.shape[1])

    def completions(self, pattern: int) -> tuple[Places, npt.NDArray[np.int64]]:
        """List all orderings that are possible, and how many answers each goes against."""
        if isinstance(self.said, PartialOrders):
            number = round(float(np.exp(self.said.log_numbers[pattern])))
            places = list_extensions(self.said.relations[pattern], number)
            return places, np.zeros(len(places), dtype=np.int64)
        said = self.said.said[pattern]
        places = self._orderings
        mistakes = np.zeros(len(places), dtype=np.int64)
        for first, second in np.argwhere(said).tolist():
            mistakes += said[first, second] * (places[:, first] > places[:, second])
        return places, mistakes

    def drawn(self, sizes: Sizes, distance: Distance, rng: np.random.Generator) -> DrawnCompletions:
        """Complete each answer in some way."""
        if isinstance(self.said, PartialOrders):
            return DrawnCompletions(self.said, sizes, distance, rng)
        return DrawnVotes(self.said, sizes, distance, rng, mistake_probability=0.5)


def models_to_sum(answers: OpenAnswers, n_models: int) -> int:
    """Return over how many models the exact probabilities can be averaged; 0 if they are drawn."""
    if answers.log_numbers.max() >= log(MOST_COMPLETIONS) + 1e-9:
        return 0
    work = float((np.exp(answers.log_numbers) + WORK_OF_AN_ANSWER).sum())
    affordable = max(int(MOST_WORK / work), 1)
    return min(n_models, affordable) if affordable >= min(n_models, ENOUGH_MODELS) else 0


def summed_places(answers: OpenAnswers, models: Iterable[GivenModel], distance: Distance) -> Floats:
    """Sum over all completions of each answer, on the average over models.

    Parameters
    ----------
    answers
        The answers.
    models
        Tiers and thetas.
    distance
        The distance.
    """
    groups = _by_tiers(models, distance)
    n_models = sum(len(group.energies) for group in groups)
    n_patterns, n_items = len(answers.log_numbers), len(groups[0].labels)
    probabilities = np.zeros((n_patterns, n_items, n_items))
    for pattern in range(n_patterns):
        places, mistakes = answers.completions(pattern)
        weights = np.zeros(len(places))
        for group in groups:
            weights += group.weigh(places, mistakes)
        row = np.zeros(len(places), dtype=np.int64)
        add_answer_places(places, weights / n_models, row, probabilities[pattern][None])
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
        blocks, rule = self.block_of_place[places], self.rule
        units = block_units(blocks, self.labels, rule.misplaced, rule.tied, rule.placing)
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
                min(model.theta * rule.unit, LARGEST_THETA_OF_UNIT),
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


def drawn_places(
    answers: OpenAnswers,
    models: list[GivenModel],
    distance: Distance,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Floats, float]:
    """Draw completions of each answer, in two halves that tell how far off they are.

    Parameters
    ----------
    answers, models, distance
        As for `summed_places`.
    draws
        Number of completions of each answer that are counted.
    rng
        Generator.
    """
    drawn = answers.drawn(models[0].sizes, distance, rng)
    n_patterns, n_items = drawn.places.shape
    rows = np.arange(n_patterns)
    halves = []
    for first in range(2):
        # Each half goes through every other model, from one to the next with the same completions.
        chosen = models[first::2] or models
        each = max(draws // 2 // len(chosen), 1)
        share = np.full(n_patterns, 1.0 / (each * len(chosen)))
        counts = np.zeros((n_patterns, n_items, n_items))
        for model in chosen:
            drawn = drawn.resized(model.sizes)
            if isinstance(drawn, DrawnVotes) and model.mistake_probability is not None:
                drawn.mistake_probability = allowed(model.mistake_probability)
            theta = min(model.theta, LARGEST_THETA_OF_UNIT / drawn.rule.unit)
            for _ in range(max(each // 10, 5)):
                drawn.sweep(model.labels, theta)
            for _ in range(each):
                drawn.sweep(model.labels, theta)
                add_answer_places(drawn.places, share, rows, counts)
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
    """Probable places of all items in every answer.

    Attributes
    ----------
    items : tuple
        The items.
    exact : bool
        Whether all completions were summed over; else they were drawn.
    error : float
        Typical standard error of a probability that is neither 0 nor 1; 0 where exact.
    n_models : int
        Number of draws from a posterior that were averaged over; 1 for a model or a fit.
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
        title = f"Expected ranks of {len(self.items)} items in {len(self):,} answers"
        return Card(title, [("", how)], table=(["answer", *map(str, self.items)], cells))

    def place_probabilities(self, answer: int) -> Floats:
        """Probability of each place (column) of each item (row) in an answer, by its number from 0.

        An item whose place was observed, or follows from what was, has probability 1 there.
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
    model: ClusteredMallows | Fit | Posterior,
    *,
    draws: int = 2000,
    rng: RandomSource = None,
) -> Imputation:
    """Say where each assessor would have placed the items that the answer leaves open.

    Given tiers and theta, each complete ordering that agrees with an answer has a probability. They
    are summed over where no answer has many of them, and drawn otherwise. If answers may be
    mistaken, each complete ordering is possible, and no place is certain.

    Parameters
    ----------
    data
        Incomplete rankings, or preferences.
    model
        A model, or a fit; or a posterior, over draws of which the probabilities are averaged: all
        of them, or as many as are affordable, evenly spaced. Preferences that may be mistaken need
        a fit or a posterior of such.
    draws
        Number of completions that are drawn of each answer, where they are drawn.
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
    models = _models_of(model, known.items)
    source = source_of(known, model.distance)
    if source.capabilities.may_be_mistaken and models[0].mistake_probability is None:
        raise InputError(
            "these preferences may be mistaken, and the model does not say how often: impute with "
            "a fit or a posterior of them"
        )
    mistaken = source.capabilities.may_be_mistaken
    said = source.votes if mistaken else source.partial_orders()
    answers = OpenAnswers(said, source.pattern_of)
    n_patterns, n_items = len(answers.log_numbers), len(known.items)
    if n_patterns * n_items**2 > MOST_PROBABILITIES:
        raise TooLargeError(
            f"probabilities of {n_patterns} distinct answers on {n_items} items are too many to "
            "keep: impute a subset of the answers"
        )
    distance = source.distance
    summed = models_to_sum(answers, len(models))
    if summed:
        chosen, error = _evenly(models, summed), 0.0
        probabilities = summed_places(answers, chosen, distance)
    else:
        chosen = _evenly(models, max(draws // DRAWS_OF_A_MODEL, 2))
        probabilities, error = drawn_places(answers, chosen, distance, draws, as_generator(rng))
    return Imputation(
        known.items, bool(summed), error, len(chosen), probabilities, answers.pattern_of
    )


def _models_of(
    model: ClusteredMallows | Fit | Posterior, items: tuple[Item, ...]
) -> list[GivenModel]:
    """Return tiers and theta of a model, or of all draws of a posterior, for given items."""
    if isinstance(model, ClusteredMallows | Fit):
        if isinstance(model.theta, Sequence):
            raise InputError(
                f"impute needs a model with one theta, not one per {model.concentration}",
                [use("when fitting", concentration="single")],
            )
        labels = model.tiers.label_array(items)
        mistakes = model.mistake_probability if isinstance(model, Fit) else None
        return [GivenModel(labels, model.theta, mistakes)]
    if not hasattr(model, "thetas"):
        raise InputError(
            f"model must be a ClusteredMallows, a Fit or a Posterior; got {quoted(model)}"
        )
    if set(model.items) != set(items):
        raise InputError("the posterior is of other items than the answers")
    order = [model.items.index(item) for item in items]
    probabilities = model.mistake_probabilities
    every = [None] * len(model) if probabilities is None else probabilities.tolist()
    labels_of_draws = np.ascontiguousarray(model.labels[:, order]) - 1
    return [
        GivenModel(labels, theta, probability)
        for labels, theta, probability in zip(
            labels_of_draws, model.thetas.tolist(), every, strict=True
        )
    ]


def _evenly(models: list[GivenModel], number: int) -> list[GivenModel]:
    """Choose at most so many of the models, evenly spaced."""
    chosen = np.linspace(0, len(models) - 1, min(number, len(models))).round().astype(int)
    return [models[position] for position in chosen.tolist()]
