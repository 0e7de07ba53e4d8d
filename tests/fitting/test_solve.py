"""Everything that works for complete rankings, on incomplete ones; and real data."""

import json

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.fitting.test_em import ballots
from tierwise import InputError
from tierwise.answers.likelihood import source_of
from tierwise.fitting.observe import observe_like
from tierwise.fitting.solve import Settings, named_tiers, solve


def test_a_fit_of_ballots_says_what_it_is():
    found = tw.fit(ballots(1, 6, 50), (2, 2, 2), rng=1)
    assert found.method == "expectation-maximisation"
    assert not found.optimal
    assert found.log_likelihood_error == 0.0
    assert [reference.name for reference in found.references] == ["strict consensus", "no tiers"]
    uniform = found.references[-1].log_likelihood
    assert found.log_completions - 50 * np.log(720) == pytest.approx(uniform)
    assert found.log_likelihood > uniform
    assert json.dumps(found.to_dict())
    assert "not proved best" in found.summary()


def test_no_tiers_at_all_make_completions_equally_probable():
    for unranked in ("below", "anywhere"):
        rankings = ballots(1, 5, 20, unranked)
        found = tw.fit(rankings, (5,), rng=1)
        assert found.theta == 0.0
        assert found.log_likelihood == pytest.approx(found.log_completions - 20 * np.log(120))
    preferences = tw.Preferences.from_pairs([("Ann", "a", "b"), ("Bob", "b", "c")], items="abc")
    assert tw.fit(preferences, (3,)).log_likelihood == pytest.approx(2 * np.log(0.5))


def test_preferences_are_fitted():
    rows = [(person, "a", other) for person in range(9) for other in "bc"]
    rows += [(person, "b", "c") for person in range(5)] + [(9, "c", "a")]
    preferences = tw.Preferences.from_pairs(rows, items="abcd")
    found = tw.fit(preferences, (1, 2, 1), rng=1)
    assert found.tiers["a"] == 1
    assert found.n_rankings == 10
    model = tw.ClusteredMallows(found.tiers, found.theta)
    assert found.log_likelihood == pytest.approx(model.log_prob(preferences).sum())


def test_the_search_finds_sizes_for_ballots():
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((2, 3), range(5)), 0.8)
    complete = model.sample(400, rng=1)
    places = complete.patterns[complete.pattern_of].copy()
    places[places >= 3] = -1
    top = tw.Rankings(complete.items, places, unranked="below")
    found = tw.search(top, rng=1, progress="off", distance="kendall", criterion="likelihood")
    assert found.exhaustive
    assert found.best.tiers == tw.Tiers.from_sizes((2, 3), range(5))
    preferences = tw.Preferences.from_pairs(
        [(person, 0, other) for person in range(20) for other in (1, 2)], items=range(3)
    )
    assert tw.search(
        preferences, rng=1, progress="off", distance="kendall", criterion="likelihood"
    ).best.sizes == (1, 2)


@pytest.mark.parametrize("kind", ["nonparametric", "parametric"])
@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_ballots_are_resampled(kind, unranked):
    rankings = ballots(2, 5, 60, unranked)
    found = tw.fit(rankings, (2, 3), rng=1)
    again = tw.bootstrap(rankings, found, replicates=10, kind=kind, rng=1, progress="off")
    low, high = again.theta_interval()
    assert low < found.theta < high
    assert again.labels.shape == (10, 5)


def test_what_is_hidden_is_hidden_again():
    complete = tw.Rankings.from_orderings(
        [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["b", "d", "a", "c"]]
    )
    below = tw.Rankings.from_orderings(
        [["c"], [["a", "b"], "c"], ["d", "c"]], items="abcd", unranked="below"
    )
    assert observe_like(complete, below).to_orderings() == [
        ["a"],
        [["c", "d"], "b", "a"],
        ["b", "d"],
    ]
    anywhere = tw.Rankings.from_orderings(
        [["c", "a"], [["a", "b"], "c"]], items="abcd", weights=[1, 2], unranked="anywhere"
    )
    assert observe_like(complete, anywhere).to_orderings() == [
        ["a", "c"],
        [["b", "c"], "a"],
        [["a", "b"], "c"],
    ]
    with pytest.raises(InputError, match="3 rankings are needed"):
        observe_like(complete.subset([0]), anywhere)
    fractional = tw.Rankings.from_orderings([["c"]], "abcd", [0.5], unranked="below")
    with pytest.raises(InputError, match="whole weights"):
        observe_like(complete, fractional)


def test_what_needs_complete_rankings_is_refused():
    rankings = ballots(1, 4, 10)
    with pytest.raises(InputError, match="pseudo"):
        tw.fit(rankings, (2, 2), likelihood="pseudo")
    with pytest.raises(InputError, match="theta_method"):
        tw.fit(rankings, (2, 2), theta_method="monte-carlo")
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((2, 2), range(4)), 0.5)
    with pytest.raises(InputError, match="log_prob"):
        model.distances(rankings)
    with pytest.raises(InputError, match="the tiers have different items"):
        model.log_prob(ballots(1, 5, 10))


F1_SIZES = (1, 1, 1, 2, 3, 2, 15)
THE_BEST = [["Lewis Hamilton"], ["Nico Rosberg"], ["Sebastian Vettel"]]


@pytest.mark.thorough
def test_formula_one_with_all_others_below():
    rankings = tw.load_f1(shared_data("f1") / "f1db_2015_2016_results.csv")
    found = tw.fit(rankings, F1_SIZES, rng=1)
    assert found.optimal
    assert found.total_distance == 2070
    assert found.theta == pytest.approx(0.1737, abs=1e-4)
    assert found.criterion - found.log_completions == pytest.approx(-2087.05, abs=0.01)
    strict = found.references[0]
    assert strict.log_likelihood_error == 0.0


def test_formula_one_with_all_others_anywhere():
    rankings = tw.load_f1(shared_data("f1") / "f1db_2015_2016_results.csv", unranked="anywhere")
    source = source_of(rankings, "kendall")
    found = solve(source, F1_SIZES, Settings(), np.random.default_rng(1))
    assert found.theta.value == pytest.approx(0.1956, abs=2e-4)
    assert found.log_likelihood == pytest.approx(-1117.54, abs=0.01)
    tiers = named_tiers(found.consensus.labels, rankings.items).to_lists()
    assert tiers[:3] == THE_BEST
    assert set(tiers[3]) == {"Kimi Raikkonen", "Daniel Ricciardo"}
    assert set(tiers[4]) == {"Valtteri Bottas", "Felipe Massa", "Max Verstappen"}
    assert set(tiers[5]) == {"Sergio Perez", "Nico Hulkenberg"}


FILES = [
    "00001-00000001.soi",
    "00001-00000002.soi",
    "00001-00000003.soi",
    *(f"00002-0000000{number}.soi" for number in range(1, 9)),
    "00002-00000002.toc",
    "00005-00000001.toi",
    "00006-00000001.toc",
    "00006-00000023.toc",
    "00032-00000003.soi",
    "00032-00000004.toi",
    pytest.param("00032-00000006.toi", marks=pytest.mark.slow),
]


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_files_with_incomplete_rankings_and_ties_are_fitted(name):
    rankings = tw.read_rankings(shared_data("preflib") / name, unranked="below")
    found = tw.fit(rankings, (1, 1, len(rankings.items) - 2), rng=1)
    assert found.log_likelihood > found.references[-1].log_likelihood
    assert found.n_rankings == rankings.n_rankings
