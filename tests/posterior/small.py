"""A problem small enough for brute force, with a posterior that is spread over many tiers."""

import numpy as np

from tests.reference_posterior import PosteriorByEnumeration, all_tiers, kendall, tiers_of_sizes
from tierwise import Rankings
from tierwise.answers.likelihood import source_of
from tierwise.model.priors import Gamma
from tierwise.posterior.target import Target

ORDERINGS = [
    (0, 1, 2, 3),
    (1, 0, 2, 3),
    (0, 2, 1, 3),
    (2, 0, 1, 3),
    (3, 1, 0, 2),
    (0, 1, 3, 2),
    (1, 2, 3, 0),
]
SIZES = (1, 2, 1)


def small_rankings():
    return Rankings.from_orderings([list(ordering) for ordering in ORDERINGS], items=range(4))


def small_target(distance="kendall", prior_sizes="uniform"):
    from tierwise.data.counts import Counts

    counts = Counts.of(small_rankings())
    return Target(source_of(counts, distance), Gamma(2, 2), prior_sizes)


def small_reference(sizes=SIZES, distance=kendall, **options):
    data = [(ordering, 1) for ordering in ORDERINGS]
    tiers = all_tiers(4) if sizes is None else tiers_of_sizes(sizes)
    return PosteriorByEnumeration(data, tiers, distance, **options)


def tiers_p_value(labels, reference):
    """Return how surprising draws of tiers are, by a chi-square test of all that are not rare."""
    from scipy.stats import chi2

    counted = {}
    for row in np.asarray(labels).tolist():
        counted[tuple(row)] = counted.get(tuple(row), 0) + 1
    expected = len(labels) * reference.probabilities
    common = expected >= 5
    observed = np.array([counted.pop(tiers, 0) for tiers in reference.tiers])
    assert not counted, "tiers were drawn that are impossible"
    cells = [*observed[common], observed[~common].sum()]
    wanted = [*expected[common], expected[~common].sum()]
    if wanted[-1] < 1:
        cells[0] += cells.pop()
        wanted[0] += wanted.pop()
    if len(cells) == 1:  # one is certain, and it is what was drawn
        return 1.0
    statistic = sum((o - e) ** 2 / e for o, e in zip(cells, wanted, strict=True))
    return float(chi2.sf(statistic, len(cells) - 1))


def theta_p_value(thetas, reference):
    """Return how surprising draws of theta are, by a Kolmogorov-Smirnov test."""
    from scipy.stats import kstest

    return float(kstest(thetas, reference.theta_cdf).pvalue)
