"""Worths of given tiers: the mode, how sure it is, and the evidence against quadrature."""

from dataclasses import replace
from math import lgamma

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import ortho_group

import tierwise as tw
from tests import reference_luce as reference
from tests.luce.small import KINDS, small
from tierwise.answers.races import races_of
from tierwise.luce.worths import best_worths, log_evidence, log_prior_density

WORTHS = {3: (4.0, 1.5, 0.3), 4: (6.0, 2.5, 2.5, 0.8)}


def log_density(likelihood, labels, logs, shape=1.0):
    """Log of likelihood times the density of ordered worths without a scale."""
    n_tiers = len(logs)
    logs = logs - logs.mean()
    constant = lgamma(n_tiers + 1) + 0.5 * np.log(n_tiers)
    constant += lgamma(n_tiers * shape) - n_tiers * lgamma(shape)
    value = likelihood(np.exp(logs)[None, list(labels)])[0]
    return value + constant - n_tiers * shape * logsumexp(logs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [1.0, 2.5])
def test_the_mode_is_where_nothing_is_better(kind, shape):
    made = small(kind, WORTHS[4], 12, seed=3)
    for labels in [(0, 1, 2, 3), (0, 1, 1, 2), (1, 0, 0, 0)]:
        found = best_worths(made.races, np.array(labels), shape=shape)

        def price(logs, labels=labels):
            return -log_density(made.likelihood, labels, logs, shape)

        best = minimize(price, np.zeros(max(labels) + 1), method="BFGS", tol=1e-9)
        assert found.log_density == pytest.approx(-best.fun, abs=1e-8)
        assert found.logs == pytest.approx(best.x - best.x.mean(), abs=1e-4)
        assert found.logs.sum() == pytest.approx(0, abs=1e-12)
        worths = np.exp(found.logs)[None, list(labels)]
        assert found.log_likelihood == pytest.approx(made.likelihood(worths)[0], abs=1e-9)
        elsewhere = best_worths(
            made.races, np.array(labels), np.linspace(-4, 4, found.n_tiers), shape
        )
        assert elsewhere.logs == pytest.approx(found.logs, abs=1e-5)
        # The precision: second derivatives, which are 0 along the common scale.
        shares = np.exp(found.logs) / np.exp(found.logs).sum()
        prior = shape * found.n_tiers * (np.diag(shares) - np.outer(shares, shares))
        expected = prior - made.likelihood.hessian(labels, found.logs)
        assert found.precision == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("wins", [(8, 2), (10, 0), (1, 0), (0, 0)])
def test_two_items_have_a_mode_in_closed_form(wins):
    # A share of Beta(1, 1) in its logit: one more win for each side.
    battles = tw.Battles(("x", "y"), np.array([[0.0, wins[0]], [wins[1], 0.0]]), np.zeros((2, 2)))
    races = races_of(battles)
    found = best_worths(races, np.array([0, 1]))
    ratio = (wins[0] + 1) / (wins[1] + 1)
    assert found.logs[0] - found.logs[1] == pytest.approx(np.log(ratio), abs=1e-5)
    n_wins = sum(wins) + 2
    variance = 1 / (n_wins * (wins[0] + 1) * (wins[1] + 1) / n_wins**2)
    gap = found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1]
    assert gap == pytest.approx(variance, rel=1e-5)
    # The evidence of both orders together, each of which has half the prior.
    both = [
        np.exp(log_evidence(races, best_worths(races, np.array(labels)), np.random.default_rng(1)))
        for labels in ([0, 1], [1, 0])
    ]
    exact = np.exp(lgamma(wins[0] + 1) + lgamma(wins[1] + 1) - lgamma(n_wins))
    assert np.mean(both) == pytest.approx(exact, rel=0.02)


def test_items_that_never_lose_or_are_never_seen_have_a_mode():
    rows = [["a", "b", "c"]] * 1000
    races = races_of(tw.Rankings.from_orderings(rows, items="abcd", unranked="anywhere"))
    found = best_worths(races, np.arange(4))
    assert np.isfinite(found.logs).all()
    assert (np.diff(found.logs[:3]) < -3).all()
    assert np.isfinite(found.log_evidence)
    single = best_worths(races, np.zeros(4, dtype=int))
    assert single.log_evidence == pytest.approx(-1000 * np.log(6))
    assert single.log_order_probability == 0.0
    assert log_evidence(races, single, np.random.default_rng(1)).method == "closed form"


