"""Diagnostics of chains: R-hat and effective sample sizes; and the printed summary."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import inf, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.columns import shortened_names
from tierwise.errors import listed, share_in_words
from tierwise.fitting.summary import kind_of_answers
from tierwise.posterior.ties import NEARLY_IN_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.posterior.result import Posterior

MOST_R_HAT = 1.01
LEAST_ESS = 400.0
# Of pairs that are nearly always or nearly never tied, chains cannot tell more than that.
_RARE = 0.05
# All pairs of more items would be many thousand names to tell.
_MOST_ITEMS_FOR_ALL_PAIRS = 60
# Pairs that are diagnosed together, so that they take little memory.
_PAIRS_AT_A_TIME = 100
# Fewer draws say nothing.
_LEAST_DRAWS = 4
_TAIL = 0.05


@dataclass(frozen=True)
class Diagnostic:
    """How well one quantity is known from the chains.

    Attributes
    ----------
    name
        What it is; ``a ~ b`` for whether two items are tied.
    mean, sd
        Posterior mean and standard deviation.
    standard_error
        Monte Carlo error of the mean.
    r_hat
        Rank-normalised split R-hat; 1 if all chains agree, infinite if they are stuck at different
        values.
    ess_bulk, ess_tail
        Effective number of draws, for the middle and for the tails.
    """

    name: str
    mean: float
    sd: float
    standard_error: float
    r_hat: float
    ess_bulk: float
    ess_tail: float


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of theta, total distance, number of tiers, and of ties between items.

    Labels have no diagnostics: with other sizes the same label means something else.

    Attributes
    ----------
    numbers, ties
        The quantities.
    to_settle, to_gain_draws
        What to do about chains that disagree, and about effective sample sizes that are too small.
    """

    numbers: tuple[Diagnostic, ...]
    ties: tuple[Diagnostic, ...]
    to_settle: str = (
        "Use a longer warmup, and a larger thin or more draws. If that does not help, the "
        "posterior may have several modes"
    )
    to_gain_draws: str = "use more draws or chains, or a larger thin"

    @property
    def judged(self) -> tuple[Diagnostic, ...]:
        """The judged quantities: all numbers, and ties that are neither rare nor nearly certain."""
        return self.numbers + tuple(tie for tie in self.ties if _RARE <= tie.mean <= 1 - _RARE)

    @property
    def worst_r_hat(self) -> Diagnostic:
        """The quantity on which the chains agree least."""
        return max(self.judged, key=lambda row: row.r_hat)

    @property
    def least_ess(self) -> Diagnostic:
        """The quantity with the smallest effective sample size."""
        return min(self.judged, key=lambda row: min(row.ess_bulk, row.ess_tail))

    @property
    def agree(self) -> bool:
        """Whether the chains agree about all judged quantities."""
        return self.worst_r_hat.r_hat <= MOST_R_HAT

    def are_worth(self, n_draws: float) -> bool:
        """Whether all judged quantities have at least this effective sample size."""
        least = self.least_ess
        return min(least.ess_bulk, least.ess_tail) >= n_draws

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems, each with its remedy; empty if there are none."""
        found = []
        worst, least = self.worst_r_hat, self.least_ess
        if not self.agree:
            found.append(
                f"the chains have not converged: R-hat of {worst.name} is {worst.r_hat:.3f}, "
                f"and should be at most {MOST_R_HAT}. {self.to_settle}"
            )
        ess = min(least.ess_bulk, least.ess_tail)
        if ess < LEAST_ESS:
            found.append(
                f"the effective sample size of {least.name} is only {ess:.0f}, and should be at "
                f"least {LEAST_ESS:.0f}: {self.to_gain_draws}"
            )
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        from tierwise._util.types import plain_number

        return {
            row.name: {
                name: plain_number(value) if isinstance(value, float) else value
                for name, value in vars(row).items()
                if name != "name"
            }
            for row in self.numbers + self.ties
        }


def diagnose(
    numbers: dict[str, NDArray[np.float64]], labels: NDArray[np.int64], names: list[str]
) -> Diagnostics:
    """Diagnose numbers, ``[chain, draw]``, and ties of items, ``labels[chain, draw, item]``.

    Of many items, only those that follow each other by their mean tier are looked at.
    """
    n_items = labels.shape[2]
    pairs = list(combinations(range(n_items), 2))
    if n_items > _MOST_ITEMS_FOR_ALL_PAIRS:
        order = np.argsort(labels.mean(axis=(0, 1)), kind="stable").tolist()
        pairs = [(min(pair), max(pair)) for pair in pairwise(order)]
    ties: list[Diagnostic] = []
    for start in range(0, len(pairs), _PAIRS_AT_A_TIME):
        some = pairs[start : start + _PAIRS_AT_A_TIME]
        first, second = np.array(some).T
        tied = np.moveaxis(labels[:, :, first] == labels[:, :, second], 2, 0)
        ties += _diagnose_indicators([f"{names[one]} ~ {names[two]}" for one, two in some], tied)
    rows = (_diagnose(name, values) for name, values in numbers.items())
    return Diagnostics(tuple(rows), tuple(ties))


def _diagnose_indicators(names: list[str], indicators: NDArray[np.bool_]) -> list[Diagnostic]:
    """Diagnose quantities that are 0 or 1, ``indicators[quantity, chain, draw]``, all at once.

    Of these, ranks, distances from the median and quantiles are the quantity itself but for its
    scale, so that all diagnostics of Vehtari et al. (2021) follow from one R-hat and one effective
    number of draws.
    """
    values = indicators.astype(np.float64)
    n_draws = values.shape[2]
    if n_draws < _LEAST_DRAWS:
        return [_diagnose(*one) for one in zip(names, values, strict=True)]
    split = _halves(values)
    size = split.shape[1] * split.shape[2]
    sizes, r_hats = _effective_sizes(split), _r_hats(_compared(values))
    within = split.var(axis=2).mean(axis=1)
    deviations = values.std(axis=(1, 2), ddof=1)
    found = []
    for number, name in enumerate(names):
        mean = float(values[number].mean())
        still = (indicators[number] == indicators[number, :, :1]).all() or within[number] == 0.0
        if still or isnan(r_hats[number]):
            found.append(_diagnose(name, values[number]))
            continue
        ess = float(sizes[number])
        # A single tail, if the rarer answer lies within it, does not vary.
        tail = float(size) if mean > 1.0 - _TAIL else ess
        tail = tail if mean < _TAIL else min(tail, float(size))
        error = float(deviations[number]) / sqrt(ess)
        sd = float(values[number].std())
        found.append(Diagnostic(name, mean, sd, error, float(r_hats[number]), ess, tail))
    return found


def _diagnose(name: str, values: NDArray[np.float64]) -> Diagnostic:
    """Diagnose one quantity, ``values[chain, draw]`` (Vehtari et al. 2021)."""
    mean, sd = float(values.mean()), float(values.std())
    if (values == values[:, :1]).all():
        # No chain ever moves: either they all agree, or there is no telling.
        agreed = bool((values == values[0, 0]).all())
        r_hat, ess = (1.0, float(values.size)) if agreed else (inf, 0.0)
        return Diagnostic(name, mean, sd, 0.0 if agreed else inf, r_hat, ess, ess)
    if values.shape[1] < _LEAST_DRAWS or not np.isfinite(values).all():
        return Diagnostic(name, mean, sd, inf, inf, 0.0, 0.0)
    compared, split = _compared(values[None]), _halves(values[None])
    folded = np.abs(compared - np.median(compared))
    r_hat = float(np.max([_r_hats(_normal_scores(one)) for one in (compared, folded)]))
    tails = values <= np.quantile(values, [_TAIL, 1.0 - _TAIL])[:, None, None]
    varied = np.concatenate([_normal_scores(split), split, _halves(tails.astype(np.float64))])
    bulk, of_mean, *of_tails = _effective_sizes(varied).tolist()
    error = float(values.std(ddof=1)) / sqrt(of_mean)
    if isnan(r_hat):  # too few draws to tell
        return Diagnostic(name, mean, sd, inf, inf, 0.0, 0.0)
    return Diagnostic(name, mean, sd, error, r_hat, bulk, min(of_tails))


def _halves(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut each chain of ``values[quantity, chain, draw]`` in halves, which become chains."""
    half = values.shape[2] // 2
    return np.concatenate([values[:, :, :half], values[:, :, values.shape[2] - half :]], axis=1)


