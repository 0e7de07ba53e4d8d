"""One interface for answers of every kind: a complete answer is an answer with one completion."""

import pickle
from itertools import permutations
from math import exp, inf, lgamma, log

import numpy as np
import pytest

import tierwise as tw
from tests.reference import DISTANCES
from tierwise.answers.base import KnownAnswers
from tierwise.answers.likelihood import source_of
from tierwise.data.counts import block_counts
from tierwise.errors import InputError, TooLargeError
from tierwise.theta.estimate import best_theta

ITEMS = range(5)
SIZES = (1, 2, 2)
LABELS = np.array([1, 0, 2, 1, 2])


def complete(n_rankings=30, seed=1):
    rng = np.random.default_rng(seed)
    orderings = [rng.permutation(5).tolist() for _ in range(n_rankings)]
    weights = rng.integers(1, 4, size=n_rankings).tolist()
    return tw.Rankings.from_orderings(orderings, items=ITEMS, weights=weights)


def brute_force(rankings, theta, distance):
    """Log-likelihood of complete rankings, from the definition."""
    naive = DISTANCES[distance]

    def of(ordering):
        return naive(tuple(ordering), tuple(LABELS.tolist()), SIZES)

    log_partition = log(sum(exp(-theta * of(ordering)) for ordering in permutations(ITEMS)))
    logs = [-theta * of(row) - log_partition for row in rankings.to_orderings()]
    return float(rankings.weights @ np.array(logs))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("theta", [0.0, 0.3, 1.1])
def test_rankings_and_their_counts_have_the_likelihood_of_the_definition(distance, theta):
    rankings = complete()
    expected = brute_force(rankings, theta, distance)
    sources = [
        source_of(rankings, distance),
        source_of(rankings, distance).counted(),
        source_of(tw.Counts.of(rankings), distance),
    ]
    for source in sources:
        likelihood = source.at(SIZES)
        assert likelihood.known
        assert likelihood.drawn is None
        assert likelihood.n_rankings == rankings.n_rankings
        assert likelihood.value(LABELS, theta) == pytest.approx(expected, abs=1e-9)
        assert source.capabilities.complete
        assert source.is_known(SIZES)
        assert source.can_be_summed(None)
        assert (source.pair_counts == sources[0].pair_counts).all()


def test_a_complete_answer_among_others_has_one_completion():
    """Complete rankings cost the same alone as beside answers that leave something open."""
    rankings = complete()
    top = tw.Rankings.from_orderings([[3], [1, 2]], items=ITEMS, unranked="below")
    both = tw.Rankings.concat(
        [tw.Rankings(rankings.items, rankings.places, rankings.weights, unranked="below"), top]
    )
    likelihood = source_of(both, "kendall").at(SIZES)
    assert not likelihood.known
    alone = [source_of(data, "kendall").at(SIZES) for data in (rankings, top)]
    together = sum(one.value(LABELS, 0.7) for one in alone)
    assert likelihood.value(LABELS, 0.7) == pytest.approx(together, abs=1e-9)
    costs = [one.expected_costs(LABELS, 0.7).pairs for one in (likelihood, *alone)]
    np.testing.assert_allclose(costs[0], costs[1] + costs[2], atol=1e-9)


def test_answers_with_ties_are_known_where_blocks_do_not_cut_them():
    tied = tw.Rankings.from_orderings([[[0, 1], 2, [3, 4]], [2, [0, 1, 3, 4]]], items=ITEMS)
    source = source_of(tied, "kendall")
    assert not source.capabilities.complete
    assert [source.is_known(sizes) for sizes in ((5,), (1, 4), (2, 1, 2))] == [True, False, False]
    likelihood = source.at((5,))
    assert likelihood.log_completions == pytest.approx(2 * log(2) + lgamma(5))
    assert likelihood.value(np.zeros(5, dtype=np.int64), 0.0) == pytest.approx(
        2 * log(2) + lgamma(5) - 2 * lgamma(6)
    )


@pytest.mark.parametrize("distance", DISTANCES)
def test_log_weights_belong_to_distinct_answers_and_sum_up(distance):
    rankings = complete()
    source = source_of(rankings, distance)
    likelihood = source.at(SIZES)
    logs = likelihood.log_weights(LABELS, 0.4)
    assert float(source.weights @ logs) == pytest.approx(likelihood.sums(LABELS, 0.4).log_weight)
    model = tw.ClusteredMallows(tw.Tiers.from_labels((LABELS + 1).tolist(), ITEMS), 0.4, distance)
    of_model = model.log_prob(rankings) + float(model.log_partition())
    np.testing.assert_allclose(logs[source.pattern_of], of_model)


