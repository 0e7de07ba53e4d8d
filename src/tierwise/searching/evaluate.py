"""Evaluations of size vectors: what each costs, each once, and what makes one better than another.

What an evaluation costs follows from the sizes alone, and the costly ones are made side by side.
They are judged by one of these criteria:

==================  ==========================================================================
``"posterior"``     the log posterior probability, up to a constant, of the best tiers of these
                    sizes: theta is averaged over, and half of the prior probability belongs to no
                    tiers, so noise is seldom mistaken for tiers. The default.
``"likelihood"``    the paper's I: the log-likelihood at the best tiers and theta, less the log of
                    the number of tiers of these sizes.
``"evidence"``      the log probability of the rankings given the sizes only, tiers and theta being
                    averaged over; with a prior over sizes it gives posterior probabilities.
``"agreement"``     the paper's D: the share of pairs of different tiers that the rankings order as
                    the tiers do. Alone it drifts to degenerate tiers, such as all items but one
                    against the last: it is for narrowing a search only.
``"both"``          D to narrow, I to decide: of the size vectors with equally many tiers, those
                    that D likes best are compared by I.
==================  ==========================================================================
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isnan, nan
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice
from tierwise._util.tasks import Progress, check_workers, stream_tasks, track
from tierwise._util.types import Estimate
from tierwise.answers.likelihood import AnswerSource
from tierwise.consensus.find import find_consensus
from tierwise.consensus.subsets import subset_work
from tierwise.distances import Distance
from tierwise.errors import InputError
from tierwise.evidence.chib import find_log_evidence
from tierwise.evidence.given_tiers import laplace_correction, log_integrated_likelihood
from tierwise.fitting.every_size import BoundedSizes, FittedSizes, every_size
from tierwise.fitting.every_size import can_be_together as can_be_fitted_together
from tierwise.fitting.result import agreement_of_counts
from tierwise.fitting.solve import Settings, Solution, solve
from tierwise.inversions.comparisons import log_integrated_likelihood as integrated_over_theta
from tierwise.model.priors import SizesPrior, ThetaPrior, log_prior_of_sizes
from tierwise.partition import recursion
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import choose_method, partition_function
from tierwise.partition.interpolated import for_many_thetas
from tierwise.searching.together import Distributions
from tierwise.tiers import Sizes, log_number_of_tiers

Depth: TypeAlias = Literal["agreement", "likelihood", "posterior", "evidence"]
"""How much is computed for a size vector; each includes what comes before it."""

DEPTHS: tuple[Depth, ...] = ("agreement", "likelihood", "posterior", "evidence")

# In a search many size vectors are fitted: beyond this much work each, annealing takes over.
_MOST_SUBSET_STEPS = 1e8

# And beyond so many steps a theta, some hundredths of a second, partition functions are estimated.
SEARCH_BUDGET = 1e7

# Seconds, as measured; only their proportions and order of magnitude matter.
_EVERY_EVALUATION = 1e-3
_SUBSET_STEP = 3e-9
_ANNEALING = 0.1
_RECURSION_CELL = 7e-9
_RECURSION_STEP = 6e-9
_THETAS_TRIED = 10
_ESTIMATE = 3.0
_EVIDENCE_TRANSITION = 1.5e-7
_EVALUATIONS_OF_A_FIT = 250
_DRAWN_FIT = 3.0
_DRAWN_PLACE = 1e-4


def consensus_method(sizes: Sizes, distance: Distance) -> str:
    """Name the method that finds the best tiers of these sizes in a search.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> consensus_method((2, 2), get_distance("kendall"))
    'subsets'
    >>> consensus_method((10,) * 10, get_distance("kendall"))
    'annealing'
    """
    if distance.rule(sizes).additive:
        return "assignment"
    return "subsets" if subset_work(sizes).steps <= _MOST_SUBSET_STEPS else "annealing"


def seconds_of(sizes: Sizes, distance: Distance, depth: Depth) -> float:
    """Estimate how long the evaluation of a size vector takes, for answers that leave nothing open.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> seconds_of((2, 2), get_distance("kendall"), "likelihood") < 0.01
    True
    """
    work = subset_work(sizes)
    seconds = _EVERY_EVALUATION
    if work.steps <= _MOST_SUBSET_STEPS:
        seconds += work.steps * _SUBSET_STEP
    else:
        seconds += _ANNEALING
    if depth == "agreement":
        return seconds
    seconds += _seconds_of_theta(sizes, distance)
    if depth == "evidence":
        seconds += work.transitions * _EVIDENCE_TRANSITION
    return seconds


def seconds_of_answers(source: AnswerSource, sizes: Sizes, depth: Depth) -> float:
    """Estimate how long the evaluation of a size vector takes, for answers that leave much open."""
    if source.capabilities.may_be_mistaken:
        return _DRAWN_FIT
    likelihood = source.at(sizes)
    seconds = _EVALUATIONS_OF_A_FIT * likelihood.seconds
    if not likelihood.exact:
        seconds += _DRAWN_FIT + likelihood.n_places_drawn * _DRAWN_PLACE
    return seconds if depth != "evidence" else 3.0 * seconds


def _seconds_of_theta(sizes: Sizes, distance: Distance) -> float:
    method = choose_method(sizes, distance, SEARCH_BUDGET)
    if method in {"anchored", "path"}:
        return _ESTIMATE
    if method != "recursion":
        return 0.0
    cells = recursion.n_states(sizes) * (distance.rule(sizes).largest(sizes) + 1)
    if cells <= recursion.WIDEST_TABLE:
        return cells * _RECURSION_CELL
    return _THETAS_TRIED * recursion.steps(sizes) * _RECURSION_STEP


# Work of a batch: long enough to outweigh handing it over, short enough to show progress.
_SECONDS_OF_A_BATCH = 0.25


@dataclass(frozen=True, eq=False)
class Setting:
    """Everything except the sizes that the value of a size vector depends on.

    Attributes
    ----------
    source
        The answers, counted once for all sizes if that is possible.
    prior_theta
        The prior of theta, for the evidence.
    entropy
        What the seeds of all size vectors are made of.
    """

    source: AnswerSource
    prior_theta: ThetaPrior
    entropy: int

    def seed(self, sizes: Sizes) -> np.random.SeedSequence:
        """Return the seed of a size vector: the same whenever and wherever it is evaluated."""
        return np.random.SeedSequence(self.entropy, spawn_key=sizes)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is known about a size vector; NaN stands for what was not computed."""

    sizes: Sizes
    depth: Depth
    labels: NDArray[np.int64]
    optimal: bool
    agreement: float
    theta: float = nan
    log_likelihood: float = nan
    log_likelihood_error: float = 0.0
    log_integrated: float = nan
    log_evidence: float = nan
    log_evidence_error: float = 0.0
    solution: Solution | None = None

    @property
    def criterion(self) -> float:
        """The paper's I."""
        return self.log_likelihood - log_number_of_tiers(self.sizes)


