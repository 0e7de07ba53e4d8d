"""Truths that are known, and answers drawn from them: what the claims of a board are held against.

Tiers are drawn: items in any order, and a cut between two neighbours with probability one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise import Battles, ClusteredMallows, Rankings, Tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from tierwise._util.types import Item

    Answers = Rankings | Battles
    Worths = NDArray[np.float64]

# How much log worths spread, and how much those of single judges spread around them.
SPREAD, TASTE = 0.8, 0.8
# Two items that differ are nearly tied if the better one is preferred by at most this share.
NEARLY = 0.55
BATTLES_OF_A_JUDGE = 40
# How uneven survey weights are (of log weights), and for how many people one answer stands.
UNEVENNESS, PEOPLE = 0.8, 1_700.0


@dataclass(frozen=True)
class Truth:
    """Answers, and what is true of the items.

    Attributes
    ----------
    data
        The answers.
    labels
        Number of the true tier of each item, 0 being the best. Where all worths differ, each item
        is a tier of its own. Where judges have worths of their own, tiers are those of the mean
        log worths, by which a judge drawn at random decides. Where two halves of people are
        opposed, there is one tier: any two items are preferred to each other equally often.
    close
        ``close[a, b]``: tied, or nearly so: neither is preferred by more than 55%.
    kept
        The items, where these are not all that the answers are about.
    """

    data: Answers
    labels: NDArray[np.int64]
    close: NDArray[np.bool_]
    kept: tuple[Item, ...] | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that labels are of."""
        return self.data.items if self.kept is None else self.kept

    def among(self, numbers: list[int]) -> Truth:
        """Return what is true of some of the items among each other."""
        _, labels = np.unique(self.labels[numbers], return_inverse=True)
        kept = tuple(self.data.items[number] for number in numbers)
        return Truth(self.data, labels, self.close[np.ix_(numbers, numbers)], kept)

    @property
    def fewest_tiers(self) -> int:
        """How many tiers there are at least, if items of a tier may be tied or nearly."""
        number = 0
        tier: list[int] = []
        for item in np.argsort(self.labels, kind="stable").tolist():
            if tier and all(self.close[item, other] for other in tier):
                tier.append(item)
            else:
                number, tier = number + 1, [item]
        return number

    def allows(self, labels: NDArray[np.int64]) -> bool:
        """Whether items of each of these tiers are tied or nearly, and the tiers are in order."""
        same, better = labels[:, None] == labels, labels[:, None] < labels
        in_order = self.labels[:, None] < self.labels
        return bool(self.close[same].all() and in_order[better].all())


@dataclass(frozen=True)
class Kind:
    """A kind of truth.

    Attributes
    ----------
    draw
        From number of items, number of answers and a generator to a truth.
    sizes
        How many answers there are, from few to many, by the number of items.
    known
        Whether the truth is one of the families of models.
    """

    draw: Callable[[int, int, Generator], Truth]
    sizes: dict[int, tuple[int, ...]]
    known: bool


def drawn_tiers(n_items: int, rng: Generator) -> NDArray[np.int64]:
    """Return the tier of each item: cuts between neighbours in an order drawn at random."""
    labels = np.concatenate([[0], np.cumsum(rng.random(n_items - 1) < 0.5)])
    return rng.permutation(labels)


def drawn_theta(n_items: int, rng: Generator) -> float:
    """Return a theta of moderate agreement: the more items, the less it takes."""
    return float(rng.uniform(1.0, 5.0)) / n_items


def _mallows(distance: str) -> Callable[[int, int, Generator], Truth]:
    def draw(n_items: int, n_answers: int, rng: Generator) -> Truth:
        labels = drawn_tiers(n_items, rng)
        theta = drawn_theta(n_items, rng)
        return _of_mallows(labels, theta, distance, n_answers, rng)

    return draw