@pytest.mark.parametrize("unranked", [None, "below", "anywhere"])
def test_weights_can_be_changed_at_given_sizes_or_for_all_sizes(unranked):
    rng = np.random.default_rng(3)
    rows = [rng.permutation(5)[: 5 if unranked is None else 3].tolist() for _ in range(20)]
    options = {} if unranked is None else {"unranked": unranked}
    rankings = tw.Rankings.from_orderings(rows, items=ITEMS, **options)
    source = source_of(rankings, "kendall")
    weights = rng.random(len(source.weights))
    again = tw.Rankings(rankings.items, rankings.patterns, weights, unranked=rankings.unranked)
    expected = source_of(again, "kendall").at(SIZES).value(LABELS, 0.6)
    assert source.at(SIZES).reweighted(weights).value(LABELS, 0.6) == pytest.approx(expected)
    assert source.reweighted(weights).counted().at(SIZES).value(LABELS, 0.6) == pytest.approx(
        expected
    )
    assert source.at(SIZES).n_rankings == 20


def test_the_best_theta_is_that_of_a_fit():
    rankings = complete()
    likelihood = source_of(rankings, "kendall").at(SIZES)
    found = tw.fit(rankings, SIZES)
    labels = found.tiers.label_array(ITEMS)
    assert best_theta(likelihood, labels, start=0.1) == pytest.approx(found.theta, rel=1e-6)
    assert likelihood.value(labels, found.theta) == pytest.approx(found.log_likelihood)
    error = found.theta_estimate.standard_error
    assert likelihood.information(labels, found.theta) ** -0.5 == pytest.approx(error)
    agreed = source_of(tw.Rankings.from_orderings([[0, 1, 2, 3, 4]] * 3), "kendall").at(SIZES)
    in_order = np.array([0, 1, 1, 2, 2])
    assert best_theta(agreed, in_order, start=0.1) == inf
    assert agreed.value(in_order, inf) == pytest.approx(-3 * log(4))


def test_costs_are_those_of_blocks():
    rankings = complete()
    for distance in DISTANCES:
        measure = tw.get_distance(distance)
        expected = measure.costs(block_counts(rankings, measure.blocks(SIZES)), SIZES)
        for source in (source_of(rankings, distance), source_of(rankings, distance).counted()):
            (part,) = source.at(SIZES).parts
            assert isinstance(part, KnownAnswers)
            found = part.expected_costs(LABELS, 0.3)
            assert np.array_equal(found.linear, expected.linear)
            assert np.array_equal(found.pairs, expected.pairs)


def test_what_counts_and_drawn_answers_cannot_tell_is_said():
    counts = source_of(tw.Counts.of(complete()), "kendall")
    with pytest.raises(InputError, match="rankings themselves"):
        counts.at(SIZES).log_weights(LABELS, 0.3)
    with pytest.raises(InputError, match="other weights"):
        counts.reweighted(np.ones(1))
    many = tw.Preferences.from_pairs([("Ann", 0, 1)], items=range(12))
    sizes = (4, 4, 4)
    drawn = source_of(many, "kendall").at(sizes)
    assert drawn.drawn is not None
    assert not drawn.known
    with pytest.raises(TooLargeError, match="too many to sum"):
        drawn.log_weights(np.repeat([0, 1, 2], 4), 0.3)
    votes = tw.Preferences.from_pairs([("Ann", 0, 1), ("Ann", 1, 0)], items=ITEMS, cycles="keep")
    with pytest.raises(InputError, match="mistaken"):
        source_of(votes, "kendall").partial_orders()


@pytest.mark.parametrize("kind", ["rankings", "counts", "preferences", "votes"])
def test_sources_can_be_handed_to_other_processes(kind):
    pairs = [("Ann", 0, 1), ("Bob", 2, 1)]
    data = {
        "rankings": complete(),
        "counts": tw.Counts.of(complete()),
        "preferences": tw.Preferences.from_pairs(pairs, items=ITEMS),
        "votes": tw.Preferences.from_pairs(pairs, items=ITEMS, cycles="keep"),
    }[kind]
    source = source_of(data, "kendall")
    again = pickle.loads(pickle.dumps(source))
    assert again.at(SIZES).value(LABELS, 0.5) == source.at(SIZES).value(LABELS, 0.5)
