"""What every result can do, whatever made it: be compared, copied, and shown."""

import copy
import pickle
import warnings
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest

import tierwise as tw
from tierwise._util.results import same_values


def small_rankings():
    """Rankings of items whose names a page must escape, with a column about people."""
    rng = np.random.default_rng(3)
    items = np.array(["<b>tea</b>", "milk & honey", "juice", "water"])
    noisy = np.arange(4) + rng.normal(0, 1.2, (60, 4))
    rankings = tw.Rankings.from_orderings([items[np.argsort(row)].tolist() for row in noisy])
    people = {"region": ["north", "south"] * 30, "age": list(range(60))}
    return rankings.with_people(pa.table(people))


def _without_warnings(function, *arguments, **options):
    """Call a function that says of so few draws that they are few."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        return function(*arguments, **options)


def _scores():
    scores = np.random.default_rng(1).normal([2, 1, 1, 0], 1.0, (12, 4))
    return pa.table(dict(zip(["<b>tea</b>", "b", "c", "d"], scores.T, strict=True)))


@pytest.fixture(scope="module")
def results():
    """One result of each kind, by the name of its class."""
    rankings = small_rankings()
    battles = tw.Battles.from_rows([("x", "y", "x"), ("y", "z", "tie"), ("x", "z", "x")] * 5)
    fit = tw.fit(rankings, (1, 1, 2))
    preferences = tw.Preferences.from_pairs([("Ann", "a", "b"), ("Bob", "b", "c")])
    partial = tw.Rankings.from_orderings([["juice"]], items=rankings.items, unranked="below")
    made = [
        fit,
        tw.search(rankings, "kendall"),
        _without_warnings(tw.sample_posterior, rankings, chains=2, draws=50, rng=1),
        tw.bootstrap(rankings, fit, replicates=5, rng=1),
        tw.check_fit(rankings, fit, rng=1),
        tw.fit_mixture(rankings, 2, starts=2, rng=1, distance="kendall"),
        _without_warnings(tw.sample_mixture, rankings, 2, draws=200, chains=2, rng=1),
        tw.leaderboard(battles, replicates=10, rng=1),
        _without_warnings(tw.compare, _scores(), family="luce", rng=1),
        tw.compare_groups(rankings, "region", rng=1),
        tw.group_tree(rankings, ["region", "age"], rng=1),
        tw.merge_even_pairs(rankings),
        tw.impute(partial, fit, rng=1),
        tw.describe(rankings),
        tw.describe(preferences),
    ]
    return {type(one).__name__: one for one in made}


KINDS = [
    "Fit",
    "Search",
    "Posterior",
    "Bootstrap",
    "FitCheck",
    "Mixture",
    "MixtureDraws",
    "Leaderboard",
    "Comparison",
    "GroupComparison",
    "GroupTree",
    "Merging",
    "Imputation",
    "Description",
    "PairsDescription",
]


def test_every_result_is_tested(results):
    assert list(results) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_equal(results, kind):
    result = results[kind]
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert twin is not result
        assert twin == result
        assert hash(twin) == hash(result)
    others = [other for name, other in results.items() if name != kind]
    assert all(result != other for other in others)


def test_a_difference_in_one_number_is_a_difference(results):
    fit = results["Fit"]
    rankings = small_rankings()
    assert fit == fit
    assert fit.agreement_by_tier == tw.agreement(rankings, fit.tiers)
    assert fit.agreement_by_tier != tw.agreement(rankings, tw.Tiers([[i] for i in rankings.items]))
    assert results["Bootstrap"] != tw.bootstrap(rankings, fit, replicates=5, rng=2)
    other = _without_warnings(tw.sample_posterior, rankings, chains=2, draws=50, rng=2)
    assert results["Posterior"] != other


def test_values_are_the_same_where_all_that_they_hold_is():
    assert same_values({"a": [np.array([np.nan])]}, {"a": [np.array([np.nan])]})
    assert not same_values({"a": [np.array([1])]}, {"a": [np.array([2])]})
    assert not same_values(np.array([1, 2]), np.array([1, 2, 3]))
    assert not same_values((1,), (1, 2))
    assert not same_values(float("nan"), 1.0)
    assert not same_values(1.0, float("nan"))
    assert same_values(np.array(["a"]), np.array(["a"]))


@pytest.mark.parametrize("kind", KINDS)
def test_notebooks_show_names_as_text(results, kind):
    page = results[kind]._repr_html_()
    ET.fromstring(page.replace("&middot;", "").replace("&harr;", ""))
    assert "<b>tea</b>" not in page
    if kind not in ("Leaderboard", "PairsDescription", "GroupTree"):
        assert "&lt;b&gt;tea&lt;/b&gt;" in page or kind == "FitCheck"


def test_tiers_are_coloured_rows():
    page = tw.Tiers([["<i>"], ["b", "c"]])._repr_html_()
    assert "3 items in 2 tiers" in page
    assert page.count("background:#") == 2
    assert "&lt;i&gt;" in page
    many = tw.Tiers([list(range(50))])._repr_html_()
    assert "and 10 more" in many


def test_numbers_are_not_broken_into_lines():
    page = tw.describe(tw.Rankings.from_orderings([list("abc"), list("bac")]))._repr_html_()
    assert 'white-space:nowrap">50.0%</td>' in page


FRAMES = {
    "Fit": 4,
    "Search": 8,
    "Posterior": 4,
    "Bootstrap": 4,
    "FitCheck": 6,
    "Mixture": 2,
    "MixtureDraws": 800,
    "Leaderboard": 3,
    "Comparison": 4,
    "GroupComparison": 2,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_results_become_frames_of_every_library(results, kind):
    result = results[kind]
    pandas, polars, arrow = (
        result.to_frame(backend=backend) for backend in ("pandas", "polars", "pyarrow")
    )
    assert len(pandas) == len(polars) == arrow.num_rows == FRAMES[kind]
    assert list(pandas.columns) == polars.columns == arrow.column_names
    with pytest.raises(TypeError if kind != "Mixture" else tw.InputError):
        result.to_frame("pyarrow")


def test_frames_hold_one_row_per_item(results):
    fit, posterior, resampled = (results[kind] for kind in ("Fit", "Posterior", "Bootstrap"))
    for result in (fit, resampled):
        frame = result.to_frame()
        assert dict(zip(frame["item"], frame["tier"], strict=True)) == {
            item: fit.tiers[item] for item in fit.tiers.items
        }
    frame = posterior.to_frame().set_index("item")
    shares = posterior.tier_probabilities()
    for item in posterior.items:
        assert frame.loc[item, "tier"] == posterior.tiers()[item]
        assert frame.loc[item, "p_tier_1"] == pytest.approx(float(shares.sel(item=item, tier=1)))
    pairs = results["FitCheck"].to_frame()
    assert pairs["observed"].tolist() == pytest.approx(
        results["FitCheck"].pairs_observed[np.triu_indices(4, k=1)]
    )


def test_plans_and_choices_have_cards_of_their_own():
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (9.0, 1.0))
    answers = model.sample(40, rng=1)
    choice = tw.choose(answers, family="luce", rng=1)
    shown = {
        "Which model": choice,
        "Are there enough answers?": tw.enough(answers, choice=choice, futures=0, streams=0, rng=1),
        "How many answers": tw.plan(model, answers=[10], sets=2, rng=1, workers=1),
        "What to ask next": tw.next_questions(answers, rng=1),
    }
    for title, result in shown.items():
        page = result._repr_html_()
        assert title in page
        assert f"{type(result).__name__}(" not in page
