"""The page as a text: what stands in it, and what must not."""

import json
import re
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.unrendered import no_forecasts, unrendered_figures
from tierwise import InputError, Rankings, Tiers
from tierwise.model.ranks import shares_of_tiers
from tierwise.reporting.report import render
from tierwise.reporting.tables import items_table

pytestmark = pytest.mark.thorough

VOID = {"meta", "link", "br", "img", "hr", "input"}
SECTIONS = ["tiers", "data", "sizes", "items", "fit", "diagnostics", "computed"]


class Page(HTMLParser):
    """Collects what the tests ask for, and checks that every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.sections, self.svgs, self.links = [], [], [], [], []
        self.tables, self.words, self.titles = {}, [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        self.links += [values[name] for name in ("href", "src", "xlink:href") if name in values]
        if tag == "section":
            self.sections.append(values["id"])
        if tag == "svg":
            self.svgs.append(values)
        if tag == "table":
            self.tables[values["id"]] = []
        if tag == "tr" and self.tables:
            list(self.tables.values())[-1].append([])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            list(self.tables.values())[-1][-1].append(data.strip())
        elif self.open and self.open[-1] == "title" and "svg" in self.open:
            self.titles.append(data)
        elif self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data.strip())


def write(rankings, folder, *, drawn=False, **options):
    """Write a report without a forecast; its figures are drawn where a test is about them."""
    path = folder / "report.html"
    with no_forecasts(), nullcontext() if drawn else unrendered_figures():
        analysis = tw.report(
            rankings, path, **{"rng": 1, "replicates": 20, "progress": "off"} | options
        )
    text = path.read_text(encoding="utf-8")
    assert [file.name for file in folder.iterdir()] == ["report.html"]
    return analysis, text, Page(text)


@pytest.fixture(scope="module")
def goals_report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("goals")
    goals = tw.load_political_goals()
    return write(goals, folder, drawn=True, distance="kendall", title="Four goals")


def test_sections_stand_in_the_order_that_readers_need(goals_report):
    _, text, page = goals_report
    assert page.sections == SECTIONS
    assert "<title>Four goals</title>" in text
    assert "<h1>Four goals</h1>" in text


def test_page_needs_nothing_from_outside(goals_report):
    _, text, page = goals_report
    inside = [link for link in page.links if not link.startswith(("#", "data:"))]
    assert inside == []
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_names_of_elements_are_unique(goals_report):
    _, _, page = goals_report
    assert len(page.ids) == len(set(page.ids))
    targets = {link[1:] for link in page.links if link.startswith("#")}
    assert targets <= set(page.ids)


def test_every_figure_says_what_it_shows(goals_report):
    _, _, page = goals_report
    assert len(page.svgs) >= 10
    for svg in page.svgs:
        assert svg["role"] == "img"
        assert svg["aria-labelledby"] in page.ids
    assert len(page.titles) == len(page.svgs)
    assert all(len(title) > 20 for title in page.titles)


def test_tiers_and_how_sure_they_are_come_first(goals_report):
    analysis, text, _ = goals_report
    assert str(analysis.fit.tiers) == "order ~ prices > say ~ speech"
    head = text[: text.index('id="data"')]
    names = re.findall(
        r'<span class="name" dir="auto">(.*?)</span> <span class="sure">(\d+)%</span>', head
    )
    shares = shares_of_tiers(analysis.sampled.labels, analysis.fit.sizes)
    for name, percent in names:
        share = shares[analysis.sampled.items.index(name), analysis.fit.tiers[name] - 1]
        assert int(percent) == round(100 * share)
    assert [name for name, _ in names] == ["order", "prices", "say", "speech"]
    assert analysis.fit.verdict() in text


def test_tables_hold_the_numbers(goals_report):
    analysis, _, page = goals_report
    header, *rows = page.tables["items-table"]
    assert header == ["item", "tier", "sure", "other tiers", "mean rank"]
    ranks = dict(zip(analysis.description.items, analysis.description.mean_ranks, strict=True))
    for item, tier, *_, rank in rows:
        assert int(tier) == analysis.fit.tiers[item]
        assert rank == f"{ranks[item]:.2f}"
    header, *rows = page.tables["sizes-table"]
    assert rows[0][:3] == ["(2, 2)", "2", f"{analysis.fit.criterion:,.2f}"]
    assert {row[0] for row in rows} >= {"strict consensus", "no tiers"}
    header, *rows = page.tables["pairs-table"]
    assert len(rows) == 6
    above, below, share, expected, *_ = rows[0]
    check = analysis.check
    first, second = check.items.index(above), check.items.index(below)
    assert share == f"{check.pairs_observed[first, second]:.0%}"
    assert expected == f"{check.pairs_expected[first, second]:.0%}"
    strict = [row[1] for row in page.tables["strict-table"][1:]]
    assert strict == [item for (item,) in analysis.fit.references[0].tiers]
    assert len(page.tables["findings-table"]) == 1 + len(check.findings)


def test_page_says_how_it_was_made(goals_report):
    _, text, page = goals_report
    end = text[text.index('id="computed"') :]
    assert f"tierwise {tw.__version__}" in end
    assert "<dd>1</dd>" in end  # the seed
    assert "Piancastelli" in end
    assert "exact" in end
    assert analysis_words(page).count("exact, over all orderings") == 1


def analysis_words(page):
    return " ".join(page.words)


def test_names_are_shown_and_never_run(tmp_path):
    names = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b", "'quoted' $x$"]
    names += ["寿司", "Ελλάδα"]  # in any script
    rankings = Rankings.from_orderings([names, names[::-1], names, [*names[2:], *names[:2]]])
    title = "</title><script>alert(2)</script>"
    _, text, page = write(rankings, tmp_path, drawn=True, title=title)
    assert text.count("<script>") == 1  # the page's own
    assert "<img" not in text
    assert all(name in [row[0] for row in page.tables["items-table"]] for name in names)
    policy = re.search(r"script-src '(sha256-[^']+)'", text).group(1)
    from base64 import b64encode
    from hashlib import sha256

    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    assert policy == "sha256-" + b64encode(sha256(script.encode()).digest()).decode()


def test_figures_follow_the_colours_of_the_page(goals_report):
    _, text, _ = goals_report
    assert text.count("currentColor") > 50
    assert "#123457" not in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(goals_report, scheme):
    _, text, _ = goals_report
    blocks = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#\w+)", blocks[0 if scheme == "light" else 1]))

    def luminance(colour):
        channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return np.dot(linear, (0.2126, 0.7152, 0.0722))

    for ink in ("text", "soft", "link"):
        for paper in ("paper", "wash"):
            low, high = sorted([luminance(colours[ink]), luminance(colours[paper])])
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)


def test_given_sizes_are_not_searched_for(tmp_path):
    analysis, text, page = write(tw.load_political_goals(), tmp_path, sizes=(1, 3))
    assert analysis.search is None
    assert analysis.fit.sizes == (1, 3)
    assert "The sizes were given, not searched for." in text
    assert "(1, 3), as given" in page.tables["sizes-table"][1]
    assert "leaderboard-title" not in page.ids


def test_distance_is_used(tmp_path):
    analysis, text, _ = write(tw.load_political_goals(), tmp_path, distance="hamming")
    assert analysis.fit.distance == "hamming"
    assert "<dd>hamming</dd>" in text


def test_posterior_instead_of_bootstrap(tmp_path):
    analysis, text, _ = write(
        tw.load_political_goals(), tmp_path, sizes=(2, 2), uncertainty="posterior", replicates=50
    )
    assert type(analysis.sampled).__name__ == "Posterior"
    assert "draws from the posterior" in text


def test_top_lists(tmp_path):
    model = tw.ClusteredMallows(Tiers([["a"], ["b"], ["c", "d", "e"]]), theta=0.8)
    rows = [row[:2] for row in model.sample(60, rng=1).to_orderings()]
    rankings = Rankings.from_orderings(rows, items="abcde", unranked="below")
    _, text, page = write(rankings, tmp_path, sizes=(1, 1, 3))
    assert "Items not listed come below those that are" in text
    assert page.tables["items-table"][0][-1] == "listed by"


def test_answers_that_leave_blocks_open_are_resampled_too(tmp_path):
    model = tw.ClusteredMallows(Tiers([["a"], ["b"], ["c", "d"]]), theta=0.8)
    rows = [row[:2] for row in model.sample(40, rng=1).to_orderings()]
    rankings = Rankings.from_orderings(rows, items="abcd", unranked="anywhere")
    analysis, text, page = write(rankings, tmp_path, sizes=(1, 1, 2))
    assert len(analysis.sampled) > 1
    assert 'class="sure"' in text
    assert page.tables["items-table"][0][-1] == "listed by"
    assert "co-tiers-title" in page.ids


@pytest.mark.parametrize(
    "rankings",
    [
        Rankings.from_orderings([["a", "b", "c"]] * 30),  # theta is infinite
        Rankings.from_orderings([["a", "b"], ["b", "a"]]),  # no tiers are best
        Rankings.from_orderings([["a", "b", "c"], ["c", "a", "b"]], weights=[1.5, 2.25]),
        Rankings.from_orderings([[1, 2, 3], [2, 1, 3]]),
    ],
    ids=["unanimous", "two items", "fractional weights", "numbers as names"],
)
def test_small_and_strange_data(rankings, tmp_path):
    analysis, text, page = write(rankings, tmp_path, drawn=True)
    assert page.sections == SECTIONS
    assert all(str(item) in text for item in analysis.data.items)


@pytest.mark.slow
def test_same_seed_same_page(tmp_path):
    goals = tw.load_political_goals()
    pages = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, text, _ = write(goals, folder, drawn=True, rng=seed, sizes=(1, 2, 1))
        pages.append(re.sub(r"[\d.]+ seconds", "", text))
    assert pages[0] == pages[1] != pages[2]


def test_figures_that_would_be_empty_are_left_out(tmp_path):
    agreed = Rankings.from_orderings([["a", "b", "c"]] * 6)
    analysis, _, page = write(agreed, tmp_path, uncertainty="bootstrap")
    assert not np.isfinite(analysis.sampled.thetas).any()
    assert not analysis.search.start.steps
    assert {"theta-title", "merging-title"}.isdisjoint(page.ids)
    rows = ["abc", "bac", "abc", "bac", "acb", "bca"]
    split = Rankings.from_orderings([list(row) for row in rows] * 10)
    _, _, page = write(split, tmp_path)
    assert {"theta-title", "merging-title"} <= set(page.ids)


def test_nothing_is_left_behind_if_something_fails(tmp_path):
    goals = tw.load_political_goals()
    path = tmp_path / "report.html"
    path.write_text("as before")
    with pytest.raises(InputError, match="sum to 3"):
        tw.report(goals, path, sizes=(1, 2))
    assert path.read_text() == "as before"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_input(tmp_path):
    goals = tw.load_political_goals()
    with pytest.raises(InputError, match="does not exist: create it"):
        tw.report(goals, tmp_path / "absent" / "report.html")
    with pytest.raises(InputError, match='uncertainty must be one of "bootstrap", "posterior"'):
        tw.report(goals, tmp_path / "report.html", uncertainty="guess")
    with pytest.raises(InputError, match="replicates must be at least 2"):
        tw.report(goals, tmp_path / "report.html", replicates=1)


@pytest.mark.slow
def test_sushi_report_is_small(tmp_path):
    sushi = tw.load_sushi(shared_data("sushi"))
    path = tmp_path / "report.html"
    analysis = tw.report(sushi, path, rng=1)
    assert path.stat().st_size < 2_000_000
    assert len(analysis.sampled) == 4000


def test_intervals_are_printed_with_their_level(goals_report):
    analysis, _, _ = goals_report
    goals = tw.load_political_goals()
    for level, shown in ((0.5, "50% interval"), (0.995, "99.5% interval")):
        with unrendered_figures():
            page = render(replace(analysis, fit=tw.fit(goals, (2, 2), level=level)), None)
        assert page.count(shown) == 2
        assert "95% interval" not in page.replace("99.5% interval", "")


def test_one_ranking_is_not_many(tmp_path):
    one = Rankings.from_orderings([["a", "b"]])
    _, text, _ = write(one, tmp_path, sizes=(1, 1), replicates=2)
    assert "1 ranking of 2 items." in text
    assert "The ranking lists every item." in text
    assert "1 rankings" not in text


def test_result_is_always_json(tmp_path):
    agreeing = Rankings.from_orderings([["a", "b", "c"]] * 3)
    analysis, _, _ = write(agreeing, tmp_path, sizes=(1, 1, 1), groups=2)
    plain = json.loads(json.dumps(analysis.to_dict(), allow_nan=False))
    assert list(plain) == [
        "description", "search", "fit", "sampled", "check", "groups", "people", "concentration",
        "neighbours", "forecast", "provenance",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ([["a", "b"]], "Rankings.from_orderings"),
        (np.array([[1, 2]]), "Rankings.from_ranks"),
        (None, "tierwise.read"),
        ("answers.csv", "tierwise.read"),
        (tw.Counts.of(tw.load_political_goals()), "pass the rankings"),
    ],
)
def test_wrong_data_are_named_with_the_remedy(data, remedy, tmp_path):
    with pytest.raises(InputError, match=remedy):
        tw.report(data, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"uncertainty": np.array(["bootstrap"])}, "uncertainty must be"),
        ({"replicates": 1}, "replicates must be at least 2"),
        ({"replicates": 10**12}, "replicates must be at most"),
        ({"groups": 1.5}, "groups must be whole numbers"),
        ({"groups": np.ones(2)}, "groups must be whole numbers"),
    ],
)
def test_wrong_arguments_are_named(arguments, message, tmp_path):
    with pytest.raises(InputError, match=message):
        tw.report(tw.load_political_goals(), tmp_path / "report.html", **arguments)


def test_what_is_not_certain_is_not_called_so(tmp_path):
    goals = tw.load_political_goals()
    analysis, _, _ = write(goals, tmp_path, replicates=250)
    labels = analysis.sampled.labels.copy()
    labels[0] = 1  # one draw of a thousand puts all items into one tier
    sampled = copy(analysis.sampled)
    sampled.__dict__["labels"] = labels
    with unrendered_figures():
        text = render(replace(analysis, sampled=sampled), None)
    assert '<span class="sure">&gt; 99%</span>' in text
    assert '<span class="sure">100%</span>' not in text


def test_a_single_tier_does_not_claim_to_be_certain(tmp_path):
    """Every draw puts every item among all ranks: that says nothing about the data."""
    even = Rankings.from_orderings([["a", "b"], ["b", "a"]] * 5)
    analysis, text, page = write(even, tmp_path)
    assert len(analysis.fit.tiers) == 1
    assert 'class="sure"' not in text
    assert "tier-probabilities-title" not in page.ids
    assert items_table(analysis).columns == ("item", "tier", "mean rank")
