"""The section of the report about groups of people."""

import re
from dataclasses import replace

import pytest

import tierwise as tw
from tests.mixture.simulated import from_groups
from tests.reporting.test_page import SECTIONS, write
from tierwise import InputError, Rankings
from tierwise.mixture.scores import Scores
from tierwise.reporting.groups import whether_several

pytestmark = pytest.mark.thorough

TWO = [([["a"], ["b", "c"], ["d"]], 2.0), ([["d"], ["c", "b"], ["a"]], 2.0)]


@pytest.fixture(scope="module")
def two_camps():
    return from_groups(TWO, (120, 80), seed=1)[0]


@pytest.fixture(scope="module")
def one_camp():
    return from_groups(TWO[:1], (60,), seed=1)[0]


@pytest.fixture(scope="module")
def camps_report(two_camps, tmp_path_factory):
    folder = tmp_path_factory.mktemp("camps")
    return write(two_camps, folder, drawn=True, family="mallows", groups=[2, 3])


def section(text):
    return text[text.index('<section id="groups"') : text.index('<section id="diagnostics"')]


def test_section_follows_the_check_of_the_fit(camps_report):
    _, _, page = camps_report
    expected = [*SECTIONS[:5], "groups", *SECTIONS[5:]]
    assert page.sections == expected
    assert [link[1:] for link in page.links if link.startswith("#")][1 : 1 + 8] == expected
    assert len(page.ids) == len(set(page.ids))
    assert "memberships-title" in page.ids


def test_tier_lists_stand_side_by_side(camps_report):
    analysis, text, _ = camps_report
    shown = section(text)
    assert analysis.groups.n_groups == 2
    headings = re.findall(r"<h3>(.*?)</h3>", shown)
    assert headings == [
        f"Group {number}: {group.share:.1%} ± {100 * group.share_error:.1f}"
        for number, group in enumerate(analysis.groups.groups, start=1)
    ]
    items = [item for group in analysis.groups.groups for tier in group.tiers for item in tier]
    assert re.findall(r'<span class="name" dir="auto">(.*?)</span>', shown) == items
    assert "%</span>" not in shown
    for group in analysis.groups.groups:
        assert f"Theta {group.theta:.3f} ± {group.theta_error:.3f}" in shown
        assert f"{group.agreement:.0%} of pairs" in shown


def test_scores_of_all_numbers_are_in_the_table(camps_report):
    analysis, _, page = camps_report
    header, *rows = page.tables["scores-table"]
    assert header == ["groups", "log-likelihood", "BIC", "ICL", "held-out", "below the best"]
    assert [row[0] for row in rows] == ["1", "2 (shown)", "3"]
    for row, scores in zip(rows, analysis.groups.comparison, strict=True):
        assert row[1:4] == [
            f"{value:,.1f}" for value in (scores.log_likelihood, scores.bic, scores.icl)
        ]
        assert row[4] == f"{scores.held_out:.4f}"
        assert row[5] == (
            f"{scores.held_out_behind:.4f} ± {scores.held_out_behind_error:.4f}"
            if scores.held_out_behind
            else "best"
        )


def test_section_says_that_groups_are_supported(camps_report):
    analysis, text, _ = camps_report
    assert whether_several(analysis.groups).startswith("Several groups are supported")
    assert whether_several(analysis.groups) in section(text)
    assert "One group predicts them clearly worse" in section(text)
    assert f"Separation of the groups: {analysis.groups.separation:.0%}" in section(text)


@pytest.mark.slow
def test_one_group_is_not_divided(one_camp, tmp_path):
    analysis, text, page = write(one_camp, tmp_path, sizes=(1, 2, 1), groups=(2, 3))
    assert analysis.groups.n_groups == 1
    assert "prefer one group" in section(text) or "prefers one group" in section(text)
    assert "<h3>" not in section(text)
    assert "memberships-title" not in page.ids
    assert [row[0] for row in page.tables["scores-table"][1:]] == ["1", "2", "3"]


@pytest.mark.slow
def test_the_number_that_was_asked_for_is_shown_all_the_same(one_camp, tmp_path):
    analysis, text, _ = write(one_camp, tmp_path, sizes=(1, 2, 1), groups=2)
    assert analysis.groups.n_groups == 2
    assert [scores.n_groups for scores in analysis.groups.comparison] == [1, 2]
    assert analysis.groups.scores.bic == pytest.approx(analysis.groups.comparison[1].bic)
    assert analysis.groups.comparison[1].held_out is not None
    assert section(text).count("<h3>") == 2
    assert not whether_several(analysis.groups).startswith("Several groups are supported")


