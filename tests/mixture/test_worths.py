"""Mixtures of groups whose tiers have worths."""

import json

import numpy as np
import pytest

import tierwise as tw
from tierwise import InputError, Preferences, Rankings, Tiers
from tierwise.mixture.em import EMSettings, first_groups, local_search, run_short_then_long
from tierwise.mixture.groups import distinct_answers
from tierwise.mixture.worths import WorthFitter

ITEMS = tuple("abcdef")
FIRST = tw.ClusteredLuce(Tiers([["a", "b"], ["c", "d"], ["e", "f"]]), (9.0, 2.0, 0.5))
SECOND = tw.ClusteredLuce(Tiers([["f"], ["c", "d", "e"], ["a", "b"]]), (9.0, 2.0, 0.5))


@pytest.fixture(scope="module")
def rankings():
    rng = np.random.default_rng(1)
    return Rankings.concat([FIRST.sample(240, rng), SECOND.sample(160, rng)]).restrict(ITEMS)


@pytest.fixture(scope="module")
def found(rankings):
    return tw.fit_mixture(rankings, 2, family="luce", starts=5, rng=1)


def test_groups_and_worths_are_found(found):
    assert found.shares == pytest.approx([0.6, 0.4], abs=0.08)
    assert [group.tiers for group in found.groups] == [FIRST.tiers, SECOND.tiers]
    for group, model in zip(found.groups, (FIRST, SECOND), strict=True):
        logs = np.log(model.worths)
        logs -= np.array(model.tiers.sizes) @ logs / 6
        for estimate, value in zip(group.worth_estimates, logs, strict=True):
            assert abs(np.log(estimate.value) - value) < 4 * estimate.log_standard_error
            assert 0 < estimate.log_standard_error < 0.5
        assert isinstance(group.model, tw.ClusteredLuce)


def test_the_likelihood_is_that_of_the_models(rankings, found):
    joint = np.column_stack(
        [group.model.log_prob(rankings) + np.log(group.share) for group in found.groups]
    )
    totals = np.logaddexp.reduce(joint, axis=1)
    assert found.log_likelihood == pytest.approx(totals.sum())
    np.testing.assert_allclose(found.memberships, np.exp(joint - totals[:, None]), atol=1e-9)
    # Two shares that add up to 1, and three tiers twice.
    assert found.scores.n_parameters == 1 + 2 * 2
    assert found.bic == pytest.approx(-2 * found.criterion + 5 * np.log(400))


def test_no_step_falls(found):
    assert (np.diff(found.history) >= -1e-6).all()
    assert found.converged


def test_leaps_reach_what_many_steps_reach(rankings, monkeypatch):
    answers = distinct_answers(rankings)
    settings = EMSettings(answers, ((1,) * 6, (1,) * 6), False, None, 1, 1e-9, 2000)
    seed = np.random.SeedSequence(2)
    leaping = run_short_then_long(settings, seed)
    monkeypatch.setattr(WorthFitter, "extrapolated", lambda *_: None)
    walking = run_short_then_long(settings, seed)
    assert leaping.converged
    assert walking.converged
    assert leaping.criterion >= walking.criterion - 1e-6
    assert len(leaping.history) < len(walking.history)
    assert (np.diff(leaping.history) >= -1e-6).all()


def test_steps_along_a_line_are_followed_to_where_they_lead(rankings):
    fitter = WorthFitter(distinct_answers(rankings))
    labels, limit = np.arange(6), np.array([2.0, 1.0, 0.5, -0.5, -1.0, -2.0])

    def groups(distance):
        logs = limit * (1.0 - distance)
        return (fitter._component(labels, logs),), np.ones(1)

    # Each step leaves nine tenths of the way.
    leapt = fitter.extrapolated(groups(0.1), groups(0.09), groups(0.081))
    assert leapt[0][0].log_worths == pytest.approx(limit, abs=1e-12)
    assert leapt[1] == pytest.approx([1.0])
    other = (fitter._component(labels[::-1].copy(), limit),), np.ones(1)
    assert fitter.extrapolated(groups(0.1), groups(0.09), other) is None


@pytest.mark.parametrize(("depth", "places"), [("nearby", 1), ("everywhere", 2)])
def test_sizes_are_searched_as_far_as_is_asked_for(rankings, monkeypatch, depth, places):
    fitter, searched = WorthFitter(distinct_answers(rankings)), set()
    memberships = np.ones((len(fitter.answers.weights), 1))
    start = tw.fit_mixture(rankings, 1, family="luce", rng=1).groups[0]
    groups, shares = first_groups(fitter, (start.sizes,), memberships)
    search = WorthFitter._search

    def watched(self, weights, component, where):
        searched.add(where)
        return search(self, weights, component, where)

    monkeypatch.setattr(WorthFitter, "_search", watched)
    # Nothing is better than these tiers, so that all ways are tried that may be.
    assert local_search(fitter, ("search",), groups, shares, depth) is None
    assert len(searched) == places


