"""The page where agreement differs: what was chosen and why, and what people are divided about."""

import re

import numpy as np
import pytest

import tierwise as tw
from tests.cli.test_pages import run
from tests.data_paths import shared_data
from tests.reporting.test_page import SECTIONS, write
from tierwise import InputError

pytestmark = pytest.mark.thorough


def tastes(n_people=300):
    """People who agree about four sweets and are divided about the fifth."""
    sweets = tw.Tiers([["liquorice"], ["caramel", "nougat"], ["mint", "jelly"]])
    model = tw.ClusteredMallows(sweets, (0.1, 1.2), "inversions", concentration="tier")
    return model.sample(n_people, rng=1)


def races():
    """The front is clear and the back is chance."""
    field = tw.Tiers.from_sizes((1,) * 6, ["Ahn", "Berg", "Cole", "Diaz", "Egan", "Fox"])
    thetas = (2.0, 1.2, 0.6, 0.1, 0.0)
    return tw.ClusteredMallows(field, thetas, concentration="place").sample(1500, rng=1)


@pytest.fixture(scope="module")
def tastes_report(tmp_path_factory):
    return write(tastes(), tmp_path_factory.mktemp("tastes"), drawn=True, concentration="auto")


def rows_of_tier_list(text):
    """The tier list of a page, row by row: the sign or number, and the items."""
    (first, *_) = re.findall(r'<ol class="tiers">(.*?)</ol>', text, re.S)
    rows = re.findall(r'<span class="number"[^>]*>(.*?)</span>(.*?)</ul>', first, re.S)
    return [(sign, re.findall(r'"name"[^>]*>(.*?)<', items)) for sign, items in rows]


def assert_never_called_best(text, item):
    """What people are divided about is in no tier that has a number, nor before the others."""
    *agreed, divided = rows_of_tier_list(text)
    assert divided[0] == "↕"
    assert item in divided[1]
    assert not any(item in items for _, items in agreed)
    assert not re.search(rf"{item} ~|{item} &gt;|{item} >", text)
    head = text[text.index("<main>") : text.index("</main>")]
    assert "People are divided about" in head


def test_divided_items_are_said_and_not_ranked(tastes_report):
    analysis, text, page = tastes_report
    assert analysis.fit.concentration == "tier"
    assert analysis.fit.tiers["liquorice"] == 1  # as the model has it
    assert rows_of_tier_list(text) == [
        ("1", ["caramel", "nougat"]),
        ("2", ["mint", "jelly"]),
        ("↕", ["liquorice"]),
    ]
    assert_never_called_best(text, "liquorice")
    said = (
        "People are divided about liquorice: some rank it high and others low, so it is "
        "neither better nor worse than the tiers."
    )
    assert said in text
    rows = page.tables["items-table"][1:]
    assert rows[-1][:2] == ["liquorice", "divided"]
    assert dict(row[:2] for row in rows)["caramel"] == "1"
    strict = {row[1]: row[2] for row in page.tables["strict-table"][1:]}
    assert strict["liquorice"] == "divided"


def test_the_section_on_agreement_says_what_was_chosen_and_why(tastes_report):
    analysis, text, page = tastes_report
    assert page.sections == ["tiers", "agreement", *SECTIONS[1:]]
    assert "Chosen by the data: one theta per tier." in text
    best, other, *_ = analysis.search.families
    assert f"{best.name} comes first; {other.name} is {other.standing}" in text
    header, *rows = page.tables["agreement-table"]
    assert header == ["order", "probability", "95% interval", "in the data"]
    assert [row[0] for row in rows] == ["tier 1 above tier 2", "divided: liquorice"]
    for row, one in zip(rows, analysis.neighbours, strict=True):
        assert row[1] == f"{one.probability:.0%}"
    titles = " ".join(page.titles)
    assert "Probability of the order of neighbouring tiers: tier 1 above tier 2" in titles
    assert "how many rankings give each rank to liquorice" in titles
    assert analysis.to_dict()["concentration"] == "auto"
    sizes = [row[0] for row in page.tables["sizes-table"][1:]]
    assert sizes[0] == "(1, 2, 2)"
    assert "one theta per tier (chosen by the data)" in text


def test_one_theta_is_shown_as_before(tmp_path):
    analysis, text, page = write(tastes(100), tmp_path, sizes=(1, 2, 2))
    assert page.sections == SECTIONS
    assert "divided" not in text
    assert "one theta (as requested)" in text
    assert analysis.neighbours


