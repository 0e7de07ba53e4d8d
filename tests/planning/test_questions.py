"""Questions are ranked by mutual information, by its definition."""

import numpy as np
import pytest

import tierwise as tw
from tests.reference_planning import gain_of_pair
from tierwise._kernels.questions import gains_of_pairs


@pytest.fixture(scope="module")
def battles():
    rows = [("a", "b", "a")] * 12 + [("a", "b", "b")] * 5 + [("b", "c", "b")] * 8
    rows += [("b", "c", "c")] * 7 + [("c", "d", "c")] * 20 + [("d", "a", "a")] * 9
    return tw.Battles.from_rows(rows)


@pytest.fixture(scope="module")
def posterior(battles):
    return tw.sample_posterior(battles, family="luce", chains=4, draws=1000, rng=1)


@pytest.mark.parametrize("by", ["worths", "tiers"])
def test_gains_are_mutual_information(by):
    rng = np.random.default_rng(5)
    labels = rng.integers(3, size=(40, 5))
    logs, by_tier = np.zeros((0, 5)), np.zeros((0, 1, 1))
    if by == "worths":
        logs = rng.normal(size=(40, 5))
        apart = logs[:, :, None] - logs[:, None, :]
        chances = 1 / (1 + np.exp(-apart))
    else:
        by_tier = rng.uniform(0.2, 0.8, size=(40, 3, 3))
        chances = np.stack(
            [by_tier[draw][np.ix_(labels[draw], labels[draw])] for draw in range(40)]
        )
    gains = np.zeros((5, 5))
    gains_of_pairs(labels, logs, by_tier, gains)
    for one in range(5):
        for other in range(one + 1, 5):
            expected = gain_of_pair(labels.tolist(), chances[:, one, other].tolist(), one, other)
            assert gains[one, other] / np.log(2) == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_a_certain_order_leaves_nothing_to_ask():
    labels = np.tile([0, 1, 2], (50, 1))
    gains = np.full((3, 3), np.nan)
    gains_of_pairs(labels, np.tile([2.0, 0.0, -2.0], (50, 1)), np.zeros((0, 1, 1)), gains)
    assert np.triu(gains, k=1).max() < 1e-12


def test_questions_come_best_first_and_without_repetition(posterior):
    questions = tw.next_questions(posterior, 6)
    gains = [row.gain for row in questions.rows]
    assert gains == sorted(gains, reverse=True)
    assert len({frozenset(row.items) for row in questions.rows}) == 6
    for row in questions.rows:
        assert row.above + row.tied + row.below == pytest.approx(1)
    assert len(questions.to_frame()) == 6
    assert len(questions.to_dict()["questions"]) == 6
    assert "draws of the posterior" in questions.summary()


def test_there_are_no_more_questions_than_pairs(posterior):
    assert len(tw.next_questions(posterior, 100)) == 6


def test_excluded_pairs_are_not_asked_about(posterior):
    best = tw.next_questions(posterior, 1).rows[0].items
    others = tw.next_questions(posterior, 10, exclude=[best])
    assert frozenset(best) not in {frozenset(row.items) for row in others.rows}


def test_costs_change_what_is_asked(posterior):
    best = tw.next_questions(posterior, 1).rows[0].items
    dear = tw.next_questions(posterior, 1, costs={best[0]: 1000.0})
    assert best[0] not in dear.rows[0].items


def test_subsets_have_the_size_asked_for(posterior):
    questions = tw.next_questions(posterior, 2, "subsets", size=3)
    assert all(len(row.items) == 3 for row in questions.rows)
    first, second = (set(row.items) for row in questions.rows)
    assert first != second


def test_data_are_taken_with_or_without_a_choice(battles):
    choice = tw.choose(battles, family="luce", rng=1)
    named = tw.next_questions(battles, 3, choice=choice, rng=1)
    assert len(named) == 3
    assert named == tw.next_questions(battles, 3, choice=choice, rng=1)


def test_mallows_models_have_questions_too():
    rows = [["a", "b", "c"]] * 5 + [["b", "a", "c"]] * 3 + [["c", "b", "a"]] * 2
    rankings = tw.Rankings.from_orderings(rows)
    posterior = tw.sample_posterior(rankings, distance="kendall", rng=1)
    assert tw.next_questions(posterior, 1).rows[0].gain > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ask": "triples"}, "ask"),
        ({"ask": "subsets"}, "how many items"),
        ({"size": 3}, "a pair has two"),
        ({"exclude": [("a", "x")]}, "not an item"),
        ({"exclude": ["ab", "a"]}, "pairs of items"),
        ({"costs": {"x": 1.0}}, "not an item"),
        ({"costs": {"a": 0.0}}, "above 0"),
        ({"k": 0}, "k"),
    ],
)
def test_questions_that_make_no_sense_are_refused(posterior, options, words):
    with pytest.raises(tw.InputError, match=words):
        tw.next_questions(posterior, **options)


def test_no_pair_may_be_left(posterior):
    items = posterior.items
    pairs = [(one, other) for one in items for other in items if one != other]
    with pytest.raises(tw.InputError, match="all pairs are excluded"):
        tw.next_questions(posterior, exclude=pairs)


def test_no_question_where_all_draws_agree():
    empty = tw.Questions((), 400)
    assert empty.summary().startswith("No answer is expected to say anything new, from 400 draws")
    assert repr(empty) == "Questions(none: no answer is expected to say anything new)"