def test_groups_that_are_known_begin_with_their_tiers(rankings):
    fitter = WorthFitter(distinct_answers(rankings))
    memberships = np.full((len(fitter.answers.weights), 2), 0.5)
    labels = np.array([0, 1, 2, 0, 1, 2])
    known = fitter._component(labels, np.array([1.0, 0.0, -1.0]))
    groups, shares = first_groups(fitter, ((2, 2, 2), (2, 2, 2)), memberships, (known, None))
    # The same items share a tier, whatever the order of tiers.
    together = [one.labels[:, None] == one.labels for one in (known, *groups)]
    assert (together[1] == together[0]).all()
    assert (together[2] != together[0]).any()
    assert shares == pytest.approx([0.5, 0.5])


def test_one_group_is_what_a_fit_is(rankings):
    one = tw.fit_mixture(rankings, 1, sizes=(2, 2, 2), family="luce", rng=1)
    fit = tw.fit(rankings, (2, 2, 2), family="luce")
    (group,) = one.groups
    assert group.tiers == fit.tiers
    assert group.worths == pytest.approx(fit.worths, rel=1e-4)
    assert one.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-4)
    # Squares of scores and second derivatives agree where the model is about right.
    for own, other in zip(group.worth_estimates, fit.worth_estimates, strict=True):
        assert own.log_standard_error == pytest.approx(other.log_standard_error, rel=0.5)


def test_given_sizes_are_kept(rankings):
    held = tw.fit_mixture(rankings, 2, sizes=(3, 3), family="luce", starts=3, rng=1)
    for group in held.groups:
        assert group.sizes == (3, 3)
        assert group.worths[0] >= group.worths[1]


def test_scores_are_derivatives(rankings):
    answers = distinct_answers(rankings)
    settings = EMSettings(answers, ((2, 2, 2),), False, None, 1, 1e-4, 50)
    run = run_short_then_long(settings, np.random.SeedSequence(1))
    fitter = WorthFitter(answers)
    # At the best worths of one group the scores sum to next to nothing: but for the prior.
    total = answers.weights @ fitter.scores(run.components[0])
    assert np.abs(total).max() < 3.0


@pytest.mark.slow
def test_the_number_of_groups_is_found(rankings):
    several = tw.fit_mixture(rankings, (1, 2, 3), family="luce", starts=5, folds=3, rng=1)
    assert several.n_groups == 2
    alone = FIRST.sample(300, rng=4)
    assert tw.fit_mixture(alone, (1, 2), family="luce", starts=5, folds=None, rng=1).n_groups == 1


def test_answers_with_gaps(rankings):
    rng = np.random.default_rng(3)
    rows = []
    for row in rankings.to_orderings():
        shown = set(rng.choice(ITEMS, 5, replace=False).tolist())
        rows.append([item for item in row if item in shown])
    gaps = Rankings.from_orderings(rows, items=ITEMS, unranked="anywhere")
    found = tw.fit_mixture(gaps, 2, family="luce", starts=5, rng=1)
    firsts = [set(next(iter(group.tiers))) for group in found.groups]
    assert firsts == [{"a", "b"}, {"f"}]


def test_people_who_follow_no_tiers():
    noise = tw.ClusteredLuce(Tiers([list(ITEMS)]), (1.0,)).sample(60, rng=5)
    mixed = Rankings.concat([FIRST.sample(240, rng=6), noise]).restrict(ITEMS)
    found = tw.fit_mixture(
        mixed, 1, sizes=(2, 2, 2), family="luce", noise="uniform", starts=5, rng=1
    )
    assert found.groups[0].tiers == FIRST.tiers
    assert found.groups[-1].kind == "uniform"
    assert found.groups[-1].share == pytest.approx(0.2, abs=0.15)


def test_shown_and_stored(found):
    text = found.summary()
    assert "one worth per tier" in text
    assert "worths" in text
    assert "theta" not in text
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["family"] == "luce"
    assert len(plain["groups"][0]["worths"]) == 3
    assert "worths" in found.to_frame().columns
    assert "worths" in repr(found.groups[0])
    assert found._repr_html_()


def test_what_cannot_be_had_is_refused(rankings):
    with pytest.raises(InputError, match="for Mallows models"):
        tw.fit_mixture(rankings, 2, distance="hamming", family="luce")
    pairs = Preferences.from_pairs([("Ann", "a", "b"), ("Bob", "b", "a")])
    with pytest.raises(InputError, match="pairwise answers"):
        tw.fit_mixture(pairs, 2, family="luce")
    with pytest.raises(InputError, match="for Mallows models"):
        tw.sample_mixture(rankings, 2, distance="hamming", family="luce")
