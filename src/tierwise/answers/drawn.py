"""Answers with too many completions to sum over: completions are drawn instead.

Each answer is completed at random, as probable as the model makes each completion; every sweep goes
through all answers and changes their completions. What is expected is averaged over sweeps.

Only `sweep` and `draw_costs` change the completions at hand. Estimates sweep a copy of them, with
random numbers of its own: asked twice, they are the same.
"""

from __future__ import annotations

from copy import copy, deepcopy
from math import nan
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np

from tierwise._kernels.augmentation import (
    Model,
    refill_places,
    reinsert_items,
    reinsert_where_places_are_blocks,
)
from tierwise._kernels.counting import add_block_pair_counts, add_place_counts
from tierwise._util.types import Estimate
from tierwise.answers.base import Completions, Floats, Labels
from tierwise.errors import InputError, use

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.answers.partial import PartialOrders
    from tierwise.distances import Costs, Distance
    from tierwise.model.priors import Beta
    from tierwise.tiers import Sizes

Proposal: TypeAlias = Literal["reinsert", "refill"]

# Completions that an average is taken over, of all answers together; each answer gets so many.
DRAWS = 4000
FEWEST_SWEEPS, MOST_SWEEPS = 4, 50
# Estimates of log-likelihoods need more draws: so many stretches of sweeps ...
STRETCHES = 8
# ... at so many shares of the energy.
PATH_NODES = 10