def _of_mallows(
    labels: NDArray[np.int64],
    theta: float | list[float],
    distance: str,
    n_answers: int,
    rng: Generator,
) -> Truth:
    data = scattered(labels, theta, distance, n_answers, rng)
    close = labels[:, None] == labels
    if labels.max() > 0:
        model = _model_of(labels, theta, distance)
        pairs = model.pair_probabilities(rng=1).probabilities[np.ix_(labels, labels)]
        close |= np.maximum(pairs, pairs.T) <= NEARLY
    return Truth(data, labels, close)


def _model_of(
    labels: NDArray[np.int64], theta: float | list[float], distance: str
) -> ClusteredMallows:
    """Return the model of tiers, with one theta or one per tier."""
    tiers = Tiers.from_labels((labels + 1).tolist(), range(len(labels)))
    several = {} if isinstance(theta, float) else {"concentration": "tier"}
    return ClusteredMallows(tiers, theta, distance, **several)  # type: ignore[arg-type]


def scattered(
    labels: NDArray[np.int64],
    theta: float | list[float],
    distance: str,
    n_answers: int,
    rng: Generator,
) -> Rankings:
    """Draw rankings that are scattered around tiers, with one theta or one per tier."""
    n_items = len(labels)
    if labels.max() == 0:
        orders = np.tile(np.arange(n_items), (n_answers, 1))
        return Rankings.from_order_array(rng.permuted(orders, axis=1), range(n_items))
    return _model_of(labels, theta, distance).sample(n_answers, rng).restrict(range(n_items))


def _theta_per_tier(n_items: int, n_answers: int, rng: Generator) -> Truth:
    labels = drawn_tiers(n_items, rng)
    thetas = [drawn_theta(n_items, rng) for _ in range(int(labels.max()))]
    return _of_mallows(labels, thetas, "inversions", n_answers, rng)


def _worths(n_items: int, rng: Generator, *, tied: bool) -> tuple[NDArray[np.int64], Worths]:
    """Return tiers and log worths; those of tiers are drawn and then put in order."""
    labels = drawn_tiers(n_items, rng) if tied else rng.permutation(n_items)
    logs = np.sort(rng.normal(0.0, SPREAD, int(labels.max()) + 1))[::-1]
    return labels, logs[labels]


def _close(log_worths: Worths) -> NDArray[np.bool_]:
    close: NDArray[np.bool_] = np.abs(log_worths[:, None] - log_worths) <= np.log(
        NEARLY / (1 - NEARLY)
    )
    return close


def _races(*, tied: bool) -> Callable[[int, int, Generator], Truth]:
    def draw(n_items: int, n_answers: int, rng: Generator) -> Truth:
        labels, logs = _worths(n_items, rng, tied=tied)
        return Truth(race(logs, n_answers, rng), labels, _close(logs))

    return draw


def race(log_worths: Worths, n_answers: int, rng: Generator) -> Rankings:
    """Draw rankings of Luce's model: the order of exponential times with the worths as rates."""
    times = rng.exponential(np.exp(-log_worths), size=(n_answers, len(log_worths)))
    return Rankings.from_order_array(np.argsort(times, axis=1), range(len(log_worths)))


def _battles(*, tied: bool) -> Callable[[int, int, Generator], Truth]:
    def draw(n_items: int, n_answers: int, rng: Generator) -> Truth:
        labels, logs = _worths(n_items, rng, tied=tied)
        return Truth(fight(logs, n_answers, rng), labels, _close(logs))

    return draw


def fight(log_worths: Worths, n_battles: int, rng: Generator) -> Battles:
    """Draw battles of Bradley and Terry's model, every pair of items meeting equally often."""
    n_items = len(log_worths)
    one, other = _opponents(n_items, n_battles, rng)
    won = rng.random(n_battles) < 1 / (1 + np.exp(log_worths[other] - log_worths[one]))
    wins = np.zeros((n_items, n_items))
    np.add.at(wins, (np.where(won, one, other), np.where(won, other, one)), 1.0)
    # Items of battles are in the order of their names.
    names = tuple(f"{item:03d}" for item in range(n_items))
    return Battles(names, wins, np.zeros_like(wins))


