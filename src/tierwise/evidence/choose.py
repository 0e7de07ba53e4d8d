"""Evidence by the best method that is affordable: exact, summed over likely tiers, or Chib's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tierwise._util.estimate import Estimate
from tierwise.answers.dispatch import answers_of
from tierwise.answers.likelihood import Likelihood
from tierwise.data.counts import Counts, block_counts, blocks_are_known
from tierwise.data.preferences import Preferences
from tierwise.evidence.chib import estimate_log_evidence
from tierwise.evidence.exact import log_evidence
from tierwise.evidence.summed import sum_over_likely_tiers

if TYPE_CHECKING:
    import numpy as np

    from tierwise.answers.base import Labels
    from tierwise.data.rankings import Rankings
    from tierwise.distances.base import Distance
    from tierwise.model.priors import ThetaPrior
    from tierwise.partition.base import PartitionFunction


def find_log_evidence(
    data: Rankings | Counts | Preferences,
    distance: Distance,
    partition: PartitionFunction,
    prior: ThetaPrior,
    best: Labels,
    rng: np.random.Generator,
) -> Estimate:
    """Log probability of answers given the sizes of the tiers only.

    Summed over all tiers where that is possible, or over those that matter, else estimated.

    Parameters
    ----------
    data
        The answers.
    distance
        The distance.
    partition
        The partition function of the sizes and distance.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.
    best
        The most probable tiers, so far as they are known.
    rng
        Generator, for what is estimated.
    """
    sizes = partition.sizes
    if isinstance(data, Counts) or blocks_are_known(data, sizes):
        value = log_evidence(block_counts(data, sizes), distance, partition, prior)
        return Estimate(value, method="recursion")
    mistaken = isinstance(data, Preferences) and data.cycles == "keep"
    answers = None if mistaken else answers_of(data, sizes, distance, rng)
    if answers is not None and answers.drawn is None:
        summed = sum_over_likely_tiers(Likelihood(answers.exact, partition), prior, best)
        if summed is not None:
            return Estimate(summed, method="sum over likely tiers")
    return estimate_log_evidence(data, distance, prior, best, rng)
