"""Draws of worths where sizes or tiers are given, as `sample_posterior` makes them."""

from collections import Counter

import numpy as np
import pytest

import tierwise as tw
from tests import reference_luce as reference
from tests.luce.small import small
from tierwise import InputError
from tierwise.posterior.run import sample_posterior

OWN = [["order"], ["prices", "say"], ["speech"]]


@pytest.mark.slow
def test_given_sizes_against_enumeration():
    made = small("ties and gaps", (3.0, 1.2, 0.6), 12, seed=2)
    drawn = sample_posterior(
        made.data, (1, 2), family="luce", sampler=tw.Sampler(thin=8), draws=1500, rng=1
    )
    assert drawn.sizes == (1, 2)
    tops = [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    logs = np.array([reference.log_evidence(made.likelihood, one) for one in tops])
    shares = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    found = Counter(map(tuple, (drawn.labels - 1).tolist()))
    assert sum(found[one] for one in tops) == len(drawn)
    error = np.sqrt(shares * (1 - shares) / len(drawn))
    assert (np.abs([found[one] / len(drawn) for one in tops] - shares) < 5 * error).all()
    assert drawn.tiers("map").label_array(made.data.items).tolist() == list(tops[shares.argmax()])


def test_worths_of_given_tiers_are_drawn_in_order():
    goals = tw.load_political_goals()
    drawn = sample_posterior(goals, tiers=OWN, family="luce", rng=1)
    assert drawn.sizes == (1, 2, 1)
    assert drawn.tiers() == drawn.tiers("consensus") == tw.Tiers(OWN)
    logs = drawn.log_worths[:, [drawn.items.index(name) for name in ("order", "say", "speech")]]
    assert (np.diff(logs, axis=1) < 0).all()
    fitted = tw.fit(goals, tiers=OWN, family="luce")
    assert logs.mean(axis=0) == pytest.approx(np.log(fitted.worths), abs=0.01)
    assert "n_tiers" not in {one.name for one in drawn.diagnostics().numbers}
    assert "spread_of_worths" in drawn.summary()


def test_tiers_against_the_answers_have_worths_that_hardly_differ():
    goals = tw.load_political_goals()
    wrong = [["speech"], ["say", "prices", "order"]]
    drawn = sample_posterior(goals, tiers=wrong, family="luce", rng=1)
    gaps = drawn.log_worths[:, drawn.items.index("speech")] - drawn.log_worths.min(axis=1)
    assert (gaps > 0).all()
    assert gaps.mean() < 0.01


@pytest.mark.thorough
def test_worths_against_sizes_are_no_trouble():
    # Two items are far ahead: with one in the first tier, the worths of the best tiers would turn.
    rows = [["a", "b", "c"], ["b", "a", "c"]] * 40
    drawn = sample_posterior(tw.Rankings.from_orderings(rows), (1, 2), family="luce", rng=1)
    assert set(drawn.sizes_probabilities()) == {(1, 2)}
    assert 0.4 < (drawn.labels[:, 0] == 1).mean() < 0.6


def test_effects_are_drawn_with_given_sizes():
    truth = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (3.0, 1.0), first_factor=1.5)
    battles = truth.sample_battles(2000, rng=1)
    drawn = sample_posterior(battles.with_position("model"), (1, 2), family="luce", rng=1)
    assert drawn.tiers() == truth.tiers
    assert drawn.first_factors.mean() == pytest.approx(1.5, abs=0.25)


def test_a_checkpoint_belongs_to_its_tiers(tmp_path):
    goals = tw.load_political_goals()
    options = {"family": "luce", "draws": 400, "chains": 2, "rng": 1}
    drawn = sample_posterior(goals, tiers=OWN, checkpoint=tmp_path / "run", **options)
    again = sample_posterior(goals, tiers=OWN, checkpoint=tmp_path / "run", **options)
    np.testing.assert_array_equal(drawn.log_worths, again.log_worths)
    other = [["prices"], ["order", "say"], ["speech"]]
    with pytest.raises(InputError):
        sample_posterior(goals, tiers=other, checkpoint=tmp_path / "run", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tiers": OWN, "sizes": (1, 2, 1), "family": "luce"}, "tiers already have sizes"),
        ({"tiers": OWN}, 'family="luce"'),
        ({"tiers": [["order"]], "family": "luce"}, "prices"),
        (
            {"sizes": (2, 2), "family": "luce", "sampler": tw.Sampler(method="exact")},
            "samples with a chain",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        sample_posterior(tw.load_political_goals(), draws=5, **options)