def evaluate_sizes(setting: Setting, sizes: Sizes, depth: Depth) -> Evaluation:
    """Find the best tiers of given sizes and say how good they are."""
    rng = np.random.default_rng(setting.seed(sizes))
    source = setting.source
    if depth == "agreement" and source.capabilities.complete:
        method = consensus_method(sizes, source.distance)
        costs = source.costs(sizes)
        consensus = find_consensus(costs, sizes, method=method, rng=rng)
        agreement = agreement_of_counts(source.pair_counts, consensus.labels).overall
        return Evaluation(sizes, depth, consensus.labels, consensus.optimal, agreement)
    settings = _settings(setting, sizes)
    return evaluate_solution(setting, solve(source, sizes, settings, rng), depth, rng)


def _settings(setting: Setting, sizes: Sizes) -> Settings:
    """Return how size vectors are fitted in a search."""
    return Settings(
        method=consensus_method(sizes, setting.source.distance),
        partition_seed=setting.entropy,
        partition_budget=SEARCH_BUDGET,
    )


def evaluate_solution(
    setting: Setting, solution: Solution, depth: Depth, rng: np.random.Generator
) -> Evaluation:
    """Say how good the best tiers of their sizes are."""
    source, labels = setting.source, solution.consensus.labels
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    integrated = evidence = Estimate(nan, method="none")
    if DEPTHS.index(depth) >= DEPTHS.index("posterior"):
        integrated = _log_integrated(setting, solution, rng)
    if depth == "evidence":
        partition = _partition(setting, sizes)
        evidence = find_log_evidence(source, partition, setting.prior_theta, labels, rng)
    return Evaluation(
        sizes=sizes,
        depth=depth,
        labels=labels,
        optimal=solution.consensus.optimal,
        agreement=agreement_of_counts(source.pair_counts, labels).overall,
        theta=solution.theta.value,
        log_likelihood=solution.log_likelihood,
        log_likelihood_error=solution.log_likelihood_error,
        log_integrated=float(integrated),
        log_evidence=float(evidence),
        log_evidence_error=evidence.standard_error,
        # Of many sizes, likelihoods would fill the memory.
        solution=replace(solution, likelihood=None),
    )