def test_given_sizes_and_the_reason_of_the_choice(tmp_path):
    analysis, text, _ = write(
        tastes(), tmp_path, sizes=(1, 2, 2), distance="inversions", concentration="auto"
    )
    assert analysis.fit.concentration_reason
    assert "Decided by: criterion minus a penalty for each further theta: single" in text
    assert_never_called_best(text, "liquorice")


def test_auto_says_so_where_one_theta_is_enough(tmp_path):
    tiers = tw.Tiers([["a"], ["b", "c"], ["d"]])
    even = tw.ClusteredMallows(tiers, 0.6, "inversions").sample(200, rng=1)
    analysis, text, page = write(
        even, tmp_path, sizes=(1, 2, 1), distance="inversions", concentration="auto"
    )
    assert analysis.fit.concentration == "single"
    assert "Chosen by the data: one theta for all." in text
    assert "agreement-table" in page.tables


@pytest.mark.slow
def test_the_check_points_to_the_option_and_is_satisfied_by_it(tmp_path):
    single, several = tmp_path / "single", tmp_path / "several"
    single.mkdir()
    several.mkdir()
    before, text, _ = write(races(), single, sizes=(1,) * 6, replicates=5)
    assert before.check.verdict == "theta varies"
    assert "Agreement differs along the ranking" in text
    assert "fit with concentration=&#34;tier&#34; or &#34;place&#34; to let it vary" in text
    after, text, _ = write(races(), several, sizes=(1,) * 6, concentration="auto", replicates=5)
    assert after.fit.concentration == "place"
    assert "Agreement differs along the ranking" not in text
    assert "The model fits" in text
    assert "How much people agree differs by place." in text
    assert "estimated from 20,000 draws" in text
    lines = [{one.name: one for one in found.check.findings}["lines"] for found in (before, after)]
    assert lines[1].score < lines[0].score


def test_tiers_in_findings_are_numbered_as_they_are_shown(tastes_report):
    _, _, page = tastes_report
    findings = {row[0]: row[1] for row in page.tables["findings-table"][1:]}
    assert re.search(r"line between (liquorice and tier 1|tiers 1 and 2)", findings["lines"])


def test_draws_from_the_posterior_are_for_one_theta(tmp_path):
    with pytest.raises(InputError, match="bootstrap"):
        write(
            tastes(50),
            tmp_path,
            sizes=(1, 1, 2),
            uncertainty="posterior",
            concentration="tier",
        )
    with pytest.raises(InputError, match="concentration must be"):
        write(tastes(50), tmp_path, concentration="line")


@pytest.mark.slow
def test_sea_urchin(tmp_path):
    sushi = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    _, text, page = write(
        sushi, tmp_path, distance="inversions", concentration="tier", replicates=10
    )
    assert_never_called_best(text, "sea urchin")
    assert rows_of_tier_list(text)[0] == ("1", ["fatty tuna"])
    assert "People are divided about sea eel, sea urchin and salmon roe: some rank them" in text
    titles = " ".join(page.titles)
    assert "give each rank to sea eel, sea urchin and salmon roe" in titles


@pytest.mark.slow
def test_command_line(tmp_path):
    tw.write_rankings(tastes(), tmp_path / "sweets.csv")
    options = {
        "--distance": "inversions",
        "--concentration": "auto",
        "--replicates": 5,
        "--seed": 1,
    }
    words = [word for option in options.items() for word in option]
    done = run("report", "sweets.csv", "-o", "page.html", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "people are divided about liquorice" in " ".join(done.stdout.split())
    assert_never_called_best((tmp_path / "page.html").read_text(encoding="utf-8"), "liquorice")


def test_noise_has_no_tiers_whatever_is_asked_for(tmp_path):
    """There is nothing that a theta per tier could be about."""
    rng = np.random.default_rng(0)
    noise = tw.Rankings.from_orderings([list(rng.permutation(list("abcde"))) for _ in range(20)])
    analysis, text, page = write(
        noise, tmp_path, distance="kendall", concentration="tier", replicates=5
    )
    assert analysis.fit.sizes == (5,)
    assert analysis.neighbours == ()
    assert page.sections == SECTIONS
    assert "one theta" in text
