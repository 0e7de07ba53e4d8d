"""The studies run, the page is built from what is stored, and the paper's numbers come out."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest
from studies.__main__ import ROOT, STUDIES, main
from studies.findings import FINDINGS
from studies.harness import Place, load_stored
from studies.page import write_page
from studies.simulation_3 import SIZES, shares_by_shifts, shifts_from_truth

from tests.data_paths import shared_data

STORED = ROOT / "studies" / "results"
WITHOUT_DATA = ["distances", "rank-tiers", "pseudo-likelihood", "simulation-2"]


def outcomes_of(folder):
    found = {study.name: load_stored(study, study.full, folder) for study in STUDIES}
    return {name: outcome for name, outcome in found.items() if outcome is not None}


@pytest.mark.slow
def test_quick_studies_write_a_page_and_figures(tmp_path, capsys):
    main(["--quick", "--workers", "1", "--out", str(tmp_path), *WITHOUT_DATA])
    page = (tmp_path / "docs" / "reproduction.md").read_text()
    printed = capsys.readouterr().out
    for name in WITHOUT_DATA:
        assert (tmp_path / "studies" / "results" / f"{name}.json").is_file()
        assert f"`python -m studies {name}`" in page
        assert f"{name}: done after" in printed
    shown = set(re.findall(r"\(figures/([^)]+)\)", page))
    assert shown == {path.name for path in (tmp_path / "docs" / "figures").iterdir()}
    assert "Not run: it needs the sushi data." in page


@pytest.mark.slow
def test_figures_are_the_same_every_time(tmp_path):
    for folder in ("first", "second"):
        main(["--quick", "--workers", "1", "--out", str(tmp_path / folder), "rank-tiers"])
    first, second = (
        (tmp_path / folder / "docs" / "figures" / "rank-tiers-six.svg").read_bytes()
        for folder in ("first", "second")
    )
    assert first == second


def test_missing_data_are_named_and_where_to_get_them(tmp_path, capsys):
    main(["--quick", "--out", str(tmp_path), "--data", str(tmp_path), "sushi-data"])
    printed = capsys.readouterr().out
    assert "sushi-data: skipped; the data are not at hand" in printed
    assert "SUSHI Preference Data Sets" in printed


def test_an_unknown_study_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--quick", "--out", str(tmp_path), "simulation-9"])
    assert "there is no study 'simulation-9'" in capsys.readouterr().err


def test_every_study_is_stored():
    assert set(outcomes_of(STORED)) == {study.name for study in STUDIES}


def test_the_page_is_what_the_stored_results_say(tmp_path):
    page = write_page(STUDIES, outcomes_of(STORED), Place(tmp_path), tmp_path, redraw=[])
    assert page.read_text() == (ROOT / "docs" / "reproduction.md").read_text()


def test_every_figure_of_the_page_is_there():
    page = (ROOT / "docs" / "reproduction.md").read_text()
    shown = set(re.findall(r"\((figures/[^)]+)\)", page))
    assert shown
    assert all((ROOT / "docs" / name).is_file() for name in shown)


@pytest.mark.parametrize("name", ["distances", "pseudo-likelihood"])
def test_worked_examples_come_out_to_the_digit(name):
    outcome = outcomes_of(STORED)[name]
    claims = outcome.study.claims(outcome.results)
    assert claims
    assert {claim.verdict for claim in claims} == {"same"}


def test_known_values_of_the_sushi_data():
    results = outcomes_of(STORED)["sushi-selection"].results
    assert results["meant"]["criterion"] == pytest.approx(-3968.50, abs=0.005)
    assert results["strict"]["criterion"] == pytest.approx(-3961.57, abs=0.005)
    assert results["uniform"] == pytest.approx(-4229.24, abs=0.005)
    best = results["kendall_all"]["leaderboard"][0]
    assert best["sizes"] == [1, 1, 1, 2, 1, 2, 1, 1]
    assert best["criterion"] == pytest.approx(-3957.00, abs=0.005)
    assert results["kendall_all"]["by_agreement"][0]["sizes"] == [9, 1]
    assert results["kendall_all"]["by_agreement"][0]["agreement"] == pytest.approx(0.7837, abs=5e-5)
    assert results["hamming_all"]["leaderboard"][0]["sizes"] == [5, 2, 1, 2]


def test_known_values_of_formula_one():
    below = outcomes_of(STORED)["formula-one"].results["below"]
    assert below["tiers"]["total_distance"] == 2070
    assert below["tiers"]["theta"] == pytest.approx(0.1737, abs=5e-5)
    on_complete_scale = below["tiers"]["criterion"] - below["tiers"]["log_completions"]
    assert on_complete_scale == pytest.approx(-2087.05, abs=0.005)


def test_known_values_of_the_simulations():
    stored = outcomes_of(STORED)
    tops = stored["simulation-1"].results["top"]["all"]
    assert [top[0] for top in tops] == [[1, 1, 3, 1, 1]] * 100
    second = stored["simulation-2"].results
    assert all(second["exact_kendall"]["recovered"])
    assert 0.93 < sum(second["exact_hamming"]["recovered"]) / 1000 < 0.97


def test_shifts_are_counted_from_the_truth():
    shifts = shifts_from_truth()
    assert shifts[SIZES] == 0
    assert shifts[2, 4, 3, 3, 3] == 1
    assert shifts[2, 4, 3, 2, 4] == 2
    tops = [[list(SIZES)], [[2, 4, 3, 3, 3]], [[15]]]
    assert shares_by_shifts(tops, 0) == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])


LONG_FINDINGS = (
    "The greedy search stops short of the best sizes",
    "The data criterion D prefers degenerate tiers",
)


@pytest.mark.parametrize(
    "finding",
    [
        pytest.param(
            finding,
            id=finding.title,
            marks=pytest.mark.slow if finding.title in LONG_FINDINGS else (),
        )
        for finding in FINDINGS
    ],
)
def test_the_code_of_a_finding_runs(finding, monkeypatch):
    if finding.data is not None:
        monkeypatch.setenv("TIERWISE_DATA", str(shared_data(finding.data).parent))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(finding.code, finding.title, "exec"), {})
    assert printed.getvalue().strip()


@pytest.mark.thorough
def test_sushi_is_described_from_data(tmp_path):
    folder = shared_data("sushi").parent
    main(["--quick", "--out", str(tmp_path), "--data", str(folder), "sushi-data"])
    outcome = load_stored(_study("sushi-data"), _study("sushi-data").quick, _results(tmp_path))
    assert {claim.verdict for claim in outcome.study.claims(outcome.results)} == {"same"}


@pytest.mark.slow
def test_all_quick_studies(tmp_path):
    main(["--quick", "--out", str(tmp_path)])
    place = Place(_data())
    wanted = {study.name for study in STUDIES if not place.missing(study.data)}
    assert {path.stem for path in _results(tmp_path).glob("*.json")} == wanted


def _study(name):
    return next(study for study in STUDIES if study.name == name)


def _results(out):
    return out / "studies" / "results"


def _data():
    return Path(os.environ.get("TIERWISE_DATA", ROOT.parent / "shared" / "data"))
