"""What functions say of data and arguments they do not take, and of what they report."""

import json

import numpy as np
import pytest

import tierwise as tw
from tierwise.errors import InputError

TIERS = tw.Tiers([["a"], ["b", "c"]])
RANKINGS = tw.Rankings.from_orderings([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]])
MODEL = tw.ClusteredMallows(TIERS, 1.0)
FIT = tw.fit(RANKINGS, (1, 2))

DOORS = {
    "fit": lambda data: tw.fit(data, (1, 2)),
    "search": tw.search,
    "bootstrap": lambda data: tw.bootstrap(data, FIT, replicates=2),
    "agreement": lambda data: tw.agreement(data, TIERS),
    "impute": lambda data: tw.impute(data, MODEL),
    "log_prob": MODEL.log_prob,
    "merge_even_pairs": tw.merge_even_pairs,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "data", [[["a", "b", "c"]], np.array([[1, 2, 3]]), None, "answers.csv", 7], ids=repr
)
def test_what_is_no_data_is_refused_by_name(door, data):
    with pytest.raises(InputError, match=f"{door} takes Rankings.*(Rankings.from_|tierwise.read)"):
        DOORS[door](data)


@pytest.mark.parametrize("door", ["bootstrap", "impute", "log_prob"])
def test_counts_are_refused_where_answers_are_needed(door):
    with pytest.raises(InputError, match="counts do not hold the answers"):
        DOORS[door](tw.Counts.of(RANKINGS))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: tw.fit(RANKINGS, (1, 2), method=np.array(["auto", "milp"])), "method"),
        (lambda: tw.fit(RANKINGS, (1, 2), likelihood=["exact"]), "likelihood"),
        (lambda: tw.fit(RANKINGS, (1, 2), theta_method=np.arange(2)), "theta_method"),
        (lambda: tw.fit(RANKINGS, (1, 2), level=95), "level"),
        (lambda: tw.fit(RANKINGS, (1, 2), time_limit="long"), "time_limit"),
        (lambda: tw.bootstrap(RANKINGS, FIT, replicates=10**12), "replicates"),
        (lambda: tw.bootstrap(RANKINGS, FIT, kind=np.arange(2)), "kind"),
        (lambda: tw.bootstrap(RANKINGS, TIERS), "Fit"),
        (lambda: tw.impute(RANKINGS, MODEL, draws=10**12), "draws"),
        (lambda: tw.impute(RANKINGS, TIERS), "model"),
        (lambda: tw.agreement(RANKINGS, [["a"], ["b", "c"]]), "Tiers"),
        (lambda: MODEL.sample(10**12), "n_rankings"),
        (lambda: MODEL.sample(5, method=np.array(["exact"])), "method"),
        (lambda: MODEL.rank_tier_probabilities(method="monte-carlo", draws=0.5), "draws"),
        (lambda: tw.merge_even_pairs(RANKINGS, tolerance="wide"), "tolerance"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, complaint):
    with pytest.raises(InputError, match=complaint):
        call()


@pytest.mark.parametrize("level", [0.5, 0.995])
def test_texts_name_the_level_of_their_intervals(level):
    written = f"{100 * level:g}%"
    found = tw.fit(RANKINGS, (1, 2), level=level)
    assert found.level == found.to_dict()["level"] == level
    assert f"{written} interval" in found.summary()
    assert "95%" not in found.summary()
    again = tw.bootstrap(RANKINGS, found, replicates=20, rng=1)
    assert f"{written} of replicates" in again.summary()
    assert again.theta_interval() == again.theta_interval(level)
    agreed = tw.fit(tw.Rankings.from_orderings([["a", "b", "c"]] * 3), (1, 2), level=level)
    assert f"with {written} confidence" in agreed.summary()


@pytest.mark.parametrize("sizes", [(1, 2), (1, 1, 1), (3,)])
@pytest.mark.parametrize("rows", [[["a", "b", "c"]] * 3, [["a"], ["b"]], [["a"]]])
def test_results_are_always_json(rows, sizes):
    rankings = tw.Rankings.from_orderings(rows, items="abc", unranked="below")
    found = tw.fit(rankings, sizes, rng=1)
    json.dumps(found.to_dict(), allow_nan=False)
    json.dumps(tw.bootstrap(rankings, found, replicates=3, rng=1).to_dict(), allow_nan=False)
    searched = tw.search(rankings, rng=1, distance="kendall", criterion="likelihood")
    assert json.loads(json.dumps(searched.to_dict(), allow_nan=False)) == searched.to_dict()


def test_tiers_with_worths_are_as_far_ahead_in_fits_as_in_searches():
    rng = np.random.default_rng(3)
    orders = np.argsort(rng.gumbel(size=(80, 6)) + 0.9 * (np.arange(6) // 2), axis=1)
    rankings = tw.Rankings.from_orderings([[f"i{item}" for item in row] for row in orders.tolist()])
    found = tw.search(rankings, family="luce")
    head, strict = found.best, next(one for one in found.leaderboard if len(one.sizes) == 6)
    assert head.log_posterior == found.leaderboard[0].score
    behind = {one.name: head.log_posterior - one.log_posterior for one in head.references}
    assert behind["strict consensus"] == found.leaderboard[0].score - strict.score
    given = tw.fit(rankings, tiers=head.tiers, family="luce")
    assert given.log_posterior == pytest.approx(head.log_posterior, abs=1e-9)
