import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tierwise import InputError, Tiers


@st.composite
def any_tiers(draw):
    n_items = draw(st.integers(1, 7))
    labels = draw(st.lists(st.integers(1, 4), min_size=n_items, max_size=n_items))
    numbers = {label: number for number, label in enumerate(sorted(set(labels)), start=1)}
    return Tiers.from_labels([numbers[label] for label in labels])


def test_prints_as_people_write_it():
    tiers = Tiers([["fatty tuna"], ["tuna", "shrimp"]])
    assert str(tiers) == "fatty tuna > tuna ~ shrimp"
    assert tiers.sizes == (1, 2)
    assert tiers.labels == (1, 2, 2)
    assert tiers.items == ("fatty tuna", "tuna", "shrimp")


def test_the_papers_example():
    tiers = Tiers.from_labels((2, 1, 1, 2, 3))
    assert tiers.to_lists() == [[2, 3], [1, 4], [5]]
    assert tiers.labels == (2, 1, 1, 2, 3)
    assert tiers.items == (1, 2, 3, 4, 5)


@given(any_tiers())
def test_labels_and_lists_say_the_same(tiers):
    assert Tiers(tiers.to_lists()) == tiers
    assert Tiers.from_labels(tiers.labels, tiers.items) == tiers
    assert Tiers.from_labels(dict(zip(tiers.items, tiers.labels, strict=True))) == tiers
    assert Tiers.from_sizes(tiers.sizes, [item for tier in tiers for item in tier]) == tiers
    assert sum(tiers.sizes) == len(tiers.items)
    assert len(tiers) == len(tiers.sizes)


@given(any_tiers(), any_tiers())
def test_equal_tiers_have_equal_hashes(first, second):
    if first == second:
        assert hash(first) == hash(second)
    assert (first == second) == ([set(tier) for tier in first] == [set(tier) for tier in second])


def test_order_within_a_tier_does_not_matter_but_order_of_tiers_does():
    assert Tiers([["a", "b"], ["c"]]) == Tiers([["b", "a"], ["c"]])
    assert len({Tiers([["a", "b"], ["c"]]), Tiers([["b", "a"], ["c"]])}) == 1
    assert Tiers([["a"], ["b"]]) != Tiers([["b"], ["a"]])
    assert Tiers([["a"], ["b"]]) != "a > b"


def test_membership_and_ties():
    tiers = Tiers([["a"], ["b", "c"]])
    assert tiers["a"] == 1
    assert "b" in tiers
    assert "z" not in tiers
    assert tiers.tied("b", "c")
    assert not tiers.tied("a", "c")
    with pytest.raises(InputError, match="'z' is not in the tiers"):
        tiers["z"]


def test_label_array_follows_the_items_given():
    tiers = Tiers([["a"], ["b", "c"]])
    np.testing.assert_array_equal(tiers.label_array(["c", "a", "b"]), [1, 0, 1])
    with pytest.raises(InputError, match="not in the tiers: 'z'; only in the tiers: 'c'"):
        tiers.label_array(["a", "b", "z"])


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Tiers([]), "no tiers"),
        (lambda: Tiers([["a"], []]), "tier 2 is empty"),
        (lambda: Tiers([["a"], ["a"]]), "'a' is in tier 1 and again in tier 2"),
        (lambda: Tiers("ab"), "list of lists"),
        (lambda: Tiers(["tuna", "egg"]), r"write \['tuna'\]"),
        (lambda: Tiers.from_labels([1, 3]), "every number from 1"),
        (lambda: Tiers.from_labels([0, 1]), "every number from 1"),
        (lambda: Tiers.from_labels([]), "no labels"),
        (lambda: Tiers.from_labels(["x"]), "whole numbers"),
        (lambda: Tiers.from_labels([1, 2], items=["a"]), "2 labels were given for 1 items"),
        (lambda: Tiers.from_labels({"a": 1}, items=["a"]), "leave out items"),
        (lambda: Tiers.from_sizes((1, 1), ["a"]), "sum to 2, but there are 1 items"),
    ],
)
def test_bad_tiers_are_refused(make, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, tw.TierwiseError)
