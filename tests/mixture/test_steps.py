"""The parts of EM against brute force."""

from itertools import product
from math import lgamma
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

import tierwise as tw
from tests import reference, reference_mixture
from tests.mixture.simulated import from_groups, random_tiers
from tierwise._kernels.mixture import (
    costs_of_group,
    draw_binomial,
    draw_members,
    move_units,
)
from tierwise._kernels.theta import draw_theta, reflect_theta
from tierwise.data.counts import block_counts
from tierwise.distances import get_distance
from tierwise.mixture.em import (
    EMSettings,
    _value_in_place,
    e_step,
    first_groups,
    local_search,
    log_joint,
    m_step,
    normalised,
    run_em,
    run_short_then_long,
    split_and_merge,
    starting_memberships,
)
from tierwise.mixture.gibbs import Chain, MixtureTarget, answer_bits, points_of_group
from tierwise.mixture.groups import (
    Component,
    GroupFitter,
    distinct_answers,
    moved_items,
    swapped_tiers,
)
from tierwise.mixture.scores import standard_errors
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance


@st.composite
def problems(draw):
    """Some orderings with weights, and sizes."""
    sizes = draw(
        st.sampled_from([(1, 1, 1), (1, 2), (2, 2), (1, 2, 1), (3, 1), (2, 1, 2), (1,) * 5])
    )
    n_items = sum(sizes)
    orderings = draw(st.lists(st.permutations(range(n_items)), min_size=1, max_size=8))
    weights = draw(st.lists(st.integers(1, 5), min_size=len(orderings), max_size=len(orderings)))
    return sizes, [tuple(row) for row in orderings], weights


def answers_from(orderings, weights=None):
    n_items = len(orderings[0])
    rankings = tw.Rankings.from_orderings(orderings, items=range(n_items), weights=weights)
    return distinct_answers(rankings)


def random_labels(sizes, seed):
    return np.random.default_rng(seed).permutation(np.array(reference.labels_of(sizes)))


@given(problems(), st.sampled_from(sorted(reference.DISTANCES)), st.integers(0, 99))
def test_distances_are_those_of_the_definition(problem, distance, seed):
    sizes, orderings, _ = problem
    fitter = GroupFitter(answers_from(orderings), get_distance(distance))
    component = fitter.component(sizes, random_labels(sizes, seed), theta=1.0)
    labels = component.labels.tolist()
    distinct = list(dict.fromkeys(orderings))
    expected = [reference.DISTANCES[distance](row, labels, sizes) for row in distinct]
    found = -fitter.log_probabilities(component) - component.log_partition
    assert found.tolist() == pytest.approx(expected)
    means, variances = fitter.distance_moments(component)
    assert means.tolist() == pytest.approx(expected)
    assert variances == pytest.approx(np.zeros(len(distinct)), abs=1e-6)


@given(problems(), st.sampled_from(sorted(reference.DISTANCES)))
def test_weighted_costs_are_those_of_repeated_rankings(problem, distance):
    sizes, orderings, weights = problem
    answers, measure = answers_from(orderings), get_distance(distance)
    fitter = GroupFitter(answers, measure)
    repeated = [row for row, weight in zip(orderings, weights, strict=True) for _ in range(weight)]
    rankings = tw.Rankings.from_orderings(repeated, items=range(sum(sizes)))
    expected = measure.costs(block_counts(rankings, measure.blocks(sizes)), sizes)
    wanted = answers_from(orderings, weights).weights
    component = fitter.component(sizes, np.array(reference.labels_of(sizes)), theta=0.5)
    found = fitter.costs(wanted, component)
    assert found.linear == pytest.approx(expected.linear)
    assert np.array_equal(found.pairs, expected.pairs)


