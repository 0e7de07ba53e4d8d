"""Evaluate size vectors: each once, the costly ones side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from tierwise._util.estimate import Estimate
from tierwise._util.tasks import Progress, stream_tasks, track
from tierwise.answers.likelihood import AnswerSource
from tierwise.consensus.find import find_consensus
from tierwise.evidence.choose import find_log_evidence
from tierwise.evidence.given_tiers import laplace_correction, log_integrated_likelihood
from tierwise.fitting.agreement import agreement_of_counts
from tierwise.fitting.solution import Settings, Solution
from tierwise.fitting.solve import solve
from tierwise.model.priors import ThetaPrior
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import partition_function
from tierwise.partition.interpolated import for_many_thetas
from tierwise.searching.cost_model import DEPTHS, SEARCH_BUDGET, Depth, consensus_method, seconds_of
from tierwise.tiers.sizes import Sizes, log_number_of_tiers

# Work of a batch: long enough to outweigh handing it over, short enough to show progress.
_SECONDS_OF_A_BATCH = 0.25


@dataclass(frozen=True, eq=False)
class Setting:
    """All that the value of a size vector depends on besides the sizes.

    Attributes
    ----------
    source
        The answers, counted once for all sizes where that is possible.
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
    method = consensus_method(sizes, source.distance)
    if depth == "agreement" and source.n_open == 0:
        costs = source.at(sizes).costs_at_random()
        consensus = find_consensus(costs, sizes, method=method, rng=rng)
        agreement = agreement_of_counts(source.pair_counts, consensus.labels).overall
        return Evaluation(sizes, depth, consensus.labels, consensus.optimal, agreement)
    settings = Settings(
        method=method, partition_seed=setting.entropy, partition_budget=SEARCH_BUDGET
    )
    return evaluate_solution(setting, solve(source, sizes, settings, rng), depth, rng)


def evaluate_solution(
    setting: Setting, solution: Solution, depth: Depth, rng: np.random.Generator
) -> Evaluation:
    """Say how good the best tiers of their sizes are."""
    source, labels = setting.source, solution.consensus.labels
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    integrated = evidence = Estimate(nan, method="none")
    if DEPTHS.index(depth) >= DEPTHS.index("posterior"):
        partition = _partition(setting, sizes)
        likelihood = source.at(sizes, partition=partition, rng=rng)
        if source.votes is None:
            integrated = log_integrated_likelihood(
                likelihood, labels, solution.theta, setting.prior_theta
            )
        else:
            correction = laplace_correction(solution.theta, setting.prior_theta)
            integrated = Estimate(solution.log_likelihood + correction, method="Laplace")
    if depth == "evidence":
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
        solution=solution,
    )


def _partition(setting: Setting, sizes: Sizes) -> PartitionFunction:
    return for_many_thetas(
        partition_function(
            sizes, setting.source.distance, budget=SEARCH_BUDGET, rng=setting.entropy
        )
    )


def evaluate_batch(setting: Setting, batch: Sequence[Sizes], depth: Depth) -> list[Evaluation]:
    """Evaluate several size vectors, as one task."""
    return [evaluate_sizes(setting, sizes, depth) for sizes in batch]


class Evaluator:
    """Remembers the value of every size vector, and computes what it does not know.

    Parameters
    ----------
    setting
        What is evaluated.
    workers, progress
        As for `tierwise._util.tasks.stream_tasks` and `tierwise._util.tasks.track`.
    """

    def __init__(self, setting: Setting, workers: int | None, progress: Progress) -> None:
        self.setting = setting
        self.known: dict[Sizes, Evaluation] = {}
        self._workers = workers
        self._progress = progress

    def evaluate(self, candidates: Iterable[Sizes], depth: Depth, description: str) -> None:
        """See to it that these size vectors are known in this depth.

        Results are kept as they come, so that an interruption loses only what is under way.
        """
        missing = [sizes for sizes in dict.fromkeys(candidates) if not self.is_known(sizes, depth)]
        if not missing:
            return
        setting = self.setting
        batches = deal(missing, setting, depth)
        results = stream_tasks(
            evaluate_batch,
            [(self.setting, batch, depth) for batch in batches],
            workers=self._workers,
        )
        evaluations = (evaluation for batch in results for evaluation in batch)
        for evaluation in track(evaluations, description, len(missing), self._progress):
            self.known[evaluation.sizes] = evaluation

    def is_known(self, sizes: Sizes, depth: Depth) -> bool:
        """Whether a size vector was evaluated at least so far."""
        known = self.known.get(sizes)
        return known is not None and DEPTHS.index(known.depth) >= DEPTHS.index(depth)


def deal(candidates: list[Sizes], setting: Setting, depth: Depth) -> list[list[Sizes]]:
    """Deal size vectors into batches that take about the same time.

    Every batch is then a fair sample of what is still to come, so that the time left can be told
    from the time taken. Where answers leave something open, each is a batch of its own.
    """
    if setting.source.n_open > 0:
        return [[sizes] for sizes in candidates]
    distance = setting.source.distance
    seconds = {sizes: seconds_of(sizes, distance, depth) for sizes in candidates}
    n_batches = min(len(candidates), int(sum(seconds.values()) / _SECONDS_OF_A_BATCH) + 1)
    by_work = sorted(candidates, key=seconds.__getitem__, reverse=True)
    return [by_work[first::n_batches] for first in range(n_batches)]
