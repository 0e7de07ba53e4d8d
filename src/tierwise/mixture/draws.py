"""MixtureDraws: draws from the posterior of several groups, and what they say."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.provenance import Provenance
from tierwise.errors import InputError
from tierwise.fitting.result import plain_tiers
from tierwise.fitting.solution import named_tiers
from tierwise.mixture.result import Mixture
from tierwise.tiers.ordered_partition import Tiers

if TYPE_CHECKING:
    from tierwise.posterior.diagnostics import Diagnostics

_TO_SETTLE = (
    "Use a longer warmup and more draws; groups that can hardly be told apart need very many, and "
    "fewer groups may be wiser"
)
_TO_GAIN_DRAWS = "use more draws or chains"


@dataclass(frozen=True, eq=False, repr=False)
class MixtureDraws:
    """Draws from the posterior of several groups, each with the same meaning in all draws.

    Attributes
    ----------
    shares, thetas : numpy.ndarray
        ``[chain, draw, group]``; theta of a single tier has no meaning.
    labels : numpy.ndarray
        ``[chain, draw, group, item]``: tier of each item, 1 being the best.
    log_likelihood : numpy.ndarray
        ``[chain, draw]``.
    pattern_memberships : numpy.ndarray
        Posterior probability of each group for each distinct answer.
    n_switches : int
        How often groups traded places in a chain and were put back.
    start : Mixture
        The maximum, from which the chains started and from which the groups have their order.
    provenance : Provenance
        Version, seed and time.
    """

    shares: NDArray[np.float64]
    thetas: NDArray[np.float64]
    labels: NDArray[np.int64]
    log_likelihood: NDArray[np.float64]
    pattern_memberships: NDArray[np.float64]
    n_switches: int
    start: Mixture
    provenance: Provenance

    @property
    def memberships(self) -> NDArray[np.float64]:
        """Posterior probability that each answer (row) belongs to each group (column)."""
        return self.pattern_memberships[self.start.pattern_of]

    def tier_probabilities(self, group: int) -> NDArray[np.float64]:
        """Return the probability that each item (row) is of each tier (column) of a group.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        """
        labels = self._labels(group)
        numbers = np.arange(1, len(self.start.groups[group - 1].sizes) + 1)
        shares: NDArray[np.float64] = (labels[:, :, None] == numbers).mean(axis=0)
        return shares

    def tiers(self, group: int) -> tuple[Tiers, float]:
        """Return the most frequent tiers of a group, and their share of the draws.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        """
        distinct, counts = np.unique(self._labels(group), axis=0, return_counts=True)
        best = int(counts.argmax())
        items = self.start.groups[group - 1].tiers.items
        return named_tiers(distinct[best] - 1, items), float(counts[best] / counts.sum())

    def _labels(self, group: int) -> NDArray[np.int64]:
        if not 1 <= group <= len(self.start.groups):
            raise InputError(f"there is no group {group}: they are 1 to {len(self.start.groups)}")
        return self.labels[:, :, group - 1].reshape(-1, self.labels.shape[-1])

    def diagnostics(self) -> "Diagnostics":
        """Tell whether the chains agree, and how many independent draws theirs are worth."""
        from tierwise.posterior.diagnostics import diagnose

        numbers = {"log-likelihood": self.log_likelihood}
        for position, (name, group) in enumerate(
            zip(self.start.names(), self.start.groups, strict=True)
        ):
            numbers[f"share of {name}"] = self.shares[:, :, position]
            if len(group.sizes) > 1:
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

    def interval(
        self, values: NDArray[np.float64], probability: float = 0.95
    ) -> NDArray[np.float64]:
        """Return the central interval of ``shares`` or ``thetas``: ``[end, group]``."""
        if not 0 < probability < 1:
            raise InputError(f"probability must lie between 0 and 1; got {probability:g}")
        tail = (1 - probability) / 2
        ends: NDArray[np.float64] = np.quantile(
            values.reshape(-1, values.shape[-1]), [tail, 1 - tail], axis=0
        )
        return ends

    def summary(self) -> str:
        """Return shares, thetas and tiers of the groups as text for people."""
        n_chains, n_draws = self.log_likelihood.shape
        lines = [f"{n_draws:,} draws from each of {n_chains} chains; intervals hold 95%", ""]
        shares, thetas = self.interval(self.shares), self.interval(self.thetas)
        for position, (name, group) in enumerate(
            zip(self.start.names(), self.start.groups, strict=True)
        ):
            share = self.shares[:, :, position].mean()
            low, high = shares[:, position]
            text = f"{name}: {share:.1%} ({low:.1%} to {high:.1%})"
            if len(group.sizes) > 1:
                theta = self.thetas[:, :, position].mean()
                tiers, frequency = self.tiers(position + 1)
                text += (
                    f", theta {theta:.4f} ({thetas[0, position]:.4f} to {thetas[1, position]:.4f})"
                )
                text += f"\n  {tiers}  ({frequency:.0%} of draws)"
            lines.append(text)
        if n_chains > 1:
            worst = self.diagnostics().worst_r_hat
            lines += ["", f"largest R-hat {worst.r_hat:.3f} ({worst.name})"]
        return "\n".join([*lines, *(f"Careful: {problem}." for problem in self.problems)])

    def __repr__(self) -> str:
        n_chains, n_draws = self.log_likelihood.shape
        return (
            f"MixtureDraws({self.start.n_groups} groups, {n_chains} chains of {n_draws} draws, "
            f"mean shares {self.shares.mean(axis=(0, 1)).round(3).tolist()})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what the draws say as plain values, as in JSON."""
        shares, thetas = self.interval(self.shares), self.interval(self.thetas)
        groups = []
        for position, group in enumerate(self.start.groups):
            tiers, frequency = self.tiers(position + 1)
            groups.append(
                {
                    "kind": group.kind,
                    "share": float(self.shares[:, :, position].mean()),
                    "share_interval": shares[:, position].tolist(),
                    "theta": float(self.thetas[:, :, position].mean()),
                    "theta_interval": thetas[:, position].tolist(),
                    "tiers": plain_tiers(tiers),
                    "tiers_probability": frequency,
                    "tier_probabilities": self.tier_probabilities(position + 1).tolist(),
                }
            )
        return {
            "n_groups": self.start.n_groups,
            "groups": groups,
            "memberships": self.memberships.tolist(),
            "diagnostics": self.diagnostics().to_dict(),
            "n_switches": self.n_switches,
            "provenance": self.provenance.to_dict(),
        }