@pytest.mark.thorough
@given(problems(), st.sampled_from(sorted(reference.DISTANCES)), st.integers(0, 99))
def test_memberships_and_likelihood_are_those_of_the_definition(problem, distance, seed):
    sizes, orderings, _ = problem
    rng = np.random.default_rng(seed)
    shares, thetas = rng.dirichlet([1, 1, 1]), rng.gamma(2, 0.5, 3)
    one_tier = (sum(sizes),)
    groups = [
        (random_labels(sizes, seed + 1).tolist(), sizes, thetas[0]),
        (random_labels(sizes, seed + 2).tolist(), sizes, thetas[1]),
        ([0] * sum(sizes), one_tier, 0.0),
    ]
    answers = answers_from(orderings)
    fitter = GroupFitter(answers, get_distance(distance))
    components = tuple(
        Component(own, np.array(labels), theta, fitter.partition(own).log_value(theta))
        for labels, own, theta in groups
    )
    found, log_totals = e_step(fitter, components, shares)
    distinct = list(dict.fromkeys(orderings))
    expected = reference_mixture.memberships(distinct, groups, shares, distance)
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert log_totals.sum() == pytest.approx(
        reference_mixture.log_likelihood(distinct, groups, shares, distance)
    )


@settings(max_examples=20)
@given(problems(), st.sampled_from(sorted(reference.DISTANCES)), st.integers(0, 99))
def test_the_best_swap_gains_what_it_says(problem, distance, seed):
    sizes, orderings, weights = problem
    share, theta = 0.3, 0.7
    labels = random_labels(sizes, seed)
    answers = answers_from(orderings, weights)
    fitter = GroupFitter(answers, get_distance(distance))
    component = Component(sizes, labels, theta, fitter.partition(sizes).log_value(theta))
    repeated = [row for row, weight in zip(orderings, weights, strict=True) for _ in range(weight)]

    def value(labels):
        groups = [(labels, sizes, theta), ([0] * sum(sizes), (sum(sizes),), 0.0)]
        return reference_mixture.log_likelihood(repeated, groups, (share, 1 - share), distance)

    def swapped(first, second):
        other = labels.tolist()
        other[first], other[second] = other[second], other[first]
        return other

    pairs = product(range(len(labels)), repeat=2)
    neighbours = [pair for pair in pairs if labels[pair[0]] + 1 == labels[pair[1]]]
    highest = max(value(swapped(*pair)) for pair in neighbours)
    uniform = Component((sum(sizes),), np.zeros_like(labels), 0.0, lgamma(sum(sizes) + 1))
    joint = log_joint(fitter, (component, uniform), np.array([share, 1 - share]))
    memberships = np.ascontiguousarray(normalised(joint)[0][:, 0])
    found, gain = fitter.best_swap(memberships, component)
    assert value(found.labels.tolist()) == pytest.approx(highest)
    assert gain == pytest.approx(highest - value(labels.tolist()), abs=1e-9)


@pytest.mark.thorough
@given(problems(), st.sampled_from(sorted(reference.DISTANCES)), st.booleans())
def test_no_step_lowers_the_criterion(problem, distance, searched):
    sizes, orderings, weights = problem
    answers = answers_from(orderings, weights)
    sizes = (("search",) if searched else (sizes,)) * 2 + ((sum(sizes),),)
    settings = EMSettings(answers, sizes, True, get_distance(distance), 2, 1e-9, 60)
    run = run_short_then_long(settings, np.random.SeedSequence(1))
    assert np.diff(run.history).min(initial=0.0) >= -1e-9 * abs(run.history[0])


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [(1,) * 7, (2, 3, 2), "search"])
def test_long_runs_never_fall(sizes):
    rng = np.random.default_rng(3)
    orderings = [tuple(rng.permutation(7).tolist()) for _ in range(150)]
    answers = answers_from(orderings)
    fitter = GroupFitter(answers, get_distance("kendall"))
    for seed in range(4):
        memberships = starting_memberships(
            answers, 3, rounds=10 * (seed % 2), rng=np.random.default_rng(seed)
        )
        components, shares = first_groups(fitter, (sizes,) * 3, memberships)
        run = run_em(fitter, (sizes,) * 3, components, shares, tolerance=1e-7, most_steps=400)
        assert len(run.history) > 5
        assert np.diff(run.history).min() >= -1e-8
        assert run.shares.sum() == pytest.approx(1.0)


def test_tiers_beyond_the_subset_recursion_still_run_em():
    rng = np.random.default_rng(1)
    centres = [rng.permutation(30) for _ in range(2)]
    orderings = []
    for number in range(80):
        noisy = np.argsort(np.argsort(centres[number % 2]) + rng.normal(0, 6, 30))
        orderings.append(tuple(noisy.tolist()))
    answers = answers_from(orderings)
    settings = EMSettings(answers, ((1,) * 30,) * 2, False, get_distance("kendall"), 3, 1e-6, 100)
    run = run_short_then_long(settings, np.random.SeedSequence(1))
    assert np.diff(run.history).min() >= -1e-7
    assert run.shares == pytest.approx([0.5, 0.5], abs=0.05)


