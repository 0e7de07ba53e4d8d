"""Best and worst of items shown (MaxDiff): read, refused, simulated, fitted."""

import json
from io import StringIO

import numpy as np
import pytest
from scipy.optimize import minimize
from typer.testing import CliRunner

import tierwise as tw
from tests import reference_luce as reference
from tierwise import InputError
from tierwise.cli.main import app

WIDE = """respondent,item1,item2,item3,item4,best,worst
1,price,taste,look,smell,taste,look
1,taste,size,price,smell,taste,smell
2,size,look,smell,,look,size
3,price,size,,,price,
"""
EXPECTED = [
    ["taste", {"price", "smell"}, "look"],
    ["taste", {"price", "size"}, "smell"],
    ["look", "smell", "size"],
    ["price", "size"],
]


def orderings_of(rankings):
    return [
        [set(step) if isinstance(step, list) else step for step in row]
        for row in rankings.to_orderings()
    ]


def test_a_row_is_a_ranking_with_ties_and_gaps():
    rankings = tw.read(StringIO(WIDE))
    assert rankings.items == ("look", "price", "size", "smell", "taste")
    assert rankings.unranked == "anywhere"
    assert orderings_of(rankings) == EXPECTED
    assert tw.read_best_worst(StringIO(WIDE)) == rankings
    said = str(rankings.reading)
    assert "best and worst, one row per choice set (MaxDiff)" in said
    assert "'respondent' does not say what was chosen" in said


@pytest.mark.parametrize("separator", ["|", ";"])
def test_one_cell_may_list_what_was_shown(separator):
    rows = ["shown,most important,least important,count"]
    rows += [separator.join(["a", " b", "c"]) + ",b,c,3", separator.join("ad") + ",,d,1"]
    rankings = tw.read(StringIO("\n".join(rows)))
    assert orderings_of(rankings) == [["b", "a", "c"], ["a", "d"]]
    assert rankings.weights.tolist() == [3, 1]


def test_columns_may_be_named():
    text = "x,y,z,good,bad\na,b,c,a,c\nb,c,a,a,b\n"
    named = {"shown": ["x", "y", "z"], "best": "good", "worst": "bad"}
    rankings = tw.read_best_worst(StringIO(text), **named)
    assert orderings_of(rankings) == [["a", "b", "c"], ["a", "c", "b"]]
    assert tw.read(StringIO(text), **named) == rankings
    with pytest.raises(InputError, match="no column says which items were shown"):
        tw.read_best_worst(StringIO(text))
    with pytest.raises(InputError, match="no column 'w'"):
        tw.read_best_worst(StringIO(text), **named | {"best": "w"})
    only_best = tw.read_best_worst(StringIO(text), shown=["x", "y", "z"], best="good")
    assert orderings_of(only_best) == [["a", {"b", "c"}], ["a", {"b", "c"}]]


LONG = """respondent,set,item,best,worst
1,1,price,0,0
1,1,taste,1,0
1,1,look,0,1
1,1,smell,0,0
1,2,taste,1,0
1,2,size,0,0
1,2,smell,0,1
1,2,price,0,0
2,1,size,0,1
2,1,look,1,0
2,1,smell,0,0
3,1,price,1,
3,1,size,,
"""


def test_one_row_per_item_says_the_same():
    rankings = tw.read(StringIO(LONG))
    assert rankings == tw.read(StringIO(WIDE))
    said = str(rankings.reading)
    assert "one row per item shown (MaxDiff)" in said
    assert "5 columns read" in said
    shuffled = LONG.splitlines()
    shuffled[1:] = [shuffled[row] for row in (5, 1, 12, 6, 2, 9, 3, 10, 7, 4, 13, 11, 8)]
    assert sorted(map(str, tw.read(StringIO("\n".join(shuffled))).to_orderings())) == sorted(
        map(str, rankings.to_orderings())
    )


def test_one_column_may_say_best_and_worst():
    rows = ["who,screen no,thing,pick,times"]
    rows += [
        f"x,{number},{item},{pick},{2 + number}"
        for number, item, pick in (
            (1, "a", "Best"),
            (1, "b", ""),
            (1, "c", "Worst"),
            (2, "b", "least"),
            (2, "d", "1"),
        )
    ]
    rankings = tw.read_best_worst(
        StringIO("\n".join(rows)),
        item="thing",
        choice_set=["who", "screen no"],
        best="pick",
        worst="pick",
        weights="times",
    )
    assert orderings_of(rankings) == [["a", "b", "c"], ["d", "b"]]
    assert rankings.weights.tolist() == [3, 4]
    recognised = tw.read(StringIO("id,task,item,best_worst\n1,1,a,best\n1,1,b,\n1,1,c,worst\n"))
    assert orderings_of(recognised) == [["a", "b", "c"]]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("1,1,a,1,0\n1,1,b,1,0", "line 3: the choice set has a best item already"),
        ("1,1,a,1,1\n1,1,b,0,0", "line 2: 'a' is both the best and the worst"),
        ("1,1,a,1,0\n1,1,a,0,1", "line 2: 'a' is shown twice: list each item once"),
        ("1,1,a,1,0\n1,2,b,0,1", "line 2: 1 item shown"),
        ("1,1,a,maybe,0\n1,1,b,0,1", "line 2: 'maybe' does not say whether the item is the best"),
        ("1,1,a,1,0\n1,,b,0,1", "line 3: the cell of 'set' is empty"),
        ("1,1,a,1,0\n1,1,,0,1", "line 3: the cell of the item is empty"),
    ],
)
def test_long_rows_that_cannot_be_right_are_named(rows, problem):
    with pytest.raises(InputError, match=problem):
        tw.read(StringIO(f"respondent,set,item,best,worst\n{rows}\n"))


