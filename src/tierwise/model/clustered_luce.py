"""The clustered Luce model: a race in which the items of a tier are equally fast.

Ranks follow from the times of arrival: given that an item arrives at ``t``, the number of others
that are already there is a sum of binomial variables, one per tier.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._util.checks import (
    RandomSource,
    as_generator,
    check_count,
    check_iterable,
    check_number,
)
from tierwise.answers.meetings import log_probabilities_of_outcomes
from tierwise.answers.races import log_probabilities_of, races_of
from tierwise.data.battles import Battles
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, use
from tierwise.files.battle_counts import ShownFirst
from tierwise.model.clustered_mallows import PairTierProbabilities, RankTierProbabilities
from tierwise.tiers import Tiers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tierwise.data.scan import RankingScan

    _Floats = npt.NDArray[np.float64]
    _Complex = npt.NDArray[np.complex128]

# The trapezoidal rule over log times: its largest step, and how far it reaches beyond the means of
# the fastest and the slowest item.
_STEP, _BEFORE, _AFTER = 0.25, 36.0, 4.0
# By the exponential of this, everybody has arrived.
_LONGEST = 7.0
# Complex numbers that a core keeps close by.
_NUMBERS_CLOSE_BY = 16_384


class BattleProbabilities(NamedTuple):
    """The probability that the first of two items wins, loses and draws.

    Attributes
    ----------
    won, lost, drawn
        By the tier of the item shown first (row) and of the other (column).
    """

    won: _Floats
    lost: _Floats
    drawn: _Floats


@dataclass(frozen=True, repr=False)
class ClusteredLuce:
    r"""Luce's choice model with one worth per tier: tiers of strength.

    An ordering is made from the best place down: of the items left, the next is ``a`` with
    probability proportional to its worth,

    .. math:: f(\pi) = \prod_{i=1}^{n} \frac{w_{z(\pi_i)}}{\sum_{j \ge i} w_{z(\pi_j)}},

    where ``z(a)`` is the tier of item ``a``. With tiers of one item each this is the Plackett-Luce
    model, for two items the Bradley-Terry model, with a single tier the uniform distribution. Only
    ratios of worths matter.

    Parameters
    ----------
    tiers
        An ordered partition of the items.
    worths
        One positive number per tier, decreasing; the best worths of given tiers may be equal.
    first_factor
        In battles, the factor that multiplies the worth of the item shown first; 1 means no
        advantage.
    draw_factor
        In battles, Davidson's factor of draws: the probability of a draw is proportional to it
        times the root of the product of the two worths. 0 means no draws, and 2 means that equals
        draw in half of their battles.

    Notes
    -----
    It is the distribution of the order of arrival if each item arrives after an exponential time
    whose rate is its worth. So everything has a closed form, or is a one-dimensional integral, for
    any number of items: complete answers, top lists, incomplete answers (the same product over the
    listed items), ties and pairs.

    References
    ----------
    R. D. Luce (1959). Individual Choice Behavior. R. L. Plackett (1975). The analysis of
    permutations. M. Pearce and E. A. Erosheva: rank-clustered Bradley-Terry-Luce models.

    Examples
    --------
    >>> import tierwise as tw
    >>> model = tw.ClusteredLuce(tw.Tiers([["tuna"], ["squid", "egg"]]), worths=(2.0, 1.0))
    >>> model
    ClusteredLuce(tuna > squid ~ egg, worths=(2, 1))
    >>> rankings = tw.Rankings.from_orderings([["tuna", "egg", "squid"], ["egg", "tuna", "squid"]])
    >>> np.exp(model.log_prob(rankings)).round(4)
    array([0.25  , 0.1667])
    >>> float(model.pair_probabilities()[0, 1].round(4))
    0.6667
    >>> model.sample(1000, rng=1)
    Rankings(1,000 rankings of 3 items, complete, 6 distinct)
    """

    tiers: Tiers
    worths: Sequence[float]
    first_factor: float = 1.0
    draw_factor: float = 0.0

    def __post_init__(self) -> None:
        """Check what was given."""
        if not isinstance(self.tiers, Tiers):
            raise InputError(
                f"the model needs Tiers, such as Tiers([['a'], ['b', 'c']]); got {self.tiers!r}"
            )
        given = check_iterable("worths", self.worths, "numbers")
        try:
            worths = tuple(float(worth) for worth in given)
        except (TypeError, ValueError):
            raise InputError(f"worths must be numbers; got {self.worths!r}") from None
        if len(worths) != len(self.tiers):
            raise InputError(
                f"there must be one worth per tier, {len(self.tiers)} in all; got {len(worths)}"
            )
        if not all(0.0 < worth < np.inf for worth in worths):
            raise InputError(f"worths must be positive and finite; got {worths!r}")
        if any(one < other for one, other in pairwise(worths)):
            raise InputError(
                f"worths must not increase from tier to tier; got {worths!r}: put the tiers into "
                "the order of their worths"
            )
        object.__setattr__(self, "worths", worths)
        first, drawn = (
            float(check_number(name, getattr(self, name)))
            for name in ("first_factor", "draw_factor")
        )
        if not 0.0 < first < np.inf:
            raise InputError(f"first_factor must be positive and finite; got {first!r}")
        if not 0.0 <= drawn < np.inf:
            raise InputError(f"draw_factor must be at least 0 and finite; got {drawn!r}")
        object.__setattr__(self, "first_factor", first)
        object.__setattr__(self, "draw_factor", drawn)

    @cached_property
    def _logs(self) -> _Floats:
        logs: _Floats = np.log(np.array(self.worths))
        # Sums of worths near the largest float would be infinite.
        logs -= 0.5 * (logs[0] + logs[-1])
        return logs

    def log_prob(self, data: Rankings | RankingScan | Preferences) -> _Floats:
        """Log probability of each answer, in the order given.

        Parameters
        ----------
        data
            Rankings of the items of the tiers, complete or incomplete, or preferences among them;
            preferences give one value per assessor, whose comparisons are treated as independent.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (3.0, 1.0))
        >>> best = tw.Rankings.from_orderings([["a"], ["b"]], items="abc", unranked="below")
        >>> np.exp(model.log_prob(best)).round(3)
        array([0.6, 0.2])
        """
        known = check_data(data, "log_prob", Rankings, Preferences)
        labels = self.tiers.label_array(known.items)
        return log_probabilities_of(known, labels, self._logs)

    def log_likelihood(self, data: Rankings | RankingScan | Preferences | Battles) -> float:
        """Log probability of all answers together.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredLuce(tw.Tiers([["x"], ["y"]]), (3.0, 1.0))
        >>> battles = tw.Battles.from_rows([("x", "y", "x"), ("x", "y", "y")])
        >>> round(model.log_likelihood(battles), 4)
        -1.674
        """
        races = races_of(data)
        effects = {"position": self.first_factor, "draws": self.draw_factor}
        if "draws" in races.meetings.effects and self.draw_factor == 0.0:
            raise InputError(
                "the battles have draws as a separate outcome, but the model does not: give it "
                "a draw_factor"
            )
        if races.meetings.any and (
            ("position" not in races.meetings.effects and self.first_factor != 1.0)
            or ("draws" not in races.meetings.effects and self.draw_factor != 0.0)
        ):
            raise InputError(
                "the model has draws or an advantage of the first place, but the battles do "
                "not use them",
                [use("for the battles", drawn="model", position="model")],
            )
        logs = np.log([effects[name] for name in races.meetings.effects])
        return races.value(self.tiers.label_array(races.items), np.append(self._logs, logs))

    def sample(self, n_rankings: int, rng: RandomSource = None) -> Rankings:
        """Draw orderings from the model: races.

        Parameters
        ----------
        n_rankings
            The number to draw.
        rng
            Seed or generator.
        """
        n_rankings = check_count("n_rankings", n_rankings)
        generator = as_generator(rng)
        items = self.tiers.items
        logs = self._logs[self.tiers.label_array(items)]
        log_times = np.log(generator.standard_exponential((n_rankings, len(items)))) - logs
        return Rankings.from_order_array(np.argsort(log_times, axis=1), items)

    def sample_battles(self, n_battles: int, rng: RandomSource = None) -> Battles:
        """Draw battles between random pairs of items, in random order.

        Parameters
        ----------
        n_battles
            The number to draw.
        rng
            Seed or generator.

        Examples
        --------
        >>> import tierwise as tw
        >>> tiers = tw.Tiers([["x"], ["y", "z"]])
        >>> model = tw.ClusteredLuce(tiers, (2.0, 1.0), first_factor=1.2, draw_factor=0.5)
        >>> battles = model.sample_battles(1000, rng=1)
        >>> battles.n_drawn
        178.0
        """
        n_battles = check_count("n_battles", n_battles)
        generator = as_generator(rng)
        items = tuple(sorted(map(str, self.tiers.items)))
        place = {str(item): number for number, item in enumerate(self.tiers.items)}
        labels = self.tiers.label_array(self.tiers.items)[[place[item] for item in items]]
        n_items = len(items)
        if n_items < 2:
            raise InputError("a battle needs two items, but the model has one")
        n_pairs = n_items * (n_items - 1)
        pairs = generator.multinomial(n_battles, np.full(n_pairs, 1.0 / n_pairs))
        met = np.zeros((n_items, n_items), dtype=np.int64)
        met[~np.eye(n_items, dtype=bool)] = pairs
        found = self.battle_probabilities()
        chances = np.stack(found, axis=-1)[labels[:, None], labels[None, :]]
        won, lost, drawn = np.moveaxis(generator.multinomial(met, chances), -1, 0).astype(float)
        return Battles(
            items,
            won + lost.T,
            drawn + drawn.T,
            "model" if self.draw_factor > 0.0 else "half",
            shown=ShownFirst(won, drawn),
            position="ignore" if self.first_factor == 1.0 else "model",
        )

    def battle_probabilities(self) -> BattleProbabilities:
        """Probability that an item of one tier (row), shown first, wins, loses or draws a battle.

        The other is an item of another tier (column).

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredLuce(tw.Tiers([["x"], ["y"]]), (4.0, 1.0), draw_factor=1.0)
        >>> model.battle_probabilities().drawn.round(3)
        array([[0.333, 0.286],
               [0.286, 0.333]])
        """
        log_draw = log(self.draw_factor) if self.draw_factor > 0.0 else None
        logs = log_probabilities_of_outcomes(self._logs, log(self.first_factor), log_draw)
        shares = [np.exp(one) for one in logs]
        return BattleProbabilities(*shares, *[np.zeros_like(shares[0])] * (3 - len(shares)))

    def pair_probabilities(self) -> PairTierProbabilities:
        """Probability that an item of one tier (row) is ranked before one of another (column).

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredLuce(tw.Tiers([["a", "b"], ["c"], ["d"]]), (4.0, 2.0, 1.0))
        >>> model.pair_probabilities()[0].round(3)
        array([0.5  , 0.667, 0.8  ])
        """
        shares = np.exp(-np.logaddexp(0.0, self._logs[None, :] - self._logs[:, None]))
        return PairTierProbabilities(shares, np.zeros_like(shares), "exact")

    def mean_ranks(self) -> _Floats:
        """Mean rank of an item of each tier, 1 being the best.

        Examples
        --------
        >>> import tierwise as tw
        >>> tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (2.0, 1.0)).mean_ranks().round(3)
        array([1.667, 2.167])
        """
        sizes = np.array(self.tiers.sizes)
        return np.asarray(0.5 + self.pair_probabilities().probabilities.T @ sizes)

    def rank_probabilities(self) -> _Floats:
        """Probability that an item of each tier (row) has each rank (column).

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (2.0, 1.0))
        >>> model.rank_probabilities().round(3)
        array([[0.5  , 0.333, 0.167],
               [0.25 , 0.333, 0.417]])
        """
        sizes, logs = self.tiers.sizes, self._logs
        # In log times, the number of arrivals passes a rank within 1.2 over the root of all items.
        step = min(_STEP, sum(sizes) ** -0.5)
        log_times = np.arange(-logs[0] - _BEFORE, -logs[-1] + _AFTER + step, step)
        elapsed = np.exp(np.minimum(log_times + logs[:, None], _LONGEST))
        arrived, waiting = -np.expm1(-elapsed), np.exp(-elapsed)
        # Of how many others have arrived, times are averaged over in their Fourier transform: it is
        # a product over tiers. An odd length leaves out -1, where a factor may be 0.
        length = sum(sizes) | 1
        turns = np.exp(-2j * np.pi / length * np.arange(length // 2 + 1))
        sums = np.zeros((len(sizes), len(turns)), dtype=np.complex128)
        at_a_time = max(1, _NUMBERS_CLOSE_BY // (len(turns) * len(sizes)))
        for start in range(0, len(log_times), at_a_time):
            now = slice(start, start + at_a_time)
            factors = waiting[:, now, None] + arrived[:, now, None] * turns
            every = np.ones(factors.shape[1:], dtype=np.complex128)
            for factor, size in zip(factors, sizes, strict=True):
                every *= _power(factor, size)
            density = elapsed[:, now] * waiting[:, now] * step
            sums += (density[:, None, :] @ (every / factors))[:, 0]
        found: _Floats = np.fft.irfft(sums, length, axis=1)[:, : sum(sizes)]
        return np.maximum(found, 0.0)

    def rank_tier_probabilities(self) -> RankTierProbabilities:
        """Probability that a place holds an item of a tier.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (2.0, 1.0))
        >>> model.rank_tier_probabilities().probabilities.round(3)
        array([[0.5  , 0.5  ],
               [0.333, 0.667],
               [0.167, 0.833]])
        """
        table = (self.rank_probabilities() * np.array(self.tiers.sizes)[:, None]).T
        return RankTierProbabilities(table, np.zeros_like(table), "exact")

    def __repr__(self) -> str:
        worths = ", ".join(format(worth, ".4g") for worth in self.worths)
        comma = "," if len(self.tiers) == 1 else ""
        first = "" if self.first_factor == 1.0 else f", first_factor={self.first_factor:.4g}"
        drawn = "" if self.draw_factor == 0.0 else f", draw_factor={self.draw_factor:.4g}"
        return f"ClusteredLuce({self.tiers}, worths=({worths}{comma}){first}{drawn})"


def _power(base: _Complex, exponent: int) -> _Complex:
    """Whole power of each number, by repeated squaring."""
    power, square = np.ones_like(base), base
    while exponent > 0:
        if exponent % 2:
            power = power * square
        exponent //= 2
        if exponent:
            square = square * square
    return power
