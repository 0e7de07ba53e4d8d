"""Every move leaves the posterior as it is, and does what its arguments say."""

from collections import Counter
from math import exp

import numpy as np
import pytest

from tests.posterior.small import SIZES, small_reference, small_target, theta_p_value, tiers_p_value
from tests.reference_posterior import all_tiers, hamming
from tierwise._kernels.consensus import LogWeights, TierCosts, switch_labels, walk_over_tiers
from tierwise._kernels.subsets import draw_tiers, least_costs
from tierwise.posterior.chain import State, random_state
from tierwise.posterior.moves import ChangeSizes, DrawTheta, SwitchTiers, relocate, split_or_merge

TINY = 1e-6


def start(target, sizes, theta=0.4):
    state = random_state(target, sizes, np.random.default_rng(0))
    return state._replace(theta=theta)


@pytest.mark.parametrize("distance", ["kendall", "hamming"])
def test_switches_at_a_fixed_theta_have_the_right_distribution(distance):
    target = small_target(distance)
    problem = target.at(SIZES).problem
    state, rng = start(target, SIZES), np.random.default_rng(1)
    move = SwitchTiers(target, n_steps=40)
    drawn = []
    for _ in range(4000):
        state = move(state, rng)
        drawn.append(tuple(state.labels.tolist()))
        assert state.total == problem.total(state.labels)
        assert np.bincount(state.labels).tolist() == list(SIZES)
    reference = small_reference(distance=hamming) if distance == "hamming" else small_reference()
    weights = np.exp(-state.theta * (np.array(reference.totals) - min(reference.totals)))
    reference.probabilities = weights / weights.sum()
    assert tiers_p_value(drawn, reference) > TINY


def test_switches_count_what_they_accept():
    target, rng = small_target(), np.random.default_rng(1)
    free = SwitchTiers(target, 500)(start(target, SIZES, theta=1e-9), rng)
    stiff = SwitchTiers(target, 500)(start(target, SIZES, theta=5.0), rng)
    assert 0 <= stiff.accepted_tiers < free.accepted_tiers
    assert free.accepted_tiers == 1.0


def test_single_tier_has_nothing_to_switch():
    target = small_target()
    state = SwitchTiers(target, 10)(start(target, (4,)), np.random.default_rng(1))
    assert state.labels.tolist() == [0, 0, 0, 0]
    assert state.total == 0.0
    assert state.accepted_tiers == 0.0


def test_two_items_can_be_switched():
    labels = np.array([0, 1])
    pairs = np.array([[0.0, 3.0], [1.0, 0.0]])
    costs = TierCosts(np.empty((0, 0)), pairs, pairs.T.copy())
    total, _ = switch_labels(
        labels, np.array([1, 1]), costs, LogWeights.at(50.0), 50, np.random.default_rng(1)
    )
    assert labels.tolist() == [0, 1]
    assert total == 1.0


def test_walk_is_a_row_of_switches():
    sized = small_target().at(SIZES)
    problem, weights = sized.problem, LogWeights.at(0.4)
    costs = problem.costs
    labels = problem.sorted_labels
    visited, totals, moved = walk_over_tiers(
        labels, sized.sizes_array, costs, weights, 7, 20, np.random.default_rng(5)
    )
    rng, current = np.random.default_rng(5), labels.copy()
    for row in range(20):
        total, n_accepted = switch_labels(current, sized.sizes_array, costs, weights, 7, rng)
        assert visited[row].tolist() == current.tolist()
        assert (totals[row], moved[row]) == (total, n_accepted)
    assert labels.tolist() == problem.sorted_labels.tolist()


def test_theta_is_drawn_from_its_conditional_distribution():
    target, rng = small_target(), np.random.default_rng(2)
    state, move = start(target, SIZES), DrawTheta(target)
    thetas = np.array([move(state, rng).theta for _ in range(4000)])
    reference = small_reference()
    place = reference.tiers.index(tuple(state.labels.tolist()))
    reference.probabilities = np.eye(len(reference.tiers))[place]
    assert theta_p_value(thetas, reference) > TINY


@pytest.mark.parametrize("distance", ["kendall", "hamming"])
def test_draws_by_the_recursion_have_the_right_distribution(distance):
    target = small_target(distance)
    problem = target.at(SIZES).problem
    sizes = problem.sizes_array
    least = least_costs(problem.linear, problem.pairs_transposed, sizes)
    drawn = draw_tiers(
        problem.linear, problem.pairs_transposed, sizes, least, np.full(5000, 0.4),
        np.random.default_rng(3),
    )  # fmt: skip
    reference = small_reference(distance=hamming) if distance == "hamming" else small_reference()
    weights = np.exp(-0.4 * (np.array(reference.totals) - min(reference.totals)))
    reference.probabilities = weights / weights.sum()
    assert tiers_p_value(drawn, reference) > TINY


