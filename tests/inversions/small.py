"""Problems small enough for brute force."""

import numpy as np

from tests.reference_inversions import pattern_of, random_weak_order
from tierwise.data.counts import WeakOrderCounts


def random_answers(n_items, n_answers, seed, complete=False):
    """Weak orders with weights, nearer to 0, 1, 2, ... than chance."""
    rng = np.random.default_rng(seed)
    answers = []
    for _ in range(n_answers):
        if complete:
            order = np.argsort(0.7 * np.arange(n_items) + rng.normal(size=n_items) * 1.5)
            blocks = tuple((int(item),) for item in order)
        else:
            blocks = random_weak_order(n_items, rng)
            if rng.random() < 0.6:
                blocks = tuple(sorted(blocks, key=min))
        answers.append((blocks, int(rng.integers(1, 4))))
    return answers


def counts_of(answers, n_items):
    patterns = np.array([pattern_of(blocks, n_items) for blocks, _ in answers])
    weights = np.array([times for _, times in answers])
    return WeakOrderCounts.from_patterns(patterns, weights)


def chi_square_p_value(observed, expected):
    """P-value of counts against expected ones; rare cells are put together."""
    from scipy.stats import chi2

    observed, expected = np.asarray(observed, float), np.asarray(expected, float)
    common = expected >= 5
    cells = np.append(observed[common], observed[~common].sum())
    wanted = np.append(expected[common], expected[~common].sum())
    if wanted[-1] < 1:
        cells[0] += cells[-1]
        wanted[0] += wanted[-1]
        cells, wanted = cells[:-1], wanted[:-1]
    statistic = ((cells - wanted) ** 2 / wanted).sum()
    return float(chi2.sf(statistic, max(len(cells) - 1, 1)))
