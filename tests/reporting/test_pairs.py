"""The report about pairwise answers, with and without mistakes."""

from dataclasses import replace

import pytest

import tierwise as tw
from tests.reporting.test_page import SECTIONS, analysis_words, write
from tierwise import InputError, Preferences, Tiers
from tierwise.fitting.summary import mistakes_in_words
from tierwise.reporting import wording
from tierwise.reporting.analysis import _affordable_replicates
from tierwise.reporting.groups import whether_several

pytestmark = pytest.mark.thorough


def said_by_rankings(cycles, n_people=50):
    tiers = Tiers([["a"], ["b", "c"], ["d", "e"]])
    complete = tw.ClusteredMallows(tiers, theta=1.5).sample(n_people, rng=1)
    rows = [
        (person, row[place], row[place + 1 + person % 2])
        for person, row in enumerate(complete.to_orderings())
        for place in range(3)
    ]
    if cycles == "keep":
        rows += [(who, other, preferred) for who, preferred, other in rows[::9]]
    return Preferences.from_pairs(rows, cycles=cycles)


@pytest.fixture(scope="module")
def trusted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trusted")
    answers = said_by_rankings("error")
    return write(answers, folder, drawn=True, sizes=(1, 2, 2), uncertainty="bootstrap")


@pytest.fixture(scope="module")
def doubted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doubted")
    return write(said_by_rankings("keep"), folder, family="mallows", uncertainty="bootstrap")


@pytest.mark.parametrize("which", ["trusted", "doubted"])
def test_page_speaks_of_answers(which, request):
    analysis, text, page = request.getfixturevalue(which)
    assert page.sections == SECTIONS
    assert f"{analysis.description.n_answers} answers about pairs of 5 items, by 50" in text
    assert {"preferred-title", "compared-title", "pairs-title"} <= set(page.ids)
    assert {"ranks-title", "tier-ranks-title", "expected-ranks-title"}.isdisjoint(page.ids)
    assert "rankings" not in analysis_words(page)
    assert len(page.ids) == len(set(page.ids))


def test_tables_hold_the_numbers(trusted):
    analysis, _, page = trusted
    header, *rows = page.tables["items-table"]
    assert header[4:] == ["preferred", "answers", "assessors"]
    message = analysis.description
    for item, *_, preferred, answers, assessors in rows:
        position = message.items.index(item)
        assert preferred == f"{message.shares_won[position]:.0%}"
        assert int(answers) == message.compared[position].sum()
        assert int(assessors) == message.n_comparing[position]
    assert page.tables["pairs-table"][0][2] == "preferred"
    assert ["ranks", "Pairwise comparisons say nothing about ranks.", "1.0000"] in page.tables[
        "findings-table"
    ]


def test_mistakes_are_told(trusted, doubted):
    analysis, text, _ = doubted
    assert f"{mistakes_in_words(analysis.fit)}." in text
    assert "contradict themselves" in text
    assert "mistaken" not in trusted[1]


def test_an_infinite_theta_beside_mistakes_is_no_agreement_of_answers(doubted):
    analysis, _, _ = doubted
    agreed = replace(analysis, fit=replace(analysis.fit, theta=float("inf")))
    opening = " ".join(wording.opening(agreed))
    assert "all opinions agree with the tiers, and answers that do not are mistakes" in opening
    trusted = replace(analysis.fit, theta=float("inf"), mistake_probability=None)
    assert "every answer agrees with the tiers" in " ".join(
        wording.opening(replace(analysis, fit=trusted))
    )


@pytest.mark.parametrize(
    ("rows", "items", "cycles", "said"),
    [
        (["Aab", "Bba"], "ab", "error", "The only pair of items was compared twice."),
        (["Aab", "Bab", "Abc"], "abc", "error", "Nobody disagrees about any pair of items."),
        pytest.param(
            ["Aab", "Bba", "Ccd", "Dcd"],
            "abcde",
            "error",
            "Never compared: e.",
            marks=pytest.mark.slow,
        ),
        (["Aab", "Aba"] * 9 + ["Bac", "Bca"] * 9, "abc", "keep", "look random"),
    ],
    ids=["one pair", "unanimous", "in parts", "by lot"],
)
def test_small_and_strange_answers(rows, items, cycles, said, tmp_path):
    answers = Preferences.from_pairs(map(tuple, rows), items=items, cycles=cycles)
    family = "mallows" if cycles == "keep" else "auto"
    _, text, page = write(answers, tmp_path, family=family, replicates=2)
    assert page.sections == SECTIONS
    assert said in text
    assert "nan" not in " ".join([*page.words, *map(str, page.tables.values())]).split()


@pytest.mark.slow
def test_posterior_instead_of_bootstrap(tmp_path):
    _, text, _ = write(
        said_by_rankings("error", 20),
        tmp_path,
        sizes=(1, 4),
        uncertainty="posterior",
        replicates=500,
    )
    assert "draws from the posterior" in text


def test_groups_of_mistaken_answers_are_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(InputError, match="cannot distinguish groups from mistakes"):
        tw.report(said_by_rankings("keep"), tmp_path / "report.html", groups=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_groups_are_found_in_answers_without_mistakes(tmp_path):
    analysis, text, page = write(said_by_rankings("error", 20), tmp_path, sizes=(1, 4), groups=2)
    assert analysis.groups.pairwise
    assert whether_several(analysis.groups) in text
    assert "rankings" not in analysis_words(page)


def test_costly_fits_are_repeated_less_often(trusted):
    fit = trusted[0].fit
    costly = replace(fit, method="stochastic expectation-maximisation", sizes=(5, 20))
    assert _affordable_replicates(fit, 50) == 40
    assert _affordable_replicates(costly, 40) == 10
    assert _affordable_replicates(replace(costly, sizes=(1, 4)), 40) == 40
    assert _affordable_replicates(replace(costly, sizes=(5, 10)), 40) == 27


def test_page_says_how_rough_shares_are(trusted):
    assert "shares of them have a standard error of up to 11 percentage points" in trusted[1]