def _compared(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the halves that R-hat compares.

    A single chain is first cut in two, so that its first half is compared with its second.
    """
    if values.shape[1] == 1:
        half = values.shape[2] // 2
        values = values[:, 0, : 2 * half].reshape(len(values), 2, half)
    return _halves(values)


def _normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace the values of one quantity by normal quantiles of their ranks (Blom's)."""
    from scipy.special import ndtri

    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - 0.5 * (counts - 1)
    scores = ndtri((ranks - 0.375) / (values.size + 0.25))
    found: NDArray[np.float64] = scores[which].reshape(values.shape)
    return found


def _effective_sizes(split: NDArray[np.float64]) -> NDArray[np.float64]:
    """Effective numbers of draws, ``split[quantity, chain, draw]``: Geyer's monotone sequence.

    Draws of a quantity that does not vary count as they are: the tails of a number with few values
    are its ends, which all draws may reach.
    """
    n_chains, half = split.shape[1:]
    means = split.mean(axis=2)
    padded = 1 << (2 * half - 1).bit_length()
    spectrum = np.fft.rfft(split - means[:, :, None], n=padded, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    covariances = np.fft.irfft(power, n=padded, axis=1)[:, :half] / half
    with np.errstate(all="ignore"):
        within = covariances[:, :1] * half / (half - 1)
        spread = means.var(axis=1, ddof=1)[:, None]
        correlations = 1.0 - (within - covariances) / (covariances[:, :1] + spread)
    correlations[:, 0] = 1.0
    n_most = max((half - 3) // 2, 0)
    even, odd = correlations[:, : 2 * n_most + 1 : 2], correlations[:, 1 : 2 * n_most : 2]
    sums = even[:, :n_most] + odd
    kept = np.minimum.accumulate(sums > 0.0, axis=1)
    times = 2.0 * np.where(kept, np.minimum.accumulate(sums, axis=1), 0.0).sum(axis=1) - 1.0
    times += even[np.arange(len(even)), kept.sum(axis=1)].clip(min=0.0)
    size = n_chains * half
    sizes = size / np.maximum(times, 1.0 / np.log10(size))
    return np.where((split == split[:, :1, :1]).all(axis=(1, 2)), float(size), sizes)


def _r_hats(split: NDArray[np.float64]) -> NDArray[np.float64]:
    """R-hat of each quantity, ``split[quantity, chain, draw]``; NaN for too few draws to tell."""
    half = split.shape[2]
    if half < 2:  # no part of a chain varies
        return np.full(len(split), nan)
    with np.errstate(all="ignore"):
        within = split.var(axis=2, ddof=1).mean(axis=1)
        between = half * split.mean(axis=2).var(axis=1, ddof=1)
        r_hats: NDArray[np.float64] = np.sqrt((between / within + half - 1) / half)
    return r_hats


_MOST_SIZES = 5
_LEAST_SHARE = 0.005
# Room for five tiers with their probabilities beside the name of an item.
_BESIDE_NAMES = 48
_SHORTEST_NAMES = 16
# What chains say, and a mark between two names.
_BESIDE_CHAINS = 32
_LEVEL = 0.95


def summarise(posterior: Posterior, width: int) -> str:
    """Write a posterior as text; names are cut so that tables fit the width."""
    names = shortened_names(
        list(map(str, posterior.items)), max(width - _BESIDE_NAMES, _SHORTEST_NAMES)
    )
    chains, draws = posterior.data["posterior"]["n_tiers"].shape
    how = "independent draws" if posterior.method == "exact" else f"draws from {chains} chains"
    about, pairwise = f" of {len(posterior.items)} items", posterior.pairwise
    who = kind_of_answers(posterior.n_rankings, posterior.likelihood, about, pairwise=pairwise)
    lines = [
        f"{who}, {_model(posterior)}; {chains * draws:,} {how}",
        *_choice_lines(posterior),
        *([posterior.caution] if posterior.caution else []),
        "",
        f"most probable tiers   {posterior.agreed_tiers()}",
        f"least disagreement    {posterior.agreed_tiers('consensus')}",
        *_theta_lines(posterior, names),
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
    lines += ["", *_item_lines(posterior, names)]
    if posterior.method == "mcmc":
        lines += ["", *_chain_lines(posterior, width - _BESIDE_CHAINS)]
    return "\n".join(lines)


def _model(posterior: Posterior) -> str:
    return "one worth per tier" if posterior.family == "luce" else f"{posterior.distance} distance"


def _strength_lines(posterior: Posterior, names: list[str]) -> list[str]:
    """Say how strong items are, those of the best first."""
    table = posterior.strengths(_LEVEL).to_numpy()
    width = max(4, *map(len, names))
    lines = ["", f"{'item':<{width}}  strength (Elo), {_LEVEL:.0%} interval"]
    for item in np.argsort(-table[:, 0], kind="stable").tolist():
        mean, low, high = table[item].tolist()
        lines.append(f"{names[item]:<{width}}  {mean:+5.0f}  {low:+.0f} to {high:+.0f}")
    return lines


def _effect_lines(posterior: Posterior) -> list[str]:
    """Say what the first place and draws mean for battles between equals."""
    lines = []
    firsts, draws = posterior.first_factors, posterior.draw_factors
    tails = [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]
    if firsts is not None:
        shares = firsts / (1.0 + firsts)
        low, high = np.quantile(shares, tails)
        lines.append(
            f"first place           wins {shares.mean():.1%} of decided battles between equals  "
            f"({_LEVEL:.0%} interval {low:.1%} to {high:.1%})"
        )
    if draws is not None:
        shares = draws / (draws + 1.0 + (1.0 if firsts is None else firsts))
        low, high = np.quantile(shares, tails)
        lines.append(
            f"draws                 {shares.mean():.1%} of battles between equals  "
            f"({_LEVEL:.0%} interval {low:.1%} to {high:.1%})"
        )
    return lines


def _choice_lines(posterior: Posterior) -> list[str]:
    """Say which models were compared, and how far the others are behind."""
    sentence = posterior.choice
    return [] if sentence is None else [sentence]


def _theta_lines(posterior: Posterior, names: list[str]) -> list[str]:
    """Say how concentrated the rankings are; with a theta per tier, about which items."""
    if posterior.family == "luce":
        return [*_effect_lines(posterior), *_strength_lines(posterior, names)]
    if posterior.concentration == "single":
        thetas = posterior.thetas
        low, high = posterior.theta_interval(_LEVEL)
        return [
            f"theta                 {thetas.mean():.4f}  (standard deviation {thetas.std():.4f}, "
            f"{_LEVEL:.0%} interval {low:.4f} to {high:.4f})"
        ]
    lines = []
    divided = posterior.divided_items()
    if divided:
        lines += [
            f"divided               people are divided about {listed(divided)}: ranked "
            "anywhere, neither best nor worst",
        ]
    intervals = posterior.item_theta_intervals(_LEVEL).to_numpy()
    width = max(4, *map(len, names))
    lines += ["", f"{'item':<{width}}  theta of its tier, {_LEVEL:.0%} interval"]
    for item in _by_mean_tier(posterior):
        low, high = intervals[item].tolist()
        words = "always in the last tier" if isnan(low) else f"{low:.4f} to {high:.4f}"
        lines.append(f"{names[item]:<{width}}  {words}")
    return lines


def _by_mean_tier(posterior: Posterior) -> list[int]:
    """Items by the mean number of their tier."""
    order: list[int] = np.argsort(posterior.labels.mean(axis=0), kind="stable").tolist()
    return order


def _sizes_lines(posterior: Posterior) -> list[str]:
    """Say how probable sizes are: by the prior of the search, and by one that is even."""
    prior = posterior.prior_sizes if isinstance(posterior.prior_sizes, str) else "own"
    columns = {f"{prior} prior": posterior.sizes_probabilities()}
    if prior in ("sceptical", "penalised"):
        columns["uniform prior"] = posterior.sizes_for_sameness()
    first, *_ = columns.values()
    shown = [sizes for sizes, share in first.items() if share >= _LEAST_SHARE][:_MOST_SIZES]
    rows = {
        ", ".join(map(str, sizes)): [one.get(sizes, 0.0) for one in columns.values()]
        for sizes in shown
    }
    n_others = len(first) - len(shown)
    if n_others:
        rest = [
            max(1.0 - sum(one.get(sizes, 0.0) for sizes in shown), 0.0) for one in columns.values()
        ]
        rows["1 other" if n_others == 1 else f"{n_others:,} others"] = rest
    lines = [f"{'sizes':<28}" + "".join(f"{name:>17}" for name in columns)]
    lines += [
        f"{name:<28}" + "".join(f"{share_in_words(share, 3):>17}" for share in shares)
        for name, shares in rows.items()
    ]
    if len(columns) > 1:
        lines.append(
            f"The {prior} prior, which the search uses too, favours few tiers until the answers "
            "support more; the uniform prior does not."
        )
    return [*lines, f"Items of a tier are {NEARLY_IN_WORDS}."]


def _item_lines(posterior: Posterior, names: list[str]) -> list[str]:
    """Say of each item how probably its rank is among those of each tier."""
    shares = posterior.tier_probabilities().to_numpy()
    width = max(4, *map(len, names))
    lines = [f"{'item':<{width}}  probability that its rank is among those of each tier"]
    for item in _by_mean_tier(posterior):
        if not posterior.is_ranked[item]:
            continue
        tiers = [
            f"{tier}: {share_in_words(share)}"
            for tier, share in enumerate(shares[item].tolist(), start=1)
            if share >= _LEAST_SHARE
        ]
        lines.append(f"{names[item]:<{width}}  {'  '.join(tiers)}")
    return lines


def _chain_lines(posterior: Posterior, room: int) -> list[str]:
    diagnostics = posterior.diagnostics()
    rows = list(diagnostics.numbers)
    if diagnostics.worst_r_hat not in rows:
        rows.append(diagnostics.worst_r_hat)
    # A tie of two items is named by both.
    short = shortened_names(list(map(str, posterior.items)), max(room // 2, _SHORTEST_NAMES))
    shown = dict(zip(map(str, posterior.items), short, strict=True))
    names = [" ~ ".join(shown.get(one, one) for one in row.name.split(" ~ ")) for row in rows]
    width = max(map(len, names))
    lines = [f"{'chains':<{width}}  R-hat  bulk ESS  tail ESS"]
    lines += [_chain_line(row, name, width) for row, name in zip(rows, names, strict=True)]
    return lines + [f"Careful: {problem}." for problem in diagnostics.problems]


def _chain_line(row: Diagnostic, name: str, width: int) -> str:
    return f"{name:<{width}}  {row.r_hat:>5.3f}  {row.ess_bulk:>8.0f}  {row.ess_tail:>8.0f}"