def test_a_local_search_leaves_where_em_stays():
    """A large and a small strict group: EM alone ends with wrong tiers of the small one."""
    groups = [(random_tiers((1,) * 10, 24 + number), 0.4) for number in range(2)]
    rankings, _ = from_groups(groups, (1800, 200), seed=2)
    answers = distinct_answers(rankings)
    fitter = GroupFitter(answers, get_distance("kendall"))
    sizes = ((1,) * 10,) * 2
    memberships = starting_memberships(answers, 2, rounds=10, rng=np.random.default_rng(1))
    components, shares = first_groups(fitter, sizes, memberships)
    for _ in range(60):
        memberships, _ = e_step(fitter, components, shares)
        components, shares = m_step(fitter, components, memberships)
    stuck = answers.weights @ e_step(fitter, components, shares)[1]
    better = local_search(fitter, sizes, components, shares)
    assert better is not None
    assert answers.weights @ e_step(fitter, better, shares)[1] > stuck
    run = run_em(fitter, sizes, components, shares, tolerance=1e-4, most_steps=500)
    assert run.log_likelihood > stuck + 20
    assert run.shares.min() == pytest.approx(0.1, abs=0.03)


def test_a_group_without_answers_keeps_its_tiers():
    answers = answers_from([(0, 1, 2), (0, 2, 1)])
    fitter = GroupFitter(answers, get_distance("kendall"))
    sizes = ((1, 1, 1),) * 2
    memberships = np.array([[1.0, 0.0], [1.0, 0.0]])
    components, shares = first_groups(fitter, sizes, memberships)
    run = run_em(fitter, sizes, components, shares, tolerance=1e-6, most_steps=50)
    assert run.shares.tolist() == [1.0, 0.0]
    assert run.components[1] is components[1]


def test_starts_are_memberships_even_of_few_answers():
    answers = answers_from([(0, 1, 2), (0, 2, 1)])
    for rounds in (10, 0):
        found = starting_memberships(answers, 4, rounds=rounds, rng=np.random.default_rng(1))
        assert found.shape == (2, 4)
        assert found.sum(axis=1) == pytest.approx([1.0, 1.0])
    raw = starting_memberships(answers, 2, rounds=0, rng=np.random.default_rng(1))
    assert sorted(raw.argmax(axis=1).tolist()) == [0, 1]


def test_standard_errors_are_those_of_the_curvature():
    """On data that are as the model says, the scores vary as the log-likelihood bends."""
    sizes, thetas, share = (1, 1, 1, 1), (0.9, 0.6), 0.6
    labels = (np.array([0, 1, 2, 3]), np.array([3, 2, 0, 1]))
    models = [reference.BruteForce(sizes, "kendall", tuple(own.tolist())) for own in labels]
    orderings = models[0].orderings
    distances = np.array([model.distances for model in models])

    def log_probabilities(point):
        share, *thetas = point
        weights = np.exp(-np.array(thetas)[:, None] * distances)
        weights /= weights.sum(axis=1, keepdims=True)
        return np.log(share * weights[0] + (1 - share) * weights[1])

    truth = np.array([share, *thetas])
    expected_counts = 1000 * np.exp(log_probabilities(truth))

    def value(point):
        return expected_counts @ log_probabilities(point)

    step = 1e-4 * np.eye(3)
    curvature = np.array(
        [
            [
                (
                    value(truth + one + other)
                    - value(truth + one - other)
                    - value(truth - one + other)
                    + value(truth - one - other)
                )
                / 4e-8
                for other in step
            ]
            for one in step
        ]
    )
    errors = np.sqrt(np.diag(np.linalg.inv(-curvature)))
    answers = answers_from(orderings, expected_counts)
    fitter = GroupFitter(answers, get_distance("kendall"))
    components = tuple(
        Component(sizes, own, theta, fitter.partition(sizes).log_value(theta))
        for own, theta in zip(labels, thetas, strict=True)
    )
    shares = np.array([share, 1 - share])
    run = run_em(fitter, (sizes,) * 2, components, shares, tolerance=1e-9, most_steps=3)
    assert run.shares == pytest.approx(shares, abs=1e-6)
    memberships, _ = e_step(fitter, run.components, run.shares)
    share_errors, covariances = standard_errors(fitter, run, memberships)
    assert share_errors == pytest.approx([errors[0], errors[0]], rel=1e-3)
    theta_errors = [float(np.sqrt(covariance[0, 0])) for covariance in covariances]
    assert theta_errors == pytest.approx(errors[1:], rel=1e-3)


