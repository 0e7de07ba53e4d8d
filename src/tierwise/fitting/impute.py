"""impute: where an assessor would have placed the items that the answer leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.checks import RandomSource, as_generator, check_count
from tierwise._util.wording import quoted
from tierwise.answers.likelihood import source_of
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, TooLargeError
from tierwise.fitting.imputed_places import (
    DRAWS_OF_A_MODEL,
    GivenModel,
    OpenAnswers,
    drawn_places,
    models_to_sum,
    summed_places,
)
from tierwise.fitting.result import Fit
from tierwise.model.clustered_mallows import ClusteredMallows

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Item
    from tierwise.answers.base import Floats
    from tierwise.data.scan import RankingScan
    from tierwise.posterior.result import Posterior

# Numbers that the probabilities of all distinct answers may take, three times over: 700 MB.
MOST_PROBABILITIES = 30_000_000


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
    if source.votes is not None and models[0].mistake_probability is None:
        raise InputError(
            "these preferences may be mistaken, and the model does not say how often: impute with "
            "a fit or a posterior of them"
        )
    said = source.partial_orders() if source.votes is None else source.votes
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
                f"impute needs a model with one theta, not one per {model.concentration}: "
                'use concentration="single"'
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
