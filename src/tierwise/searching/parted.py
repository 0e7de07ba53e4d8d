"""Search with a theta per tier or per place: agreement that is not the same everywhere.

Under inversions with a theta per tier the likelihood separates into lines, each theta is averaged
over, and tiers of all sizes are searched at once. Elsewhere the best sizes with one theta are
fitted, and the thetas are then averaged over, too, so that all kinds compare by the same measure.
"""

from __future__ import annotations

from dataclasses import replace
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise.answers.parted import parted_answers, refuse_open
from tierwise.consensus.problem import Consensus
from tierwise.errors import InputError, TooLargeError
from tierwise.evidence.given_tiers import log_integrated_parts
from tierwise.fitting.fit import fit_parted, fit_source
from tierwise.fitting.solution import Settings
from tierwise.fitting.solve import solution_at
from tierwise.inversions.best import find_best_tiers
from tierwise.inversions.objective import log_prior_constant
from tierwise.inversions.searching import search_tiers
from tierwise.model.priors import log_prior_of_sizes
from tierwise.partition.parts import parted_partition
from tierwise.searching import all_sizes
from tierwise.searching.result import Candidate, Search
from tierwise.searching.size_space import SizeSpace
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.likelihood import AnswerSource
    from tierwise.fitting.fit import ConcentrationChoice
    from tierwise.fitting.result import Fit
    from tierwise.partition.parts import Concentration
    from tierwise.searching.criteria import Judge
    from tierwise.searching.evaluate import Setting
    from tierwise.tiers.sizes import Sizes


def kinds_of(source: AnswerSource, concentration: ConcentrationChoice) -> list[Concentration]:
    """Return the kinds of concentration besides one theta that are to be compared.

    A kind that is asked for by name is refused with a reason if it cannot be used; "auto" leaves it
    out.
    """
    if concentration == "single":
        return []
    asked: tuple[Concentration, ...] = (
        ("tier", "place") if concentration == "auto" else (concentration,)
    )
    n_items = len(source.items)
    some = (1, n_items - 1) if n_items > 1 else (1,)
    possible = []
    for kind in asked:
        try:
            refuse_open(source.data, parted_partition(some, source.distance, kind))
        except (InputError, TooLargeError):
            if concentration != "auto":
                raise
            continue
        possible.append(kind)
    return possible


def search_parted(
    single: Search,
    source: AnswerSource,
    setting: Setting,
    judge: Judge,
    kind: Concentration,
    space: SizeSpace,
) -> list[Search]:
    """Search with a theta for each part; an empty list if that cannot be done for these sizes.

    Parameters
    ----------
    single
        The search with one theta.
    source, setting, judge, space
        The answers, and how tiers are compared.
    kind
        "tier" or "place".
    """
    unconstrained = space == SizeSpace(space.n_items)
    if kind == "tier" and unconstrained and all_sizes.applies(source):
        return [_search_lines(single, source, setting, judge)]
    if len(single.best.sizes) == 1:
        return []
    try:
        best = _refitted(source, single.best, kind, setting.entropy)
    except (InputError, TooLargeError):
        return []
    answers = parted_answers(source.data, parted_partition(best.sizes, source.distance, kind))
    labels = best.tiers.label_array(source.items)
    value = float(log_integrated_parts(answers, labels, setting.prior_theta))
    score = value - log_number_of_tiers(best.sizes)
    score += log_prior_of_sizes(judge.prior_sizes, best.sizes) - log(judge.n_families)
    return [_with_best(single, best, score, "coordinate ascent")]


def _refitted(source: AnswerSource, single: Fit, kind: Concentration, entropy: int) -> Fit:
    rng = np.random.default_rng(entropy)
    return fit_parted(source, single, kind, Settings(), rng, lambda: single.provenance)


def _search_lines(single: Search, source: AnswerSource, setting: Setting, judge: Judge) -> Search:
    """Search all sizes at once with a theta per tier, each of them averaged over."""
    counts = source.weak_orders
    assert counts is not None
    rng = np.random.default_rng(setting.entropy)
    prior = setting.prior_theta
    if counts.n_items <= all_sizes.MOST_ITEMS_FOR_PROOF:
        best = find_best_tiers(counts, "tier", prior_theta=prior, prior_sizes="penalised")
        labels, value, proved = best.labels, best.criterion, best.gap == 0.0
    else:
        found = search_tiers(counts, "tier", prior_theta=prior, prior_sizes="penalised", rng=rng)
        labels, value, proved = found.labels, found.criterion, False
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    fitted = _fit_of(source, labels, single, proved=proved)
    if len(sizes) > 1:
        fitted = _refitted(source, fitted, "tier", setting.entropy)
    # From the engine's prior of sizes, penalised and normalised, to the one in use.
    score = value - log_prior_constant("penalised", counts.n_items) + len(sizes)
    score -= lgamma(counts.n_items + 1)
    score += log_prior_of_sizes(judge.prior_sizes, sizes)
    score -= log(judge.n_families) if len(sizes) > 1 else 0.0
    return _with_best(single, fitted, score, "all sizes")


def _fit_of(
    source: AnswerSource, labels: npt.NDArray[np.int64], single: Search, *, proved: bool
) -> Fit:
    """Return the fit with one theta of given tiers, from which that with several starts."""
    total = float((source.pair_counts.T * (labels[:, None] < labels[None, :])).sum())
    consensus = Consensus(labels, total, "all sizes", optimal=proved, bound=total)
    settings = Settings()
    solution = solution_at(source, consensus, settings)
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    known = {sizes: solution}
    for name, compared in (("strict consensus", (1,) * len(labels)), ("no tiers", (len(labels),))):
        reference = next((one for one in single.best.references if one.name == name), None)
        if reference is not None and compared != sizes:
            tiers = reference.tiers.label_array(source.items)
            known[compared] = solution_at(
                source,
                Consensus(tiers, 0.0, "reference", optimal=reference.optimal, bound=0.0),
                settings,
            )
    rng = np.random.default_rng(0)
    return fit_source(source, sizes, settings, rng, lambda: single.provenance, solved=known)


def _with_best(single: Search, best: Fit, score: float, method: str) -> Search:
    """Put the fit with several thetas at the head of the leaderboard."""
    head = Candidate(
        sizes=best.sizes,
        tiers=best.tiers,
        score=score,
        criterion=best.criterion,
        criterion_error=best.log_likelihood_error,
        agreement=best.agreement,
        theta=float("nan"),
        log_evidence=float("nan"),
        log_evidence_error=0.0,
        probability=float("nan"),
        optimal=best.optimal,
        allowed=True,
    )
    return replace(
        single,
        best=best,
        leaderboard=(head, *single.leaderboard),
        method=method,
        exhaustive=False,
    )
