"""Answers that leave open which items lie in which block."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tierwise as tw
from tests import reference
from tests.mixture.simulated import from_groups
from tierwise.answers.dispatch import answered_places, parts_of_places
from tierwise.distances import get_distance
from tierwise.errors import InputError, TooLargeError
from tierwise.mixture.em import EMSettings, run_short_then_long
from tierwise.mixture.groups import Component, GroupFitter, distinct_answers


@st.composite
def open_problems(draw):
    """Answers of four items that list only some of them."""
    unranked = draw(st.sampled_from(["below", "anywhere"]))
    rows = draw(
        st.lists(
            st.permutations(range(4)).flatmap(
                lambda order: st.integers(1, 4).map(lambda length: tuple(order[:length]))
            ),
            min_size=1,
            max_size=6,
        )
    )
    sizes = draw(st.sampled_from([(1, 1, 1, 1), (1, 2, 1), (2, 2), (1, 3), (4,)]))
    return rows, unranked, sizes


def rankings_of(rows, unranked):
    return tw.Rankings.from_orderings(rows, items=range(4), unranked=unranked)


def completions(row, unranked):
    """All complete orderings that agree with an answer."""
    return [
        ordering
        for ordering in permutations(range(4))
        if (
            ordering[: len(row)] == row
            if unranked == "below"
            else [item for item in ordering if item in row] == list(row)
        )
    ]


@given(open_problems(), st.sampled_from(["kendall", "hamming"]), st.integers(0, 99))
def test_probabilities_and_moments_are_those_of_all_completions(problem, distance, seed):
    rows, unranked, sizes = problem
    rankings = rankings_of(rows, unranked)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.array(reference.labels_of(sizes)))
    theta = 0.2 + rng.random()
    answers = distinct_answers(rankings)
    fitter = GroupFitter(answers, get_distance(distance))
    component = Component(sizes, labels, theta, fitter.partition(sizes).log_value(theta))
    logs = fitter.log_probabilities(component)
    means, variances = fitter.distance_moments(component)
    brute = reference.BruteForce(sizes, distance, tuple(labels.tolist()))
    probability = dict(zip(brute.orderings, brute.probabilities(theta), strict=True))
    lengths = dict(zip(brute.orderings, brute.distances, strict=True))
    for row, pattern in zip(rows, rankings.pattern_of, strict=True):
        agreeing = completions(row, unranked)
        chances = np.array([probability[ordering] for ordering in agreeing])
        distances = np.array([lengths[ordering] for ordering in agreeing])
        mean = chances @ distances / chances.sum()
        variance = chances @ (distances - mean) ** 2 / chances.sum()
        assert logs[pattern] == pytest.approx(np.log(chances.sum()))
        assert means[pattern] == pytest.approx(mean, abs=1e-4)
        assert variances[pattern] == pytest.approx(variance, abs=1e-3)


@pytest.mark.slow
@settings(max_examples=20)
@given(open_problems(), st.sampled_from(["kendall", "hamming"]), st.booleans())
def test_no_step_lowers_the_criterion(problem, distance, searched):
    rows, unranked, sizes = problem
    answers = distinct_answers(rankings_of(rows, unranked))
    wanted = (("search",) if searched else (sizes,)) * 2
    settings = EMSettings(answers, wanted, False, get_distance(distance), 2, 1e-6, 25)
    run = run_short_then_long(settings, np.random.SeedSequence(1))
    assert np.diff(run.history).min(initial=0.0) >= -1e-7


@given(open_problems())
def test_other_weights_are_as_if_given_from_the_start(problem):
    rows, unranked, sizes = problem
    answers = distinct_answers(rankings_of(rows, unranked))
    weights = np.arange(1.0, len(answers.weights) + 1)
    distance = get_distance("kendall")
    labels = np.array(reference.labels_of(sizes))
    reweighed = GroupFitter(answers, distance).likelihood(sizes).reweighted(weights)
    afresh = GroupFitter(answers.reweighted(weights), distance).likelihood(sizes)
    assert reweighed.value(labels, 0.5) == pytest.approx(afresh.value(labels, 0.5))
    costs = [each.expected_costs(labels, 0.5) for each in (reweighed, afresh)]
    assert costs[0].pairs == pytest.approx(costs[1].pairs)


def some_of_two_groups(unranked="below"):
    """Rankings that list the best three of six items, or any four of them."""
    groups = [([[0], [1, 2], [3], [4, 5]], 1.5), ([[5], [4, 3], [2], [1, 0]], 1.5)]
    rankings, belongs = from_groups(groups, (300, 100), seed=1)
    rng = np.random.default_rng(1)
    rows = []
    for row in rankings.to_orderings():
        shown = rng.permutation(6)[:4]
        rows.append(row[:3] if unranked == "below" else [item for item in row if item in shown])
    return tw.Rankings.from_orderings(rows, items=range(6), unranked=unranked), belongs, groups


def test_one_group_is_the_fit():
    rankings, _, _ = some_of_two_groups()
    for sizes in ((1, 2, 1, 2), (1,) * 6):
        fit = tw.fit(rankings, sizes)
        alone = tw.fit_mixture(rankings, 1, sizes, tolerance=1e-7, distance="kendall")
        assert alone.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-3)
        assert alone.groups[0].theta == pytest.approx(fit.theta, rel=1e-3)
        error = fit.theta_estimate.standard_error
        assert alone.groups[0].theta_error == pytest.approx(error, rel=1e-2)
        assert alone.groups[0].agreement == pytest.approx(fit.agreement)


@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_groups_are_found_from_some_of_six_items(unranked):
    rankings, belongs, groups = some_of_two_groups(unranked)
    found = tw.fit_mixture(rankings, 2, (1, 2, 1, 2), starts=5, rng=1, distance="kendall")
    assert found.shares == pytest.approx([0.75, 0.25], abs=0.05)
    assert [group.tiers for group in found.groups] == [tw.Tiers(tiers) for tiers, _ in groups]
    assert (found.memberships.argmax(axis=1) == belongs).mean() > 0.95
    assert np.diff(found.history).min() >= -1e-7


@pytest.mark.slow
def test_sizes_and_numbers_are_found_from_the_best_three_of_six():
    rankings, _, _ = some_of_two_groups()
    found = tw.fit_mixture(rankings, (1, 2), starts=5, folds=2, rng=1, distance="kendall")
    assert found.n_groups == 2
    assert all(scores.held_out is not None for scores in found.comparison)
    given = tw.fit_mixture(rankings, 2, (1, 2, 1, 2), starts=5, rng=1, distance="kendall")
    assert found.criterion >= given.criterion - 1e-3


def test_known_blocks_are_counted_and_open_ones_summed_over():
    """Lists of the best three say all for sizes (1, 2, 3), and are the same seen as open."""
    rankings, _, _ = some_of_two_groups()
    answers, distance = distinct_answers(rankings), get_distance("kendall")
    fitter = GroupFitter(answers, distance)
    assert fitter.likelihood((1, 2, 3)).known
    assert not fitter.likelihood((1, 2, 1, 2)).known
    component, _ = fitter.fit(answers.weights, (1, 2, 3), None)
    rng, logs = np.random.default_rng(1), np.empty(len(answers.weights))
    for part in parts_of_places(
        answered_places(rankings), answers.weights, (1, 2, 3), distance, rng
    ):
        logs[part.rows] = part.completions.log_weights(component.labels, component.theta)
    assert fitter.log_probabilities(component) == pytest.approx(logs - component.log_partition)


def test_what_cannot_be_summed_over_is_refused():
    rng = np.random.default_rng(1)
    rows = [tuple(rng.permutation(40)[:3].tolist()) for _ in range(20)]
    rankings = tw.Rankings.from_orderings(rows, items=range(40), unranked="anywhere")
    with pytest.raises(TooLargeError, match="too incomplete"):
        tw.fit_mixture(rankings, 2, (2,) * 20, starts=1, rng=1, distance="kendall")
    with pytest.raises(InputError, match="which tier-sized block"):
        tw.sample_mixture(rankings, 2, (2,) * 20)