def _log_integrated(setting: Setting, solution: Solution, rng: np.random.Generator) -> Estimate:
    """Log probability of the answers given tiers, theta being averaged over."""
    source, labels, prior = setting.source, solution.consensus.labels, setting.prior_theta
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    if source.capabilities.engine == "comparisons":
        value = integrated_over_theta(source.wins, labels, prior)
        return Estimate(value, method="closed form")
    if source.capabilities.engine == "mistakes":
        correction = laplace_correction(solution.theta, prior)
        return Estimate(solution.log_likelihood + correction, method="Laplace")
    likelihood = solution.likelihood
    if likelihood is None:
        likelihood = source.at(sizes, partition=_partition(setting, sizes), rng=rng)
    quick = replace(likelihood, partition=for_many_thetas(likelihood.partition))
    return log_integrated_likelihood(quick, labels, solution.theta, prior)


def _partition(setting: Setting, sizes: Sizes) -> PartitionFunction:
    return for_many_thetas(
        partition_function(
            sizes, setting.source.distance, budget=SEARCH_BUDGET, rng=setting.entropy
        )
    )


def evaluate_batch(setting: Setting, batch: Sequence[Sizes], depth: Depth) -> list[Evaluation]:
    """Evaluate several size vectors, as one task."""
    return [evaluate_sizes(setting, sizes, depth) for sizes in batch]


def can_be_together(setting: Setting, depth: Depth) -> bool:
    """Return whether several size vectors can be evaluated at the same time."""
    source = setting.source
    if depth not in ("likelihood", "posterior") or source.joint_counts is None:
        return False
    return can_be_fitted_together(len(source.items), source.distance)


def evaluate_together(setting: Setting, batch: Sequence[Sizes], depth: Depth) -> list[Evaluation]:
    """Evaluate size vectors of few items, which leave nothing open, at the same time.

    Where the prior of theta is an unusual one, sizes are evaluated one by one.
    """
    source = setting.source
    counts = source.joint_counts
    assert counts is not None
    every = every_size(len(source.items), source.distance)
    fitted = every.fit(counts, batch)
    integrated, resolved = _integrated_together(setting, fitted, depth)
    return [
        Evaluation(
            sizes=sizes,
            depth=depth,
            labels=fitted.labels[row],
            optimal=True,
            agreement=agreement_of_counts(source.pair_counts, fitted.labels[row]).overall,
            theta=float(fitted.thetas[row]),
            log_likelihood=float(fitted.log_likelihoods[row]),
            log_integrated=float(integrated[row]),
        )
        if resolved[row]
        else evaluate_sizes(setting, sizes, depth)
        for row, sizes in enumerate(batch)
    ]


