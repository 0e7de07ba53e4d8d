import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierwise import Counts, InputError, Rankings, TooLargeError
from tierwise.data.counts import block_counts
from tierwise.tiers import compositions


@st.composite
def weighted_orderings(draw):
    n_items = draw(st.integers(2, 5))
    rows = draw(st.lists(st.permutations(range(n_items)), min_size=1, max_size=8))
    weights = draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows)))
    if not any(weights):
        weights[0] = 1
    return rows, weights


def block_of(place, sizes):
    return int(np.searchsorted(np.cumsum(sizes), place, side="right"))


@given(weighted_orderings())
def test_counts_are_what_their_definitions_say(example):
    rows, weights = example
    n_items = len(rows[0])
    counts = Counts.of(Rankings.from_orderings(rows, items=range(n_items), weights=weights))
    assert counts.joint.dtype == counts.places.dtype == np.int64
    for a in range(n_items):
        for r in range(n_items):
            assert counts.places[a, r] == sum(
                weight for row, weight in zip(rows, weights, strict=True) if row[r] == a
            )
            for b in range(n_items):
                for s in range(n_items):
                    assert counts.joint[a, r, b, s] == sum(
                        weight
                        for row, weight in zip(rows, weights, strict=True)
                        if row[r] == a and row[s] == b
                    )


@pytest.mark.thorough
@given(weighted_orderings())
def test_block_counts_are_what_their_definitions_say_either_way(example):
    rows, weights = example
    n_items = len(rows[0])
    rankings = Rankings.from_orderings(rows, items=range(n_items), weights=weights)
    for sizes in compositions(n_items):
        from_rankings = block_counts(rankings, sizes)
        from_counts = block_counts(Counts.of(rankings), sizes)
        np.testing.assert_array_equal(from_rankings.membership, from_counts.membership)
        np.testing.assert_array_equal(from_rankings.precedence, from_counts.precedence)
        assert from_rankings.n_rankings == from_counts.n_rankings == sum(weights)
        assert from_rankings.log_completions == 0
        for a in range(n_items):
            for b in range(n_items):
                assert from_rankings.precedence[a, b] == sum(
                    weight
                    for row, weight in zip(rows, weights, strict=True)
                    if block_of(row.index(a), sizes) < block_of(row.index(b), sizes)
                )


@given(weighted_orderings(), st.data())
def test_counts_of_parts_add_up(example, data):
    rows, _ = example
    rankings = Rankings.from_orderings(rows, items=range(len(rows[0])))
    cut = data.draw(st.integers(1, len(rows)))
    parts = [rankings.subset(slice(0, cut))]
    if cut < len(rows):
        parts.append(rankings.subset(slice(cut, None)))
    together = Counts.of(parts[0])
    for part in parts[1:]:
        together = together + Counts.of(part)
    assert together == Counts.of(rankings) == Counts.from_chunks(parts)


def test_large_weights_stay_exact():
    rankings = Rankings.from_orderings([["a", "b"]], weights=[2**60 + 1])
    assert Counts.of(rankings).places[0, 0] == 2**60 + 1


def test_fractional_weights_count_too():
    rankings = Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[0.25, 1])
    assert Counts.of(rankings).places[0].tolist() == [0.25, 1.0]
    whole = Rankings.from_orderings([["a", "b"]])
    assert Counts.from_chunks([whole, rankings]).places[0].tolist() == [1.25, 1.0]


def test_top_answers_count_where_the_blocks_are_known():
    top = Rankings.from_orderings([["a", "b"], ["c", "b"]], items="abcd", unranked="below")
    counted = block_counts(top, (1, 1, 2))
    assert counted.precedence[1].tolist() == [1, 0, 1, 2]
    assert counted.log_completions == pytest.approx(2 * np.log(2))
    with pytest.raises(InputError, match="row 1 does not say which items lie in which"):
        block_counts(top, (1, 1, 1, 1))


def test_ties_within_a_block_do_no_harm():
    tied = Rankings.from_orderings([["a", ["b", "c"]]])
    assert block_counts(tied, (1, 2)).precedence[0].tolist() == [0, 1, 1]
    assert block_counts(tied, (1, 2)).log_completions == pytest.approx(np.log(2))
    with pytest.raises(InputError, match="row 1 does not say"):
        block_counts(tied, (2, 1))


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(InputError, match="not listed is unknown"):
        block_counts(Rankings.from_orderings([["a"]], items="ab", unranked="anywhere"), (1, 1))
    with pytest.raises(InputError, match="complete rankings"):
        Counts.of(Rankings.from_orderings([["a"]], items="abc", unranked="below"))
    with pytest.raises(InputError, match="same items"):
        Counts.from_chunks(
            [Rankings.from_orderings([["a", "b"]]), Rankings.from_orderings([["b", "a"]])]
        )
    with pytest.raises(InputError, match="no rankings to count"):
        Counts.from_chunks([])
    with pytest.raises(InputError, match="cannot be added"):
        Counts.of(Rankings.from_orderings([["a", "b"]])) + Counts.of(
            Rankings.from_orderings([["b", "a"]])
        )
    with pytest.raises(TooLargeError, match="the limit is 50 items"):
        Counts.of(Rankings.from_orderings([range(51)]))


def some_counts(items="abc"):
    rows = [list(items), list(reversed(items))]
    return Counts.of(Rankings.from_orderings(rows, weights=[2, 1]))


@pytest.mark.parametrize("weights", [[2, 1], [0.5, 1.25]])
def test_counts_come_back_from_a_file_and_add(tmp_path, weights):
    counts = Counts.of(Rankings.from_orderings([["x", "ä", 3], [3, "x", "ä"]], weights=weights))
    counts.save(tmp_path / "counts.npz")
    again = Counts.load(tmp_path / "counts.npz")
    assert again == counts
    assert again.fingerprint() == counts.fingerprint()
    assert again.places.tolist() == counts.places.tolist()
    assert (again + counts).n_rankings == 2 * counts.n_rankings


def test_damaged_counts_are_refused(tmp_path):
    path = tmp_path / "counts.npz"
    some_counts().save(path)
    with np.load(path) as saved:
        arrays = {name: saved[name] for name in saved.files}
    arrays["joint"][0, 0, 1, 1] += 1
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="checksum"):
        Counts.load(path)
    path.write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match="damaged"):
        Counts.load(path)
    with pytest.raises(InputError, match="no file"):
        Counts.load(tmp_path / "none.npz")
    with pytest.raises(InputError, match=r"\.npz"):
        some_counts().save(tmp_path / "counts.csv")


def test_counts_of_other_items_do_not_add(tmp_path):
    some_counts("abd").save(tmp_path / "counts.npz")
    with pytest.raises(InputError, match="different items"):
        some_counts() + Counts.load(tmp_path / "counts.npz")
