"""The posterior of tiers by total distance, as tabulated for the kernels."""

import numpy as np
import pytest

from tests.posterior.small import SIZES, small_target
from tierwise import Rankings
from tierwise._kernels.consensus import log_weight
from tierwise.answers.likelihood import source_of
from tierwise.data.counts import Counts
from tierwise.model.priors import Gamma
from tierwise.posterior.collapsed import possible_totals, tabulate_weights
from tierwise.posterior.target import Target


def random_target(n_items, n_rankings, distance, seed):
    rng = np.random.default_rng(seed)
    rankings = Rankings.from_order_array(
        rng.permuted(np.tile(np.arange(n_items), (n_rankings, 1)), axis=1), range(n_items)
    )
    return Target(source_of(Counts.of(rankings), distance), Gamma(2, 2), "uniform")


@pytest.mark.parametrize("distance", ["kendall", "hamming", "footrule"])
@pytest.mark.parametrize(
    ("n_items", "n_rankings", "sizes"), [(4, 2, (2, 2)), (6, 20, (1, 2, 3)), (6, 2000, (1,) * 6)]
)
def test_table_is_exact_to_1e_8(distance, n_items, n_rankings, sizes):
    sized = random_target(n_items, n_rankings, distance, seed=1).at(sizes)
    table = tabulate_weights(sized)
    low, high = possible_totals(sized.problem)
    totals = np.random.default_rng(2).uniform(low, high, 300)
    errors = [
        abs(log_weight(total, table) - sized.theta.density(total).log_integral) for total in totals
    ]
    assert max(errors) < 1e-8


@pytest.mark.parametrize("distance", ["kendall", "hamming", "spearman"])
def test_totals_lie_within_their_bounds(distance):
    rng = np.random.default_rng(3)
    target = random_target(5, 9, distance, seed=4)
    for sizes in [(5,), (2, 3), (1, 1, 1, 1, 1), (1, 3, 1)]:
        problem = target.at(sizes).problem
        low, high = possible_totals(problem)
        totals = [problem.total(rng.permutation(problem.sorted_labels)) for _ in range(200)]
        assert low <= min(totals)
        assert max(totals) <= high


def test_table_is_a_straight_line_beyond_its_ends():
    sized = small_target().at(SIZES)
    table = tabulate_weights(sized)
    end = table.knots[-1]
    assert log_weight(end + 7.0, table) == pytest.approx(table.values[-1] + 7.0 * table.slopes[-1])
    start = table.knots[0]
    assert log_weight(start - 2.0, table) == pytest.approx(table.values[0] - 2.0 * table.slopes[0])