@pytest.mark.slow
def test_the_best_end_is_the_maximum_of_all():
    """Two strict groups of three items: every pair of tiers, each with its best numbers."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(5)
    orderings = [tuple(rng.permutation(3).tolist()) for _ in range(6)] + [(0, 1, 2)] * 4
    labels = list(product(reference.BruteForce((1, 1, 1), "kendall").orderings, repeat=2))

    def best_of(pair):
        distances = np.array(
            [[reference.kendall(row, own, (1, 1, 1)) for row in orderings] for own in pair]
        )
        counts = reference.BruteForce((1, 1, 1), "kendall").counts()

        def loss(point):
            share, thetas = 1 / (1 + np.exp(-point[0])), np.exp(point[1:])
            total = sum(n * np.exp(-thetas * d) for d, n in counts.items())
            joint = np.exp(-thetas[:, None] * distances) / total[:, None]
            return -np.log(share * joint[0] + (1 - share) * joint[1]).sum()

        starts = ([1.0, -1.0, 1.0], [-1.0, 1.0, -1.0])
        bounds = [(-30, 30), (-30, 3), (-30, 3)]
        return max(-minimize(loss, start, bounds=bounds).fun for start in starts)

    highest = max(best_of(pair) for pair in labels if pair[0] <= pair[1])
    rankings = tw.Rankings.from_orderings(orderings)
    found = tw.fit_mixture(
        rankings, 2, (1, 1, 1), starts=30, tolerance=1e-9, rng=1, distance="kendall"
    )
    assert found.log_likelihood == pytest.approx(highest, abs=1e-3)


@pytest.mark.parametrize("name", sorted(reference.DISTANCES))
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (1, 3, 1), (2, 3)])
def test_tables_of_answers_give_distances_and_costs(name, sizes):
    rng = np.random.default_rng(1)
    # More answers than a word has bits.
    orders = rng.permuted(np.tile(np.arange(5), (150, 1)), axis=1)
    rankings = tw.Rankings.from_order_array(orders, range(5))
    distance = get_distance(name)
    answers = distinct_answers(rankings)
    assert len(answers.weights) > 64
    fitter = GroupFitter(answers, distance)
    bits = answer_bits(rankings, sizes, distance)
    before, labels = rng.permuted(np.tile(np.repeat(np.arange(len(sizes)), sizes), (2, 1)), axis=1)
    target = MixtureTarget(answers, distance, tw.Gamma(2, 2), 1.0)
    units = [target.units(fitter.component(sizes, one, 0.5)) for one in (labels, before)]
    part, unit = fitter.likelihood(sizes).parts[0], distance.rule(sizes).unit
    assert (units[0] * unit).tolist() == part.distances(labels).tolist()
    moved = np.stack(units, axis=1)
    move_units(bits, before, labels, moved, 1)
    assert moved[:, 1].tolist() == moved[:, 0].tolist()
    members = rng.integers(0, 6, (len(answers.weights), 2))
    for column in range(2):
        number = int(members[:, column].sum())
        linear, pairs = costs_of_group(bits, members, number, column)
        component = fitter.component(sizes, labels, 0.5)
        expected = fitter.costs(members[:, column].astype(float), component)
        assert linear == pytest.approx(expected.linear, rel=1e-14)
        assert np.array_equal(pairs, expected.pairs)


@pytest.mark.parametrize(
    ("number", "total", "error"),
    [(5.0, 9.0, 1e-4), (300.0, 200.0, 1e-6), (2e4, 1e4, 1e-6), (1e7, 5e6, None)],
)
def test_thetas_of_groups_have_their_exact_distribution(number, total, error):
    log_partition = LogPartition(tw.partition_function((1, 1, 1)))
    prior = tw.Gamma(2, 2)
    points = points_of_group(log_partition, prior)
    density = ThetaGivenDistance(log_partition, number, prior).density(total)
    shares = np.random.default_rng(1).random(400)
    drawn = [draw_theta(points, number, total, 0.3, share) for share in shares.tolist()]
    if error is None:
        assert np.isnan(drawn).all()
    else:
        # The points that are kept are as good as those that are made for the purpose.
        assert drawn == pytest.approx(density.quantile(shares), rel=error)


@pytest.mark.parametrize(("number", "share"), [(1, 0.3), (32, 0.9), (33, 0.5), (1000, 0.02)])
def test_binomials_have_their_exact_distribution(number, share):
    rng = np.random.default_rng(1)
    drawn = [draw_binomial(number, share, rng) for _ in range(4000)]
    found = np.bincount(drawn, minlength=number + 1)
    expected = 4000 * binom.pmf(np.arange(number + 1), number, share)
    large = expected >= 5
    found = np.append(found[large], found[~large].sum())
    expected = np.append(expected[large], expected[~large].sum())
    assert chisquare(found, expected + 1e-9, sum_check=False).pvalue > 1e-4


def two_groups_with_many_equal_answers():
    """A chain at its start, and what it starts from."""
    tiers = [[0], [1], [2, 3]]
    rankings = from_groups([(tiers, 1.0), (tiers[::-1], 1.0)], [600, 400], seed=1)[0]
    answers, distance = distinct_answers(rankings), get_distance("kendall")
    target = MixtureTarget(answers, distance, tw.Gamma(2, 2), 1.0)
    first = target.fitter.component((1, 1, 2), np.array([0, 1, 2, 2]), 1.0)
    other = target.fitter.component((1, 1, 2), np.array([2, 2, 1, 0]), 0.5)
    shares = np.array([0.7, 0.3])
    assert answers.weights.max() > 64
    return target, (first, other), shares, e_step(target.fitter, (first, other), shares)


def test_members_are_drawn_from_their_probabilities():
    target, components, shares, (memberships, log_totals) = two_groups_with_many_equal_answers()
    groups, weights = Chain(target, components, shares).groups, target.weights
    log_factors = np.log(shares) - groups.log_partitions
    decays = groups.thetas * target.distance.rule((1, 1, 2)).unit
    probabilities, members = np.empty_like(memberships), np.empty(memberships.shape, dtype=int)
    sums, rng = np.zeros(memberships.shape), np.random.default_rng(1)
    for _ in range(400):
        numbers, common, log_likelihood = draw_members(
            groups.units, decays, log_factors, weights, memberships, probabilities, members, rng
        )
        sums += members
        assert members.sum(axis=1).tolist() == weights.tolist()
        assert numbers.tolist() == members.sum(axis=0).tolist()
        assert common == pytest.approx(memberships.T @ members)
    assert probabilities == pytest.approx(memberships)
    assert log_likelihood + target.log_completions == pytest.approx(float(weights @ log_totals))
    expected = 400 * weights[:, None] * memberships
    assert (np.abs(sums - expected) < 6 * np.sqrt(expected + 1)).all()


def test_a_chain_writes_down_where_each_sweep_begins():
    target, components, shares, (memberships, log_totals) = two_groups_with_many_equal_answers()
    trace = Chain(target, components, shares).run(0, 1, np.random.default_rng(1))
    assert trace.memberships == pytest.approx(memberships)
    assert trace.log_likelihood == pytest.approx([float(target.weights @ log_totals)])
    assert trace.shares.tolist() == [[0.7, 0.3]]
    assert trace.parameters["theta"].tolist() == [[1.0, 0.5]]
    assert trace.labels.tolist() == [[[0, 1, 2, 2], [2, 2, 1, 0]]]
    # Where it is afterwards, its distances and partition functions are those of its tiers.
    chain = Chain(target, components, shares)
    chain.run(20, 30, np.random.default_rng(1))
    for group, (labels, theta) in enumerate(
        zip(chain.groups.labels, chain.groups.thetas, strict=True)
    ):
        component = target.fitter.component((1, 1, 2), labels, float(theta))
        assert chain.groups.log_partitions[group] == pytest.approx(component.log_partition)
        part = target.fitter.likelihood((1, 1, 2)).parts[0]
        unit = target.distance.rule((1, 1, 2)).unit
        assert (chain.groups.units[:, group] * unit).tolist() == part.distances(labels).tolist()


def test_groups_that_are_split_and_merged_end_higher():
    tiers = [[[0], [1], [2], [3]], [[3], [2], [1], [0]], [[1], [3], [0], [2]]]
    rankings = from_groups([(one, 2.5) for one in tiers], [100, 100, 100], seed=1)[0]
    answers, distance, strict = distinct_answers(rankings), get_distance("kendall"), (1,) * 4
    settings = EMSettings(answers, (strict,) * 3, False, distance, 5, 1e-4, 1000)
    fitter = GroupFitter(answers, distance)
    # Two groups for those who agree with the first, and one for all others.
    labels = [np.array([0, 1, 2, 3]), np.array([0, 1, 3, 2]), np.array([3, 1, 2, 0])]
    stuck = run_em(
        fitter,
        (strict,) * 3,
        tuple(fitter.component(strict, one, 2.5) for one in labels),
        np.array([0.4, 0.1, 0.5]),
        tolerance=1e-4,
        most_steps=1,
    )
    end = split_and_merge(settings, stuck, np.random.SeedSequence(1))
    assert end.converged
    assert end.criterion > stuck.criterion + 10
    found = {tuple(np.argsort(component.labels).tolist()) for component in end.components}
    assert found == {(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)}


def test_items_move_and_tiers_trade_places():
    fitter = GroupFitter(answers_from([(0, 1, 2, 3)]), get_distance("kendall"))
    strict = fitter.component((1, 1, 1, 1), np.array([0, 1, 2, 3]), 0.5)
    moved = {tuple(one.labels.tolist()) for one in moved_items(strict)}
    expected = set()
    for item in range(4):
        for place in range(4):
            order = [other for other in range(4) if other != item]
            order.insert(place, item)
            expected.add(tuple(np.argsort(order).tolist()))
    swaps = {own for own in expected if sum(a != b for a, b in enumerate(own)) <= 2}
    assert moved == expected - swaps
    tiers = fitter.component((1, 2, 1), np.array([0, 1, 1, 2]), 0.5)
    assert all(one.sizes == (1, 2, 1) for one in moved_items(tiers))
    traded = swapped_tiers(fitter, tiers)
    assert [one.sizes for one in traded] == [(2, 1, 1), (1, 1, 2)]
    assert [one.labels.tolist() for one in traded] == [[1, 0, 0, 2], [0, 2, 2, 1]]
    assert traded[0].log_partition == fitter.partition((2, 1, 1)).log_value(0.5)


@pytest.mark.parametrize(("number", "total"), [(300.0, 200.0), (2e4, 1e4)])
def test_a_reflected_theta_is_on_the_other_side_of_its_distribution(number, total):
    log_partition = LogPartition(tw.partition_function((1, 1, 1)))
    points = points_of_group(log_partition, tw.Gamma(2, 2))
    density = ThetaGivenDistance(log_partition, number, tw.Gamma(2, 2)).density(total)
    shares = np.array([0.001, 0.03, 0.3, 0.5, 0.9, 0.9999])
    for theta, opposite in zip(density.quantile(shares), density.quantile(1 - shares), strict=True):
        reflected = reflect_theta(points, number, total, theta, 0.5)
        assert reflected == pytest.approx(opposite, rel=1e-6)
        assert reflect_theta(points, number, total, reflected, 0.5) == pytest.approx(theta)
    # Where a theta can hardly be, one is drawn.
    drawn = density.quantile(np.array([0.3]))[0]
    assert reflect_theta(points, number, total, 100.0, 0.3) == pytest.approx(drawn)


def test_held_out_answers_that_no_group_can_give_do_not_count():
    answers = SimpleNamespace(weights=np.array([1.0, 0.0]))
    fitter = SimpleNamespace(
        answers=answers,
        log_probabilities=np.array,
        penalty=lambda _: 0.0,
    )
    joint = np.array([[-1.0, -2.0], [-np.inf, -np.inf]])
    value = _value_in_place(fitter, joint, 0, 0.5)
    assert value((-1.0, -np.inf)) == pytest.approx(np.logaddexp(-2.0, np.log(0.5) - 1.0))
