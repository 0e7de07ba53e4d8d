import warnings
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import tierwise as tw
from tests.reference import BLOCK_DISTANCES, DISTANCES
from tests.reference_incomplete import Answer
from tierwise import InputError, TierwiseWarning
from tierwise.fitting import impute

TIERS = tw.Tiers([["b"], ["a", "d"], ["c"]])


def naive_places(pairs, theta, distance, tiers=TIERS):
    labels = tuple(tiers.label_array("abcd").tolist())
    answer = Answer(pairs, tiers.sizes, distance, labels, theta)
    return [
        [
            answer.expectation([ordering.index(item) == place for ordering in answer.orderings])
            for place in range(4)
        ]
        for item in range(4)
    ]


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
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
    monkeypatch.setattr(impute, "MOST_COMPLETIONS", 1)
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


def naive_places_of_votes(pairs, tiers, theta, mistake, distance="kendall"):
    """Probability of each place of each item, any answer being mistaken with a probability."""
    labels = tuple(tiers.label_array("abcd").tolist())
    probabilities = np.zeros((4, 4))
    for ordering in permutations(range(4)):
        away = DISTANCES[distance](ordering, labels, tiers.sizes)
        weight = np.exp(-theta * away)
        for preferred, other in pairs:
            right = ordering.index(preferred) < ordering.index(other)
            weight *= 1 - mistake if right else mistake
        for place, item in enumerate(ordering):
            probabilities[item, place] += weight
    return probabilities / probabilities[0].sum()


TWICE = [
    ("Ann", "a", "b"),
    ("Ann", "b", "c"),
    ("Ann", "c", "a"),
    ("Ann", "c", "a"),
    ("Bob", "d", "a"),
]
SAID = [[(0, 1), (1, 2), (2, 0), (2, 0)], [(3, 0)]]


@pytest.mark.parametrize("distance", ["kendall", "spearman"])
def test_places_behind_mistaken_answers_are_those_of_brute_force(distance, monkeypatch):
    votes = tw.Preferences.from_pairs(TWICE, items="abcd", cycles="keep")
    fit = replace(
        tw.fit(votes, TIERS.sizes, rng=1),
        tiers=TIERS,
        theta=0.4,
        mistake_probability=0.2,
        distance=distance,
    )
    imputed = tw.impute(votes, fit)
    assert imputed.exact
    expected = [naive_places_of_votes(pairs, TIERS, 0.4, 0.2, distance) for pairs in SAID]
    for assessor in range(2):
        assert imputed.place_probabilities(assessor) == pytest.approx(expected[assessor])
    monkeypatch.setattr(impute, "MOST_COMPLETIONS", 1)
    drawn = tw.impute(votes, fit, draws=20_000, rng=1)
    assert not drawn.exact
    for assessor in range(2):
        assert drawn.place_probabilities(assessor) == pytest.approx(expected[assessor], abs=0.03)