@pytest.mark.parametrize("n_tiers", [2, 5, 30])
def test_what_is_said_of_the_precision(n_tiers):
    rng = np.random.default_rng(n_tiers)
    orders = np.argsort(rng.exponential(size=(40, 30)) * np.linspace(1, 9, 30), axis=1)
    races = races_of(tw.Rankings.from_order_array(orders, range(30)))
    found = best_worths(races, np.arange(30) * n_tiers // 30)
    values = np.linalg.eigvalsh(found.precision)
    assert values[0] == pytest.approx(0, abs=1e-8)
    assert found.log_determinant == pytest.approx(np.log(values[1:]).sum())
    assert found.covariance == pytest.approx(np.linalg.pinv(found.precision, rcond=1e-12))


@pytest.mark.parametrize("shape", [1.0, 2.5])
def test_the_prior_of_worths_is_a_density_in_their_order(shape):
    def density(*coordinates, basis):
        return np.exp(log_prior_density(basis @ np.array(coordinates), shape))

    pair = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    mass = quad(lambda x: density(x, basis=pair), 0, np.inf)
    assert mass[0] == pytest.approx(1)
    if shape > 1:
        basis = np.array([[1, 1], [-1, 1], [0, -2]]) / np.sqrt([2, 6])
        # The first above the second, and the second above the third.
        mass = dblquad(
            lambda x, y: density(x, y, basis=basis), 0, 12, lambda y: 0, lambda y: y * np.sqrt(3)
        )
        assert mass[0] == pytest.approx(1, abs=1e-4)


@pytest.mark.thorough
def test_draws_are_in_order_and_their_density_is_one():
    made = small("gaps", (3.0, 2.0, 1.5, 1.0), 15, seed=5)
    found = best_worths(made.races, np.array([0, 1, 2, 2]))
    draws, logs = found.draw(200_000, np.random.default_rng(1))
    assert (np.diff(draws, axis=1) < 0).all()
    assert draws.sum(axis=1) == pytest.approx(np.zeros(len(draws)), abs=1e-9)
    # In coordinates of the plane on which log worths sum to 0: the mean of a density over another
    # one is the mass of the former, a normal distribution inside the order.
    turn = ortho_group.rvs(3, random_state=1)
    turn[0] = 1 / np.sqrt(3)
    turn = np.linalg.qr(turn.T)[0].T[1:]
    middle, spread = draws.mean(axis=0) @ turn.T, 0.2 * draws.std()
    scaled = (draws @ turn.T - middle) / spread
    normal = np.exp(-0.5 * (scaled**2).sum(axis=1)) / (2 * np.pi * spread**2)
    ratios = normal / np.exp(logs)
    around = np.random.default_rng(2).normal(size=(200_000, 2)) * spread + middle
    inside = (np.diff(around @ turn, axis=1) < 0).all(axis=1).mean()
    error = ratios.std() / np.sqrt(len(ratios)) + np.sqrt(inside * (1 - inside) / 200_000)
    assert ratios.mean() == pytest.approx(inside, abs=5 * error)


def cases(n_items, n_answers):
    for number, kind in enumerate(KINDS):
        yield small(kind, WORTHS[n_items], n_answers, seed=number)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "n_answers", [6, *(pytest.param(number, marks=pytest.mark.slow) for number in (20, 60))]
)
@pytest.mark.parametrize("n_items", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_evidence_against_quadrature(n_items, n_answers):
    errors, scores, rng = [], [], np.random.default_rng(1)
    for made in cases(n_items, n_answers):
        for labels in reference.ordered_partitions(n_items):
            found = best_worths(made.races, np.array(labels))
            # Worths that are in order, or nearly so: others are put into order before.
            if found.log_order_probability < -3:
                continue
            exact = reference.log_evidence(made.likelihood, labels, n_nodes=24)
            sampled = log_evidence(made.races, found, rng)
            if found.n_tiers == 1:
                assert sampled == pytest.approx(exact, abs=1e-9)
                continue
            assert sampled.method == "importance sampling"
            assert 0 < sampled.standard_error < 0.06
            scores.append((sampled - exact) / sampled.standard_error)
            if (np.diff(found.logs) < 0).all():
                errors.append(found.log_evidence - exact)
    # Laplace's approximation, with the order of neighbours alone: a few answers say little.
    assert np.abs(errors).max() < {6: 0.45, 20: 0.4, 60: 0.4}[n_answers]
    assert np.abs(np.mean(errors)) < 0.1
    # Importance sampling is as far off as it says, in dozens of cases.
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(np.square(scores))) < 1.3


def test_values_of_the_theory():
    # Three items and 60 answers: two orders of hardly different items, whose sum is what matters.
    made = small("complete", (2.0, 1.0, 0.9), 60, seed=1)
    for labels in ((0, 1, 1), (0, 1, 2), (0, 2, 1)):
        found = best_worths(made.races, np.array(labels))
        exact = reference.log_evidence(made.likelihood, labels)
        sampled = log_evidence(made.races, found, np.random.default_rng(1), n_draws=20_000)
        assert sampled == pytest.approx(exact, abs=0.01)
        assert sampled.standard_error < 0.004