def _opponents(
    n_items: int, n_battles: int, rng: Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    one = rng.integers(n_items, size=n_battles)
    return one, (one + 1 + rng.integers(n_items - 1, size=n_battles)) % n_items


def _judged(n_items: int, n_answers: int, rng: Generator) -> Truth:
    """Let each judge have log worths of their own, scattered around those of all."""
    labels, logs = _worths(n_items, rng, tied=True)
    one, other = _opponents(n_items, n_answers, rng)
    judge = np.arange(n_answers) // BATTLES_OF_A_JUDGE
    own = logs + rng.normal(0.0, TASTE, (int(judge.max()) + 1, n_items))
    won = rng.random(n_answers) < 1 / (1 + np.exp(own[judge, other] - own[judge, one]))
    names = [f"{item:02d}" for item in range(n_items)]
    rows = [
        (names[a], names[b], names[a if first else b], f"judge {who}")
        for a, b, first, who in zip(one, other, won, judge, strict=True)
    ]
    return Truth(Battles.from_rows(rows), labels, _close_to_judges(logs))


def _close_to_judges(log_worths: Worths) -> NDArray[np.bool_]:
    """Return whether a judge drawn at random prefers neither of two items by more than 55%."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    apart = (log_worths[:, None] - log_worths)[:, :, None] + np.sqrt(2.0) * TASTE * nodes
    preferred = (1.0 / (1.0 + np.exp(-apart))) @ weights / weights.sum()
    close: NDArray[np.bool_] = np.maximum(preferred, preferred.T) <= NEARLY
    return close


def _opposed(n_items: int, n_answers: int, rng: Generator) -> Truth:
    data = opposed(drawn_theta(n_items, rng), n_items, n_answers, rng)
    return Truth(data, np.zeros(n_items, dtype=np.int64), np.ones((n_items, n_items), dtype=bool))


def opposed(theta: float, n_items: int, n_answers: int, rng: Generator) -> Rankings:
    """Draw rankings of people who agree on an order, or on its opposite, each by a coin."""
    labels = rng.permutation(n_items)
    places = scattered(labels, theta, "inversions", n_answers, rng).places.astype(np.int64)
    turned = rng.random(n_answers) < 0.5
    places[turned] = places.max() - places[turned]
    return Rankings.from_order_array(np.argsort(places, axis=1), range(n_items))


def _weighted(n_items: int, n_answers: int, rng: Generator) -> Truth:
    """Give answers weights as surveys do: uneven, some of them in thousands of people."""
    labels = drawn_tiers(n_items, rng)
    truth = _of_mallows(labels, drawn_theta(n_items, rng), "inversions", n_answers, rng)
    assert isinstance(truth.data, Rankings)
    orders = np.argsort(truth.data.places, axis=1)
    uneven = np.exp(rng.normal(-(UNEVENNESS**2) / 2, UNEVENNESS, n_answers))
    per_answer = rng.choice([1.0, PEOPLE])
    data = Rankings.from_order_array(orders, range(n_items), weights=per_answer * uneven)
    return Truth(data, labels, truth.close)


_RANKINGS: dict[int, tuple[int, ...]] = {6: (30, 150, 800), 12: (30, 150, 800)}
_BATTLES: dict[int, tuple[int, ...]] = {6: (120, 600, 3_000), 12: (400, 2_000, 10_000)}

KINDS: dict[str, Kind] = {
    "Kendall": Kind(_mallows("kendall"), _RANKINGS, known=True),
    "inversions": Kind(_mallows("inversions"), _RANKINGS, known=True),
    "inversions, a theta per tier": Kind(_theta_per_tier, _RANKINGS, known=True),
    "Luce with ties": Kind(_races(tied=True), _RANKINGS, known=True),
    "Luce, all worths differ": Kind(_races(tied=False), _RANKINGS, known=True),
    "battles with ties": Kind(_battles(tied=True), _BATTLES, known=True),
    "battles, all worths differ": Kind(_battles(tied=False), _BATTLES, known=True),
    "battles, judges with worths of their own": Kind(_judged, _BATTLES, known=False),
    "two opposed halves": Kind(_opposed, _RANKINGS, known=False),
    "survey weights": Kind(_weighted, _RANKINGS, known=True),
}
