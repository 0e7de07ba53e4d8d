"""What is said is put together by its probability, and held against truths that are consistent."""

from pathlib import Path

import numpy as np
import pytest
from studies.harness import Place
from studies.truths import KINDS
from studies.what_is_said import (
    CLAIMS,
    INTERVAL,
    SURE,
    Settings,
    one_cell,
    one_set,
    summed,
    together,
)

import tierwise as tw
from studies import what_is_said
from tierwise.fitting.order import standard_errors_above_half


def test_claims_are_put_together_by_their_probability():
    cell = summed([("tied", 0.97, 1.0), ("tied", 0.99, 0.0), ("tied", 0.1, 0.0)])
    assert cell["tied"][SURE] == [2, 0.98, 0.5]
    assert [count for count, _, _ in cell["tied"]] == [0, 1, 0, 0, 0, 2]
    assert together([cell, cell], "tied")[SURE] == [4, 0.98, 0.5]
    assert together([cell], "better")[SURE][0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_truths_are_consistent(kind):
    truth = KINDS[kind].draw(6, 80, np.random.default_rng(3))
    tied = truth.labels[:, None] == truth.labels
    assert len(truth.data.items) == 6
    assert set(truth.labels.tolist()) == set(range(truth.labels.max() + 1))
    assert truth.close[tied].all()
    assert (truth.close == truth.close.T).all()
    if "all worths differ" in kind:
        assert len(set(truth.labels.tolist())) == 6


def test_truths_go_with_many_answers():
    truth = KINDS["Luce with ties"].draw(6, 20_000, np.random.default_rng(1))
    mean_places = truth.data.places.mean(axis=0)
    better = truth.labels[:, None] < truth.labels
    assert (mean_places[:, None] < mean_places)[better].all()


def test_everything_that_is_printed_is_looked_at():
    seed = np.random.SeedSequence(5)
    said = one_set("Luce with ties", 6, 300, 2, 60, seed)
    assert {name for name, _, _ in said} == {*CLAIMS, INTERVAL}
    assert all(0.0 <= share <= 1.0 and 0.0 <= true <= 1.0 for _, share, true in said)


def test_cells_that_are_done_are_not_computed_again(monkeypatch, tmp_path):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return [("tied", 0.5, 1.0)]

    monkeypatch.setattr(what_is_said, "KEPT", tmp_path)
    monkeypatch.setattr(what_is_said, "one_set", counted)
    settings = Settings(items=(6,), sets=(2,))
    first, again = (one_cell(settings, Place(Path()), "Luce with ties", 6, 30) for _ in range(2))
    assert first == again
    assert len(calls) == 2
    one_cell(Settings(items=(6,), sets=(3,)), Place(Path()), "Luce with ties", 6, 30)
    assert len(calls) == 5


def test_standard_errors_of_an_order():
    tiers = tw.Tiers([["a"], ["b", "c"]])
    same = tw.Rankings.from_orderings([list("abc")], weights=[10])
    assert standard_errors_above_half(same, tiers) == np.inf
    against = tw.Rankings.from_orderings([list("bca")], weights=[10])
    assert standard_errors_above_half(against, tiers) == -np.inf
    even = tw.Rankings.from_orderings([list("bac"), list("cab")], weights=[10, 10])
    assert standard_errors_above_half(even, tiers) == -np.inf
    mixed = tw.Rankings.from_orderings([list("abc"), list("bca")], weights=[75, 25])
    # One answer has two pairs, so the share of 0.75 has the error of 100 people.
    expected = 0.25 / np.sqrt(0.75 * 0.25 / 100)
    assert standard_errors_above_half(mixed, tiers) == pytest.approx(expected)
