from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tests import reference_structure as naive
from tests.reference import BLOCK_DISTANCES
from tierwise import Rankings, TooLargeError
from tierwise.answers.likelihood import source_of
from tierwise.evidence.exact import log_evidence, refuse_too_many_tiers
from tierwise.model.priors import Gamma


def evidence_of(rankings, sizes, distance, prior=None):
    return log_evidence(source_of(rankings, distance).at(sizes), prior or Gamma(2, 2))


def noisy_orderings(seed, n_items, n_rankings, noise=0.5):
    rng = np.random.default_rng(seed)
    utilities = np.linspace(1, 0, n_items) + rng.gumbel(size=(n_rankings, n_items)) * noise
    return [tuple(row) for row in np.argsort(-utilities, axis=1).tolist()]


def rankings_of(orderings, weights=None):
    return Rankings.from_orderings(
        [list(row) for row in orderings], items=range(len(orderings[0])), weights=weights
    )


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
@pytest.mark.parametrize(
    ("n_items", "n_rankings", "noise"),
    [
        (2, 3, 1.0),
        (3, 10, 0.5),
        (4, 40, 0.5),
        pytest.param(5, 25, 0.3, marks=pytest.mark.slow),
    ],
)
def test_equals_the_sum_over_all_tiers(distance, n_items, n_rankings, noise):
    orderings = noisy_orderings(n_items, n_items, n_rankings, noise)
    for sizes in naive.all_sizes(n_items):
        expected = naive.log_evidence(orderings, [1] * n_rankings, sizes, distance)
        found = evidence_of(rankings_of(orderings), sizes, distance)
        assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.thorough
@given(
    st.lists(st.permutations(range(4)), min_size=1, max_size=12),
    st.sampled_from(naive.all_sizes(4)),
    st.sampled_from(BLOCK_DISTANCES),
    st.sampled_from([(2.0, 2.0), (1.0, 0.3), (5.0, 1.0), (0.5, 4.0)]),
)
def test_equals_the_sum_over_all_tiers_for_any_answers_and_prior(orderings, sizes, distance, prior):
    expected = naive.log_evidence(orderings, [1] * len(orderings), sizes, distance, *prior)
    found = evidence_of(rankings_of(orderings), sizes, distance, Gamma(*prior))
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("times", [100, 10_000, 1_000_000])
def test_many_rankings(times):
    orderings = noisy_orderings(1, 4, 20)
    weights = [times] * 20
    for sizes in [(2, 2), (1, 2, 1), (1, 1, 1, 1)]:
        expected = naive.log_evidence(orderings, weights, sizes, "kendall")
        found = evidence_of(rankings_of(orderings, weights), sizes, "kendall")
        # Rounding of logarithms as large as these.
        assert found == pytest.approx(expected, rel=1e-14, abs=1e-8)


def test_everybody_agrees():
    for n_rankings in (1, 30, 3000):
        orderings = [(0, 1, 2, 3)] * n_rankings
        for sizes in naive.all_sizes(4):
            expected = naive.log_evidence([(0, 1, 2, 3)], [n_rankings], sizes, "kendall")
            found = evidence_of(rankings_of(orderings), sizes, "kendall")
            assert found == pytest.approx(expected, abs=1e-8)


def test_weights_need_not_be_whole():
    orderings = noisy_orderings(2, 4, 6)
    weights = [0.5, 1.25, 2.0, 0.1, 0.7, 3.3]
    expected = naive.log_evidence(orderings, weights, (1, 3), "hamming")
    found = evidence_of(rankings_of(orderings, weights), (1, 3), "hamming")
    assert found == pytest.approx(expected, abs=1e-8)


def test_answers_that_leave_the_order_of_the_last_open_sum_over_it():
    top = Rankings.from_orderings([["a"], ["b"], ["a"]], items="abc", unranked="below")
    found = evidence_of(top, (1, 2), "kendall")
    # Each answer agrees with two orderings, which are equally probable.
    completed = [(0, 1, 2), (1, 2, 0), (0, 2, 1)]
    expected = naive.log_evidence(completed, [1] * 3, (1, 2), "kendall") + 3 * log(2)
    assert found == pytest.approx(expected, abs=1e-8)


def test_a_single_tier_is_the_uniform_distribution():
    orderings = noisy_orderings(3, 5, 8)
    assert evidence_of(rankings_of(orderings), (5,), "kendall") == pytest.approx(
        -8 * log(120), abs=1e-10
    )


def test_fifteen_items_lie_between_bounds():
    rng = np.random.default_rng(5)
    utilities = np.linspace(3, 0, 15) + rng.gumbel(size=(50, 15))
    rankings = Rankings.from_order_array(np.argsort(-utilities, axis=1), range(15))
    sizes = (3, 3, 3, 3, 3)
    found = evidence_of(rankings, sizes, "kendall")
    best = tw.fit(rankings, sizes)
    assert found < best.log_likelihood
    # The best tiers alone, with theta within a standard error, are part of the integral.
    error = best.theta_estimate.standard_error
    share = log(2 * error) + float(Gamma().log_density(np.array([best.theta]))[0]) - 0.6
    assert found > best.criterion + share - 0.5


def test_too_many_items_are_refused_before_work_begins():
    rankings = Rankings.from_orderings([list(range(24))])
    with pytest.raises(TooLargeError, match="likelihood"):
        evidence_of(rankings, (8, 8, 8), "kendall")


@pytest.mark.parametrize("kind", ["known", pytest.param("open", marks=pytest.mark.slow)])
def test_a_prior_may_be_a_function(kind):
    rows = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["a", "c", "b", "d"]]
    if kind == "open":
        rows = [["a"], ["b", "a"], ["a", "c"]]
    data = Rankings.from_orderings(rows, items="abcd", unranked="anywhere")
    options = {"criterion": "evidence", "progress": "off", "rng": 1}
    named = tw.search(data, priors=tw.Priors(theta=Gamma(3, 1)), **options)
    given = tw.search(
        data, priors=tw.Priors(theta=lambda theta: 2 * np.log(theta) - theta), **options
    )
    for sizes, probability in named.probabilities.items():
        assert given.probabilities[sizes] == pytest.approx(probability, abs=1e-9)


def test_the_posterior_tells_the_same_evidence():
    top = Rankings.from_orderings([["a"], ["b"], ["a"]], items="abc", unranked="below")
    posterior = tw.sample_posterior(top, (1, 2), draws=10, chains=1, rng=1)
    assert posterior.log_evidence == pytest.approx(evidence_of(top, (1, 2), "kendall"), abs=1e-12)
    for distance, sizes in [("kendall", (2, 2)), ("hamming", (1, 3)), ("footrule", (1, 2, 1))]:
        rankings = rankings_of(noisy_orderings(4, 4, 9))
        posterior = tw.sample_posterior(rankings, sizes, distance, draws=1, rng=1)
        wanted = naive.log_evidence(noisy_orderings(4, 4, 9), [1] * 9, sizes, distance)
        assert posterior.log_evidence == pytest.approx(wanted, abs=1e-8)


def test_nineteen_items_are_within_reach_and_the_message_says_so():
    # Three equal tiers are the most work.
    refuse_too_many_tiers((6, 7, 6))
    with pytest.raises(TooLargeError, match="about 19 items"):
        refuse_too_many_tiers((6, 8, 6))
