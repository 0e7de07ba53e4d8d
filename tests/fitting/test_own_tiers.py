"""Tiers of one's own: theta, likelihood and criterion, and how far behind the best they are."""

import json
from io import StringIO

import numpy as np
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tierwise import InputError, Tiers
from tierwise.cli.main import app

OWN = Tiers([["b"], ["a", "d"], ["c"]])
RNG = np.random.default_rng(5)
PLACES = [np.argsort(np.arange(4) + RNG.normal(0, 1.5, 4)) for _ in range(25)]
COMPLETE = tw.Rankings.from_orderings([[*"abcd"][i] for i in row] for row in map(list, PLACES))
TOP = tw.Rankings.from_orderings(
    [["abcd"[i] for i in row[:2]] for row in PLACES], items="abcd", unranked="below"
)
GAPS = tw.Rankings.from_orderings(
    [["abcd"[i] for i in row[:3]] for row in PLACES], items="abcd", unranked="anywhere"
)
PAIRS = tw.Preferences.from_pairs(
    [(who, "abcd"[row[0]], "abcd"[row[2]]) for who, row in enumerate(PLACES)], items="abcd"
)
BATTLES = tw.Battles.from_rows([("abcd"[row[0]], "abcd"[row[2]], "abcd"[row[0]]) for row in PLACES])


def log_likelihood(data, theta, distance):
    """Log-likelihood of one's own tiers, by the model's own probabilities."""
    weights = getattr(data, "weights", np.ones(len(data)))
    return float(weights @ tw.ClusteredMallows(OWN, theta, distance).log_prob(data))


@pytest.mark.parametrize("distance", ["kendall", "inversions", "hamming"])
@pytest.mark.parametrize("data", [COMPLETE, TOP, GAPS, PAIRS], ids=["all", "top", "gaps", "pairs"])
def test_theta_makes_the_answers_most_probable(data, distance):
    own = tw.fit(data, tiers=OWN, distance=distance, rng=1)
    assert own.tiers == OWN
    assert own.method == "given"
    assert own.log_likelihood == pytest.approx(log_likelihood(data, own.theta, distance))
    for theta in (0.9 * own.theta, 1.1 * own.theta, 0.01):
        assert log_likelihood(data, theta, distance) <= own.log_likelihood + 1e-9
    best = tw.fit(data, OWN.sizes, distance, rng=1)
    assert own.best_of_sizes.tiers == best.tiers
    assert own.behind == pytest.approx(best.criterion - own.criterion)
    assert own.behind >= 0


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (COMPLETE, {}),
        (tw.Counts.of(COMPLETE), {}),
        (GAPS, {"distance": "inversions"}),
        (BATTLES, {}),
        (COMPLETE, {"family": "luce"}),
    ],
)
def test_the_best_tiers_are_not_behind(data, options):
    best = tw.fit(data, (1, 2, 1), rng=1, **options)
    own = tw.fit(data, tiers=best.tiers, rng=1, **options)
    assert own.behind == pytest.approx(0.0, abs=1e-6)
    assert own.log_likelihood == pytest.approx(best.log_likelihood)
    assert own.theta == pytest.approx(best.theta, rel=1e-6, nan_ok=True)
    assert own.optimal == best.optimal
    assert "Of all tiers with these sizes, yours are" in own.verdict()
    (one,), (two, three), (four,) = best.tiers
    worse = tw.fit(data, tiers=[[two], [one, three], [four]], rng=1, **options)
    assert worse.behind > 0.1
    assert f"ahead of yours by {worse.behind:.2f} in log-likelihood" in worse.verdict()
    assert "best of these sizes" in worse.summary()
    assert worse.to_dict()["behind"] == worse.behind
    assert worse.to_dict()["best_of_sizes"]["criterion"] == pytest.approx(best.criterion, abs=1e-6)


def test_answers_that_may_be_mistaken():
    rows = [
        (who, "abcd"[first], "abcd"[second])
        for who in range(12)
        for first, second in ((0, 1), (1, 2), (2, 3), (0, 3))
    ]
    rows += [(12, "d", "a"), (12, "a", "b"), (12, "b", "d")]
    said = tw.Preferences.from_pairs(rows, items="abcd", cycles="keep")
    best = tw.fit(said, (1, 2, 1), rng=1)
    own = tw.fit(said, tiers=best.tiers, rng=1)
    assert own.log_likelihood == pytest.approx(best.log_likelihood, abs=1e-4)
    assert own.mistake_probability == pytest.approx(best.mistake_probability, abs=1e-4)
    assert tw.fit(said, tiers=[["c", "d"], ["a", "b"]], rng=1).behind > 5


@pytest.mark.thorough
def test_answers_whose_completions_are_drawn(monkeypatch):
    monkeypatch.setattr("tierwise.answers.dispatch.MOST_COMPLETIONS", 1, raising=False)
    rng = np.random.default_rng(1)
    letters = [*"abcdefghijklmnop"]
    rows = [list(rng.permutation(np.arange(16) + rng.normal(0, 3, 16)).argsort()[:5]) for _ in "ab"]
    data = tw.Rankings.from_orderings(
        [[letters[i] for i in row] for row in rows], items=letters, unranked="anywhere"
    )
    own = tw.fit(data, tiers=[letters[:8], letters[8:]], rng=1)
    assert own.tiers.sizes == (8, 8)
    assert own.behind >= 0


def test_worths_decrease():
    with pytest.raises(InputError, match="another order, a > b ~ c > d, and worths must decrease"):
        tw.fit(COMPLETE, tiers=[["d"], ["b", "c"], ["a"]], family="luce")


def test_a_single_tier_is_all_there_is():
    own = tw.fit(COMPLETE, tiers=[[*"abcd"]])
    assert own.behind == 0
    assert own.log_likelihood == pytest.approx(-25 * np.log(24))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"fit needs sizes or tiers: use sizes=\[1, 2, 2\] or tiers="),
        ({"tiers": OWN, "sizes": (1, 3)}, "leave out sizes"),
        ({"tiers": [["a"], ["b"]]}, "not in the tiers: 'c'"),
        ({"tiers": "a > b"}, "list of lists"),
        (
            {"tiers": OWN, "concentration": "tier"},
            "several thetas are not available for given tiers",
        ),
        ({"tiers": OWN, "likelihood": "pseudo"}, "leave out likelihood"),
    ],
)
def test_errors_name_the_remedy(options, message):
    with pytest.raises(InputError, match=message):
        tw.fit(COMPLETE, **options)


def test_the_command_line_takes_tiers(tmp_path):
    tw.write_rankings(COMPLETE, tmp_path / "answers.csv")
    call = ["fit", str(tmp_path / "answers.csv"), "--quiet", "--tiers"]
    shown = CliRunner().invoke(app, [*call, "b > a ~ d > c"])
    assert "best of these sizes" in shown.stdout
    values = json.loads(CliRunner().invoke(app, [*call, "b>a~d>c", "--json"]).stdout)
    own = tw.fit(COMPLETE, tiers=OWN)
    assert values["tiers"] == OWN.to_lists()
    assert values["behind"] == pytest.approx(own.behind)
    wrong = CliRunner().invoke(app, [*call, "b > a ~ x > c"])
    assert "--tiers names 'x', which is not an item: write the items as" in str(wrong.exception)


def test_numbers_are_items_by_their_names(tmp_path):
    text = StringIO("1,2,3\n1,2,3\n2,1,3\n")
    data = tw.read_rankings(text, layout="ranks")
    assert tw.fit(data, tiers=[[item] for item in data.items]).tiers.sizes == (1, 1, 1)
