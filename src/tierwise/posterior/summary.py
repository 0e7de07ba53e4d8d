"""The table that a posterior prints."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tierwise.posterior.diagnostics import Diagnostic
    from tierwise.posterior.result import Posterior

_MOST_SIZES = 5
_LEAST_SHARE = 0.005
_LEVEL = 0.95


def summarise(posterior: Posterior) -> str:
    """Write a posterior as lines for people."""
    chains, draws = posterior.data["posterior"]["n_tiers"].shape
    how = "independent draws" if posterior.method == "exact" else f"draws from {chains} chains"
    who = "assessors who compared pairs" if posterior.pairwise else "rankings"
    lines = [
        f"{posterior.n_rankings:,.10g} {who} of {len(posterior.items)} items, "
        f"{posterior.distance} distance; {chains * draws:,} {how}",
        *_distance_lines(posterior),
        "",
        f"most probable tiers   {posterior.tiers()}",
        f"least disagreement    {posterior.tiers('consensus')}",
        *_theta_lines(posterior),
    ]
    mistakes = posterior.mistake_probabilities
    if mistakes is not None:
        low, high = np.quantile(mistakes, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        lines.append(
            f"mistake probability   {mistakes.mean():.4f}  (standard deviation "
            f"{mistakes.std():.4f}, {_LEVEL:.0%} interval {low:.4f} to {high:.4f})"
        )
    if posterior.completions is not None:
        lines.append(f"completions           {posterior.completions}")
    if posterior.sizes is None:
        lines += ["", *_sizes_lines(posterior)]
    lines += ["", *_item_lines(posterior)]
    if posterior.method == "mcmc":
        lines += ["", *_chain_lines(posterior)]
    return "\n".join(lines)


def _distance_lines(posterior: Posterior) -> list[str]:
    """Say which distances were compared, and how far the others are behind."""
    compared = posterior.compared_distances
    if compared is None:
        return []
    others = [
        f"{name} is {behind:.1f} behind"
        for name, behind in compared.items()
        if name != posterior.distance
    ]
    chosen = f"{posterior.distance} describes the data best of the distances compared"
    return ["; ".join([chosen, *others])]


def _theta_lines(posterior: Posterior) -> list[str]:
    """Say how concentrated the rankings are; with a theta per tier, about which items."""
    if posterior.concentration == "single":
        thetas = posterior.thetas
        low, high = posterior.theta_interval(_LEVEL)
        return [
            f"theta                 {thetas.mean():.4f}  (standard deviation {thetas.std():.4f}, "
            f"{_LEVEL:.0%} interval {low:.4f} to {high:.4f})"
        ]
    lines = []
    divided = posterior.divided_items(_LEVEL)
    if divided:
        lines += [
            f"people are divided about {', '.join(map(str, divided))}: rankings place "
            "such an item high and low,",
            "so that its tier does not say that it is better than those below",
        ]
    intervals = posterior.item_theta_intervals(_LEVEL).to_numpy()
    width = max(4, *(len(str(item)) for item in posterior.items))
    lines += ["", f"{'item':<{width}}  theta of its tier, {_LEVEL:.0%} interval"]
    for item in _by_mean_tier(posterior):
        low, high = intervals[item].tolist()
        words = "always in the last tier" if isnan(low) else f"{low:.4f} to {high:.4f}"
        lines.append(f"{posterior.items[item]!s:<{width}}  {words}")
    return lines


def _by_mean_tier(posterior: Posterior) -> list[int]:
    """Items by the mean number of their tier."""
    order: list[int] = np.argsort(posterior.labels.mean(axis=0), kind="stable").tolist()
    return order


def _sizes_lines(posterior: Posterior) -> list[str]:
    shares = posterior.sizes_probabilities()
    shown = [pair for pair in shares.items() if pair[1] >= _LEAST_SHARE][:_MOST_SIZES]
    lines = [f"{'sizes':<32}probability"]
    lines += [f"{', '.join(map(str, sizes)):<32}{share:>11.3f}" for sizes, share in shown]
    if len(shares) > len(shown):
        rest = max(1.0 - sum(share for _, share in shown), 0.0)
        n_others = len(shares) - len(shown)
        name = "1 other" if n_others == 1 else f"{n_others} others"
        lines.append(f"{name:<32}{rest:>11.3f}")
    return lines


def _item_lines(posterior: Posterior) -> list[str]:
    shares = posterior.tier_probabilities().to_numpy()
    width = max(4, *(len(str(item)) for item in posterior.items))
    lines = [f"{'item':<{width}}  probability of each tier"]
    for item in _by_mean_tier(posterior):
        tiers = [
            f"{tier}: {share:.2f}"
            for tier, share in enumerate(shares[item].tolist(), start=1)
            if share >= _LEAST_SHARE
        ]
        lines.append(f"{posterior.items[item]!s:<{width}}  {'  '.join(tiers)}")
    return lines


def _chain_lines(posterior: Posterior) -> list[str]:
    diagnostics = posterior.diagnostics()
    rows = list(diagnostics.numbers)
    if diagnostics.worst_r_hat not in rows:
        rows.append(diagnostics.worst_r_hat)
    width = max(len(row.name) for row in rows)
    lines = [f"{'chains':<{width}}  R-hat  bulk ESS  tail ESS"]
    lines += [_chain_line(row, width) for row in rows]
    return lines + [f"Careful: {problem}." for problem in diagnostics.problems]


def _chain_line(row: Diagnostic, width: int) -> str:
    return f"{row.name:<{width}}  {row.r_hat:>5.3f}  {row.ess_bulk:>8.0f}  {row.ess_tail:>8.0f}"
