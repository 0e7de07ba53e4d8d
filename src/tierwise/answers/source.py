"""AnswerSource: what answers of any kind offer, before any sizes are chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from tierwise.answers.dispatch import MOST_WORK
from tierwise.answers.generalised import obstacle_of_answers, too_many_counts
from tierwise.errors import InputError, TooLargeError, drop
from tierwise.partition.choose import partition_function
from tierwise.partition.generalised import obstacle_of_model
from tierwise.partition.scope import is_for

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from tierwise._util.types import Item, Places
    from tierwise.answers.base import Floats, Labels
    from tierwise.answers.capabilities import Capabilities
    from tierwise.answers.generalised import GeneralisedAnswers
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.answers.partial import PartialOrders
    from tierwise.answers.top import StrictWeakOrders
    from tierwise.answers.votes import Votes
    from tierwise.data.counts import Counts, Numbers, WeakOrderCounts
    from tierwise.data.kinds import KnownData
    from tierwise.distances import Costs, Distance
    from tierwise.partition.base import Concentration, PartitionFunction
    from tierwise.tiers import Sizes


class AnswerSource(ABC):
    """Answers of one kind, before any sizes are chosen; made by `source_of`.

    Attributes
    ----------
    data
        The data as they were given.
    items
        The items.
    distance
        The distance.
    n_rankings
        Number of rankings, the sum of their weights; of people, where they compared pairs.
    weights
        Weight of each distinct answer.
    pattern_of
        Which of the distinct answers each answer is, as given.
    """

    data: KnownData
    items: tuple[Item, ...]
    distance: Distance
    n_rankings: int | float
    weights: Numbers
    pattern_of: npt.NDArray[np.int64]

    @cached_property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What can be done with the answers."""

    @property
    def pairwise(self) -> bool:
        """Whether people compared pairs of items."""
        return self.data.pairwise

    @property
    def likelihood(self) -> str:
        """What the likelihood is called: "exact" but for comparisons that are independent."""
        return "exact"

    def fingerprint(self) -> str:
        """Return a digest of all that the likelihood depends on in the data as they were given."""
        return self.data.fingerprint()

    @cached_property
    def pair_counts(self) -> Numbers:
        """How often each item is put above each other; what is tied or open does not count."""
        return self.data.pair_counts

    @abstractmethod
    def is_known(self, sizes: Sizes) -> bool:
        """Return whether all answers say which items lie in which block of given sizes."""

    @property
    def weak_orders(self) -> WeakOrderCounts:
        """How often items are above others, and which are tied, where all answers say so."""
        raise self._lacking("of every pair of items which is above")

    @property
    def votes(self) -> Votes:
        """The answers, where they may be mistaken."""
        raise self._lacking("which of them may be mistaken")

    @property
    def wins(self) -> Floats:
        """``[a, b]``: how often a was preferred to b, where each comparison is an answer."""
        raise self._lacking("who won against whom")

    @property
    def resampled_wins(self) -> Callable[[np.random.Generator], Floats] | None:
        """Draws battles again, where it is known which others there could be."""
        return None

    def _lacking(self, what: str) -> InputError:
        return InputError(f"{self.capabilities.answers} do not show {what}")

    @property
    def _all_pairs_cost_alike(self) -> bool:
        """Whether reversed pairs are all that the distance charges, wherever they lie."""
        return is_for("lines", (1,) * len(self.items), self.distance)

    @property
    def strict_weak_orders(self) -> StrictWeakOrders | None:
        """The answers under tiers of one item each, if that is a closed form of the distance."""
        return None

    @property
    def joint_counts(self) -> Counts | None:
        """How often items are in each pair of places, where answers are complete and `counted`."""
        return None

    @abstractmethod
    def can_be_summed(self, sizes: Sizes | None) -> bool:
        """Return whether all completions can be summed over, for given sizes or for all sizes.

        Not where answers may be mistaken: how often they are is not known.
        """

    @abstractmethod
    def partial_orders(self) -> PartialOrders:
        """Return the distinct answers as partial orders, whose completions can be drawn."""

    def log_completions(self) -> float:
        """Sum the log numbers of complete orderings that agree with the answers."""
        orders = self.partial_orders()
        return float(orders.weights @ orders.log_numbers)

    @abstractmethod
    def at(
        self,
        sizes: Sizes,
        *,
        partition: PartitionFunction | None = None,
        rng: np.random.Generator | None = None,
        most_work: float = MOST_WORK,
    ) -> Likelihood:
        """Return the likelihood at given sizes.

        Parameters
        ----------
        sizes
            Sizes of the tiers, best tier first.
        partition
            The partition function of these sizes, if it is there already.
        rng
            Generator, for answers whose completions are drawn.
        most_work
            Numbers that an evaluation may go through to sum over answers with ties, or whose other
            items may be anywhere; beyond, their completions are listed or drawn.
        """

    def obstacle_to_thetas(
        self, sizes: Sizes, concentration: Concentration
    ) -> InputError | TooLargeError | None:
        """Return why there cannot be a theta for each part of the distance, if that is so.

        Parameters
        ----------
        sizes, concentration
            As in `tierwise.partition_function`.
        """
        obstacle = obstacle_of_model(sizes, self.distance, concentration)
        if obstacle is not None:
            return obstacle
        partition = partition_function(sizes, self.distance, concentration=concentration)
        return self._obstacle_to(partition) or too_many_counts(partition)

    def _obstacle_to(self, partition: PartitionFunction) -> InputError | None:
        """Return what answers leave open that several thetas must know."""
        return obstacle_of_answers(f"these are {self.capabilities.answers}", partition)

    def with_thetas(self, partition: PartitionFunction) -> GeneralisedAnswers:
        """Return what the answers say about each part of the distance, or say why they cannot.

        Parameters
        ----------
        partition
            The partition function, with several thetas.
        """
        if obstacle := self._obstacle_to(partition) or too_many_counts(partition):
            raise obstacle
        return self._by_part(partition)

    def _by_part(self, partition: PartitionFunction) -> GeneralisedAnswers:
        raise self._lacking(f"what one theta per {partition.concentration} needs")

    def log_probabilities(
        self,
        partition: PartitionFunction,
        labels: Labels,  # noqa: ARG002
        thetas: Floats,  # noqa: ARG002
    ) -> Floats:
        """Log probability of each distinct answer, with a theta for each part of the distance."""
        raise self._obstacle_to(partition) or self._lacking("what single people answered")

    def costs(self, sizes: Sizes) -> Costs:
        """Return the costs of all tiers of given sizes, all completions being equally likely."""
        return self.at(sizes).costs_at_random()

    def complete_places(self) -> Places:
        """Return ``places[answer, item]`` of complete rankings, counted from 0."""
        raise self._lacking("the place of every item")

    def complete_orderings(self) -> npt.NDArray[np.int64]:
        """Return ``orderings[answer, place]``, the items of complete rankings place by place."""
        raise InputError(
            "the pseudo-likelihood needs complete rankings without ties",
            [drop("likelihood")],
        )

    def counted(self) -> AnswerSource:
        """Return the same answers, counted once for all sizes if that is possible."""
        return self

    def reweighted(self, weights: Floats) -> AnswerSource:  # noqa: ARG002
        """Return the same distinct answers with other weights."""
        raise InputError("only rankings can get other weights: pass rankings")
