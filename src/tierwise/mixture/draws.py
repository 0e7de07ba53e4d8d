"""sample_mixture: draws from the posterior of several groups (MixtureDraws), and what they say.

Drawn are shares, memberships, tiers and thetas of the groups, by the Gibbs sampler in ``gibbs.py``,
or worths in the place of thetas, by that in ``gibbs_worths.py``.
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
from tierwise.fitting.luce import refuse_options_of_mallows
from tierwise.fitting.result import Family
from tierwise.mixture.fit import Noise, SizesOfGroups, fit_mixture, sizes_of_groups
from tierwise.mixture.gibbs import MixtureTarget, run_chain
from tierwise.mixture.gibbs_worths import WorthTarget, run_chain_of_worths
from tierwise.mixture.groups import Component, distinct_rankings
from tierwise.model.priors import DEFAULT_PRIORS, Priors, as_theta_prior, check_priors
from tierwise.posterior.samplers import DEFAULT_SAMPLER, Sampler, check_sampler
from tierwise.posterior.storage import Schema, StoredDraws
from tierwise.posterior.summary import Diagnostics, diagnose
from tierwise.tiers import Tiers, plain_tiers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from xarray import DataArray

    from tierwise._util.provenance import Provenance
    from tierwise._util.types import Item
    from tierwise.data.frames import Backend
    from tierwise.mixture.em import GroupSizes
    from tierwise.mixture.gibbs import Trace
    from tierwise.mixture.result import Group, Mixture
    from tierwise.tiers import Sizes

# Draws that each chain throws away.
_WARMUP = 500

SCHEMA = Schema(
    "MixtureDraws",
    variables={
        "posterior/share": (("chain", "draw", "group"), "s"),
        "posterior/tier": (("chain", "draw", "group", "item"), "i"),
        "posterior/log_likelihood": (("chain", "draw"), "f"),
        "memberships/membership": (("pattern", "group"), "s"),
        "memberships/pattern_of": (("answer",), "pattern"),
    },
    facts={"items": (list,), "start": (dict,), "n_switches": (int,), "provenance": (dict,)},
    variables_of_family={
        "mallows": {"posterior/theta": (("chain", "draw", "group"), "f")},
        "luce": {"posterior/log_worth": (("chain", "draw", "group", "item"), "f")},
    },
)
"""What must be in the tree of draws from a mixture."""

_TO_SETTLE = (
    "Use a longer warmup and more draws. Groups that are hard to distinguish need very many; "
    "fewer groups may be better"
)
_TO_GAIN_DRAWS = "use more draws or chains"
# A group in perfect agreement has an infinite theta by maximum likelihood; a chain starts here.
_LARGEST_START = 5.0
# Log worths of neighbouring tiers differ by so much at least where a chain starts.
_LEAST_GAP = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class MixtureDraws(StoredDraws):
    """Draws from the posterior of several groups, each with the same meaning in all draws.

    Attributes
    ----------
    data : xarray.DataTree
        The draws, in the format of ArviZ, with dimensions ``chain``, ``draw``, ``group`` and
        ``item``. Group ``posterior``: ``share`` and ``theta`` of each group (theta of a single tier
        is meaningless; groups with worths have ``log_worth`` of each item), ``tier`` of each item
        in each group (1 being the best), and ``log_likelihood``. Group ``memberships``:
        ``membership``, the posterior probability of each group for each distinct answer, and
        ``pattern_of``, which of these each answer is.
    named_items : tuple or None
        The items, if a file cannot store their names (dates, for example).

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
        """The number of groups, without the uniform group."""
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
    def family(self) -> str:
        """Which models: "mallows" for theta and a distance, or "luce" for one worth per tier."""
        return str(self._facts.get("family", "mallows"))

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
        """How often groups switched labels in a chain and were relabelled."""
        return int(self._facts["n_switches"])

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of each group: ``[chain, draw, group]``."""
        return self._draws("share")

    @property
    def thetas(self) -> NDArray[np.float64]:
        """Theta of each group, meaningless for a single tier: ``[chain, draw, group]``."""
        if self.family == "luce":
            raise InputError("these groups have worths instead of theta", [instead("log_worths")])
        return self._draws("theta")

    @property
    def log_worths(self) -> NDArray[np.float64]:
        """Log worth of each item in each group, 0 on average: ``[chain, draw, group, item]``."""
        if self.family != "luce":
            raise InputError("these groups have theta instead of worths", [instead("thetas")])
        return self._draws("log_worth")

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
            raise InputError(f"there is no group {group}: choose 1 to {len(self.sizes)}")
        return self.labels[:, :, group - 1].reshape(-1, len(self.items))

    def share_intervals(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the central interval of each group's share: ``[group, end]``.

        Parameters
        ----------
        level
            The share of the draws in an interval.
        """
        return _intervals(self.shares, level)

    def theta_intervals(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the central interval of each group's theta: ``[group, end]``.

        Parameters
        ----------
        level
            The share of the draws in an interval.
        """
        return _intervals(self.thetas, level)

    def worth_intervals(self, group: int, level: float = 0.95) -> NDArray[np.float64]:
        """Return mean and central interval of the worth of each tier of a group: ``[tier, 3]``.

        The geometric mean of worths over items is 1; the mean is a geometric one, too.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        level
            The share of the draws in an interval.
        """
        labels = self._labels(group)
        logs = self.log_worths[:, :, group - 1].reshape(labels.shape)
        firsts = [(labels == tier).argmax(axis=1) for tier in range(1, labels.max() + 1)]
        of_tiers = np.take_along_axis(logs, np.column_stack(firsts), axis=1)
        table: NDArray[np.float64] = np.exp(
            np.column_stack((of_tiers.mean(axis=0), _intervals(of_tiers, level)))
        )
        return table

    def diagnostics(self) -> Diagnostics:
        """Return whether the chains agree, and how many independent draws theirs are worth."""
        numbers = {"log-likelihood": self.log_likelihood}
        for position, (name, sizes) in enumerate(zip(self.names(), self.sizes, strict=True)):
            numbers[f"share of {name}"] = self.shares[:, :, position]
            if len(sizes) > 1 and self.family == "luce":
                spread = self.log_worths[:, :, position].std(axis=2)
                numbers[f"spread of worths of {name}"] = spread
            elif len(sizes) > 1:
                numbers[f"theta of {name}"] = self.thetas[:, :, position]
        no_ties = np.empty((*self.log_likelihood.shape, 0), dtype=np.int64)
        found = diagnose(numbers, no_ties, [])
        return replace(found, to_settle=_TO_SETTLE, to_gain_draws=_TO_GAIN_DRAWS)

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of the chains, each with its remedy; empty if there are none."""
        if len(self.log_likelihood) == 1:
            return ("a single chain cannot be checked: use several, such as chains=4",)
        return self.diagnostics().problems

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the draws as a data frame, one row per draw and group.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".
        """
        from tierwise.data.frames import make_frame

        names, (n_chains, n_draws, n_groups) = self.names(), self.shares.shape
        rows = [axis.ravel() for axis in np.indices((n_chains, n_draws, n_groups))]
        columns: dict[str, Any] = {
            "chain": rows[0],
            "draw": rows[1],
            "group": [names[group] for group in rows[2].tolist()],
            "share": self.shares.ravel(),
        }
        if self.family == "mallows":
            columns["theta"] = self.thetas.ravel()
        labels = self.labels.reshape(-1, len(self.items))
        columns |= {f"tier[{item}]": labels[:, place] for place, item in enumerate(self.items)}
        if self.family == "luce":
            logs = self.log_worths.reshape(labels.shape)
            columns |= {
                f"log_worth[{item}]": logs[:, place] for place, item in enumerate(self.items)
            }
        return make_frame(columns, backend)

    def _card(self) -> Card:
        n_chains, n_draws = self.log_likelihood.shape
        sections = []
        for position, name in enumerate(self.names()):
            share = float(self.shares[:, :, position].mean())
            tiers, frequency = self._most_frequent(position + 1)
            parameters = self._parameters(position, None)
            heading = f"{name}: {share:.1%}, {parameters}, {share_in_words(frequency)} of draws"
            sections.append(Section(rows_of(tiers), heading))
        title = f"{self.n_groups} groups, {n_chains} chains of {n_draws:,} draws"
        return Card(
            title, sections=sections, note=" ".join(f"Careful: {p}." for p in self.problems)
        )

    def _parameters(self, position: int, level: float | None) -> str:
        """Write theta or worths of a group, with intervals if a level is given."""
        if self.family == "luce":
            table = self.worth_intervals(position + 1, level or 0.95).tolist()
            of_tiers = [
                f"{mean:.3g} ({low:.3g} to {high:.3g})" if level else f"{mean:.3g}"
                for mean, low, high in table
            ]
            return f"worths {', '.join(of_tiers)}"
        theta = self.thetas[:, :, position].mean()
        if level is None:
            return f"theta {theta:.3f}"
        low, high = self.theta_intervals(level)[position]
        return f"theta {theta:.4f} ({low:.4f} to {high:.4f})"

    def summary(self, width: int = 88, *, level: float = 0.95) -> str:
        """Return shares, thetas or worths, and tiers of the groups as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        level
            The share of the draws in intervals.
        """
        n_chains, n_draws = self.log_likelihood.shape
        chains = f"{n_draws:,} draws from each of {n_chains} chains"
        lines = [f"{chains}; intervals hold {percent(level)}", ""]
        shares = self.share_intervals(level)
        for position, (name, sizes) in enumerate(zip(self.names(), self.sizes, strict=True)):
            share = self.shares[:, :, position].mean()
            low, high = shares[position]
            text = f"{name}: {share:.1%} ({low:.1%} to {high:.1%})"
            if len(sizes) > 1:
                tiers, frequency = self._most_frequent(position + 1)
                text += f", {self._parameters(position, level)}"
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
        shares = self.share_intervals()
        groups = []
        for position, group in enumerate(self.start["groups"]):
            tiers, frequency = self._most_frequent(position + 1)
            groups.append(
                {
                    "kind": group["kind"],
                    "share": float(self.shares[:, :, position].mean()),
                    "share_interval": shares[position].tolist(),
                    **self._plain_parameters(position),
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

    def _plain_parameters(self, position: int) -> dict[str, Any]:
        """Theta or worths of a group, as plain values."""
        if self.family == "luce":
            return {
                "worths": [
                    {"worth": mean, "interval": [low, high]}
                    for mean, low, high in self.worth_intervals(position + 1).tolist()
                ]
            }
        ends = self.theta_intervals()[position].tolist()
        return {
            "theta": plain_number(float(self.thetas[:, :, position].mean())),
            "theta_interval": [plain_number(end) for end in ends],
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
            **{
                name: (
                    (*per_group, "item")[: values.ndim + 1],
                    np.stack([trace.parameters[name] for trace in traces]),
                )
                for name, values in traces[0].parameters.items()
            },
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

    It is a Gibbs sampler: memberships, then the shares, then each group's tiers (by Metropolis
    swaps) and theta (from its exact distribution given the tiers), or its tiers and worths. Chains
    start at the groups that `fit_mixture` finds, and groups are named after those in every draw.

    Parameters
    ----------
    data
        The rankings, with whole weights. For the family "mallows", incomplete answers must
        determine which items lie in which tier-sized block of places.
    n_groups
        The number of groups.
    sizes
        As in `fit_mixture`; "search" uses the sizes found there.
    distance, noise, starts, workers, progress
        As in `fit_mixture`.
    family
        "mallows": groups have a distance and theta. "luce": they have one worth per tier.
    chains, draws
        Number of chains, and of draws to keep from each.
    priors
        Priors of every theta and of the shares; see `Priors`.
    sampler
        ``Sampler(warmup=...)``: the number of warm-up draws, 500 if not given.
    rng
        Seed or generator.

    Returns
    -------
    MixtureDraws
        The draws. A `TierwiseWarning` with a remedy follows if the chains have not converged or are
        too short.

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
    chains = check_count("chains", chains)
    draws = check_count("draws", draws)
    check_sampler(sampler).refuse_all_but("warmup", function="sample_mixture")
    warmup = _WARMUP if sampler.warmup is None else sampler.warmup
    prior_shares = check_priors(priors).shares
    if isinstance(n_groups, Iterable):
        raise InputError(
            f"n_groups must be one number; got {n_groups!r}: compare numbers with fit_mixture"
        )
    if data.weights.dtype.kind != "i":
        raise InputError(
            "sampling memberships needs whole weights, because each ranking is in "
            "one group: round the weights"
        )
    (wanted,) = sizes_of_groups(len(data.items), n_groups, sizes, noise).values()
    measure, prior = get_distance(distance), as_theta_prior(priors.theta)
    if family == "luce":
        refuse_options_of_mallows(distance=(measure.name, "kendall"))
    else:
        _refuse_open_answers(data, wanted)
    start_seed, chain_seed = spawn_seeds(rng, 2)
    start = fit_mixture(
        data,
        n_groups,
        sizes,
        measure if family == "mallows" else "auto",
        family=family,
        noise=noise,
        starts=starts,
        workers=workers,
        progress=progress,
        rng=start_seed,
    )
    answers = distinct_rankings(data)
    run: Callable[..., Trace] = run_chain if family == "mallows" else run_chain_of_worths
    target = (
        MixtureTarget(answers, measure, prior, prior_shares)
        if family == "mallows"
        else WorthTarget(answers, prior_shares)
    )
    components = tuple(_component(target, group, data.items) for group in start.groups)
    traces = run_tasks(
        run,
        [
            (target, components, start.shares, warmup, draws, seed)
            for seed in spawn_seeds(chain_seed, chains)
        ],
        description="Sampling groups",
        workers=workers,
        progress=progress,
    )
    of_family = (
        {"distance": measure.name, "prior_theta": str(prior)}
        if family == "mallows"
        else {"family": family}
    )
    settings = {
        **of_family,
        "prior_shares": prior_shares,
        "warmup": warmup,
    }
    drawn = assemble(traces, start, settings, watch.provenance(rng))
    for problem in drawn.problems:
        warnings.warn(problem, TierwiseWarning, stacklevel=2)
    return drawn


def _component(
    target: MixtureTarget | WorthTarget, group: Group, items: tuple[Item, ...]
) -> Component:
    """Return a group that was fitted as one that a chain can start from."""
    labels = group.tiers.label_array(items)
    if isinstance(target, MixtureTarget):
        return target.fitter.component(group.sizes, labels, min(group.theta, _LARGEST_START))
    logs = np.log(group.worths) if group.worths else np.zeros(len(group.sizes))
    # Worths of neighbouring tiers may be equal, and a chain needs them to be in order.
    logs = logs - _LEAST_GAP * np.arange(len(logs))
    return Component(group.sizes, labels, np.nan, 0.0, logs)


def _refuse_open_answers(data: Rankings, wanted: tuple[GroupSizes, ...]) -> None:
    """Refuse answers that do not say which items lie in which block, for sizes that may occur."""
    for sizes in set(wanted):
        strict = (1,) * len(data.items)
        if not blocks_are_known(data, strict if sizes == "search" else sizes):
            raise InputError(
                "sampling needs answers that determine which items lie in which tier-sized "
                "block: use complete answers, or sizes whose last tier holds all items "
                "that any answer leaves out"
            )
