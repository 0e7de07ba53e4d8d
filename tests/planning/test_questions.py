"""Questions are ranked by mutual information, by its definition."""

import numpy as np
import pytest

import tierwise as tw
from tests.reference_planning import gain_in_draws, information_of_ranking
from tierwise.planning.orders import drawn_orders
from tierwise.planning.questions import batch_of_questions, open_orders
from tierwise.planning.strengths import Strengths


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
    """Strengths of five items that covary."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(5, 7))
    return Strengths(rng.normal(size=5), root @ root.T / 10)


@pytest.fixture(scope="module")
def draws():
    """Draws of tiers of five items, with log worths that fall from tier to tier."""
    rng = np.random.default_rng(6)
    labels = rng.integers(1, 4, size=(60, 5))
    labels = np.array([np.unique(row, return_inverse=True)[1] + 1 for row in labels])
    return labels, -labels * rng.uniform(0.2, 1.0, size=(60, 1))


@pytest.fixture(scope="module", params=["equal weights", "different weights"])
def weights(request):
    """Weights of the draws."""
    found = np.ones(60)
    if request.param == "different weights":
        found = np.random.default_rng(9).uniform(0.1, 2.0, size=60)
    return found / found.sum()


def test_gains_by_draws_are_mutual_information(draws, weights):
    labels, logs = draws
    gains = drawn_orders(labels, logs, weights).gains()
    for one in range(5):
        for other in range(one + 1, 5):
            expected = gain_in_draws(
                labels.tolist(), np.exp(logs).tolist(), weights.tolist(), one, other
            )
            assert gains[one, other] == pytest.approx(expected, abs=1e-6)
            assert gains[other, one] == gains[one, other]


def test_a_draw_of_double_weight_counts_as_two_draws(draws):
    """Covariances and noise are the same; that a draw agrees with itself is taken off by draw."""
    labels, logs = draws
    twice = np.r_[0:60, 0:10]
    weights = np.r_[np.full(10, 2.0), np.ones(50)] / 70
    one = drawn_orders(labels, logs, weights)
    two = drawn_orders(labels[twice], logs[twice], np.full(70, 1 / 70))
    assert one.chances.T @ one.chances == pytest.approx(two.chances.T @ two.chances)
    assert one.noise == pytest.approx(two.noise)


def test_what_was_asked_before_is_taken_away_from_draws(draws, weights):
    """Covariances given a normal observation, by their formula, after two questions."""
    orders = drawn_orders(*draws, weights)
    pairs = list(zip(*np.triu_indices(5, k=1), strict=True))
    covariance = orders.chances.T @ orders.chances
    with_draws = orders.chances.T
    found = orders
    for pair, share in (((0, 2), 1.0), ((3, 1), 0.5)):
        at = pairs.index((min(pair), max(pair)))
        change, variance = covariance[:, at], covariance[at, at] + orders.noise[at] / share
        with_draws = with_draws - np.outer(change, with_draws[at]) / variance
        covariance = covariance - np.outer(change, change) / variance
        found = found.observe(*pair, share)
    assert found.variances == pytest.approx(np.diag(covariance))
    assert found.explained == pytest.approx(np.diag(with_draws @ orders.alike @ with_draws.T))
    assert found.gains()[0, 2] < orders.gains()[0, 2]


def test_whether_there_are_tiers_at_all_is_asked_of_items_far_apart():
    """Half of the draws have no tiers: neighbours would say little about that."""
    rng = np.random.default_rng(7)
    several = np.array([1, 1, 2, 2, 3, 3])
    labels = np.where(rng.random((100, 1)) < 0.5, several, 1)
    gains = drawn_orders(labels, -0.5 * labels.astype(float), np.full(100, 0.01)).gains()
    assert gains[0, 5] > 2 * gains[0, 2] > 0
    assert gains[0, 1] == 0


def test_chance_in_draws_is_not_information():
    """Orders and chances of items that have nothing to do with each other gain nothing."""
    rng = np.random.default_rng(8)
    labels = rng.integers(1, 3, size=(200, 6))
    gains = [
        drawn_orders(labels, rng.normal(size=labels.shape), np.full(200, 0.005)).explained.mean()
        for _ in range(40)
    ]
    assert abs(np.mean(gains)) < 4 * np.std(gains) / 40**0.5


def test_strengths_are_drawn_with_their_means_and_covariance(unclear):
    drawn = unclear.draw(200_000, np.random.default_rng(1))
    assert drawn.mean(axis=0) == pytest.approx(unclear.means, abs=0.02)
    assert np.cov(drawn.T) == pytest.approx(unclear.covariance, abs=0.02)


def test_strengths_of_equal_variance_are_drawn_in_one_way_on_all_machines():
    """Any basis diagonalises such a covariance; its symmetric root is the covariance itself."""
    normal = np.random.default_rng(1).standard_normal((50, 6))
    drawn = Strengths(np.zeros(6), np.eye(6) - 1 / 6).draw(50, np.random.default_rng(1))
    assert drawn == pytest.approx(normal - normal.mean(axis=1, keepdims=True), abs=1e-6)


def test_a_ranking_counts_for_less_than_its_comparisons(draws, weights):
    """The first subset gains what its pairs do, each as much as a ranking says of it."""
    everything, orders = ~np.eye(5, dtype=bool), drawn_orders(*draws, weights)
    [(members, gain)] = batch_of_questions(orders, everything, np.ones(5), 1, 3)
    pairs = np.triu(orders.gains()[np.ix_(members, members)], k=1).sum()
    assert gain == pytest.approx(information_of_ranking(3) * pairs)
    assert information_of_ranking(2) == pytest.approx(1)


def test_where_draws_have_one_tier_items_far_apart_in_strength_are_asked_about():
    """Close items win half of their comparisons, tied or not: that would not show any tiers."""
    strengths = Strengths(np.linspace(1.0, -1.0, 8), 0.1 * (np.eye(8) - 1 / 8))
    one_tier = np.ones((20, 8), dtype=np.int64), np.zeros((20, 8))
    orders = open_orders(*one_tier, strengths, np.random.default_rng(1))
    batch = batch_of_questions(orders, ~np.eye(8, dtype=bool), np.ones(8), 4, 2)
    assert all(gain > 0 for _, gain in batch)
    assert all(other - one >= 5 for (one, other), _ in batch)


def collect(n_batches, seed):
    """Batches of ten votes each on ten items in two tiers, the first without any votes at hand."""
    items = tuple("abcdefghij")
    truth = tw.ClusteredLuce(tw.Tiers([items[:5], items[5:]]), (4.0, 1.0))
    rng, decided = np.random.default_rng(seed), np.zeros((10, 10))
    nothing = np.zeros((10, 10))
    labels = truth.tiers.label_array(items)
    chances = np.asarray(truth.pair_probabilities())[np.ix_(labels, labels)]
    for batch in range(n_batches):
        votes = tw.Battles(items, decided.copy(), nothing)
        for row in tw.next_questions(votes, 10, rng=100 * seed + batch).rows:
            one, other = (items.index(item) for item in row.items)
            won = rng.random() < chances[one, other]
            decided[(one, other) if won else (other, one)] += 1
    return tw.Battles(items, decided, nothing)


@pytest.mark.thorough
def test_a_collection_from_nothing_asks_about_all_items():
    """The first ten questions are about more items than ten random pairs; thirty are about all."""
    first, third = (
        np.array([(votes.wins + votes.wins.T).any(axis=1) for votes in collections])
        for collections in ([collect(n, seed) for seed in range(10)] for n in (1, 3))
    )
    assert first.mean() > 1 - 0.8**10
    assert third.all()


@pytest.mark.slow
def test_a_collection_from_nothing_finds_the_tiers():
    """200 votes find these very tiers in most collections, not in all."""
    votes = collect(20, seed=2)
    found = tw.leaderboard(votes, family="luce", rng=1).tiers.label_array(votes.items)
    # No item of the lower tier is put above one of the upper, and few of them are not separated.
    assert (found[:5, None] <= found[None, 5:]).all()
    assert (found[:5, None] < found[None, 5:]).mean() >= 0.8


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
    assert "need not add up to 100%" in questions.summary().replace("\n", " ")


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


def test_pairs_of_each_person_have_questions_too():
    people = tw.Preferences.from_pairs([(1, "a", "b"), (1, "b", "c"), (2, "a", "c")])
    assert len(tw.next_questions(people, 3, rng=1)) == 3


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
        ({"ask": "subsets"}, "number of items"),
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
    assert empty.summary().startswith("No question is expected to be informative, from 400 draws")
    assert repr(empty) == "Questions(none: no question is expected to be informative)"
    assert empty.to_dict() == {"draws": 400, "questions": []}
    assert len(empty.to_frame()) == 0
