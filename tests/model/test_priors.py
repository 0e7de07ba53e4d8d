"""What is believed beforehand about sizes: names, probabilities, functions."""

from math import comb, exp, inf, isfinite, log

import numpy as np
import pytest

import tierwise as tw
from tierwise.errors import InputError
from tierwise.model.priors import log_prior_of_sizes, log_total_of_several

GOALS = tw.load_political_goals()


def test_probabilities_by_sizes():
    prior = {(2, 2): 0.6, (1, 3): 0.2, (4,): 0.0}
    assert log_prior_of_sizes(prior, (2, 2)) == log(0.6)
    assert log_prior_of_sizes(prior, (1, 3)) == log(0.2)
    assert log_prior_of_sizes(prior, (4,)) == -inf
    assert log_prior_of_sizes(prior, (3, 1)) == -inf
    assert log_prior_of_sizes({tuple(np.array([2, 2])): np.float64(1.0)}, (2, 2)) == 0.0


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({}, "all sizes impossible"),
        ({(2, 2): 0}, "all sizes impossible"),
        ({(2, 2): -0.5}, "gives -0.5 for sizes"),
        ({(2, 2): inf}, "gives inf for sizes"),
        ({(2, 2): np.nan}, "gives nan for sizes"),
        ({(2, 2): "much"}, "gives 'much' for sizes"),
        ({(2, 2): 1, (2, 1): 1}, "sum to 3, but there are 4 items"),
        ({(4, 0): 1}, "at least one item"),
        ({(2.0, 2.0): 1}, "whole numbers"),
        ({"2,2": 1}, "lists '2,2': its keys must be sizes"),
        ([(2, 2)], "must be"),
    ],
)
def test_what_is_no_prior_is_refused(prior, message):
    with pytest.raises(InputError, match=message):
        log_prior_of_sizes(prior, (2, 2))
    with pytest.raises(InputError, match=message):
        tw.search(GOALS, criterion="evidence", priors=tw.Priors(sizes=prior), distance="kendall")
    with pytest.raises(InputError, match=message):
        tw.sample_posterior(GOALS, priors=tw.Priors(sizes=prior))


def test_probabilities_and_their_logs_say_the_same():
    # A few rankings, so that the prior matters.
    few = tw.Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]])
    listed = {(1, 2): 3.0, (2, 1): 1.0, (3,): 0.5}
    logs = {sizes: log(probability) for sizes, probability in listed.items()}

    def function(sizes):
        return logs.get(sizes, -inf)

    by_mapping = tw.search(
        few, criterion="evidence", priors=tw.Priors(sizes=listed), distance="kendall"
    ).probabilities
    by_function = tw.search(
        few, criterion="evidence", priors=tw.Priors(sizes=function), distance="kendall"
    ).probabilities
    assert by_mapping == pytest.approx(by_function)
    scaled = {sizes: 7 * probability for sizes, probability in listed.items()}
    normalised = tw.search(
        few, criterion="evidence", priors=tw.Priors(sizes=scaled), distance="kendall"
    ).probabilities
    assert normalised == pytest.approx(by_mapping)
    uniform = tw.search(few, criterion="evidence", distance="kendall").probabilities
    odds = by_mapping[(1, 2)] / by_mapping[(2, 1)]
    assert odds == pytest.approx(3 * uniform[(1, 2)] / uniform[(2, 1)])
    drawn = tw.sample_posterior(few, priors=tw.Priors(sizes=listed), draws=200, rng=1)
    same = tw.sample_posterior(few, priors=tw.Priors(sizes=function), draws=200, rng=1)
    assert drawn.sizes_probabilities() == pytest.approx(same.sizes_probabilities())
    assert drawn.sizes_probabilities() == pytest.approx(
        {sizes: by_mapping[sizes] for sizes in drawn.sizes_probabilities()}
    )
    assert set(drawn.sizes_probabilities()) == set(listed)


@pytest.mark.parametrize("constant", [-40.0, 0.0, 40.0])
@pytest.mark.parametrize("distance", ["kendall", "inversions"])
def test_the_constant_of_a_prior_given_as_a_function_does_not_matter(constant, distance):
    """It counted for several tiers and not for a single one, so that it decided between them."""
    rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 4 + [["c", "b", "a"]] * 3)
    known = tw.search(rankings, distance, priors=tw.Priors(theta=tw.Gamma(2, 2)), progress="off")
    found = tw.search(
        rankings,
        distance,
        priors=tw.Priors(theta=lambda theta: np.log(theta) - 2 * theta + constant),
        progress="off",
    )
    assert found.best.tiers == known.best.tiers
    for one, other in zip(found.leaderboard, known.leaderboard, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-6)


def test_the_sceptical_prior_of_thousands_of_items_is_finite():
    few = log(sum(comb(11, tiers - 1) * exp(-tiers) for tiers in range(2, 13)))
    assert log_total_of_several(12) == pytest.approx(few, abs=1e-12)
    assert isfinite(log_total_of_several(5000))
