"""What functions take as data, and the fingerprints of data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import rankings as some_rankings
from tierwise import Battles, Counts, InputError, Preferences, Rankings, RankingScan, write_rankings
from tierwise.data.kinds import check_data

ANSWERS = Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"], ["a", "b", "c"]])
PAIRS = Preferences.from_pairs([("Ann", "a", "b"), ("Bob", "b", "c")])


@pytest.fixture
def scan(tmp_path):
    write_rankings(ANSWERS, tmp_path / "answers.csv")
    return Rankings.scan(tmp_path / "answers.csv")


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ([["a", "b"]], "Rankings.from_orderings"),
        ((("a", "b"),), "Rankings.from_orderings"),
        (np.array([[1, 2]]), "Rankings.from_order_array"),
        (pd.DataFrame({"a": [1], "b": [2]}), "tierwise.read"),
        ("answers.csv", "tierwise.read"),
        (None, "tierwise.read"),
        (3, "tierwise.read"),
        (Counts.of(ANSWERS), "pass the rankings"),
    ],
)
def test_what_is_not_taken_is_refused_with_a_remedy(data, remedy):
    with pytest.raises(InputError, match="fit takes Rankings as data") as message:
        check_data(data, "fit", Rankings)
    assert remedy in str(message.value)


def test_what_files_hold_is_refused_in_words_that_are_the_same_everywhere():
    with pytest.raises(InputError, match=r"these are pairwise answers, .*use fit for tiers"):
        check_data(PAIRS, "groups", Rankings)
    with pytest.raises(InputError, match="takes rankings, counts or battles: use fit"):
        check_data(PAIRS, "groups", Rankings, Counts, Battles)
    with pytest.raises(InputError, match=r"these are battles, but groups takes .*use leaderboard"):
        check_data(Battles.from_rows([("a", "b", "a")]), "groups", Rankings, Counts)


def test_all_kinds_are_named():
    with pytest.raises(InputError, match="fit takes Rankings, Counts or Preferences as data"):
        check_data(None, "fit", Rankings, Counts, Preferences)
    every = "fit takes Rankings, Counts, Preferences or Battles as data"
    with pytest.raises(InputError, match=every):
        check_data(None, "fit")


def test_what_is_taken_comes_back_as_it_is():
    for data in (ANSWERS, PAIRS, Counts.of(ANSWERS)):
        assert check_data(data, "fit", Rankings, Counts, Preferences) is data
        assert check_data(data, "fit") is data


def test_a_scan_becomes_what_is_taken(scan):
    assert check_data(scan, "fit", Rankings, Counts) == Counts.of(ANSWERS)
    assert check_data(scan, "fit") == Counts.of(ANSWERS)
    assert check_data(scan, "describe", Rankings).n_rankings == 3
    assert check_data(scan, "report", Rankings, RankingScan) is scan
    with pytest.raises(InputError, match=r"distinct\(\)"):
        check_data(scan, "vote", Preferences)


def different_rankings():
    rows, weights = [["a"], ["b", "a"]], [1, 2]
    ties = [["a"], [["b", "a"]]]
    items = "abc"
    return {
        "as it is": Rankings.from_orderings(rows, items, weights, "below"),
        "unranked": Rankings.from_orderings(rows, items, weights, "anywhere"),
        "weights": Rankings.from_orderings(rows, items, [2, 1], "below"),
        "all weights": Rankings.from_orderings(rows, items, [2, 4], "below"),
        "a part of a weight": Rankings.from_orderings(rows, items, [1.5, 2], "below"),
        "ties": Rankings.from_orderings(ties, items, weights, "below"),
        "places": Rankings.from_orderings([["b"], ["b", "a"]], items, weights, "below"),
        "items": Rankings.from_orderings(rows, "abd", weights, "below"),
        "order of items": Rankings.from_orderings(rows, "acb", weights, "below"),
        "numbers as items": Rankings.from_orderings([[1], [2, 1]], [1, 2, 3], weights, "below"),
        "texts as items": Rankings.from_orderings(
            [["1"], ["2", "1"]], ["1", "2", "3"], weights, "below"
        ),
    }


def different_preferences():
    rows = [("Ann", "a", "b"), ("Bob", "b", "c")]
    return {
        "as it is": Preferences.from_pairs(rows),
        "cycles": Preferences.from_pairs(rows, cycles="keep"),
        "times": Preferences.from_pairs([*rows, rows[0]], cycles="keep"),
        "pairs": Preferences.from_pairs([rows[0], ("Bob", "c", "b")], items="abc"),
        "who says it": Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "b", "c")]),
        "items": Preferences.from_pairs(rows, items="abcd"),
    }


def different_counts():
    return {
        "as it is": Counts.of(ANSWERS),
        "twice": Counts.of(ANSWERS) + Counts.of(ANSWERS),
        "one less": Counts.of(ANSWERS.subset([0, 1])),
        "items": Counts.of(Rankings(tuple("abd"), ANSWERS.places)),
    }


@pytest.mark.parametrize("make", [different_rankings, different_preferences, different_counts])
def test_every_part_of_the_likelihood_changes_the_fingerprint(make):
    prints = {name: data.fingerprint() for name, data in make().items()}
    assert len(set(prints.values())) == len(prints)
    assert prints == {name: data.fingerprint() for name, data in make().items()}
    assert all(len(one) == 64 for one in prints.values())


@given(answers=some_rankings(), seed=st.integers(0, 100))
def test_the_order_of_answers_does_not_change_it(answers, seed):
    order = np.random.default_rng(seed).permutation(len(answers))
    assert answers.subset(order).fingerprint() == answers.fingerprint()


def test_the_order_of_weights_that_are_rounded_does_not_change_it():
    places = np.tile(np.array([0, 1], dtype=np.int32), (3, 1))
    weights = np.array([0.1, 1e16, 0.7])
    prints = {
        Rankings("ab", places, weights[list(order)]).fingerprint()
        for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1])
    }
    assert len(prints) == 1


def test_one_answer_of_weight_two_is_two_answers():
    twice = Rankings.from_orderings([["a", "b"]], weights=[2])
    halves = Rankings.from_orderings([["a", "b"]] * 4, weights=[0.5] * 4)
    assert twice.fingerprint() == Rankings.from_orderings([["a", "b"]] * 2).fingerprint()
    assert twice.fingerprint() == halves.fingerprint()


def test_files_have_the_fingerprint_of_what_they_hold(scan, tmp_path):
    assert scan.fingerprint() == ANSWERS.fingerprint()
    (tmp_path / "open.csv").write_text("place 1,place 2,place 3\na,b,c\na,,\n")
    below, anywhere = (
        Rankings.scan(tmp_path / "open.csv", unranked=said) for said in ("below", "anywhere")
    )
    assert below.fingerprint() == below.distinct().fingerprint()
    assert below.fingerprint() != anywhere.fingerprint()


def test_counts_that_need_the_files_have_the_fingerprint_of_the_answers(tmp_path):
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(60), (5, 1)), axis=1)
    prints = []
    for number, chosen in enumerate([orders, orders[::-1], orders[:4]]):
        answers = Rankings.from_order_array(chosen, [f"item {item}" for item in range(60)])
        write_rankings(answers, tmp_path / f"{number}.csv", layout="ranks")
        prints.append(Rankings.scan(tmp_path / f"{number}.csv").counts().fingerprint())
    assert prints[0] == prints[1] != prints[2]