def short_posterior(data, **settings):
    """Draws that need not have settled: what is averaged over is what was drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)
        return tw.sample_posterior(data, **settings)


def of_draws(posterior, numbers):
    return [
        (tw.Tiers.from_labels(posterior.labels[number].tolist(), posterior.items), number)
        for number in numbers
    ]


@pytest.mark.parametrize("sizes", [None, (1, 3)])
def test_a_posterior_is_averaged_over(sizes):
    rankings = tw.Rankings.from_orderings(
        [["b", "a"], ["c"], ["b", "c"], ["d", "b"]], items="abcd", unranked="below"
    )
    posterior = short_posterior(rankings, sizes=sizes, family="mallows", draws=50, chains=2, rng=1)
    imputed = tw.impute(rankings, posterior)
    assert imputed.exact
    assert imputed.n_models == len(posterior)
    assert str(len(posterior)) in repr(imputed)
    best_c = {(2, other) for other in (0, 1, 3)}
    expected = np.mean(
        [
            naive_places(best_c, posterior.thetas[number], "kendall", tiers)
            for tiers, number in of_draws(posterior, range(len(posterior)))
        ],
        axis=0,
    )
    assert imputed.place_probabilities(1) == pytest.approx(expected)


@pytest.mark.slow
def test_few_draws_of_a_posterior_suffice_where_completions_are_drawn(monkeypatch):
    rankings = tw.Rankings.from_orderings(
        [["b", "a"], ["c"], ["b", "c"], ["d", "b"]], items="abcd", unranked="below"
    )
    posterior = short_posterior(rankings, draws=50, chains=2, rng=1)
    exact = tw.impute(rankings, posterior)
    monkeypatch.setattr(impute, "MOST_COMPLETIONS", 1)
    drawn = tw.impute(rankings, posterior, draws=40_000, rng=1)
    assert not drawn.exact
    assert drawn.n_models == len(posterior)
    assert 0 < drawn.error < 0.03
    assert drawn.pattern_probabilities == pytest.approx(exact.pattern_probabilities, abs=0.03)
    assert tw.impute(rankings, posterior, draws=200, rng=1).n_models == 10


def test_a_posterior_of_mistaken_answers_is_averaged_over():
    votes = tw.Preferences.from_pairs(TWICE, items="abcd", cycles="keep")
    posterior = short_posterior(votes, sizes=(2, 2), draws=25, chains=2, rng=1)
    imputed = tw.impute(votes, posterior)
    expected = np.mean(
        [
            naive_places_of_votes(
                SAID[0], tiers, posterior.thetas[number], posterior.mistake_probabilities[number]
            )
            for tiers, number in of_draws(posterior, range(len(posterior)))
        ],
        axis=0,
    )
    assert imputed.place_probabilities(0) == pytest.approx(expected)


@pytest.mark.slow
def test_too_many_draws_of_a_posterior_are_thinned(monkeypatch):
    rankings = tw.Rankings.from_orderings([["b"], ["c"]], items="abcd", unranked="below")
    posterior = short_posterior(rankings, sizes=(2, 2), draws=100, chains=2, rng=1)
    monkeypatch.setattr(impute, "MOST_WORK", 150 * 2 * (6 + 500))
    imputed = tw.impute(rankings, posterior)
    assert imputed.exact
    assert imputed.n_models == 150
    monkeypatch.setattr(impute, "MOST_WORK", 50 * 2 * (6 + 500))
    assert not tw.impute(rankings, posterior, rng=1).exact


def test_what_cannot_be_imputed_is_refused():
    model = tw.ClusteredMallows(TIERS, 0.4)
    rankings = tw.Rankings.from_orderings([["a"]], items="abcd", unranked="below")
    with pytest.raises(InputError, match="draws"):
        tw.impute(rankings, model, draws=1)
    kept = tw.Preferences.from_pairs([("Ann", "c", "b")], items="abcd", cycles="keep")
    with pytest.raises(InputError, match="mistaken"):
        tw.impute(kept, model)
    posterior = short_posterior(rankings, sizes=(2, 2), draws=10, chains=2, rng=1)
    with pytest.raises(InputError, match="mistaken"):
        tw.impute(kept, posterior)
    with pytest.raises(InputError, match="items"):
        tw.impute(tw.Rankings.from_orderings([["x"]], items="xyz", unranked="below"), posterior)
    with pytest.raises(InputError, match="items"):
        tw.impute(tw.Rankings.from_orderings([["x"]], items="xyz", unranked="below"), model)


def naive_places_of_tiers(said, tiers, thetas):
    """Probability of places if a reversed pair costs the theta of its better tier."""
    labels = tiers.label_array("abcd").tolist()
    probabilities = np.zeros((4, 4))
    for ordering in permutations(range(4)):
        if any(ordering.index(first) > ordering.index(second) for first, second in said):
            continue
        reversed_pairs = [
            (better, worse)
            for better, worse in permutations(range(4), 2)
            if labels[better] < labels[worse] and ordering.index(better) > ordering.index(worse)
        ]
        weight = np.exp(-sum(thetas[labels[better]] for better, _ in reversed_pairs))
        for place, item in enumerate(ordering):
            probabilities[item, place] += weight
    return probabilities / probabilities[0].sum()


BEST_C = {(2, other) for other in (0, 1, 3)}
TIES = [[["c"], ["a", "b", "d"]], [["a", "d"], ["b", "c"]], [["a", "b", "c", "d"]]]
SAID_BY_TIES = [BEST_C, {(0, 1), (0, 2), (3, 1), (3, 2)}, set()]


@pytest.mark.parametrize(
    ("theta", "concentration"), [(0.7, "single"), ((1.1, 0.3), "tier"), ((0.0, 2.0), "tier")]
)
def test_places_within_ties_have_a_closed_form_under_inversions(theta, concentration):
    model = tw.ClusteredMallows(TIERS, theta, "inversions", concentration=concentration)
    imputed = tw.impute(tw.Rankings.from_orderings(TIES, items="abcd"), model)
    assert imputed.exact
    thetas = np.broadcast_to(theta, 2)
    for answer, said in enumerate(SAID_BY_TIES):
        expected = naive_places_of_tiers(said, TIERS, thetas)
        assert imputed.place_probabilities(answer) == pytest.approx(expected)


def test_places_of_many_items_are_exact_under_inversions(monkeypatch):
    tiers = tw.Tiers([list(range(3)), list(range(3, 10)), list(range(10, 15))])
    model = tw.ClusteredMallows(tiers, 0.15, "inversions")
    listed = [0, 12, 3, 11]
    data = tw.Rankings.from_orderings([listed], items=range(15), unranked="below")
    imputed = tw.impute(data, model)
    assert imputed.exact
    places = imputed.place_probabilities(0)
    assert places.sum(axis=0) == pytest.approx(np.ones(15))
    assert places.sum(axis=1) == pytest.approx(np.ones(15))
    assert places[listed, range(4)] == pytest.approx(np.ones(4))
    monkeypatch.setattr(impute.GivenTiers, "orders_groups_apart", False)
    drawn = tw.impute(data, model, draws=20_000, rng=1)
    assert not drawn.exact
    assert drawn.place_probabilities(0) == pytest.approx(places, abs=5 * drawn.error)


@pytest.mark.parametrize(
    ("distance", "concentration", "theta"),
    [
        ("kendall", "tier", (0.9, 0.2)),
        ("kendall", "place", (0.9, 0.2)),
    ],
)
def test_completions_are_weighed_by_parts_where_each_has_a_theta(distance, concentration, theta):
    model = tw.ClusteredMallows(TIERS, theta, distance, concentration=concentration)
    answer = tw.Rankings.from_orderings([["c", "a"]], items="abcd", unranked="anywhere")
    orderings = [one for one in permutations("abcd") if one.index("c") < one.index("a")]
    weights = np.exp(model.log_prob(tw.Rankings.from_orderings(orderings)))
    expected = np.zeros((4, 4))
    for ordering, weight in zip(orderings, weights / weights.sum(), strict=True):
        for place, item in enumerate(ordering):
            expected["abcd".index(item), place] += weight
    assert tw.impute(answer, model).place_probabilities(0) == pytest.approx(expected)


def test_a_posterior_with_several_thetas_is_averaged_over():
    answers = [["a", "b"], ["b", "a"], ["a", "c"], ["a", "b", "c"]] * 4
    data = tw.Rankings.from_orderings(answers, unranked="below", items="abcd")
    options = {"distance": "inversions", "concentration": "tier", "rng": 1}
    posterior = tw.sample_posterior(data, draws=20, chains=1, **options)
    imputed = tw.impute(data, posterior)
    assert imputed.exact
    expected = [
        naive_places_of_tiers({(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)}, tiers, thetas)
        for (tiers, _), thetas in zip(
            of_draws(posterior, range(len(posterior))), posterior.thetas, strict=True
        )
    ]
    assert imputed.place_probabilities(0) == pytest.approx(np.mean(expected, axis=0))


def test_drawn_completions_need_one_theta(monkeypatch):
    monkeypatch.setattr(impute, "MOST_COMPLETIONS", 1)
    answer = tw.Rankings.from_orderings([["c", "a"]], items="abcd", unranked="anywhere")
    model = tw.ClusteredMallows(TIERS, (0.9, 0.2), "inversions", concentration="tier")
    with pytest.raises(InputError, match="one theta, not one per tier: use concentration"):
        tw.impute(answer, model)
