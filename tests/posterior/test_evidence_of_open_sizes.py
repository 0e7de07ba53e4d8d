"""The evidence that exact draws with open sizes carry."""

import numpy as np
import pytest

import tierwise as tw


@pytest.mark.parametrize("distance", ["kendall", "inversions"])
def test_evidence_is_the_mean_over_sizes(distance):
    answers = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"], ["d"]]), 0.8).sample(12, rng=1)
    found = tw.sample_posterior(
        answers, distance=distance, priors=tw.Priors(sizes="uniform"), draws=50, chains=1, rng=1
    )
    evidence = []
    for cut in range(8):
        bounds = [0, *(place for place in (1, 2, 3) if cut & (1 << (place - 1))), 4]
        sizes = tuple(np.diff(bounds).tolist())
        given = tw.sample_posterior(answers, sizes, distance, draws=10, chains=1, rng=1)
        evidence.append(given.log_evidence)
    mean = np.logaddexp.reduce(evidence) - np.log(len(evidence))
    assert found.log_evidence == pytest.approx(mean, abs=1e-6)


def test_answers_that_are_all_ties_say_nothing_of_theta():
    answers = tw.Rankings.from_orderings([[["a", "b", "c"]]] * 5)
    shown = tw.fit(answers, (1, 2)).summary()
    assert "nan" not in shown
    assert "theta      unknown" in shown