def _integrated_together(
    setting: Setting, found: FittedSizes | BoundedSizes, depth: Depth, *, quickly: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Integrate likelihoods over theta, if that is asked for; say of which that succeeds."""
    n_sizes = len(found.rows)
    if depth != "posterior":
        return np.full(n_sizes, nan), np.ones(n_sizes, dtype=np.bool_)
    source = setting.source
    vectors = every_size(len(source.items), source.distance).vectors
    return Distributions(vectors, found.rows).log_integrals(
        found.totals, float(source.n_rankings), setting.prior_theta, quickly=quickly
    )


def bound_together(setting: Setting, batch: Sequence[Sizes], depth: Depth) -> list[Evaluation]:
    """Return what is at least as good as the evaluations of these sizes, without tiers.

    The distance of the closest tiers is bounded from below. The likelihood falls with it at every
    theta, so what is integrated over theta falls with it too.
    """
    source = setting.source
    counts = source.joint_counts
    assert counts is not None
    every = every_size(len(source.items), source.distance)
    bounded = every.bound(counts, batch)
    integrated, resolved = _integrated_together(setting, bounded, depth, quickly=True)
    integrated[~resolved] = inf
    unknown = np.empty(0, dtype=np.int64)
    return [
        Evaluation(
            sizes=sizes,
            depth=depth,
            labels=unknown,
            optimal=False,
            agreement=nan,
            log_likelihood=float(bounded.log_likelihoods[row]),
            log_integrated=float(integrated[row]),
        )
        for row, sizes in enumerate(batch)
    ]


class Evaluator:
    """Remembers the value of every size vector, and computes what it does not know.

    Parameters
    ----------
    setting
        What is evaluated.
    workers, progress
        As in `tierwise._util.tasks.stream_tasks` and `tierwise._util.tasks.track`.
    """

    def __init__(self, setting: Setting, workers: int | None, progress: Progress) -> None:
        check_workers(workers)
        self.setting = setting
        self.known: dict[Sizes, Evaluation] = {}
        self._workers = workers
        self._progress = progress

    def evaluate(self, candidates: Iterable[Sizes], depth: Depth, description: str) -> None:
        """See to it that these size vectors are known in this depth.

        Results are kept as they come, so an interruption loses only unfinished work.
        """
        missing = [sizes for sizes in dict.fromkeys(candidates) if not self.is_known(sizes, depth)]
        if not missing:
            return
        evaluations: Iterable[Evaluation]
        if can_be_together(self.setting, depth):
            evaluations = evaluate_together(self.setting, missing, depth)
        else:
            results = stream_tasks(
                evaluate_batch,
                [(self.setting, batch, depth) for batch in deal(missing, self.setting, depth)],
                workers=self._workers,
            )
            evaluations = (evaluation for batch in results for evaluation in batch)
        # Several distances may be compared one after another, so the name is shown.
        words = f"{description}, {self.setting.source.distance.name}"
        for evaluation in track(evaluations, words, len(missing), self._progress):
            self.known[evaluation.sizes] = evaluation

    def solve(self, sizes: Sizes) -> None:
        """See to it that the solution of known sizes is there, for which there is a fit."""
        known = self.known[sizes]
        if known.solution is None and known.depth != "agreement":
            rng = np.random.default_rng(self.setting.seed(sizes))
            solution = solve(self.setting.source, sizes, _settings(self.setting, sizes), rng)
            self.known[sizes] = replace(
                known, log_likelihood=solution.log_likelihood, solution=solution
            )

    def is_known(self, sizes: Sizes, depth: Depth) -> bool:
        """Whether a size vector was evaluated at least so far."""
        known = self.known.get(sizes)
        return known is not None and DEPTHS.index(known.depth) >= DEPTHS.index(depth)


def deal(candidates: list[Sizes], setting: Setting, depth: Depth) -> list[list[Sizes]]:
    """Deal size vectors into batches that take about the same time.

    Every batch is then a fair sample of what is still to come, so that the time left follows
    from the time taken. Where answers leave something open, each is a batch of its own.
    """
    if not setting.source.capabilities.complete:
        return [[sizes] for sizes in candidates]
    distance = setting.source.distance
    seconds = {sizes: seconds_of(sizes, distance, depth) for sizes in candidates}
    n_batches = min(len(candidates), int(sum(seconds.values()) / _SECONDS_OF_A_BATCH) + 1)
    by_work = sorted(candidates, key=seconds.__getitem__, reverse=True)
    return [by_work[first::n_batches] for first in range(n_batches)]


Criterion: TypeAlias = Literal["posterior", "likelihood", "evidence", "agreement", "both"]


@dataclass(frozen=True)
class Judge:
    """Tells how good size vectors are, by a criterion.

    Attributes
    ----------
    criterion
        Name of the criterion.
    prior_sizes
        Prior of size vectors, for "posterior" and "evidence".
    shortlist
        For "both": the share of size vectors, among those with equally many tiers, that are
        compared by I.
    """

    criterion: Criterion
    prior_sizes: SizesPrior = "uniform"
    shortlist: float = 0.25

    def __post_init__(self) -> None:
        check_choice("criterion", self.criterion, get_args(Criterion))
        if not 0 < self.shortlist <= 1:
            raise InputError(
                f"shortlist must be a share above 0 and at most 1; got {self.shortlist:g}"
            )

    @property
    def depth(self) -> Depth:
        """What must be computed for a size vector to be judged."""
        return "likelihood" if self.criterion == "both" else self.criterion

    def score(self, evaluation: "Evaluation") -> float:
        """Return how good a size vector is, more being better; minus infinity if unknown."""
        if self.criterion == "agreement":
            value = evaluation.agreement
        elif self.criterion == "evidence":
            value = evaluation.log_evidence + log_prior_of_sizes(self.prior_sizes, evaluation.sizes)
        elif self.criterion == "posterior":
            value = evaluation.log_integrated - log_number_of_tiers(evaluation.sizes)
            value += log_prior_of_sizes(self.prior_sizes, evaluation.sizes)
        else:
            value = evaluation.criterion
        return -inf if isnan(value) else value

    def error(self, evaluation: "Evaluation") -> float:
        """Return the standard error of that."""
        if self.criterion == "evidence":
            return evaluation.log_evidence_error
        return evaluation.log_likelihood_error

    def narrow(self, evaluations: "Iterable[Evaluation]") -> list[Sizes]:
        """Keep the size vectors with the best agreement, for each number of tiers."""
        by_number: dict[int, list[Evaluation]] = {}
        for evaluation in evaluations:
            by_number.setdefault(len(evaluation.sizes), []).append(evaluation)
        kept: list[Sizes] = []
        for group in by_number.values():
            ranked = sorted(group, key=lambda one: (one.agreement, one.sizes), reverse=True)
            kept += [one.sizes for one in ranked[: ceil(self.shortlist * len(ranked))]]
        return kept
