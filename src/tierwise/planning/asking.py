"""Kinds of questions, and the answers that a model gives to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

import numpy as np

from tierwise._util.checks import check_choice, check_count
from tierwise._util.types import NOT_LISTED
from tierwise.data.battles import Battles
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, drop, use
from tierwise.files.best_worst import choose_best_and_worst
from tierwise.fitting.observe import observe_like
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.model.clustered_mallows import ClusteredMallows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise._util.types import Item

Model: TypeAlias = ClusteredMallows | ClusteredLuce
Ask: TypeAlias = Literal["complete", "top", "subsets", "pairs", "best-worst"]
"""The kind of answer: a ranking of all items, of the best ones, of a subset, or of two;
or the best and the worst of a subset."""
# The smallest number of items that can be listed or shown.
_FEWEST = {"top": 1, "subsets": 2, "best-worst": 3}


class Asking(Protocol):
    """A way of asking."""

    def answers(self, model: Model, n_answers: int, rng: np.random.Generator) -> Rankings | Battles:
        """Draw answers from a model."""


@dataclass(frozen=True)
class Design:
    """A way of asking that is planned.

    Attributes
    ----------
    ask
        "complete": all items are ranked. "top": the best ``size`` are listed. "subsets": ``size``
        items, chosen at random, are shown and ranked. "pairs": two items are shown, and one wins.
        "best-worst": of ``size`` items, chosen at random, the best and the worst are named.
    size
        How many items are listed or shown; None for "complete" and "pairs".

    Examples
    --------
    >>> import numpy as np, tierwise as tw
    >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d"]]), (4.0, 2.0, 1.0))
    >>> Design("top", 2).answers(model, 100, np.random.default_rng(1))
    Rankings(100 rankings of 4 items, 100 incomplete: not listed = below)
    >>> Design("pairs").answers(model, 100, np.random.default_rng(1)).n_battles
    100.0
    """

    ask: Ask
    size: int | None = None

    def __post_init__(self) -> None:
        """Check what was given."""
        check_choice("ask", self.ask, get_args(Ask))
        if self.ask not in _FEWEST and self.size is not None:
            raise InputError(
                "size is the number of items listed or shown: it needs top lists or subsets",
                [use(ask="top"), use(ask="subsets"), use(ask="best-worst"), drop("size")],
            )
        if self.ask in _FEWEST:
            if self.size is None:
                raise InputError("the number of items listed or shown is missing", [use(size=...)])
            check_count("size", self.size, _FEWEST[self.ask])

    def answers(self, model: Model, n_answers: int, rng: np.random.Generator) -> Rankings | Battles:
        """Draw answers from a model."""
        items = model.tiers.items
        n_items = len(items)
        if self.size is not None and self.size > n_items:
            raise InputError(
                f"size must be at most the number of items, {n_items}; got {self.size}"
            )
        if self.ask == "pairs":
            pairs = n_items * (n_items - 1) // 2
            met = np.zeros((n_items, n_items), dtype=np.int64)
            met[np.triu_indices(n_items, k=1)] = rng.multinomial(
                n_answers, np.full(pairs, 1.0 / pairs)
            )
            return decide_battles(model, items, met, 0.0, rng)
        complete = model.sample(n_answers, rng)
        if self.ask == "complete":
            return complete
        if self.ask == "best-worst":
            chosen = choose_best_and_worst(complete.places, self.size or 0, rng)
            return Rankings(complete.items, chosen, unranked="anywhere")
        places = complete.places.astype(np.int64)
        if self.ask == "top":
            hidden = np.where(places < (self.size or 0), places, NOT_LISTED)
            return Rankings(complete.items, hidden.astype(np.int32), unranked="below")
        shuffled = np.argsort(rng.random(places.shape), axis=1)
        shown = shuffled < (self.size or 0)
        ranks = np.argsort(np.argsort(np.where(shown, places, n_items + places), axis=1), axis=1)
        hidden = np.where(shown, ranks, NOT_LISTED)
        return Rankings(complete.items, hidden.astype(np.int32), unranked="anywhere")

    @property
    def in_words(self) -> str:
        """What one answer is, in the plural."""
        return {
            "complete": "rankings of all items",
            "top": f"lists of the best {self.size}",
            "subsets": f"rankings of {self.size} items, chosen at random",
            "pairs": "comparisons of two items, chosen at random",
            "best-worst": f"choices of the best and the worst of {self.size} items",
        }[self.ask]


@dataclass(frozen=True, eq=False)
class Alike:
    """Asking for further answers of the kind that there are: the same gaps, ties and pairs."""

    data: Rankings | Battles

    def answers(self, model: Model, n_answers: int, rng: np.random.Generator) -> Rankings | Battles:
        """Draw answers from a model, and hide of them what those that there are hide."""
        return _answers_like(self.data, model, n_answers, rng)


@singledispatch
def _answers_like(
    data: Rankings | Battles, _model: Model, _n_answers: int, _rng: np.random.Generator
) -> Rankings | Battles:
    """Draw answers from a model that leave open what those that there are leave open."""
    raise TypeError(f"no further {data.unit} can be drawn")


@_answers_like.register(Battles)
def _battles_like(
    battles: Battles, model: Model, n_answers: int, rng: np.random.Generator
) -> Battles:
    met = np.triu(battles.decided + battles.decided.T + battles.drawn, k=1)
    counts = rng.multinomial(n_answers, (met / met.sum()).ravel()).reshape(met.shape)
    share = float(battles.drawn.sum() / (2.0 * met.sum()))
    return decide_battles(model, battles.items, counts, share, rng, battles)


@_answers_like.register(Rankings)
def _rankings_like(
    rankings: Rankings, model: Model, n_answers: int, rng: np.random.Generator
) -> Rankings:
    weights = rankings.pattern_weights / rankings.pattern_weights.sum()
    rows = rng.choice(len(weights), size=n_answers, p=weights)
    observed = Rankings(rankings.items, rankings.patterns[rows], unranked=rankings.unranked)
    complete = model.sample(n_answers, rng)
    return observe_like(complete, observed)


def decide_battles(
    model: Model,
    items: tuple[Item, ...],
    met: NDArray[np.int64],
    share_drawn: float,
    rng: np.random.Generator,
    like: Battles | None = None,
) -> Battles:
    """Let the model decide battles; ``met`` says how often, above its diagonal."""
    labels = model.tiers.label_array(items)
    chances = np.clip(np.asarray(model.pair_probabilities())[np.ix_(labels, labels)], 0.0, 1.0)
    np.fill_diagonal(chances, 0.5)
    drawn = rng.binomial(met, share_drawn)
    won = rng.binomial(met - drawn, chances)
    decided = won + (met - drawn - won).T
    tables = decided.astype(np.float64), (drawn + drawn.T).astype(np.float64)
    names = tuple(str(item) for item in items)
    return Battles(names, *tables, "half" if like is None else like.drawn_as)
