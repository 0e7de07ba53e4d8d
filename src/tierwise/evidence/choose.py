"""Evidence by the best method that is affordable: exact, summed over likely tiers, or Chib's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tierwise._util.types import Estimate
from tierwise.evidence.chib import estimate_log_evidence
from tierwise.evidence.exact import log_evidence, sum_over_likely_tiers

if TYPE_CHECKING:
    import numpy as np

    from tierwise.answers.base import Labels
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.model.priors import ThetaPrior
    from tierwise.partition.base import PartitionFunction


def find_log_evidence(
    source: AnswerSource,
    partition: PartitionFunction,
    prior: ThetaPrior,
    best: Labels,
    rng: np.random.Generator,
) -> Estimate:
    """Log probability of answers given the sizes of the tiers only.

    Summed over all tiers where that is possible, or over those that matter, else estimated.

    Parameters
    ----------
    source
        The answers.
    partition
        The partition function of the sizes.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.
    best
        The most probable tiers, so far as they are known.
    rng
        Generator, for what is estimated.

    Examples
    --------
    >>> import numpy as np
    >>> import tierwise as tw
    >>> from tierwise.answers.likelihood import source_of
    >>> rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 3)
    >>> source, partition = source_of(rankings, "kendall"), tw.partition_function((1, 2))
    >>> best, rng = np.array([0, 1, 1]), np.random.default_rng(1)
    >>> find_log_evidence(source, partition, tw.Gamma(2, 2), best, rng)
    -3.96729... (exact, recursion)
    """
    likelihood = source.at(partition.sizes, partition=partition, rng=rng)
    if likelihood.known:
        return Estimate(log_evidence(likelihood, prior), method="recursion")
    if source.votes is None and likelihood.drawn is None:
        value = sum_over_likely_tiers(likelihood, prior, best)
        if value is not None:
            return Estimate(value, method="sum over likely tiers")
    return estimate_log_evidence(source, partition, prior, best, rng)