def test_evidence_of_many_tiers_hardly_apart_says_its_error():
    rng = np.random.default_rng(1)
    worths = np.exp(np.linspace(1, -1, 12))
    orders = np.argsort(rng.exponential(size=(60, 12)) / worths, axis=1)
    races = races_of(tw.Rankings.from_order_array(orders, range(12)))
    strict = best_worths(races, np.arange(12))
    order = np.argsort(np.argsort(-strict.logs))
    strict = best_worths(races, order)
    runs = [
        log_evidence(races, strict, np.random.default_rng(seed), n_draws=1000) for seed in range(8)
    ]
    errors = [run.standard_error for run in runs]
    assert max(errors) < 0.5
    assert 0.3 < np.std(runs, ddof=1) / np.mean(errors) < 2.5


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_an_answer_with_weight_three_is_three_answers(kind):
    rankings = small(kind, WORTHS[4], 8, seed=2).data
    rows = rankings.to_orderings()
    weighted = tw.Rankings.from_orderings(
        rows, items=rankings.items, weights=[3] * len(rows), unranked="below"
    )
    often = tw.Rankings.from_orderings(rows * 3, items=rankings.items, unranked="below")
    labels = np.array([0, 1, 1, 2])
    one, other = (best_worths(races_of(data), labels) for data in (weighted, often))
    assert one.logs == pytest.approx(other.logs, abs=1e-9)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-9)
    assert one.precision == pytest.approx(other.precision, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_with_many_tiers_and_ties_of_all_sizes(seed):
    # Long and short answers, so that what is left is added by tier in some and by item in others.
    rng = np.random.default_rng(seed)
    ranks = np.array([rng.integers(1, 6, size=9).astype(float) for _ in range(12)])
    ranks[6:][rng.random((6, 9)) < 0.6] = np.nan
    ranks = ranks[np.isfinite(ranks).sum(axis=1) > 1]
    races = races_of(tw.Rankings.from_ranks(ranks, unranked="anywhere", ties="allow"))
    labels = np.array([0, 1, 2, 3, 4, 5, 6, 7, 7])
    point = rng.normal(size=8)
    found, gradient, hessian = races.derivatives(labels, point)
    assert found == pytest.approx(races.value(labels, point), rel=1e-12)
    step = 1e-4
    moves = step * np.eye(8)
    slopes = [
        (races.value(labels, point + move) - races.value(labels, point - move)) / (2 * step)
        for move in moves
    ]
    assert gradient == pytest.approx(np.array(slopes), abs=1e-5)
    bends = [
        (races.derivatives(labels, point + move)[1] - races.derivatives(labels, point - move)[1])
        / (2 * step)
        for move in moves
    ]
    assert hessian == pytest.approx(np.array(bends), abs=1e-5)
    assert hessian == pytest.approx(hessian.T, abs=1e-12)


def test_two_tied_items_have_a_closed_form_that_is_the_integral():
    worths = np.array([3.0, 0.7, 0.2, 0.2])
    ranks = np.array([[1.0, 1.0, 3.0, 4.0], [1.0, 2.0, 2.0, 4.0], [2.0, 1.0, 3.0, 3.0]])
    races = races_of(tw.Rankings.from_ranks(ranks, ties="allow"))
    found = races.log_probabilities(np.arange(4), np.log(worths))
    expected = [
        np.log(reference.probability_of_answer(row, worths, rest_is_below=False)) for row in ranks
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 4, 5], [1, 0, 1, 2, 0, 2], [0, 0, 0, 1, 1, 1]])
def test_worths_found_from_shared_sets_are_those_found_answer_by_answer(labels):
    rng = np.random.default_rng(3)
    orders = [rng.permutation(6)[: rng.integers(1, 7)].tolist() for _ in range(300)]
    # One item is never beaten.
    orders = [[5, *(item for item in order if item != 5)] for order in orders]
    races = races_of(tw.Rankings.from_orderings(orders, items=range(6), unranked="below"))
    races = races.reweighted(rng.random(races.n_answers))
    assert races.choice_sets is not None
    alone = replace(races, choice_sets=None)
    for start in (None, rng.normal(scale=3.0, size=max(labels) + 1)):
        once = best_worths(alone, np.array(labels), start)
        found = best_worths(races, np.array(labels), start)
        assert found.logs == pytest.approx(once.logs, abs=1e-6)
        assert found.precision == pytest.approx(once.precision, rel=1e-5, abs=1e-6)
        assert found.log_likelihood == pytest.approx(once.log_likelihood, abs=1e-7)
        assert found.log_evidence == pytest.approx(once.log_evidence, abs=1e-6)
        loose = best_worths(races, np.array(labels), start, least_gain=1e-2)
        assert loose.log_density <= found.log_density + 1e-9
        assert loose.log_density == pytest.approx(found.log_density, abs=1e-2)
