"""impute: where an assessor would have placed the items that the answer leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.counting import add_answer_places
from tierwise._kernels.extensions import block_units, list_extensions
from tierwise._random import RandomSource, as_generator
from tierwise.distances import get_distance
from tierwise.errors import InputError, TooLargeError
from tierwise.incomplete.answers import MOST_COMPLETIONS, answered_places
from tierwise.incomplete.augmentation import DrawnCompletions
from tierwise.incomplete.likelihood import LARGEST_THETA_OF_UNIT
from tierwise.incomplete.partial import PartialOrders, orders_of_places, orders_of_preferences
from tierwise.preferences import Preferences

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances import Distance
    from tierwise.fit_result import Fit
    from tierwise.incomplete.base import Floats, Labels
    from tierwise.model import ClusteredMallows
    from tierwise.rankings import Rankings
    from tierwise.sizes import Sizes
    from tierwise.tiers import Item

# Numbers that the probabilities of all distinct answers may take: 800 MB.
MOST_PROBABILITIES = 100_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Imputation:
    """Probable places of all items in every answer.

    Attributes
    ----------
    items : tuple
        The items.
    exact : bool
        Whether all completions were summed over; else they were drawn.
    error : float
        Typical standard error of a probability that is neither 0 nor 1; 0 where exact.
    pattern_probabilities, pattern_of : numpy.ndarray
        ``pattern_probabilities[pattern, item, place]`` of the distinct answers, places counted from
        0, and which of them each answer is.
    """

    items: tuple[Item, ...]
    exact: bool
    error: float
    pattern_probabilities: Floats
    pattern_of: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self.pattern_of)

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"drawn, standard error about {self.error:.2g}"
        return f"Imputation({len(self)} answers, {len(self.items)} items, {how})"

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
    data: Rankings | Preferences,
    model: ClusteredMallows | Fit,
    *,
    draws: int = 2000,
    rng: RandomSource = None,
) -> Imputation:
    """Say where each assessor would have placed the items that the answer leaves open.

    Given tiers and theta, each complete ordering that agrees with an answer has a probability. They
    are summed over where no answer has many of them, and drawn otherwise.

    Parameters
    ----------
    data
        Incomplete rankings, or preferences.
    model
        A model, or a fit.
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
    if draws < 2:
        raise InputError(f"draws must be at least 2; got {draws}")
    labels = model.tiers.label_array(data.items)
    distance = get_distance(model.distance)
    sizes = model.tiers.sizes
    orders, pattern_of = _orders_of(data)
    n_patterns, n_items = len(orders.weights), len(data.items)
    if n_patterns * n_items**2 > MOST_PROBABILITIES:
        raise TooLargeError(
            f"probabilities of {n_patterns} distinct answers on {n_items} items are too many to "
            "keep: impute a subset of the answers"
        )
    theta = model.theta
    if isinf(theta):
        theta = LARGEST_THETA_OF_UNIT / distance.rule(sizes).in_largest_units().unit
    if orders.log_numbers.max() < log(MOST_COMPLETIONS) + 1e-9:
        probabilities, error = _summed(orders, labels, sizes, distance, theta), 0.0
    else:
        drawn = DrawnCompletions(orders, sizes, distance, as_generator(rng))
        probabilities, error = _drawn(drawn, labels, theta, draws)
    return Imputation(data.items, error == 0.0, error, probabilities, pattern_of)


def _orders_of(
    data: Rankings | Preferences,
) -> tuple[PartialOrders, npt.NDArray[np.int64]]:
    if isinstance(data, Preferences):
        if data.cycles == "keep":
            raise InputError("preferences that may be mistaken cannot be imputed")
        return orders_of_preferences(data)
    weights = data.pattern_weights.astype(np.float64)
    return orders_of_places(answered_places(data), weights), data.pattern_of


def _summed(
    orders: PartialOrders, labels: Labels, sizes: Sizes, distance: Distance, theta: float
) -> Floats:
    """Sum over all completions of each answer."""
    n_patterns, n_items = len(orders.weights), len(labels)
    block_of_place = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    rule = distance.rule(sizes).in_largest_units()
    probabilities = np.zeros((n_patterns, n_items, n_items))
    numbers = np.round(np.exp(orders.log_numbers)).astype(np.int64)
    for pattern, number in enumerate(numbers.tolist()):
        places = list_extensions(orders.relations[pattern], number)
        units = block_units(block_of_place[places], labels, rule.misplaced, rule.placing)
        weights = np.exp(-theta * rule.unit * (units - units.min()))
        row = np.zeros(len(places), dtype=np.int64)
        add_answer_places(places, weights / weights.sum(), row, probabilities[pattern][None])
    return probabilities


def _drawn(
    drawn: DrawnCompletions, labels: Labels, theta: float, draws: int
) -> tuple[Floats, float]:
    """Draw completions of each answer, in two halves that tell how far off they are."""
    n_patterns, n_items = drawn.places.shape
    rows = np.arange(n_patterns)
    halves = []
    half = max(draws // 2, 1)
    for _ in range(2):
        for _ in range(max(half // 10, 5)):
            drawn.sweep(labels, theta)
        counts = np.zeros((n_patterns, n_items, n_items))
        for _ in range(half):
            drawn.sweep(labels, theta)
            add_answer_places(drawn.places, np.full(n_patterns, 1.0 / half), rows, counts)
        halves.append(counts)
    mean = (halves[0] + halves[1]) / 2
    in_doubt = (mean > 0) & (mean < 1)
    spread = (halves[0] - halves[1])[in_doubt] / 2
    return mean, float(np.sqrt((spread**2).mean()))