def test_draws_by_the_recursion_follow_their_theta():
    problem = small_target().at(SIZES).problem
    sizes = problem.sizes_array
    least = least_costs(problem.linear, problem.pairs_transposed, sizes)
    thetas = np.repeat([0.0, 50.0], 500)
    drawn = draw_tiers(
        problem.linear, problem.pairs_transposed, sizes, least, thetas, np.random.default_rng(3)
    )
    totals = np.array([problem.total(labels) for labels in drawn])
    assert (totals[500:] == least[-1]).all()
    assert len(set(totals[:500].tolist())) > 3


def test_draws_at_many_thetas_have_each_the_right_distribution():
    problem = small_target().at(SIZES).problem
    sizes = problem.sizes_array
    least = least_costs(problem.linear, problem.pairs_transposed, sizes)
    rng = np.random.default_rng(5)
    different = np.array([0.05, 0.1, 0.11, 0.4, 0.8])
    thetas = np.sort(rng.choice(different, 20_000))
    drawn = draw_tiers(problem.linear, problem.pairs_transposed, sizes, least, thetas, rng)
    reference = small_reference()
    excess = np.array(reference.totals) - min(reference.totals)
    for theta in different:
        weights = np.exp(-theta * excess)
        reference.probabilities = weights / weights.sum()
        assert tiers_p_value(drawn[thetas == theta], reference) > 1e-4


def sizes_of(labels):
    return tuple(np.bincount(labels).tolist())


def test_relocation_is_as_probable_as_its_reverse():
    rng, n_draws = np.random.default_rng(1), 4000
    moved = {
        tiers: Counter(
            tuple(relocate(np.array(tiers), sizes_of(tiers), rng).tolist()) for _ in range(n_draws)
        )
        for tiers in all_tiers(3)
    }
    for here, reached in moved.items():
        # Items can go to at least one other place each, and all tiers there are stay in use.
        assert 3 <= len(reached) <= 1 + 3 * 4
        for there, count in reached.items():
            assert abs(count - moved[there][here]) < 6 * (count + moved[there][here]) ** 0.5


def test_splits_and_merges_are_corrected_for_their_number():
    """Accepted with their correction, they make all tiers equally frequent."""
    rng = np.random.default_rng(1)
    labels = np.array([0, 0, 1])
    counted = Counter()
    for step in range(60_000):
        proposed, log_correction = split_or_merge(labels, sizes_of(labels), rng)
        if rng.random() < exp(min(log_correction, 0.0)):
            labels = proposed
        if step % 10 == 0:
            counted[tuple(labels.tolist())] += 1
    everything = list(all_tiers(3))
    assert set(counted) == set(everything)
    expected = 6000 / len(everything)
    statistic = sum((counted[tiers] - expected) ** 2 / expected for tiers in everything)
    from scipy.stats import chi2

    assert chi2.sf(statistic, len(everything) - 1) > TINY


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("counts", "prior_sizes"),
    [
        ((12, 0), "uniform"),
        ((0, 12), "penalised"),
        pytest.param((12, 0), "penalised", marks=pytest.mark.slow),
        pytest.param((0, 12), "uniform", marks=pytest.mark.slow),
    ],
)
def test_changes_of_sizes_keep_the_posterior(counts, prior_sizes):
    target = small_target(prior_sizes=prior_sizes)
    move, rng = ChangeSizes(target, *counts), np.random.default_rng(5)
    state = start(target, None)
    drawn = []
    for _ in range(2000):
        for _ in range(2):
            state = move(state, rng)
        drawn.append(tuple(state.labels.tolist()))
        sized = target.at(state.sizes)
        assert state.total == sized.problem.total(state.labels)
        assert state.log_posterior == sized.log_posterior(state.total)
    reference = small_reference(None)
    if prior_sizes == "penalised":
        weights = reference.probabilities * [exp(-max(tiers)) for tiers in reference.tiers]
        reference.probabilities = weights / weights.sum()
    assert tiers_p_value(drawn, reference) > TINY


def test_sizes_that_are_impossible_are_never_taken():
    def prior(sizes):
        return 0.0 if len(sizes) <= 2 else -np.inf

    target = small_target(prior_sizes=prior)
    state, rng = start(target, None), np.random.default_rng(6)
    assert len(state.sizes) <= 2
    for _ in range(50):
        state = ChangeSizes(target, 4, 2)(state, rng)
        assert len(state.sizes) <= 2


def test_random_starts_differ():
    target, rng = small_target(), np.random.default_rng(7)
    states = [random_state(target, None, rng) for _ in range(20)]
    assert len({state.sizes for state in states}) > 3
    assert isinstance(states[0], State)
    fixed = [random_state(target, SIZES, rng) for _ in range(20)]
    assert {state.sizes for state in fixed} == {SIZES}
    assert len({tuple(state.labels.tolist()) for state in fixed}) > 3
