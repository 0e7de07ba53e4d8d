"""The clustered Mallows model: a distribution over orderings around tiers.

`RankTierProbabilities` and `PairTierProbabilities` are its expectations of places and pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from tierwise._util.checks import RandomSource, as_generator, check_choice, check_count
from tierwise.answers.likelihood import source_of
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.distances import get_distance
from tierwise.errors import InputError, TooLargeError, use
from tierwise.partition.base import Concentration, ExactPartition, check_theta, decay_by_units
from tierwise.partition.choose import DEFAULT_BUDGET, partition_function
from tierwise.tiers import Tiers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tierwise._util.types import Estimate
    from tierwise.data.scan import RankingScan
    from tierwise.distances import Distance
    from tierwise.partition.base import DistanceDistribution, PartitionFunction, PartMoments
    from tierwise.tiers import Sizes
# Where Monte Carlo has to stand in, the same model gives the same answer every time.
_SEED = 0
# Steps of a Metropolis chain are this times the square of the number of items: each pair of
# places is then tried ten times.
_STEPS_PER_SQUARE = 5


@dataclass(frozen=True, eq=False)
class _TierProbabilities:
    """Probabilities in a table that can be used as their array."""

    probabilities: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]
    method: str

    def __getitem__(self, index: Any) -> Any:
        """Return probabilities by row and column, counted from 0."""
        return self.probabilities[index]

    def __array__(
        self,
        dtype: npt.DTypeLike | None = None,
        copy: bool | None = None,  # noqa: FBT001 - numpy calls it so
    ) -> npt.NDArray[Any]:
        """Return the probabilities, for numpy."""
        return np.array(self.probabilities, dtype=dtype, copy=copy)

    @property
    def exact(self) -> bool:
        """Whether there is no Monte Carlo error in them."""
        return self.method == "exact"


class RankTierProbabilities(_TierProbabilities):
    """The probability that each place holds an item of each tier.

    It works as an array of probabilities: ``found[place, tier]``, ``np.asarray(found)``.

    Attributes
    ----------
    probabilities
        ``probabilities[place, tier]``, both counted from 0; rows sum to 1.
    standard_errors
        Their Monte Carlo errors; all 0 if the probabilities are exact.
    method
        "exact" or "monte-carlo".
    """


class PairTierProbabilities(_TierProbabilities):
    """The probability that an item of one tier is ranked before one of another.

    It works as an array of probabilities: ``found[tier, other]``, ``np.asarray(found)``.

    Attributes
    ----------
    probabilities
        ``probabilities[tier, other]``, both counted from 0; one half within a tier.
    standard_errors
        Their Monte Carlo errors; all 0 if the probabilities are exact.
    method
        "exact" or "monte-carlo".
    """


def from_expected_table(table: npt.NDArray[np.float64], blocks: Sizes) -> RankTierProbabilities:
    """Exact probabilities from the expected number of items of each tier in each block."""
    probabilities = np.repeat(table / np.array(blocks)[:, None], blocks, axis=0)
    return RankTierProbabilities(probabilities, np.zeros_like(probabilities), "exact")


def from_sequences(
    sequences: npt.NDArray[np.int64], blocks: Sizes, n_tiers: int
) -> RankTierProbabilities:
    """Estimated probabilities from the tiers, place by place, of sampled orderings."""
    block_sizes = np.array(blocks, dtype=np.int64)
    starts = np.cumsum(block_sizes) - block_sizes
    means, errors = [], []
    for tier in range(n_tiers):
        # Places of a block are alike: their average is a better estimate than each alone.
        shares = np.add.reduceat(sequences == tier, starts, axis=1, dtype=np.int64) / block_sizes
        means.append(shares.mean(axis=0))
        errors.append(shares.std(axis=0, ddof=1) / len(sequences) ** 0.5)
    return RankTierProbabilities(
        np.repeat(np.transpose(means), blocks, axis=0),
        np.repeat(np.transpose(errors), blocks, axis=0),
        "monte-carlo",
    )


def pairs_from_sequences(sequences: npt.NDArray[np.int64], sizes: Sizes) -> PairTierProbabilities:
    """Estimate probabilities from the tiers, place by place, of sampled orderings."""
    n_tiers = len(sizes)
    means, errors = np.full((n_tiers, n_tiers), 0.5), np.zeros((n_tiers, n_tiers))
    for worse in range(n_tiers):
        is_worse = sequences == worse
        n_later = sizes[worse] - np.cumsum(is_worse, axis=1)
        for better in range(worse):
            before = ((sequences == better) * n_later).sum(axis=1)
            shares = before / (sizes[better] * sizes[worse])
            means[better, worse] = shares.mean()
            means[worse, better] = 1.0 - means[better, worse]
            errors[better, worse] = shares.std(ddof=1) / len(shares) ** 0.5
            errors[worse, better] = errors[better, worse]
    return PairTierProbabilities(means, errors, "monte-carlo")


@dataclass(frozen=True, repr=False)
class ClusteredMallows:
    r"""The clustered Mallows model: orderings scattered around tiers.

    An ordering of ``n`` items has the probability

    .. math:: f(\pi) = \exp(-\theta\, d(\pi, z)) / \Psi(\theta),
              \qquad \Psi(\theta) = \sum_\sigma \exp(-\theta\, d(\sigma, z)),

    where ``z`` are tiers of sizes ``n_1, ..., n_L``. The places of the ordering are cut into blocks
    of these sizes, and ``d`` compares the blocks with the tiers. The order within a block does not
    matter: all items of a tier are equivalent. With tiers of one item each this is the Mallows
    model, with a single tier the uniform distribution.

    Parameters
    ----------
    tiers
        The consensus, an ordered partition of the items.
    theta
        Concentration, 0 or more: 0 is the uniform distribution; the larger it is, the closer
        orderings are to the tiers. If it is infinite, only orderings that agree with the tiers are
        possible, all equally probable. A sequence of thetas if ``concentration`` is not "single".
    distance
        "kendall": pairs of items in different blocks that are reversed or tied in the tiers.
        "hamming": items outside the block of their tier. "footrule" and "spearman": the distance
        between the mean places of block and tier, summed over items, absolute or squared.
        "inversions": pairs of items of different tiers in the wrong order.
    concentration
        "single" is one theta. "tier" is one theta for each tier (inversions: for each but the
        last), "place" one for each block of places but the last. Both work for "kendall" and
        "inversions", and mean that people agree more about some tiers or places than others. See
        `tierwise.partition.generalised`.
    budget
        The largest number of steps of the recursion, some nanoseconds each. Beyond it, quantities
        are estimated, and say so.

    Notes
    -----
    The support is all ``n!`` orderings. Strict Kendall models and Hamming models are exact for
    thousands of items. All others are exact while ``(n_1 + 1) ... (n_L + 1)`` is at most a few
    million.

    References
    ----------
    Piancastelli and Friel, Clustered Mallows Model.

    Examples
    --------
    >>> import tierwise as tw
    >>> tiers = tw.Tiers([["tuna"], ["squid", "egg"]])
    >>> model = tw.ClusteredMallows(tiers, theta=1.0)
    >>> model
    ClusteredMallows(tuna > squid ~ egg, theta=1.0, distance='kendall')
    >>> rankings = tw.Rankings.from_orderings([["tuna", "egg", "squid"], ["egg", "tuna", "squid"]])
    >>> model.distances(rankings)
    array([0., 2.])
    >>> model.log_prob(rankings).round(4)
    array([-0.9327, -2.9327])
    >>> model.mean_distance()
    0.4260... (exact, recursion)
    >>> model.sample(1000, rng=1)
    Rankings(1,000 rankings of 3 items, complete, 6 distinct)
    """

    tiers: Tiers
    theta: float | Sequence[float]
    distance: str | Distance = "kendall"
    concentration: Concentration = "single"
    budget: float = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        """Check what was given."""
        if not isinstance(self.tiers, Tiers):
            raise InputError(
                f"the model needs Tiers, such as Tiers([['a'], ['b', 'c']]); got {self.tiers!r}"
            )
        get_distance(self.distance)
        check_choice("concentration", self.concentration, get_args(Concentration))
        check = check_theta if self.concentration == "single" else self.partition.check_theta
        object.__setattr__(self, "theta", check(self.theta))

    @property
    def _theta(self) -> float:
        """The one theta."""
        if self.concentration != "single":
            raise InputError(
                f"this model has one theta per {self.concentration}, but this method needs a "
                "single theta",
                [use("for the model", concentration="single")],
            )
        return float(self.theta)  # type: ignore[arg-type]

    def part_moments(self) -> PartMoments:
        """Log partition function, means and covariances of the parts that have a theta each.

        Examples
        --------
        >>> import tierwise as tw
        >>> tiers = tw.Tiers([["a"], ["b"], ["c"]])
        >>> model = tw.ClusteredMallows(tiers, (1.0, 0.2), concentration="place")
        >>> model.part_moments().means.round(3)
        array([0.425, 0.45 ])
        """
        return self.partition.part_moments(self.theta)

    @cached_property
    def partition(self) -> PartitionFunction:
        """The partition function of the sizes and the distance, for any theta."""
        return partition_function(
            self.tiers.sizes,
            self.distance,
            concentration=self.concentration,
            budget=self.budget,
            rng=_SEED,
        )

    @property
    def _sizes(self) -> npt.NDArray[np.int64]:
        return np.array(self.tiers.sizes, dtype=np.int64)

    def log_partition(self) -> Estimate:
        """Log partition function, with its standard error if it is estimated."""
        return self.partition.log_value(self.theta)

    def mean_distance(self) -> Estimate:
        """Mean distance of an ordering from the tiers."""
        return self.partition.mean(self.theta)

    def var_distance(self) -> Estimate:
        """Variance of the distance of an ordering from the tiers."""
        return self.partition.variance(self.theta)

    def distance_distribution(self) -> DistanceDistribution:
        """Return the number of orderings at each distance.

        Its ``probabilities(theta)`` are those of the model.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=0.5)
        >>> list(model.distance_distribution().counts)
        [2, 4]
        """
        one_theta = replace(self, theta=0.0, concentration="single")
        return one_theta.partition.distribution()

    def distances(self, data: Rankings | RankingScan) -> npt.NDArray[np.float64]:
        """Distance of each answer from the tiers, in the order given.

        Parameters
        ----------
        data
            Complete rankings of the items of the tiers.
        """
        rankings = check_data(data, "distances", Rankings)
        sequences = self._sequences(rankings)
        return get_distance(self.distance).between(sequences, self.tiers.sizes)[rankings.pattern_of]

    def log_prob(self, data: Rankings | RankingScan | Preferences) -> npt.NDArray[np.float64]:
        """Log probability of each answer, in the order given.

        For an incomplete answer or pairwise preferences, it is summed over all complete orderings
        that agree with them. The error is that of `log_partition`, the same for every answer.

        Parameters
        ----------
        data
            Rankings of the items of the tiers, or preferences among them.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=1.0)
        >>> best = tw.Rankings.from_orderings([["a"], ["b"]], items="abc", unranked="below")
        >>> np.exp(model.log_prob(best)).round(3)
        array([0.787, 0.107])
        """
        data = check_data(data, "log_prob", Rankings, Preferences)
        labels = self.tiers.label_array(data.items)
        source = source_of(data, self.distance)
        source.capabilities.refuse_mistakes()
        if self.concentration != "single":
            logs = source.log_probabilities(self.partition, labels, np.array(self.theta))
            return logs[source.pattern_of]
        likelihood = source.at(self.tiers.sizes, partition=self.partition, most_work=self.budget)
        logs = likelihood.log_weights(labels, self._theta) - float(self.log_partition())
        return logs[source.pattern_of]

    def log_pseudo_likelihood(self, data: Rankings | RankingScan) -> npt.NDArray[np.float64]:
        """Log pseudo-likelihood of each answer, in the order given.

        Places are filled from the first to the last. Among the tiers with items left, the best
        weighs 1 and any other ``exp(-theta c)``, where ``c`` is its number of items left; the item
        is then any of these. The paper uses it in place of the probability, for every distance.

        Parameters
        ----------
        data
            Complete rankings of the items of the tiers.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredMallows(tw.Tiers([[1, 2], [3, 4]]), theta=0.5)
        >>> model.log_pseudo_likelihood(tw.Rankings.from_orderings([[1, 3, 2, 4]])).round(3)
        array([-3.487])
        """
        from tierwise._kernels.orderings import log_pseudo

        rankings = check_data(data, "log_pseudo_likelihood", Rankings)
        sequences = self._sequences(rankings)
        rows = log_pseudo(sequences, self._sizes, self._pseudo_decay(), self._theta)
        values: npt.NDArray[np.float64] = rows[0, rankings.pattern_of]
        return values

    def sample(
        self,
        n_rankings: int,
        rng: RandomSource = None,
        *,
        method: Literal["auto", "exact", "mcmc"] = "auto",
        steps: int | None = None,
    ) -> Rankings:
        """Draw orderings from the model.

        Parameters
        ----------
        n_rankings
            The number to draw.
        rng
            Seed or generator.
        method
            "exact" gives independent draws from the model itself. "mcmc" is the paper's Metropolis
            sampler: each draw is the end of a separate chain, close to the model if there are many
            ``steps``. "auto" is exact if feasible.
        steps
            For "mcmc", the number of random transpositions of each chain.
        """
        n_rankings = check_count("n_rankings", n_rankings)
        check_choice("method", method, ("auto", "exact", "mcmc"))
        generator = as_generator(rng)
        return self._deal(self._draw(n_rankings, generator, method, steps), generator)

    def sample_pseudo(self, n_rankings: int, rng: RandomSource = None) -> Rankings:
        """Draw orderings from the pseudo-likelihood, the paper's proposal for importance sampling.

        Parameters
        ----------
        n_rankings
            The number to draw.
        rng
            Seed or generator.
        """
        from tierwise._kernels.orderings import draw_pseudo

        n_rankings = check_count("n_rankings", n_rankings)
        generator = as_generator(rng)
        sequences = draw_pseudo(self._sizes, self._pseudo_decay(), n_rankings, generator)
        return self._deal(sequences, generator)

    def rank_tier_probabilities(
        self,
        *,
        method: Literal["auto", "exact", "monte-carlo"] = "auto",
        draws: int = 10_000,
        rng: RandomSource = None,
    ) -> RankTierProbabilities:
        """Probability that a place holds an item of a tier.

        Parameters
        ----------
        method
            "exact", "monte-carlo" (from samples of the model), or "auto": exact if feasible.
        draws
            For "monte-carlo", the number of samples.
        rng
            For "monte-carlo", a seed.

        Examples
        --------
        >>> import tierwise as tw
        >>> model = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=1.0)
        >>> model.rank_tier_probabilities().probabilities.round(3)
        array([[0.787, 0.213],
               [0.107, 0.893],
               [0.107, 0.893]])
        """
        check_choice("method", method, ("auto", "exact", "monte-carlo"))
        blocks = get_distance(self.distance).blocks(self.tiers.sizes)
        if method != "monte-carlo" and self.theta == inf:
            return from_expected_table(self.partition.nearest_table(), blocks)
        if method != "monte-carlo" and (method == "exact" or self.partition.exact):
            table = self._exact_partition("monte-carlo").expected_table(self.theta)
            return from_expected_table(table, blocks)
        draws = check_count("draws", draws, least=2)
        sequences = self._draw(draws, as_generator(rng), "auto", None)
        return from_sequences(sequences, blocks, len(self.tiers.sizes))

    def pair_probabilities(
        self, *, draws: int = 20_000, rng: RandomSource = _SEED
    ) -> PairTierProbabilities:
        """Probability that an item of one tier (row) is ranked before one of another (column).

        It is exact for inversions, for a single infinite theta, and for tiers of one item each
        unless there is one theta per place; otherwise it is estimated from draws, with its standard
        error. Within a tier it is 1/2.

        Parameters
        ----------
        draws
            Number of orderings to draw if it is estimated.
        rng
            Seed or generator for these.

        Examples
        --------
        >>> import tierwise as tw
        >>> tiers = tw.Tiers([["a", "b"], ["c", "d"], ["e", "f"]])
        >>> tw.ClusteredMallows(tiers, 0.4, "inversions").pair_probabilities()[0].round(5)
        array([0.5    , 0.65994, 0.76907])
        """
        sizes = self.tiers.sizes
        known = self.partition.pair_probabilities(self.theta)
        if known is not None:
            return PairTierProbabilities(known, np.zeros_like(known), "exact")
        draws = check_count("draws", draws, least=2)
        sequences = self._draw(draws, as_generator(rng), "auto", None)
        return pairs_from_sequences(sequences, sizes)

    def _exact_partition(self, alternative: str) -> ExactPartition:
        """Return the partition function if it is exact, else name another method."""
        if not isinstance(self.partition, ExactPartition):
            raise TooLargeError(
                f"sizes {self.tiers.sizes} are too large for exact methods with the "
                f"{self.partition.distance.name} distance",
                [use(method=alternative), "raise the budget of the model"],
            )
        return self.partition

    def _draw(
        self,
        n_rows: int,
        rng: np.random.Generator,
        method: Literal["auto", "exact", "mcmc"],
        steps: int | None,
    ) -> npt.NDArray[np.int64]:
        """Draw orderings, as the tiers of their items place by place."""
        if self.concentration != "single" and method == "mcmc":
            raise InputError(
                "chains support only one theta; with several, draws are exact", [use(method="auto")]
            )
        if self.theta == inf:
            return self.partition.nearest_sequences(n_rows)
        if method == "exact" or (method == "auto" and self.partition.exact):
            return self._exact_partition("mcmc").draw_sequences(self.theta, n_rows, rng)
        from tierwise._kernels.orderings import walk

        sizes = self._sizes
        n_items = int(sizes.sum())
        steps = _STEPS_PER_SQUARE * n_items * n_items if steps is None else steps
        steps = check_count("steps", steps)
        distance = get_distance(self.distance)
        rule, blocks = distance.rule(self.tiers.sizes), distance.blocks(self.tiers.sizes)
        # Chains start at the tiers themselves, at a distance of 0.
        sequences = np.tile(np.repeat(np.arange(len(sizes)), sizes), (n_rows, 1))
        units = np.zeros(n_rows, dtype=np.int64)
        theta = self._theta * rule.unit
        block_sizes = np.array(blocks, dtype=np.int64)
        walk(sequences, block_sizes, theta, rule.misplaced, rule.placing, steps, units, rng)
        return sequences

    def _pseudo_decay(self) -> npt.NDArray[np.float64]:
        return decay_by_units(self._theta, 1.0, max(self.tiers.sizes))

    def _sequences(self, rankings: Rankings) -> npt.NDArray[np.int64]:
        """Tier of the item in each place, for each distinct answer."""
        labels = self.tiers.label_array(rankings.items)
        if not rankings.is_complete:
            raise InputError(
                "distances and pseudo-likelihoods need complete rankings without ties: "
                f"got {rankings!r}. For incomplete ones, use log_prob"
            )
        return labels[np.argsort(rankings.patterns, axis=1)]

    def _deal(self, sequences: npt.NDArray[np.int64], rng: np.random.Generator) -> Rankings:
        """Turn label sequences into rankings, items of a tier being alike."""
        from tierwise._kernels.orderings import deal_items

        items = self.tiers.items
        by_label = np.argsort(self.tiers.label_array(items), kind="stable")
        orderings = deal_items(sequences, self._sizes, by_label, rng)
        return Rankings.from_order_array(orderings, items)

    def __repr__(self) -> str:
        name = get_distance(self.distance).name
        thetas = "" if self.concentration == "single" else f", concentration={self.concentration!r}"
        return f"ClusteredMallows({self.tiers}, theta={self.theta!r}, distance={name!r}{thetas})"