def test_sizes_and_distance_are_those_of_the_report(two_camps, tmp_path):
    analysis, _, _ = write(two_camps, tmp_path, sizes=(2, 2), distance="hamming", groups=2)
    assert [group.sizes for group in analysis.groups.groups] == [(2, 2), (2, 2)]
    assert analysis.groups.distance == "hamming"


@pytest.mark.slow
def test_seed_decides_and_other_numbers_stay_the_same(two_camps, camps_report, tmp_path):
    with_groups, _, _ = camps_report
    again, _, _ = write(two_camps, tmp_path, family="mallows", groups=[2, 3])
    assert again.groups.comparison == with_groups.groups.comparison
    without = tw.report(two_camps, tmp_path / "report.html", family="mallows", rng=1, replicates=20)
    assert without.groups is None
    assert without.fit.theta == with_groups.fit.theta
    assert (without.sampled.labels == with_groups.sampled.labels).all()


def test_plain_values_hold_the_groups(camps_report):
    analysis, _, _ = camps_report
    assert analysis.to_dict()["groups"]["n_groups"] == 2


def test_too_few_rankings_to_hold_any_out(tmp_path):
    rankings = Rankings.from_orderings([["a", "b", "c"], ["a", "c", "b"], ["c", "b", "a"]])
    _, text, page = write(rankings, tmp_path, sizes=(1, 2), groups=2)
    assert [row[-1] for row in page.tables["scores-table"][1:]] == ["-", "-"]
    assert "held-out score" not in section(text).replace("higher for the held-out score", "")


def test_names_in_groups_are_shown_and_never_run(tmp_path):
    names = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b", "$x$"]
    rankings = Rankings.from_orderings([names, names[::-1]] * 20)
    _, text, _ = write(rankings, tmp_path, drawn=True, sizes=(2, 2), groups=2)
    assert section(text).count("<h3>") == 2
    assert text.count("<script>") == 1
    assert "<img" not in text


def scores(n_groups, bic, icl, held_out=None):
    error = None if held_out is None else 0.1
    return Scores(n_groups, 2, -1.0, 0.0, -1.0, bic, 0.0, icl, held_out, error)


@pytest.mark.parametrize(
    ("compared", "said"),
    [
        (
            [scores(1, 90.0, 90.0, -3.0), scores(2, 70.0, 75.0, -2.0)],
            "Several groups are supported: BIC, ICL and the held-out score prefer 2 groups. "
            "BIC with 2 groups is 20.0 lower than with one.",
        ),
        (
            [scores(1, 90.0, 90.0), scores(2, 70.0, 75.0)],
            "Several groups are supported: BIC and ICL prefer 2 groups. "
            "BIC with 2 groups is 20.0 lower than with one.",
        ),
        (
            [scores(1, 50.0, 50.0, -1.0), scores(2, 70.0, 75.0, -2.0)],
            "Several groups are not supported: BIC, ICL and the held-out score prefer one group.",
        ),
        (
            [scores(1, 90.0, 90.0, -3.0), scores(2, 70.0, 95.0, -2.0)],
            "Several groups describe the rankings better than one, but overlap: BIC prefers 2 "
            "groups, ICL prefers one group and the held-out score prefers 2 groups. BIC with 2 "
            "groups is 20.0 lower than with one. ICL also asks who belongs where, which is "
            "uncertain here: read the groups as shades of opinion, not as camps.",
        ),
        (
            [scores(1, 90.0, 90.0, -1.0), scores(2, 70.0, 75.0, -2.0)],
            "It is not clear whether there are several groups: BIC prefers 2 groups, ICL prefers 2 "
            "groups and the held-out score prefers one group.",
        ),
        (
            [scores(1, 50.0, 50.0, -3.0), scores(2, 70.0, 75.0, -2.0)],
            "It is not clear whether there are several groups: BIC prefers one group, ICL "
            "prefers one "
            "group and the held-out score prefers 2 groups.",
        ),
    ],
    ids=["all", "nothing held out", "none", "overlap", "held-out against", "held-out for"],
)
def test_verdict_weighs_all_scores(camps_report, compared, said):
    analysis, _, _ = camps_report
    assert whether_several(replace(analysis.groups, comparison=tuple(compared))) == said


@pytest.mark.parametrize("groups", [0, 1, [1], [], [0, 2], -3])
def test_numbers_that_cannot_be_compared_are_refused(groups, one_camp, tmp_path):
    with pytest.raises(InputError, match="groups must be 2 or more"):
        tw.report(one_camp, tmp_path / "report.html", groups=groups)


@pytest.mark.parametrize("groups", ["two", 2.5, [2, None]])
def test_what_is_no_number_is_refused(groups, one_camp, tmp_path):
    with pytest.raises(InputError, match="groups must be whole numbers"):
        tw.report(one_camp, tmp_path / "report.html", groups=groups)
