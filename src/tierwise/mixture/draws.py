"""sample_mixture: draws from the posterior of several groups (MixtureDraws), and what they say.

Drawn are shares, memberships, tiers and thetas of the groups, by the Gibbs sampler in ``gibbs.py``.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.checks import (
    RandomSource,
    check_choice,
    check_count,
    check_level,
    spawn_seeds,
)
from tierwise._util.columns import within
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import Progress, run_tasks
from tierwise._util.types import item_coordinate, plain_item, plain_number
from tierwise.data.counts import blocks_are_known
from tierwise.data.frames import table_of_items
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.distances import Distance, get_distance
from tierwise.errors import InputError, TierwiseWarning, instead, percent, share_in_words
from tierwise.fitting.result import Family
from tierwise.mixture.fit import Noise, SizesOfGroups, fit_mixture, sizes_of_groups
from tierwise.mixture.gibbs import MixtureTarget, run_chain
from tierwise.mixture.groups import distinct_rankings
from tierwise.model.priors import DEFAULT_PRIORS, Priors, as_theta_prior, check_priors
from tierwise.posterior.samplers import DEFAULT_SAMPLER, Sampler, check_sampler
from tierwise.posterior.storage import Schema, StoredDraws
from tierwise.posterior.summary import Diagnostics, diagnose
from tierwise.tiers import Tiers, plain_tiers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from xarray import DataArray

    from tierwise._util.provenance import Provenance
    from tierwise.data.frames import Backend
    from tierwise.mixture.em import GroupSizes
    from tierwise.mixture.gibbs import Trace
    from tierwise.mixture.result import Mixture
    from tierwise.tiers import Sizes

# Draws that each chain throws away.
_WARMUP = 500

SCHEMA = Schema(
    "MixtureDraws",
    variables={
        "posterior/share": (("chain", "draw", "group"), "s"),
        "posterior/theta": (("chain", "draw", "group"), "f"),
        "posterior/tier": (("chain", "draw", "group", "item"), "i"),
        "posterior/log_likelihood": (("chain", "draw"), "f"),
        "memberships/membership": (("pattern", "group"), "s"),
        "memberships/pattern_of": (("answer",), "pattern"),
    },
    facts={"items": (list,), "start": (dict,), "n_switches": (int,), "provenance": (dict,)},
)
"""What must be in the tree of draws from a mixture."""

_TO_SETTLE = (
    "Use a longer warmup and more draws; groups that can hardly be distinguished need very many, "
    "and fewer groups may be wiser"
)
_TO_GAIN_DRAWS = "use more draws or chains"
# A group in perfect agreement has an infinite theta by maximum likelihood; a chain starts here.
_LARGEST_START = 5.0


@dataclass(frozen=True, eq=False, repr=False)
class MixtureDraws(StoredDraws):
    """Draws from the posterior of several groups, each with the same meaning in all draws.

    Attributes
    ----------
    data : xarray.DataTree
        The draws, as ArviZ takes them, with dimensions ``chain``, ``draw``, ``group`` and ``item``.
        Group ``posterior``: ``share`` and ``theta`` of each group (theta of a single tier has no
        meaning), ``tier`` of each item in each group (1 being the best), and ``log_likelihood``.
        Group ``memberships``: ``membership``, the posterior probability of each group for each
        distinct answer, and ``pattern_of``, which of these each answer is.
    named_items : tuple or None
        The items, where a file cannot hold their names as they are (dates, for example).

    Examples
    --------
    >>> import tierwise as tw
    >>> one = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=3.0)
    >>> other = tw.ClusteredMallows(tw.Tiers([["c"], ["b", "a"]]), theta=3.0)
    >>> rankings = tw.Rankings.concat([one.sample(60, rng=1), other.sample(40, rng=2)])
    >>> drawn = tw.sample_mixture(rankings, 2, sizes=(1, 2), draws=400, rng=1)
    >>> drawn.data["posterior"]["tier"].dims
    ('chain', 'draw', 'group', 'item')
    >>> drawn.to_frame().columns.tolist()
    ['chain', 'draw', 'group', 'share', 'theta', 'tier[a]', 'tier[b]', 'tier[c]']
    """

    schema = SCHEMA

    @property
    def n_groups(self) -> int:
        """Number of groups, without a uniform one."""
        return int(self.start["n_groups"])

    def names(self) -> list[str]:
        """Return names for the groups: group 1, group 2, ..., and uniform."""
        return [str(name) for name in self.data["posterior"]["group"].to_numpy()]

    @property
    def sizes(self) -> tuple[Sizes, ...]:
        """Sizes of the tiers of each group."""
        return tuple(tuple(group["sizes"]) for group in self.start["groups"])

    @property
    def distance(self) -> str:
        """Name of the distance."""
        return str(self.start["distance"])

    @property
    def n_rankings(self) -> float:
        """Number of rankings."""
        return float(self.start["n_rankings"])

    @property
    def start(self) -> dict[str, Any]:
        """The maximum that the chains started from, as of `Mixture.to_dict`.

        The groups have their order from it.
        """
        start: dict[str, Any] = self._facts["start"]
        return start

    @property
    def n_switches(self) -> int:
        """How often groups traded places in a chain and were put back."""
        return int(self._facts["n_switches"])

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of each group: ``[chain, draw, group]``."""
        return self._draws("share")

    @property
    def thetas(self) -> NDArray[np.float64]:
        """Theta of each group, which has no meaning for a single tier: ``[chain, draw, group]``."""
        return self._draws("theta")

    @property
    def labels(self) -> NDArray[np.int64]:
        """Tier of each item, 1 being the best: ``[chain, draw, group, item]``."""
        return self._draws("tier").astype(np.int64)

    @property
    def log_likelihood(self) -> NDArray[np.float64]:
        """Log-likelihood of all answers: ``[chain, draw]``."""
        return self._draws("log_likelihood")

    def _draws(self, name: str) -> NDArray[Any]:
        values: NDArray[Any] = self.data["posterior"][name].to_numpy()
        return values

    @property
    def memberships(self) -> NDArray[np.float64]:
        """Posterior probability that each answer (row) belongs to each group (column)."""
        stored = self.data["memberships"]
        of_answers: NDArray[np.float64] = stored["membership"].to_numpy()[
            stored["pattern_of"].to_numpy()
        ]
        return of_answers

    def tier_probabilities(self, group: int) -> DataArray:
        """Return the probability that each item (row) is of each tier (column) of a group.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        """
        labels = self._labels(group)
        numbers = np.arange(1, len(self.sizes[group - 1]) + 1)
        shares = (labels[:, :, None] == numbers).mean(axis=0)
        return table_of_items(self.items, shares, "tier", numbers)

    def tiers(self, group: int) -> Tiers:
        """Return the most frequent tiers of a group.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        """
        return self._most_frequent(group)[0]

    def tiers_probability(self, group: int) -> float:
        """Return the share of draws that have the most frequent tiers of a group.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        """
        return self._most_frequent(group)[1]

    def _most_frequent(self, group: int) -> tuple[Tiers, float]:
        distinct, counts = np.unique(self._labels(group), axis=0, return_counts=True)
        best = int(counts.argmax())
        tiers = Tiers.from_labels(distinct[best].tolist(), self.items)
        return tiers, float(counts[best] / counts.sum())

    def _labels(self, group: int) -> NDArray[np.int64]:
        if group not in range(1, len(self.sizes) + 1):
            raise InputError(f"there is no group {group}: they are 1 to {len(self.sizes)}")
        return self.labels[:, :, group - 1].reshape(-1, len(self.items))

    def share_intervals(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the central interval of each group's share: ``[group, end]``.

        Parameters
        ----------
        level
            The share of the draws that an interval holds.
        """
        return _intervals(self.shares, level)

    def theta_intervals(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the central interval of each group's theta: ``[group, end]``.

        Parameters
        ----------
        level
            The share of the draws that an interval holds.
        """
        return _intervals(self.thetas, level)

    def diagnostics(self) -> Diagnostics:
        """Tell whether the chains agree, and how many independent draws theirs are worth."""
        numbers = {"log-likelihood": self.log_likelihood}
        for position, (name, sizes) in enumerate(zip(self.names(), self.sizes, strict=True)):
            numbers[f"share of {name}"] = self.shares[:, :, position]
            if len(sizes) > 1:
                numbers[f"theta of {name}"] = self.thetas[:, :, position]
        no_ties = np.empty((*self.log_likelihood.shape, 0), dtype=np.int64)
        found = diagnose(numbers, no_ties, [])
        return replace(found, to_settle=_TO_SETTLE, to_gain_draws=_TO_GAIN_DRAWS)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the chains, each with what to do about it; empty if all is well."""
        if len(self.log_likelihood) == 1:
            return ("one chain has nothing to be compared with: use several, such as chains=4",)
        return self.diagnostics().problems

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the draws as a data frame, one row per draw and group.

        Parameters
        ----------
        backend
            The library whose data frame is wanted: "pandas", "polars" or "pyarrow".
        """
        from tierwise.data.frames import make_frame

        names, (n_chains, n_draws, n_groups) = self.names(), self.shares.shape
        rows = [axis.ravel() for axis in np.indices((n_chains, n_draws, n_groups))]
        columns: dict[str, Any] = {
            "chain": rows[0],
            "draw": rows[1],
            "group": [names[group] for group in rows[2].tolist()],
            "share": self.shares.ravel(),
            "theta": self.thetas.ravel(),
        }
        labels = self.labels.reshape(-1, len(self.items))
        columns |= {f"tier[{item}]": labels[:, place] for place, item in enumerate(self.items)}
        return make_frame(columns, backend)

    def _card(self) -> Card:
        n_chains, n_draws = self.log_likelihood.shape
        sections = []
        for position, name in enumerate(self.names()):
            share, theta = (
                float(values[:, :, position].mean()) for values in (self.shares, self.thetas)
            )
            tiers, frequency = self._most_frequent(position + 1)
            heading = (
                f"{name}: {share:.1%}, theta {theta:.3f}, {share_in_words(frequency)} of draws"
            )
            sections.append(Section(rows_of(tiers), heading))
        title = f"{self.n_groups} groups, {n_chains} chains of {n_draws:,} draws"
        return Card(
            title, sections=sections, note=" ".join(f"Careful: {p}." for p in self.problems)
        )

    def summary(self, width: int = 88, *, level: float = 0.95) -> str:
        """Return shares, thetas and tiers of the groups as text for people.

        Parameters
        ----------
        width
            How many columns there are to write in.
        level
            The share of the draws that intervals hold.
        """
        n_chains, n_draws = self.log_likelihood.shape
        chains = f"{n_draws:,} draws from each of {n_chains} chains"
        lines = [f"{chains}; intervals hold {percent(level)}", ""]
        shares, thetas = self.share_intervals(level), self.theta_intervals(level)
        for position, (name, sizes) in enumerate(zip(self.names(), self.sizes, strict=True)):
            share = self.shares[:, :, position].mean()
            low, high = shares[position]
            text = f"{name}: {share:.1%} ({low:.1%} to {high:.1%})"
            if len(sizes) > 1:
                theta = self.thetas[:, :, position].mean()
                low, high = thetas[position]
                tiers, frequency = self._most_frequent(position + 1)
                text += f", theta {theta:.4f} ({low:.4f} to {high:.4f})"
                text += f"\n  {tiers}  ({share_in_words(frequency)} of draws)"
            lines.append(text)
        if n_chains > 1:
            worst = self.diagnostics().worst_r_hat
            lines += ["", f"largest R-hat {worst.r_hat:.3f} ({worst.name})"]
        lines += [f"Careful: {problem}." for problem in self.problems]
        return within("\n".join(lines), width)

    def __repr__(self) -> str:
        n_chains, n_draws = self.log_likelihood.shape
        return (
            f"MixtureDraws({self.n_groups} groups, {n_chains} chains of {n_draws} draws, "
            f"mean shares {self.shares.mean(axis=(0, 1)).round(3).tolist()})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, as in JSON."""
        shares, thetas = self.share_intervals(), self.theta_intervals()
        groups = []
        for position, group in enumerate(self.start["groups"]):
            tiers, frequency = self._most_frequent(position + 1)
            theta = float(self.thetas[:, :, position].mean())
            groups.append(
                {
                    "kind": group["kind"],
                    "share": float(self.shares[:, :, position].mean()),
                    "share_interval": shares[position].tolist(),
                    "theta": plain_number(theta),
                    "theta_interval": [plain_number(end) for end in thetas[position].tolist()],
                    "tiers": plain_tiers(tiers),
                    "tiers_probability": frequency,
                    "tier_probabilities": self.tier_probabilities(position + 1).to_numpy().tolist(),
                }
            )
        return {
            **self._facts,
            "n_groups": self.n_groups,
            "groups": groups,
            "memberships": self.memberships.tolist(),
            "diagnostics": self.diagnostics().to_dict(),
        }


def _intervals(values: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return the interval between the quantiles that leave out as much on both sides."""
    tail = (1 - check_level(level)) / 2
    ends: NDArray[np.float64] = np.quantile(
        values.reshape(-1, values.shape[-1]), [tail, 1 - tail], axis=0
    )
    return ends.T


def assemble(
    traces: Sequence[Trace], start: Mixture, settings: dict[str, Any], provenance: Provenance
) -> MixtureDraws:
    """Put the draws of all chains together.

    Parameters
    ----------
    traces
        The draws of each chain.
    start
        The maximum that the chains started from.
    settings
        What was sampled, and how, as plain values.
    provenance
        Version, seed and time.
    """
    from xarray import Dataset, DataTree

    items = [plain_item(item) for item in start.groups[0].tiers.items]
    labels = np.stack([trace.labels for trace in traces])
    per_group = ("chain", "draw", "group")
    coordinates = {
        "chain": np.arange(len(traces)),
        "draw": np.arange(labels.shape[1]),
        "group": np.array(start.names(), dtype=object),
    }
    posterior = Dataset(
        {
            "share": (per_group, np.stack([trace.shares for trace in traces])),
            "theta": (per_group, np.stack([trace.thetas for trace in traces])),
            "tier": ((*per_group, "item"), (labels + 1).astype(np.int32)),
            "log_likelihood": (
                ("chain", "draw"),
                np.stack([trace.log_likelihood for trace in traces]),
            ),
        },
        coords={**coordinates, "item": item_coordinate(items)},
    )
    memberships = Dataset(
        {
            "membership": (
                ("pattern", "group"),
                np.mean([trace.memberships for trace in traces], axis=0),
            ),
            "pattern_of": ("answer", start.pattern_of),
        },
        coords={"group": coordinates["group"]},
    )
    facts = {
        "items": items,
        **settings,
        "start": {name: value for name, value in start.to_dict().items() if name != "memberships"},
        "n_switches": sum(trace.n_switches for trace in traces),
        "provenance": provenance.to_dict(),
    }
    tree = DataTree.from_dict({"posterior": posterior, "memberships": memberships})
    tree.attrs["tierwise"] = json.dumps(facts, default=float)
    return MixtureDraws.of_items(tree, start.groups[0].tiers.items)


def sample_mixture(
    data: Rankings,
    n_groups: int,
    sizes: SizesOfGroups = "search",
    distance: str | Distance = "kendall",
    *,
    family: Family = "mallows",
    noise: Noise = "none",
    chains: int = 4,
    draws: int = 1000,
    priors: Priors = DEFAULT_PRIORS,
    sampler: Sampler = DEFAULT_SAMPLER,
    starts: int = 20,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> MixtureDraws:
    """Draw shares, tiers, thetas and memberships of several groups from their posterior.

    A Gibbs sampler: who belongs where, then the shares, then each group's tiers (by Metropolis
    swaps) and theta (from its exact distribution given the tiers). Chains start at the groups that
    `fit_mixture` finds, and groups are named after those in every draw.

    Parameters
    ----------
    data
        The rankings, with whole weights. Incomplete answers must leave no doubt about which items
        lie in which tier-sized block of places.
    n_groups
        The number of groups.
    sizes
        As for `fit_mixture`; "search" keeps to the sizes that are found there.
    distance, noise, starts, workers, progress
        As for `fit_mixture`.
    family
        "mallows". Groups with worths, "luce", are fitted by `fit_mixture`, and not drawn.
    chains, draws
        Number of chains, and of draws to keep from each.
    priors
        Priors of every theta and of the shares; see `Priors`.
    sampler
        ``Sampler(warmup=...)``: how many draws to throw away before, 500 if not given.
    rng
        Seed or generator.

    Returns
    -------
    MixtureDraws
        The draws. A `TierwiseWarning` says so, and what to do, where the chains have not settled
        or are too short.

    Examples
    --------
    >>> import tierwise as tw
    >>> one = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=3.0)
    >>> other = tw.ClusteredMallows(tw.Tiers([["c"], ["b", "a"]]), theta=3.0)
    >>> rankings = tw.Rankings.concat([one.sample(60, rng=1), other.sample(40, rng=2)])
    >>> drawn = sample_mixture(rankings, 2, sizes=(1, 2), draws=400, rng=1)
    >>> drawn.tiers(1), drawn.tiers_probability(1)
    (Tiers('a > b ~ c'), 1.0)
    >>> drawn.problems
    ()
    """
    watch = Stopwatch()
    data = check_data(data, "sample_mixture", Rankings)
    check_choice("family", family, get_args(Family))
    if family == "luce":
        raise InputError(
            "groups are drawn of Mallows models, and not with worths",
            [instead("fit_mixture", "for their shares, tiers and worths", command="mixture")],
        )
    chains = check_count("chains", chains)
    draws = check_count("draws", draws)
    check_sampler(sampler).refuse_all_but("warmup", function="sample_mixture")
    warmup = _WARMUP if sampler.warmup is None else sampler.warmup
    prior_shares = check_priors(priors).shares
    if isinstance(n_groups, Iterable):
        raise InputError(f"n_groups must be one number; got {n_groups!r}: compare by fit_mixture")
    if data.weights.dtype.kind != "i":
        raise InputError("sampling memberships needs whole weights: each ranking is in one group")
    (wanted,) = sizes_of_groups(len(data.items), n_groups, sizes, noise).values()
    _refuse_open_answers(data, wanted)
    measure, prior = get_distance(distance), as_theta_prior(priors.theta)
    start_seed, chain_seed = spawn_seeds(rng, 2)
    start = fit_mixture(
        data,
        n_groups,
        sizes,
        measure,
        noise=noise,
        starts=starts,
        workers=workers,
        progress=progress,
        rng=start_seed,
    )
    target = MixtureTarget(distinct_rankings(data), measure, prior, prior_shares)
    components = tuple(
        target.fitter.component(
            group.sizes, group.tiers.label_array(data.items), min(group.theta, _LARGEST_START)
        )
        for group in start.groups
    )
    traces = run_tasks(
        run_chain,
        [
            (target, components, start.shares, warmup, draws, seed)
            for seed in spawn_seeds(chain_seed, chains)
        ],
        description="Sampling groups",
        workers=workers,
        progress=progress,
    )
    settings = {
        "distance": measure.name,
        "prior_theta": str(prior),
        "prior_shares": prior_shares,
        "warmup": warmup,
    }
    drawn = assemble(traces, start, settings, watch.provenance(rng))
    for problem in drawn.problems:
        warnings.warn(problem, TierwiseWarning, stacklevel=2)
    return drawn


def _refuse_open_answers(data: Rankings, wanted: tuple[GroupSizes, ...]) -> None:
    """Refuse answers that do not say which items lie in which block, for sizes that may occur."""
    for sizes in set(wanted):
        strict = (1,) * len(data.items)
        if not blocks_are_known(data, strict if sizes == "search" else sizes):
            raise InputError(
                "sampling needs answers that say which items lie in which tier-sized block: "
                "complete ones, or sizes whose last tier holds all items that any answer leaves out"
            )
