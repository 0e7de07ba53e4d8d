"""Questions are ranked by mutual information, by its definition."""

import numpy as np
import pytest

import tierwise as tw
from tests.reference_planning import gain_of_pair, information_of_ranking
from tierwise.planning.questions import _batch
from tierwise.planning.strengths import Strengths, gains_of_comparisons, openness


@pytest.fixture(scope="module")
def battles():
    rows = [("a", "b", "a")] * 12 + [("a", "b", "b")] * 5 + [("b", "c", "b")] * 8
    rows += [("b", "c", "c")] * 7 + [("c", "d", "c")] * 20 + [("d", "a", "a")] * 9
    return tw.Battles.from_rows(rows)


@pytest.fixture(scope="module")
def posterior(battles):
    return tw.sample_posterior(battles, family="luce", chains=4, draws=1000, rng=1)


@pytest.fixture(scope="module")
def unclear():
    """Strengths of five items that covary, and tiers about which much is open."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(5, 7))
    strengths = Strengths(rng.normal(size=5), root @ root.T / 10)
    shares = rng.dirichlet((2, 2, 2), size=(5, 5))
    above = np.triu(shares[:, :, 0], k=1) + np.triu(shares[:, :, 1], k=1).T
    return strengths, above


def test_gains_are_mutual_information(unclear, monkeypatch):
    monkeypatch.setattr("tierwise.planning.strengths._SAY_OF_STRENGTHS", 0.0)
    strengths, above = unclear
    gains = gains_of_comparisons(strengths, openness(strengths, above))
    for one in range(5):
        for other in range(one + 1, 5):
            expected = gain_of_pair(
                strengths.means.tolist(), strengths.covariance.tolist(), above.tolist(), one, other
            )
            assert gains[one, other] == pytest.approx(expected, rel=1e-9)
            assert gains[other, one] == pytest.approx(gains[one, other])


def test_observations_change_the_covariance_as_those_of_normal_variables_do(unclear):
    strengths, _ = unclear
    contrast = np.array([0.0, 1.0, 0.0, -1.0, 0.0])
    precision = np.linalg.inv(strengths.covariance) + 0.2 * np.outer(contrast, contrast)
    found = strengths.observe((1, 3), 0.2).covariance
    assert found == pytest.approx(np.linalg.inv(precision), abs=1e-10)


def test_a_ranking_counts_for_less_than_its_comparisons(unclear):
    """The first subset gains what its pairs do, each as much as a ranking says of it."""
    strengths, above = unclear
    everything = ~np.eye(5, dtype=bool)
    [(members, gain)] = _batch(strengths, above, everything, np.ones(5), 1, 3)
    gains = gains_of_comparisons(strengths, openness(strengths, above))
    pairs = np.triu(gains[np.ix_(members, members)], k=1).sum()
    assert gain == pytest.approx(information_of_ranking(3) * pairs)
    assert information_of_ranking(2) == pytest.approx(1)


def test_a_certain_order_leaves_nothing_to_ask(unclear, monkeypatch):
    monkeypatch.setattr("tierwise.planning.strengths._SAY_OF_STRENGTHS", 0.0)
    strengths, _ = unclear
    certain = np.triu(np.ones((5, 5)), k=1)
    assert openness(strengths, certain).max() < 1e-12
    assert openness(strengths, np.zeros((5, 5))).max() < 1e-12


def test_questions_come_best_first_and_without_repetition(battles, posterior):
    questions = tw.next_questions(battles, 6, posterior=posterior)
    gains = [row.gain for row in questions.rows]
    assert gains == sorted(gains, reverse=True)
    assert len({frozenset(row.items) for row in questions.rows}) == 6
    for row in questions.rows:
        places = [posterior.items.index(item) for item in row.items]
        near = posterior.tied_or_nearly_probabilities().to_numpy()
        assert row.near == pytest.approx(near[places[0], places[1]])
        assert row.above + row.below <= 1.0
    assert len(questions.to_frame()) == 6
    assert len(questions.to_dict()["questions"]) == 6
    assert "draws of the posterior" in questions.summary()


def test_there_are_no_more_questions_than_pairs(battles, posterior):
    assert len(tw.next_questions(battles, 100, posterior=posterior)) == 6


def test_excluded_pairs_are_not_asked_about(battles, posterior):
    best = tw.next_questions(battles, 1, posterior=posterior).rows[0].items
    others = tw.next_questions(battles, 10, posterior=posterior, exclude=[best])
    assert frozenset(best) not in {frozenset(row.items) for row in others.rows}


def test_costs_change_what_is_asked(battles, posterior):
    best = tw.next_questions(battles, 1, posterior=posterior).rows[0].items
    dear = tw.next_questions(battles, 1, posterior=posterior, costs={best[0]: 1000.0})
    assert best[0] not in dear.rows[0].items


def test_subsets_have_the_size_asked_for(battles, posterior):
    questions = tw.next_questions(battles, 2, "subsets", size=3, posterior=posterior)
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
    assert tw.next_questions(rankings, 1, posterior=posterior).rows[0].gain > 0


def test_a_batch_does_not_ask_the_same_in_other_words(battles, posterior):
    """What the first answer says is taken off what the second is worth."""
    first, second = tw.next_questions(battles, 2, posterior=posterior).rows
    alone = tw.next_questions(battles, 1, exclude=[first.items], posterior=posterior).rows[0]
    assert second.gain < alone.gain


def test_a_posterior_of_other_items_is_refused(posterior):
    others = tw.Battles.from_rows([("x", "y", "x"), ("y", "x", "y")])
    with pytest.raises(tw.InputError, match="other items"):
        tw.next_questions(others, posterior=posterior)


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
def test_questions_that_make_no_sense_are_refused(battles, posterior, options, words):
    with pytest.raises(tw.InputError, match=words):
        tw.next_questions(battles, posterior=posterior, **options)


def test_no_pair_may_be_left(battles, posterior):
    items = posterior.items
    pairs = [(one, other) for one in items for other in items if one != other]
    with pytest.raises(tw.InputError, match="all pairs are excluded"):
        tw.next_questions(battles, posterior=posterior, exclude=pairs)


def test_no_question_where_all_draws_agree():
    empty = tw.Questions((), 400)
    assert empty.summary().startswith("No answer is expected to say anything new, from 400 draws")
    assert repr(empty) == "Questions(none: no answer is expected to say anything new)"
    assert empty.to_dict() == {"draws": 400, "questions": []}
    assert len(empty.to_frame()) == 0