def test_columns_of_long_tables_must_be_there():
    with pytest.raises(InputError, match="item and choice_set are for tables with one row per"):
        tw.read_best_worst(StringIO(WIDE), item="item1")
    with pytest.raises(InputError, match="no column 'task'"):
        tw.read_best_worst(StringIO(LONG), choice_set="task")


def test_the_shell_names_columns(tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text("x,y,z,good,bad\na,b,c,a,c\nb,c,a,a,b\nc,b,a,b,c\n")
    named = ["--shown", "x,y,z", "--best", "good", "--worst", "bad"]
    done = CliRunner().invoke(app, ["describe", str(path), *named, "--json"])
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["items"]) == 3
    long = tmp_path / "long.csv"
    long.write_text(LONG.replace("respondent,set,item", "who,number,item"))
    options = ["--choice-set", "who,number", "--item", "item"]
    done = CliRunner().invoke(app, ["describe", str(long), *options, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n_rankings"] == 4


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a,b,c,d,c", "the best is 'd', which was not shown"),
        ("a,b,c,a,d", "the worst is 'd', which was not shown"),
        ("a,b,c,a,a", "'a' is both the best and the worst"),
        ("a,b,a,a,b", "'a' is shown twice: list each item once"),
        ("a,,,a,", "1 item shown"),
    ],
)
def test_rows_that_cannot_be_right_are_named(row, problem):
    text = f"item1,item2,item3,best,worst\na,b,d,a,b\n{row}\n"
    with pytest.raises(InputError, match=f"line 3.*{problem}"):
        tw.read_best_worst(StringIO(text))


def test_probabilities_are_those_of_all_orderings_that_agree():
    tiers = tw.Tiers([["a"], ["b", "c"], ["d"], ["e"]])
    model = tw.ClusteredLuce(tiers, (5.0, 2.0, 1.0, 0.3))
    worths = [model.worths[tier] for tier in tiers.label_array(tuple("abcde"))]
    text = "item1,item2,item3,item4,best,worst\na,b,c,e,b,e\nb,c,d,e,e,b\n"
    rankings = tw.read_best_worst(StringIO(text))
    answers = [(1, 0, 1, None, 3), (None, 3, 1, 1, 0)]
    for found, places in zip(model.log_prob(rankings), answers, strict=True):
        expected = reference.probability_of_answer(places, worths, rest_is_below=False)
        assert np.exp(found) == pytest.approx(expected, rel=1e-8)


def test_choices_are_simulated_and_found_again():
    tiers = tw.Tiers([["a", "b"], ["c", "d", "e"], ["f", "g"]])
    model = tw.ClusteredLuce(tiers, (6.0, 1.5, 0.3))
    sets = tw.sample_best_worst(model.sample(1500, rng=1), 4, rng=2)
    listed = (sets.places >= 0).sum(axis=1)
    assert (listed == 4).all()
    assert sets == tw.sample_best_worst(model.sample(1500, rng=1), 4, rng=2)
    assert sets != tw.sample_best_worst(model.sample(1500, rng=1), 4, rng=3)
    assert sets != tw.sample_best_worst(model.sample(1500, rng=1), 3, rng=2)
    best = tw.search(sets, family="luce").best
    assert best.tiers == tiers
    for estimate, logs in zip(best.worth_estimates, np.log(model.worths), strict=True):
        mean = np.log(model.worths) @ tiers.sizes / 7
        assert abs(np.log(estimate.value) - logs + mean) < 4 * estimate.log_standard_error
    with pytest.raises(InputError, match="set_size"):
        tw.sample_best_worst(model.sample(5, rng=1), 8)
    with pytest.raises(InputError, match="incomplete"):
        tw.sample_best_worst(sets, 3)


def composite_log_worths(choices, tiers):
    """Maximise two choices by worths: of the best, and of the worst of the others by 1 / worth."""
    place, own = {item: number for number, item in enumerate(tiers.items)}, tiers.labels
    sets = np.array([[place[item] for item in flat(row)] for row in choices.to_orderings()])
    best, worst = sets[:, 0], sets[:, -1]

    def loss(logs):
        logs = logs[np.array(own) - 1]
        of_best = logs[best] - np.log(np.exp(logs[sets]).sum(axis=1))
        of_worst = -logs[worst] - np.log(np.exp(-logs[sets[:, 1:]]).sum(axis=1))
        return -(of_best + of_worst).sum()

    logs = minimize(loss, np.zeros(len(tiers))).x
    return logs - np.average(logs, weights=tiers.sizes)


def flat(row):
    return [item for one in row for item in (one if isinstance(one, list | tuple) else [one])]


def test_worths_are_found_where_two_separate_choices_are_biased():
    truth = tw.Tiers([["taste"], ["price", "smell"], ["size", "look", "name"]])
    model = tw.ClusteredLuce(truth, worths=(6, 2, 0.5))
    choices = tw.sample_best_worst(model.sample(20_000, rng=10), set_size=4, rng=100)
    wanted = np.log(model.worths) - np.average(np.log(model.worths), weights=truth.sizes)
    found = np.log(tw.fit(choices, tiers=truth, family="luce").worths)
    np.testing.assert_allclose(found, wanted, atol=0.04)
    assert composite_log_worths(choices, truth)[0] > wanted[0] + 0.05
