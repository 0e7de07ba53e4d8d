"""What is said for sameness: near ties, and a prior that does not speak for them."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.leaderboards.wording import note_on_next
from tierwise.posterior.ties import (
    share_all_near,
    share_nearly_tied,
    verdicts_in_words,
    weights_for_sameness,
)


@pytest.fixture(scope="module")
def few():
    """Answers of few people who hardly agree: nothing is known."""
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d"]]), (1.4, 1.1, 0.9))
    return model.sample(12, rng=3)


@pytest.fixture(scope="module")
def many():
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d"]]), (4.0, 1.0, 0.96))
    return model.sample(4000, rng=3)


def drawn(data, **options):
    return tw.sample_posterior(data, family="luce", chains=2, draws=1000, rng=1, **options)


def test_sameness_is_given_under_the_uniform_prior_of_sizes(few):
    sceptical = drawn(few)
    uniform = drawn(few, priors=tw.Priors(sizes="uniform"))
    found = sceptical.tied_or_nearly_probabilities().to_numpy()
    wanted = uniform.tied_or_nearly_probabilities().to_numpy()
    assert np.abs(found - wanted).max() < 0.05
    # As drawn, the prior speaks.
    assert sceptical.co_tier_probabilities().to_numpy().min() > wanted.min() + 0.1


def test_exact_probabilities_of_sizes_are_those_of_the_uniform_prior():
    agreeing = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"], ["d"]]), 0.3, "inversions")
    goals = agreeing.sample(25, rng=1)
    model = {"family": "mallows", "distance": "inversions", "draws": 50, "rng": 1}
    sceptical = tw.sample_posterior(goals, **model)
    uniform = tw.sample_posterior(goals, priors=tw.Priors(sizes="uniform"), **model)
    wanted = uniform.sizes_probabilities()
    found = sceptical.sizes_for_sameness()
    assert found == pytest.approx(wanted, abs=1e-9)
    assert sceptical.sizes_probabilities() != pytest.approx(wanted, abs=1e-3)
    assert uniform.sizes_for_sameness() == wanted


def test_items_that_hardly_differ_are_nearly_tied(many):
    posterior = drawn(many)
    near = posterior.tied_or_nearly_probabilities()
    assert float(near.sel(item="b", other="d")) > 0.95
    assert float(near.sel(item="a", other="b")) < 0.01
    assert np.diag(near) == pytest.approx(1.0)


def test_few_answers_leave_pairs_open(few, many):
    board = tw.leaderboard(few, family="luce", chains=2, rng=1, progress="off")
    for row in board.rows[:-1]:
        assert row.better_than_next < 0.95
        assert row.tied_with_next < 0.95
    assert "3 are undecided" in note_on_next(board)
    assert board.one_tier_probability < 0.95
    known = tw.leaderboard(many, family="luce", chains=2, rng=1, progress="off")
    assert "Of 3 neighbouring pairs, 1 differs and 2 are tied or nearly tied." in " ".join(
        (known.summary(200)).split()
    )
    assert "neither would be preferred by more than 55%" in known.summary(200)


def test_a_bootstrap_says_nothing_of_ties():
    rows = [("x", "y", "x")] * 6 + [("x", "y", "y")] * 5 + [("y", "z", "y")] * 6
    board = tw.leaderboard(
        tw.Battles.from_rows(rows), uncertainty="bootstrap", replicates=10, rng=1, progress="off"
    )
    assert board.tied_or_nearly_probabilities is None
    assert board.one_tier_probability is None
    assert [row.tied_with_next for row in board.rows] == [None] * 3
    assert "tied or nearly tied" not in board.summary(300).lower()
    assert board.to_dict()["tied_or_nearly_probabilities"] is None


def test_parts_that_never_met_are_not_called_nearly_tied():
    rows = [("a", "b", "a")] * 30 + [("a", "b", "b")] * 30
    rows += [("c", "d", "c")] * 30 + [("c", "d", "d")] * 30
    board = tw.leaderboard(tw.Battles.from_rows(rows), chains=2, rng=1, progress="off")
    items = [row.item for row in board.rows]
    near = board.tied_or_nearly_probabilities
    assert near[items.index("a"), items.index("c")] == 0.0
    assert near[items.index("a"), items.index("b")] > 0.5
    assert board.one_tier_probability == 0.0


def test_weights_are_made_more_even_where_few_draws_would_count():
    labels = np.ones((1000, 40), dtype=np.int64)
    labels[:, 0] = np.random.default_rng(1).integers(5, 30, 1000)  # number of tiers
    weights = weights_for_sameness(labels, "sceptical")
    assert weights.sum() == pytest.approx(1.0)
    assert 1.0 / (weights**2).sum() >= 100.0
    assert weights[labels[:, 0] == 29].min() > weights[labels[:, 0] == 5].max()


def test_what_holds_in_all_draws_is_certain():
    labels = np.array([[1, 1, 2], [1, 1, 3], [2, 2, 1]] * 33)
    weights = np.random.default_rng(1).dirichlet(np.ones(99))
    shares = share_nearly_tied(labels, None, weights)
    assert shares[0, 1] == 1.0
    assert shares[0, 2] == 0.0
    assert share_all_near(np.ones((7, 2), dtype=np.int64), None, np.full(7, 1 / 7)) == 1.0


@pytest.mark.parametrize(("n_items", "claimed"), [(3, True), (10, True), (25, False), (60, False)])
def test_draws_of_one_tier_claim_ties_only_where_others_would_have_been_seen(n_items, claimed):
    labels = np.ones((4000, n_items), dtype=np.int64)
    weights = weights_for_sameness(labels, "sceptical")
    shares = share_nearly_tied(labels, None, weights)
    assert (shares.diagonal() == 1.0).all()
    assert (shares.min() >= 0.95) == claimed
    assert (share_all_near(labels, None, weights) >= 0.95) == claimed
    # A few hundred draws of several tiers leave nothing unseen.
    labels[:300, 0] = 2
    assert weights_for_sameness(labels, "sceptical").sum() == pytest.approx(1.0)


def test_a_posterior_of_one_item_has_no_one_to_differ_from():
    assert weights_for_sameness(np.ones((4, 1), dtype=np.int64), "sceptical").tolist() == [0.25] * 4


def test_verdicts_leave_out_what_there_is_none_of():
    assert verdicts_in_words([0.2], [0.3], 0.95) == "Of 1 neighbouring pair, 1 is undecided."
    assert verdicts_in_words([0.99, 0.99], [0.97, 0.1], 0.95) == (
        "Of 2 neighbouring pairs, 2 differ."
    )


@pytest.mark.parametrize("family", ["luce", "mallows"])
def test_a_posterior_of_battles_is_said_to_be_of_battles(family):
    rows = [("a", "b", "a")] * 30 + [("b", "c", "b")] * 20 + [("c", "a", "a")] * 20
    options = {"distance": "inversions"} if family == "mallows" else {"family": family}
    posterior = tw.sample_posterior(tw.Battles.from_rows(rows), rng=1, **options)
    assert posterior.summary().startswith("70 battles of 3 items")
