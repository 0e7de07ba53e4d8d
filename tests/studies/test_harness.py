"""Results are computed once for each seed, version and settings, and kept."""

import json
from dataclasses import dataclass

import pytest
from studies.harness import Place, Study, load_stored, number_claim, obtain, text_claim
from studies.paper_methods import climb
from studies.writing import duration, sizes_text, table, tiers_text

from studies import harness


@dataclass(frozen=True)
class Settings:
    seed: int = 1
    sizes: tuple[tuple[int, ...], ...] = ((1, 2), (3,))


@pytest.fixture
def calls():
    return []


@pytest.fixture
def study(calls):
    def compute(settings, place):
        calls.append(settings)
        return {"value": settings.seed, "row": [1.5, 2.5]}

    return Study(
        name="toy",
        title="A toy",
        full=Settings(),
        quick=Settings(),
        compute=compute,
        tell=lambda results, settings: f"The value is {results['value']}.",
        data=("toys",),
    )


@pytest.fixture
def place(tmp_path):
    (tmp_path / "data" / "toys").mkdir(parents=True)
    return Place(tmp_path / "data")


def test_the_same_question_is_computed_once(study, calls, place, tmp_path):
    first = obtain(study, Settings(), place, tmp_path)
    second = obtain(study, Settings(), place, tmp_path)
    assert len(calls) == 1
    assert first.results == second.results
    assert second.settings == Settings()


def test_another_seed_is_another_question(study, calls, place, tmp_path):
    obtain(study, Settings(), place, tmp_path)
    assert obtain(study, Settings(seed=2), place, tmp_path).results["value"] == 2
    assert len(calls) == 2


def test_another_version_computes_again(study, calls, place, tmp_path, monkeypatch):
    obtain(study, Settings(), place, tmp_path)
    monkeypatch.setattr(harness, "__version__", "99")
    assert obtain(study, Settings(), place, tmp_path).version == "99"
    assert len(calls) == 2


def test_again_computes_again(study, calls, place, tmp_path):
    obtain(study, Settings(), place, tmp_path)
    obtain(study, Settings(), place, tmp_path, again=True)
    assert len(calls) == 2


def test_without_data_what_is_stored_is_used_even_if_it_is_old(study, calls, place, tmp_path):
    obtain(study, Settings(), place, tmp_path)
    nowhere = Place(tmp_path / "nowhere")
    outcome = obtain(study, Settings(seed=7), nowhere, tmp_path)
    assert outcome.results["value"] == 1
    assert outcome.settings.seed == 1
    assert len(calls) == 1


def test_without_data_and_results_there_is_nothing(study, tmp_path):
    assert obtain(study, Settings(), Place(tmp_path / "nowhere"), tmp_path) is None


def test_results_of_other_settings_are_not_understood(study, place, tmp_path):
    obtain(study, Settings(), place, tmp_path)
    path = tmp_path / "toy.json"
    kept = json.loads(path.read_text())
    kept["settings"]["forgotten"] = 3
    path.write_text(json.dumps(kept))
    assert load_stored(study, Settings(), tmp_path) is None


def test_a_computation_that_fails_leaves_what_was_there(study, place, tmp_path):
    obtain(study, Settings(), place, tmp_path)

    def fail(settings, place):
        raise RuntimeError("no")

    broken = Study(**{**vars(study), "compute": fail})
    with pytest.raises(RuntimeError):
        obtain(broken, Settings(seed=3), place, tmp_path)
    assert load_stored(study, Settings(), tmp_path).results["value"] == 1


@pytest.mark.parametrize(
    ("here", "verdict"), [(0.744, "same"), (0.736, "same"), (0.76, "close"), (0.8, "differs")]
)
def test_numbers_are_compared_by_the_digits_that_the_paper_gives(here, verdict):
    assert number_claim("share", 0.74, here, 2, close=0.03).verdict == verdict


def test_texts_are_the_same_or_not():
    assert text_claim("tiers", "a > b", "a > b").verdict == "same"
    assert text_claim("tiers", "a > b", "b > a").verdict == "differs"


def test_a_climb_ends_where_no_neighbour_is_better():
    goal = (1, 1, 3, 1, 1)

    def score(sizes):
        return -abs(len(sizes) - 5) - abs(max(sizes) - 3) - (sizes != goal)

    found = climb((7,), score)
    assert found.path[0] == (7,)
    assert found.best(1)[0] == max(found.scores, key=found.scores.get)
    assert score(found.path[-1]) >= max(score(sizes) for sizes in found.path)


def test_a_climb_asks_for_each_score_once():
    asked = []

    def score(sizes):
        asked.append(sizes)
        return -len(sizes)

    climb((1, 1, 2, 1), score)
    assert len(asked) == len(set(asked))


def test_words():
    assert table(["a"], [["1"]]) == "| a |\n| --- |\n| 1 |"
    assert sizes_text((1, 2)) == "(1,2)"
    assert tiers_text([["a"], ["b", "c"]]) == "a > b ~ c"
    assert [duration(one) for one in (0.0123, 0.25, 5, 120)] == [
        "12.3 ms",
        "250 ms",
        "5.0 s",
        "2.0 min",
    ]
