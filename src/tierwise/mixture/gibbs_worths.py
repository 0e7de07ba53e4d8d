"""Gibbs sampling of a mixture whose groups have worths.

Memberships come from their exact probabilities, shares from a Dirichlet distribution, and tiers and
worths of each group by the chain over races (`tierwise.luce.chain`), given its members. Draws are
relabelled as those of `tierwise.mixture.gibbs`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tierwise.luce.chain import RaceChain
from tierwise.mixture.em import e_step
from tierwise.mixture.gibbs import Trace, matching_groups
from tierwise.mixture.worths import WorthFitter, log_worths_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.mixture.groups import Component, DistinctRankings


# Sweeps over the tiers and worths of a group for each draw of its members: they cost little, and
# worths that are far from those drawn last need several.
_SWEEPS = 5


@dataclass(frozen=True, eq=False)
class WorthTarget:
    """The posterior that is sampled.

    Attributes
    ----------
    answers
        The data, with whole weights.
    prior_shares
        Parameter of the Dirichlet prior of the shares.
    """

    answers: DistinctRankings
    prior_shares: float

    @cached_property
    def fitter(self) -> WorthFitter:
        """What computes probabilities in groups."""
        return WorthFitter(self.answers)

    def draw_group(
        self, component: Component, members: NDArray[np.int64], rng: np.random.Generator
    ) -> Component:
        """Draw tiers of the same sizes, and worths, given how many of each answer are members."""
        if len(component.sizes) == 1:
            return component
        kept = members > 0
        races = self.fitter.races.restricted(kept).reweighted(members[kept].astype(np.float64))
        chain = RaceChain(races, held="sizes")
        log_worths = log_worths_of(component)[component.labels]
        labels, drawn, _ = chain.run(component.labels, log_worths, 1, rng, _SWEEPS)
        _, firsts = np.unique(labels[0], return_index=True)
        return replace(component, labels=labels[0], log_worths=drawn[0, firsts])


def run_chain_of_worths(
    target: WorthTarget,
    components: tuple[Component, ...],
    shares: NDArray[np.float64],
    warmup: int,
    draws: int,
    seed: np.random.SeedSequence,
) -> Trace:
    """Run a chain that starts at given groups, and relabel its draws."""
    rng = np.random.default_rng(seed)
    weights = target.answers.weights.astype(np.int64)
    n_groups, n_items = len(components), target.answers.n_items
    sizes = [component.sizes for component in components]
    pivot, _ = e_step(target.fitter, components, shares)
    probabilities = pivot
    all_shares = np.empty((draws, n_groups))
    all_labels = np.empty((draws, n_groups, n_items), dtype=np.int64)
    all_logs = np.empty((draws, n_groups, n_items))
    log_likelihood = np.empty(draws)
    memberships = np.zeros(pivot.shape)
    orders = np.empty((draws + 1, n_groups), dtype=np.int64)
    orders[0] = np.arange(n_groups)
    for draw in range(-warmup, draws):
        members = rng.multinomial(weights, probabilities)
        shares = rng.dirichlet(target.prior_shares + members.sum(axis=0))
        components = tuple(
            target.draw_group(component, own, rng)
            for component, own in zip(components, members.T, strict=True)
        )
        probabilities, of_answers = e_step(target.fitter, components, shares)
        if draw < 0:
            continue
        order = matching_groups(pivot.T @ (weights[:, None] * probabilities), sizes)
        orders[draw + 1] = order
        memberships += probabilities[:, order]
        all_shares[draw] = shares[order]
        log_likelihood[draw] = weights @ of_answers
        for place, group in enumerate(order.tolist()):
            one = components[group]
            all_labels[draw, place] = one.labels
            all_logs[draw, place] = log_worths_of(one)[one.labels]
    return Trace(
        all_shares,
        {"log_worth": all_logs},
        all_labels,
        log_likelihood,
        memberships / draws,
        int((orders[1:] != orders[:-1]).any(axis=1).sum()),
    )
