"""The published tables and the loaders of sets that may not be shipped."""

import json

import numpy as np
import pytest

from tests.data_paths import shared_data
from tierwise import InputError, describe, read_rankings
from tierwise.data.datasets import (
    load_apa1980,
    load_f1,
    load_political_goals,
    load_sushi,
    load_word_association,
)


@pytest.mark.parametrize(
    ("load", "table", "n_rankings", "items"),
    [
        (load_political_goals, "croon1989", 2262, ("order", "say", "prices", "speech")),
        (load_apa1980, "apa1980_full", 5738, tuple("ABCDE")),
        (load_word_association, "idea", 98, ("thought", "play", "theory", "dream", "attention")),
        (
            lambda: load_word_association("song"),
            "song",
            83,
            ("score", "instrument", "solo", "benediction", "suit"),
        ),
    ],
)
def test_tables_are_those_published(load, table, n_rankings, items):
    answers = load()
    assert answers.n_rankings == n_rankings
    assert answers.items == items
    assert answers.is_complete
    published = json.loads((shared_data("tables") / f"{table}.json").read_text())["freq"]
    found = {
        "".join(str(items.index(item) + 1) for item in row): weight
        for row, weight in zip(answers.to_orderings(), answers.weights.tolist(), strict=True)
    }
    assert found == published


def test_a_word_without_a_table():
    with pytest.raises(InputError, match=r"word must be .*'dance'"):
        load_word_association("dance")


def test_sushi_of_tohoku():
    folder = shared_data("sushi")
    everybody = load_sushi(folder)
    assert len(everybody) == 5000
    tohoku = load_sushi(folder, region="Tohoku")
    assert len(tohoku) == 280
    [closest] = describe(tohoku).closest_pairs(1)
    assert {closest.above, closest.below} == {"tuna roll", "squid"}
    assert closest.share == pytest.approx(0.51, abs=0.005)
    best = np.argmin(describe(everybody).mean_ranks)
    assert everybody.items[best] == "fatty tuna"
    with pytest.raises(InputError, match=r"region must be .*'Toyama'"):
        load_sushi(folder, region="Toyama")


def test_sushi_names_are_those_of_the_numbers():
    numbered = read_rankings(shared_data("sushi") / "sushi3a.5000.10.order")
    named = load_sushi(shared_data("sushi"))
    first = [named.items[number] for number in numbered.to_orderings()[0]]
    assert named.to_orderings()[0] == first
    assert first[:2] == ["salmon roe", "shrimp"]


def test_sushi_files_that_do_not_belong_together(tmp_path):
    (tmp_path / "sushi3a.5000.10.order").write_text("10 1\n0 10 0 1 2 3 4 5 6 7 8 9\n")
    (tmp_path / "sushi3.udata").write_text("1\t0\t2\t3\t0\t1\t0\t0\t0\t0\t0\n" * 2)
    with pytest.raises(InputError, match="2 people, but there are 1 rankings"):
        load_sushi(tmp_path, region="Tohoku")


def test_f1():
    path = shared_data("f1") / "f1db_2015_2016_results.csv"
    races = load_f1(path)
    assert len(races) == 40
    assert len(races.items) == 25
    assert races.unranked == "below"
    assert races.to_orderings()[0][:2] == ["Lewis Hamilton", "Nico Rosberg"]
    assert len(load_f1(path, minimum_entries=1).items) == 28
    assert load_f1(path, unranked="anywhere").unranked == "anywhere"
    assert load_f1() == races


def test_f1_comes_with_the_package():
    races = load_f1()
    assert (len(races), len(races.items), races.unranked) == (40, 25, "below")


def test_files_that_are_not_there_say_where_to_get_them(tmp_path):
    with pytest.raises(InputError, match=r"SUSHI Preference Data Sets.*must not be redistributed"):
        load_sushi(tmp_path)
    with pytest.raises(InputError, match=r"f1db.*CC BY 4\.0"):
        load_f1(tmp_path / "results.csv")
    (tmp_path / "results.csv").write_text("year,round\n")
    with pytest.raises(InputError, match=r"results\.csv has no column 'driverId'"):
        load_f1(tmp_path / "results.csv")
