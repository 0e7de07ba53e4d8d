import numpy as np
import pytest

import tierwise as tw
from tests.reference_incomplete import Answer
from tierwise import InputError
from tierwise.incomplete import imputing

TIERS = tw.Tiers([["b"], ["a", "d"], ["c"]])


def naive_places(pairs, theta, distance):
    labels = tuple(TIERS.label_array("abcd").tolist())
    answer = Answer(pairs, TIERS.sizes, distance, labels, theta)
    return [
        [
            answer.expectation([ordering.index(item) == place for ordering in answer.orderings])
            for place in range(4)
        ]
        for item in range(4)
    ]


@pytest.mark.parametrize("distance", ["kendall", "hamming", "footrule", "spearman"])
def test_places_have_the_probabilities_of_brute_force(distance):
    model = tw.ClusteredMallows(TIERS, 0.7, distance)
    rankings = tw.Rankings.from_orderings(
        [["c"], ["a", "d"], ["c"]], items="abcd", unranked="below"
    )
    imputed = tw.impute(rankings, model)
    assert imputed.exact
    assert len(imputed) == 3
    best_c = naive_places({(2, other) for other in (0, 1, 3)}, 0.7, distance)
    assert imputed.place_probabilities(0) == pytest.approx(np.array(best_c))
    assert np.array_equal(imputed.place_probabilities(0), imputed.place_probabilities(2))
    a_then_d = {(0, 3), (0, 1), (0, 2), (3, 1), (3, 2)}
    assert imputed.place_probabilities(1) == pytest.approx(
        np.array(naive_places(a_then_d, 0.7, distance))
    )
    assert imputed.mean_ranks()[:, 2].tolist()[0] == pytest.approx(1.0)


def test_preferences_are_imputed():
    preferences = tw.Preferences.from_pairs([("Ann", "c", "b")], items="abcd")
    imputed = tw.impute(preferences, tw.ClusteredMallows(TIERS, 0.4))
    assert imputed.place_probabilities(0) == pytest.approx(
        np.array(naive_places({(2, 1)}, 0.4, "kendall"))
    )


def test_drawn_probabilities_come_close(monkeypatch):
    rankings = tw.Rankings.from_orderings([["c", "a"]], items="abcd", unranked="anywhere")
    monkeypatch.setattr(imputing, "MOST_COMPLETIONS", 1)
    imputed = tw.impute(rankings, tw.ClusteredMallows(TIERS, 0.4), draws=20_000, rng=1)
    assert not imputed.exact
    assert 0 < imputed.error < 0.02
    assert imputed.place_probabilities(0) == pytest.approx(
        np.array(naive_places({(2, 0)}, 0.4, "kendall")), abs=0.03
    )


def test_a_fit_with_infinite_theta_can_impute():
    rankings = tw.Rankings.from_orderings([["a"], ["b"]], items="abcd", unranked="below")
    fit = tw.fit(rankings, (2, 2), rng=1)
    probabilities = tw.impute(rankings, fit).place_probabilities(0)
    assert probabilities[1, 1] == pytest.approx(1.0)


def test_what_cannot_be_imputed_is_refused():
    model = tw.ClusteredMallows(TIERS, 0.4)
    rankings = tw.Rankings.from_orderings([["a"]], items="abcd", unranked="below")
    with pytest.raises(InputError, match="draws"):
        tw.impute(rankings, model, draws=1)
    kept = tw.Preferences.from_pairs([("Ann", "c", "b")], items="abcd", cycles="keep")
    with pytest.raises(InputError, match="mistaken"):
        tw.impute(kept, model)
    with pytest.raises(InputError, match="items"):
        tw.impute(tw.Rankings.from_orderings([["x"]], items="xyz", unranked="below"), model)