class DrawnCompletions(Completions):
    """Answers completed at random.

    Parameters
    ----------
    orders
        The answers.
    sizes, distance
        Of the model.
    rng
        Generator of all draws.
    proposal
        "reinsert" puts each item back where it may be, as probable as the model makes it.
        "refill" is the paper's: it proposes any completion, and suits answers that leave little
        open.
    each
        "answer" completes each distinct answer once; "assessor" each as often as its weight, a
        whole number, says.

    Attributes
    ----------
    places
        The place of each item in each completed answer.
    only_pairs_of_places_cost
        Whether every place is a block of its own, and only reversed pairs cost something.
    mistake_probability
        Probability that an answer is mistaken; it plays no part where answers are right.
    """

    mistake_probability: float = nan

    def __init__(
        self,
        orders: PartialOrders,
        sizes: Sizes,
        distance: Distance,
        rng: np.random.Generator,
        *,
        proposal: Proposal = "reinsert",
        each: Literal["answer", "assessor"] = "answer",
    ) -> None:
        super().__init__(sizes, distance, orders.weights, orders.log_numbers)
        if proposal == "refill" and orders.first is None:
            raise InputError(
                "pairwise answers have no places to refill", [use(proposal="reinsert")]
            )
        self._orders = orders
        self._rng = rng
        self._proposal = proposal
        rows = np.arange(len(orders.weights))
        self._which = rows if each == "answer" else np.repeat(rows, orders.weights.astype(np.int64))
        self._row_weights = (
            orders.weights if each == "answer" else np.ones(len(self._which), dtype=np.float64)
        )
        self._cut_into_blocks()
        self.places: Places = orders.some_completions[self._which]
        self._sweeps = int(np.clip(DRAWS // len(self._which), FEWEST_SWEEPS, MOST_SWEEPS))

    def put_back(self, places: Places, mistake_probability: float) -> None:
        """Take completions of these answers, and a mistake probability, that were drawn before."""
        if places.shape != self.places.shape or places.dtype != self.places.dtype:
            raise InputError("these completions belong to other answers: start the chain again")
        self.places = places.copy()
        self.mistake_probability = mistake_probability

    def renamed(self, labels: Labels, rng: np.random.Generator) -> Labels:  # noqa: ARG002
        """Let items trade names in tiers and completions, where answers may be mistaken."""
        return labels

    def draw_mistakes(self, prior: Beta, rng: np.random.Generator) -> Beta:  # noqa: ARG002
        """Draw the mistake probability given completions; return what it was drawn from."""
        return prior

    def resized(self, sizes: Sizes) -> Self:
        """Return the same answers, completed as they are, for other sizes of the tiers.

        Both have the same completions from then on: a sweep of one changes those of the other.
        """
        other = copy(self)
        Completions.__init__(other, sizes, self.distance, self.weights, self.log_numbers)
        other._cut_into_blocks()
        return other

    def _aside(self) -> Self:
        """Return the same answers, completed as they are, with completions and draws of its own."""
        other = copy(self)
        other.places = self.places.copy()
        # A peek at what comes next: the generator itself stays where it is.
        other._rng = np.random.default_rng(deepcopy(self._rng).integers(2**63))
        return other

    def _cut_into_blocks(self) -> None:
        rule = self.rule
        self._block_of_place = self.distance.block_of_place(self.sizes)
        only_pairs_cost = not rule.additive and not rule.placing.any()
        self.only_pairs_of_places_cost = only_pairs_cost and (
            max(self.distance.blocks(self.sizes)) == 1
        )

    @property
    def relations(self) -> npt.NDArray[np.bool_]:
        """``[answer, a, b]``: whether an answer puts item a before b, directly or not."""
        return self._orders.relations

    @property
    def which(self) -> npt.NDArray[np.int64]:
        """The answer that each completion is of."""
        return self._which

    @property
    def blocks(self) -> npt.NDArray[np.int32]:
        """Block of each item in each completed answer."""
        blocks: npt.NDArray[np.int32] = self._block_of_place[self.places]
        return blocks

    def sweep(self, labels: Labels, theta: float, share: float = 1.0) -> None:
        """Go once through all answers and change their completions.

        Parameters
        ----------
        labels, theta
            Tiers and theta.
        share
            Share of the energy that counts: 0 makes all completions equally likely.
        """
        if self._proposal == "refill" and self._orders.first is not None:
            model = self._model(labels, theta, share)
            refill_places(self.places, self._orders.first, self._which, model, self._rng)
            return
        relations, no_votes = self._orders.relations, np.empty((0, 0, 0), dtype=np.int32)
        if self.only_pairs_of_places_cost:
            energy = share * theta * self.rule.unit * self.rule.misplaced
            reinsert_where_places_are_blocks(
                self.places,
                relations,
                self._which,
                labels,
                energy,
                False,  # noqa: FBT003 - kernels take no keywords
                self._rng,
            )
        else:
            model = self._model(labels, theta, share)
            reinsert_items(self.places, relations, no_votes, 0.0, self._which, model, self._rng)

    def _model(self, labels: Labels, theta: float, share: float) -> Model:
        rule = self.rule
        return Model(
            labels,
            self._block_of_place.astype(np.int64),
            rule.misplaced,
            rule.tied,
            rule.placing,
            share * theta * rule.unit,
        )

    def energies(self, labels: Labels, theta: float) -> Floats:
        """Minus the log of the weight of each completed answer."""
        return theta * self.distances(labels)

    def distances(self, labels: Labels) -> Floats:
        """Distance of each completed answer from tiers."""
        units = self._units_of_blocks(self.blocks, labels)
        return units.astype(np.float64) * self.rule.unit

    def costs(self) -> Costs:
        """Costs of all tiers for the answers as they are completed now."""
        membership, precedence = self._no_counts()
        add_place_counts(self.blocks, self._row_weights, membership)
        add_block_pair_counts(self.blocks, self._row_weights, precedence)
        return self._costs(membership, precedence)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Estimate the costs of all tiers, on the average over completions."""
        return self._aside().draw_costs(labels, theta)

    def draw_costs(self, labels: Labels, theta: float) -> Costs:
        """Sweep some times, and return the costs of all tiers, averaged over these sweeps."""
        membership, precedence = self._no_counts()
        for _ in range(max(self._sweeps // 4, 1)):
            self.sweep(labels, theta)
        shares = self._row_weights / self._sweeps
        for _ in range(self._sweeps):
            self.sweep(labels, theta)
            add_place_counts(self.blocks, shares, membership)
            add_block_pair_counts(self.blocks, shares, precedence)
        return self._costs(membership, precedence)

    def adapt(self, labels: Labels, theta: float, share: float) -> float:  # noqa: ARG002
        """Learn from the completions at hand what else the model needs; here there is nothing.

        Parameters
        ----------
        labels, theta
            Tiers and theta.
        share
            Weight of this round's completions, against all rounds before.

        Returns
        -------
        float
            By what share of itself it moved.
        """
        return 0.0

    def gains(self, labels: Labels, theta: float, others: list[Labels]) -> list[Estimate]:
        """Estimate how much more probable the answers are under other tiers.

        Completions are drawn under the tiers at hand; the average ratio of their weights is the
        ratio of the probabilities of an answer.

        Parameters
        ----------
        labels, theta
            Tiers at hand and theta.
        others
            Other tiers, close to them.
        """
        drawn, chain = [], self._aside()
        for _ in range(STRETCHES // 2 * self._sweeps):
            chain.sweep(labels, theta)
            drawn.append(chain.blocks)
        blocks = np.concatenate(drawn)
        rule = self.rule
        units = self._units_of_blocks(blocks, labels)
        return [
            self._gain(
                (self._units_of_blocks(blocks, other) - units)
                .reshape(len(drawn), -1)
                .astype(np.float64)
                * (-theta * rule.unit)
            )
            for other in others
        ]

    def _gain(self, log_ratios: Floats) -> Estimate:
        """Sum over answers of the log of the mean ratio, with its error."""
        peaks = log_ratios.max(axis=0)
        ratios = np.exp(log_ratios - peaks)
        means = ratios.mean(axis=0)
        relative = ratios.var(axis=0) / means**2 / len(ratios)
        gain = float((self._row_weights * (peaks + np.log(means))).sum())
        error = float(np.sqrt((self._row_weights**2 * relative).sum()))
        return Estimate(gain, standard_error=error, method="importance")

    def variance(self, labels: Labels, theta: float) -> float:
        """Estimate the sum over answers, times their weights, of the variance of the distance."""
        chain = self._aside()
        _, variances = self._average(
            lambda: chain.distances(labels), lambda: chain.sweep(labels, theta)
        )
        return float((self._row_weights * variances).sum())

    def log_weight(self, labels: Labels, theta: float, *, stretches: int = STRETCHES) -> Estimate:
        """Estimate the sum over answers of the log of the summed weights of their completions.

        As a function of the share of the energy that counts, its derivative is minus the mean
        energy, which is averaged along a path from 0, where all completions are equally likely.

        Parameters
        ----------
        labels, theta
            Tiers and theta.
        stretches
            Number of stretches of sweeps at each of the shares, at least 2.
        """
        nodes, widths = np.polynomial.legendre.leggauss(PATH_NODES)
        value = float((self.weights * self.log_numbers).sum())
        variance, chain = 0.0, self._aside()
        for share, width in zip((nodes + 1) / 2, widths / 2, strict=True):
            means, _ = self._average(
                lambda: chain.energies(labels, theta),
                lambda share=float(share): chain.sweep(labels, theta, share),  # type: ignore[misc]
                stretches,
            )
            totals = (self._row_weights * means).sum(axis=1)
            value -= float(width * totals.mean())
            variance += width**2 * float(totals.var(ddof=1)) / len(totals)
        return Estimate(value, standard_error=variance**0.5, method="path")

    def _average(
        self,
        measure: Callable[[], Floats],
        sweep: Callable[[], None],
        stretches: int = STRETCHES,
    ) -> tuple[Floats, Floats]:
        """Measure after each of many sweeps; return means of stretches, and variances."""
        for _ in range(self._sweeps):
            sweep()
        means = np.zeros((stretches, len(self.places)))
        squares = np.zeros(len(self.places))
        for stretch in range(stretches):
            for _ in range(self._sweeps):
                sweep()
                values = measure()
                means[stretch] += values / self._sweeps
                squares += values**2 / (self._sweeps * stretches)
        return means, squares - means.mean(axis=0) ** 2
