"""The table that a posterior prints."""

from __future__ import annotations

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
    chains, draws = posterior.data["posterior"]["theta"].shape
    how = "independent draws" if posterior.method == "exact" else f"draws from {chains} chains"
    low, high = posterior.theta_interval(_LEVEL)
    who = "assessors who compared pairs" if posterior.pairwise else "rankings"
    lines = [
        f"{posterior.n_rankings:,.10g} {who} of {len(posterior.items)} items, "
        f"{posterior.distance} distance; {chains * draws:,} {how}",
        "",
        f"most probable tiers   {posterior.tiers()}",
        f"least disagreement    {posterior.tiers('consensus')}",
        f"theta                 {posterior.thetas.mean():.4f}  (standard deviation "
        f"{posterior.thetas.std():.4f}, {_LEVEL:.0%} interval {low:.4f} to {high:.4f})",
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
    order = np.argsort(shares @ np.arange(shares.shape[1]), kind="stable")
    width = max(4, *(len(str(item)) for item in posterior.items))
    lines = [f"{'item':<{width}}  probability of each tier"]
    for item in order.tolist():
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
