"""Posterior: draws of tiers and theta, and their summaries."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.cards import Card, Row, Section, rows_of
from tierwise._util.checks import check_choice, check_count, check_level
from tierwise._util.columns import within
from tierwise._util.types import plain_item, plain_number
from tierwise.data.frames import make_frame
from tierwise.errors import InputError, instead, use
from tierwise.luce.estimates import ELO
from tierwise.model.ranks import rank_intervals, rank_shares, shares_of_tiers, tiers_among
from tierwise.posterior.chain import EFFECTS
from tierwise.posterior.drawn import DrawnTiers
from tierwise.posterior.estimates import bands_of, least_disagreement, share_above, theta_intervals
from tierwise.posterior.summary import Diagnostics, diagnose, summarise
from tierwise.posterior.ties import (
    share_all_near,
    share_nearly_tied,
    sizes_for_sameness,
    weights_for_sameness,
)
from tierwise.tiers import Tiers, plain_tiers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from xarray import DataArray

    from tierwise._util.types import Item
    from tierwise.data.frames import Backend
    from tierwise.posterior.estimates import RankTierBands
    from tierwise.tiers import Sizes

PointEstimate: TypeAlias = Literal["map", "consensus"]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(DrawnTiers):
    """Draws from the posterior of tiers, sizes and theta.

    Attributes
    ----------
    data : xarray.DataTree
        The draws, in the format of ArviZ, with dimensions ``chain``, ``draw`` and ``item``. Group
        ``posterior``: ``theta``, ``tier`` (of each item, 1 being the best), ``n_tiers``,
        ``total_distance`` and ``log_posterior`` (of the tiers, up to a constant). With a theta per
        tier, ``theta`` has a third dimension ``line``: entry ``l`` is the theta between tier
        ``l + 1`` and all worse tiers; there is one entry fewer than items, and entries without
        tiers in a draw are NaN. If tiers of all sizes are drawn at once, pairs that an answer ties
        do not count in ``total_distance``. Group ``sample_stats``: shares of moves that were
        accepted.
    named_items : tuple or None
        The items, if a file cannot store their names (dates, for example).

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import sample_posterior
    >>> posterior = sample_posterior(tw.load_political_goals(), rng=1)
    >>> posterior.tiers()
    Tiers('order ~ prices > say > speech')
    >>> round(posterior.sizes_probabilities()[2, 1, 1], 3)
    1.0
    >>> float(posterior.tier_probabilities().sel(item="order", tier=1))
    1.0
    """

    def strengths(self, level: float = 0.95) -> DataArray:
        """Return the strength of each item on the Elo scale: ``mean``, ``low`` and ``high``.

        It is 400 times the decimal logarithm of the item's worth; the mean over items is 0. It is
        averaged over the drawn tiers.

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), family="luce", rng=1)
        >>> posterior.strengths().sel(item="order", bound="mean").round(-1).item()
        90.0
        """
        check_level(level)
        tail = (1 - level) / 2
        low, high = np.quantile(self.log_worths, [tail, 1 - tail], axis=0)
        table = ELO * np.stack([self.log_worths.mean(axis=0), low, high], axis=1)
        return self._table(table, "bound", ["mean", "low", "high"])

    def theta_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed interval."""
        check_level(level)
        self.require_one_theta("theta_interval")
        tail = (1 - level) / 2
        low, high = np.quantile(self.thetas, [tail, 1 - tail])
        return float(low), float(high)

    def require_one_theta(self, taker: str) -> None:
        """Raise an error if there is more than one theta."""
        if self.family == "luce":
            raise InputError(f"{taker} needs one theta, but this posterior has worths")
        if self.concentration != "single":
            raise InputError(
                f"{taker} needs one theta, but this posterior has one per tier",
                [
                    instead("item_thetas"),
                    use("when sampling", concentration="single"),
                ],
            )

    def item_theta_intervals(self, level: float = 0.95) -> DataArray:
        """Return an interval of the theta of each item's tier, ``low`` and ``high``.

        Draws with the item in the last tier, which has no theta, are left out; if there are no
        others, both are NaN.
        """
        check_level(level)
        return self._table(theta_intervals(self.item_thetas, level), "bound", ["low", "high"])

    def divided_items(self) -> tuple[Item, ...]:
        """Return the items that people are divided about, if there is one theta per tier.

        They belong to tiers of the most probable tier list that are not part of the order: people
        rank them anywhere; see `Fit.divided`. They have no rank, and the other items are ranked
        without them.
        """
        return tuple(self.items[place] for place in self._facts.get("divided", ()))

    def with_divided(self, items: Iterable[Item]) -> Posterior:
        """Return the same draws, with other items that people are divided about."""
        data = self.data.copy()
        places = sorted(self.items.index(item) for item in items)
        data.attrs["tierwise"] = json.dumps({**self._facts, "divided": places})
        return replace(self, data=data)

    @cached_property
    def is_ranked(self) -> NDArray[np.bool_]:
        """Which items have a rank: those that people are not divided about."""
        ranked = np.ones(len(self.items), dtype=bool)
        ranked[list(self._facts.get("divided", ()))] = False
        return ranked

    @cached_property
    def ranked_labels(self) -> NDArray[np.int64]:
        """``labels``, without items that people are divided about."""
        return tiers_among(self.labels, self.is_ranked)

    def tiers(self, kind: PointEstimate = "map") -> Tiers:
        """Return a point estimate of the tiers.

        Parameters
        ----------
        kind
            "map": the most probable tiers among those drawn, or the most frequent ones if answers
            were completed at random. "consensus": the tiers with the smallest expected disagreement
            with the posterior, where a pair of items counts 1 if it is ordered in opposite ways and
            1/2 if it is tied in only one of the two.
        """
        check_choice("kind", kind, get_args(PointEstimate))
        if kind == "map" and "most_probable_tiers" in self._facts:
            return self._named(np.array(self._facts["most_probable_tiers"]))
        if kind == "map":
            return self._named(self.labels[self._most_probable()])
        labels, _ = least_disagreement(self.labels - 1, self.sizes)
        return self._named(labels + 1)

    def _most_probable(self) -> int:
        """Return the draw with the most probable tiers."""
        draws = self.data["posterior"]
        if "log_posterior" in draws:
            return int(draws["log_posterior"].to_numpy().argmax())
        if "completions" in self._facts:
            _, first, counts = np.unique(self.labels, axis=0, return_index=True, return_counts=True)
            return int(first[counts.argmax()])
        # Of tiers of the same sizes, the closest to the rankings are the most probable.
        return int(draws["total_distance"].to_numpy().argmin())

    def _named(self, labels: NDArray[np.int64]) -> Tiers:
        return Tiers.from_labels(labels.tolist(), self.items)

    def tier_probabilities(self) -> DataArray:
        """Return the probability that the rank of each item (row) is among those of each tier.

        The tiers (columns) are the most probable ones. With given sizes this is the probability of
        the tier; with open sizes, a draw may have other tiers whose ranks differ. NaN for items
        that people are divided about.

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), sizes=(2, 2), rng=1)
        >>> posterior.tier_probabilities().sel(item="order").to_numpy()
        array([1., 0.])
        """
        sizes = self.agreed_tiers().sizes
        shares = np.full((len(self.items), len(sizes)), np.nan)
        shares[self.is_ranked] = shares_of_tiers(self.ranked_labels, sizes)
        return self._table(shares, "tier", np.arange(1, len(sizes) + 1))

    def agreed_tiers(self, kind: PointEstimate = "map") -> Tiers:
        """Return a point estimate of the tiers, without items that people are divided about."""
        divided = self.divided_items()
        rows = [[item for item in tier if item not in divided] for tier in self.tiers(kind)]
        return Tiers([row for row in rows if row])

    @cached_property
    def sameness_weights(self) -> NDArray[np.float64]:
        """Weight of each draw in claims that items are the same; they sum to at most 1.

        Such claims must not merely repeat a prior that favours few tiers. The weights correspond to
        the "uniform" prior of sizes, under which a line between two neighbours is as probable as
        none. They sum to less than 1 if there are many items and (nearly) all draws have a single
        tier: then draws of several tiers, which would outweigh them, may have been missed.
        """
        return weights_for_sameness(self.labels, self.prior_sizes)

    def tied_or_nearly_probabilities(self) -> DataArray:
        """Return the probability that each pair of items is tied or nearly tied.

        "Nearly tied" means that neither would be preferred by more than 55%, according to the
        worths of a draw; without worths, it means the same tier. Draws have the weights
        `sameness_weights`, so a prior that favours few tiers does not count as evidence for ties.

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), rng=1)
        >>> posterior.tied_or_nearly_probabilities().sel(item="order", other="prices").item() > 0.95
        True
        """
        logs = self.log_worths if self.family == "luce" else None
        near = share_nearly_tied(self.labels, logs, self.sameness_weights)
        return self._table(near, "other", self._item_names)

    def all_tied_or_nearly_probability(self) -> float:
        """Return the probability that all items are tied or nearly tied with each other."""
        logs = self.log_worths if self.family == "luce" else None
        return share_all_near(self.labels, logs, self.sameness_weights)

    def co_tier_probabilities(self) -> DataArray:
        """Return the probability that each pair of items is in one tier, under the chosen prior.

        To claim that items are the same, use `tied_or_nearly_probabilities`.
        """
        above = share_above(self.labels)
        return self._table(1.0 - above - above.T, "other", self._item_names)

    def above_probabilities(self) -> DataArray:
        """Return the probability that each item (row) is in a better tier than each other.

        NaN for items that people are divided about.
        """
        return self._table(self._above, "other", self._item_names)

    @cached_property
    def _above(self) -> NDArray[np.float64]:
        n_items = len(self.items)
        above = np.full((n_items, n_items), np.nan)
        above[np.ix_(self.is_ranked, self.is_ranked)] = share_above(self.ranked_labels)
        return above

    @property
    def _item_names(self) -> list[Any]:
        return list(self.data["posterior"]["item"].to_numpy())

    def _vector(self, values: NDArray[Any]) -> DataArray:
        from xarray import DataArray

        return DataArray(values, dims=("item",), coords={"item": self._item_names})

    def _table(self, shares: NDArray[Any], column: str, values: Any) -> DataArray:
        from xarray import DataArray

        return DataArray(
            shares, dims=("item", column), coords={"item": self._item_names, column: values}
        )

    def sizes_probabilities(self) -> dict[Sizes, float]:
        """Return the probability of each size vector, the most probable first.

        It is exact if the draws are; otherwise the share of the draws.
        """
        exact = self._exact_sizes
        return self._shares_of_sizes(None) if exact is None else exact

    @property
    def _exact_sizes(self) -> dict[Sizes, float] | None:
        exact = self._facts.get("sizes_probabilities")
        return None if exact is None else {tuple(sizes): share for sizes, share in exact}

    def _shares_of_sizes(self, weights: NDArray[np.float64] | None) -> dict[Sizes, float]:
        """Return the share of the draws with each size vector, the most frequent first."""
        n_tiers = int(self.labels.max())
        counted = (self.labels[:, :, None] == np.arange(1, n_tiers + 1)).sum(axis=1)
        vectors, which = np.unique(counted, axis=0, return_inverse=True)
        shares = np.bincount(which.ravel(), weights) / (len(self) if weights is None else 1.0)
        order = np.argsort(-shares, kind="stable")
        return {
            tuple(size for size in vectors[row].tolist() if size): float(shares[row])
            for row in order.tolist()
        }

    def sizes_for_sameness(self) -> dict[Sizes, float]:
        """Return the probability of each size vector under a prior that does not favour few tiers.

        Like `sizes_probabilities`, but under the "uniform" prior of sizes; see `sameness_weights`.

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), rng=1)
        >>> round(posterior.sizes_for_sameness()[2, 1, 1], 3)
        1.0
        """
        exact = self._exact_sizes
        if exact is None:
            return self._shares_of_sizes(self.sameness_weights)
        return sizes_for_sameness(exact, self.prior_sizes)

    def n_tiers_probabilities(self) -> dict[int, float]:
        """Return the probability of each number of tiers; exact if the draws are."""
        exact = self._facts.get("n_tiers_probabilities")
        if exact is None:
            numbers = self.data["posterior"]["n_tiers"].to_numpy().ravel()
            exact = (np.bincount(numbers, minlength=len(self.items) + 1)[1:] / len(self)).tolist()
        return {number: float(share) for number, share in enumerate(exact, start=1)}

    def best_k_probabilities(self, k: int) -> DataArray:
        """Return the probability that each item is among the best ``k``.

        In a draw, the items of a tier share its ranks, every order being equally probable: in a
        tier of three with ranks 2 to 4, each item is among the best three with probability two
        thirds. Items that people are divided about have no rank: NaN.

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), sizes=(2, 2), rng=1)
        >>> posterior.best_k_probabilities(1).sel(item="order").item()
        0.5
        """
        check_count("k", k)
        if k > len(self.items):
            raise InputError(f"k must be at most {len(self.items)}, the number of items; got {k}")
        return self._vector(self._rank_shares[:, :k].sum(axis=1).clip(0.0, 1.0))

    def rank_interval(self, level: float = 0.95) -> DataArray:
        """Return an interval of each item's rank, from ``low`` (better) to ``high``, 1 being best.

        Items of a tier share its ranks as in `best_k_probabilities`. The interval is equal-tailed.
        Items that people are divided about may have any rank.

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), sizes=(2, 2), rng=1)
        >>> posterior.rank_interval().sel(item="order").to_numpy()
        array([1, 2])
        """
        check_level(level)
        intervals = np.tile(np.array([1, len(self.items)], dtype=np.int64), (len(self.items), 1))
        intervals[self.is_ranked] = rank_intervals(self._rank_shares[self.is_ranked], level)
        return self._table(intervals, "bound", ["low", "high"])

    def better_than_next_probabilities(self) -> DataArray:
        """Return the probability that each item is in a better tier than the next.

        Items are in the order of their mean rank, best first, without the last, and without those
        that people are divided about; the coordinate ``next`` names the next item.

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), sizes=(2, 2), rng=1)
        >>> posterior.better_than_next_probabilities().to_numpy().round(2)
        array([0., 1., 0.])
        """
        from xarray import DataArray

        names = self.data["posterior"]["item"].to_numpy()
        order = np.argsort(self._rank_shares @ np.arange(len(names)), kind="stable")
        order = order[: int(self.is_ranked.sum())]  # NaN is last
        shares = self._above[order[:-1], order[1:]]
        coordinates = {"item": names[order[:-1]], "next": ("item", names[order[1:]])}
        return DataArray(shares, dims=("item",), coords=coordinates)

    @cached_property
    def _rank_shares(self) -> NDArray[np.float64]:
        n_items = len(self.items)
        shares = np.full((n_items, n_items), np.nan)
        ranks = np.arange(n_items) < int(self.is_ranked.sum())
        shares[self.is_ranked] = 0.0
        shares[np.ix_(self.is_ranked, ranks)] = rank_shares(self.ranked_labels)
        return shares

    def rank_tier_bands(self, level: float = 0.95) -> RankTierBands:
        """Return credible bands of the probability that a place holds an item of a tier.

        If sizes are open, those of the most probable tiers are used.

        Examples
        --------
        >>> import tierwise as tw
        >>> from tierwise import sample_posterior
        >>> posterior = sample_posterior(tw.load_political_goals(), sizes=(2, 2), rng=1)
        >>> bands = posterior.rank_tier_bands()
        >>> round(float(bands.low[0, 0]), 3), round(float(bands.high[0, 0]), 3)
        (0.717, 0.742)
        """
        self.require_one_theta("rank_tier_bands")
        sizes = self.tiers().sizes
        of_these = self._has_sizes(sizes)
        return bands_of(sizes, self.distance, self.thetas[of_these], level)

    def _has_sizes(self, sizes: Sizes) -> NDArray[np.bool_]:
        """Tell of each draw whether its tiers have these sizes."""
        wanted = np.repeat(np.arange(1, len(sizes) + 1), sizes)
        matches: NDArray[np.bool_] = (np.sort(self.labels, axis=1) == wanted).all(axis=1)
        return matches

    def diagnostics(self) -> Diagnostics:
        """Return R-hat and effective sample sizes of all quantities that do not depend on labels.

        Examples
        --------
        >>> import tierwise as tw
        >>> sampler = tw.Sampler(method="mcmc")
        >>> goals = tw.load_political_goals()
        >>> posterior = tw.sample_posterior(goals, (2, 2), sampler=sampler, draws=500, rng=1)
        >>> posterior.diagnostics().worst_r_hat.r_hat < 1.01
        True
        """
        draws = self.data["posterior"]
        names = ["theta", "total_distance", "n_tiers", "mistake_probability", *EFFECTS]
        if self.concentration != "single":  # in other tiers, the same line is something else
            names.remove("theta")
        numbers = {
            name: draws[name].to_numpy().astype(np.float64) for name in names if name in draws
        }
        if self.sizes is not None and "log_worth" in draws:
            # The number of tiers says nothing then: take how far worths are apart.
            del numbers["n_tiers"]
            numbers["spread_of_worths"] = draws["log_worth"].to_numpy().std(axis=2)
        names_of_items = [str(item) for item in self.items]
        return diagnose(numbers, draws["tier"].to_numpy(), names_of_items)

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per item, best first: tier, ranks and probabilities.

        ``tier`` is that of the most probable tiers, None for items that people are divided about;
        ``p_tier_1`` and so on are `tier_probabilities`, and ``rank_low`` to ``rank_high`` is the
        95% interval of the rank.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".

        Examples
        --------
        >>> import tierwise as tw
        >>> posterior = tw.sample_posterior(tw.load_political_goals(), sizes=(2, 2), rng=1)
        >>> posterior.to_frame(backend="pyarrow").column_names
        ['item', 'tier', 'rank_low', 'rank_high', 'p_tier_1', 'p_tier_2']
        """
        tiers, shares = self.agreed_tiers(), self.tier_probabilities().to_numpy()
        number_of: dict[Item, int] = {item: tiers[item] for item in tiers.items}
        ranks = self.rank_interval().to_numpy()
        order = sorted(
            range(len(self.items)), key=lambda item: number_of.get(self.items[item], inf)
        )
        columns: dict[str, Any] = {
            "item": [plain_item(self.items[item]) for item in order],
            "tier": [number_of.get(self.items[item]) for item in order],
            "rank_low": ranks[order, 0],
            "rank_high": ranks[order, 1],
        }
        for tier in range(shares.shape[1]):
            columns[f"p_tier_{tier + 1}"] = shares[order, tier]
        return make_frame(columns, backend)

    def _card(self) -> Card:
        tiers, shares = self.agreed_tiers(), self.tier_probabilities().to_numpy()
        sure = {
            item: float(shares[place, tiers[item] - 1])
            for place, item in enumerate(self.items)
            if self.is_ranked[place]
        }
        rows = rows_of(tiers)
        if self.divided_items():
            rows.append(Row("", self.divided_items()))
        facts = [("method", self.method), ("draws", f"{len(self):,}")]
        if self.family == "mallows" and self.concentration == "single":
            low, high = self.theta_interval()
            facts.append(("theta", f"{self.thetas.mean():.3f} ({low:.3f} to {high:.3f})"))
        return Card(
            f"{len(self.items)} items, the most probable tiers; percentages: probability that "
            "the rank of the item is among those of its tier",
            facts,
            [Section(rows)],
            sure,
        )

    def summary(self, width: int = 88) -> str:
        """Return a summary as text: tiers, theta, sizes, and their uncertainty.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        return within(summarise(self, width), width)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, as in JSON; None stands for NaN."""
        consensus = self.tiers("consensus")
        mistakes = self.mistake_probabilities
        plain = {
            **self._facts,
            "family": self.family,
            **({} if mistakes is None else {"mistake_probability": float(mistakes.mean())}),
            "tiers": plain_tiers(self.tiers()),
            "consensus_tiers": plain_tiers(consensus),
            **self._plain_thetas(),
            "tier_probabilities": self.tier_probabilities().to_numpy().tolist(),
            "co_tier_probabilities": self.co_tier_probabilities().to_numpy().tolist(),
            "tied_or_nearly_probabilities": self.tied_or_nearly_probabilities().to_numpy().tolist(),
            "above_probabilities": self.above_probabilities().to_numpy().tolist(),
            "sizes_probabilities": [
                [list(sizes), share] for sizes, share in self.sizes_probabilities().items()
            ],
            "diagnostics": self.diagnostics().to_dict(),
        }
        finite: dict[str, Any] = _finite(plain)
        return finite

    def _plain_thetas(self) -> dict[str, Any]:
        if self.family == "luce":
            return {"strengths": self.strengths().to_numpy().tolist()}
        if self.concentration == "single":
            return {
                "theta": float(self.thetas.mean()),
                "theta_sd": float(self.thetas.std()),
                "theta_interval": list(self.theta_interval()),
            }
        return {
            "item_theta_intervals": self.item_theta_intervals().to_numpy().tolist(),
            "divided_items": [plain_item(item) for item in self.divided_items()],
        }

    def __repr__(self) -> str:
        chains, draws = self.data["posterior"]["n_tiers"].shape
        what = f"sizes {self.sizes}" if self.sizes else f"{len(self.items)} items, sizes open"
        theta = "a theta per tier"
        if self.family == "luce":
            return f"Posterior({chains} x {draws} draws by {self.method}, {what}, worths)"
        if self.concentration == "single":
            low, high = self.theta_interval()
            theta = f"theta {low:.3g} to {high:.3g}"
        return (
            f"Posterior({chains} x {draws} draws by {self.method}, {what}, "
            f"{self.distance} distance, {theta})"
        )


def _finite(value: Any) -> Any:
    """Return a plain value with None instead of every number that JSON cannot hold."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return plain_number(value) if isinstance(value, float) else value
