"""Distances: definitions, counts, swaps, and the properties that the model rests on."""

import re
from itertools import permutations
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference
from tierwise import (
    ClusteredMallows,
    Counts,
    InputError,
    Rankings,
    Tiers,
    fit,
    partition_function,
)
from tierwise._kernels.orderings import walk
from tierwise.distances import Distance, Rule, distance_names, get_distance

NAMES = sorted(reference.DISTANCES)


@st.composite
def orderings_and_tiers(draw):
    some = st.lists(st.integers(1, 3), min_size=1, max_size=4)
    sizes = tuple(draw(some.filter(lambda sizes: sum(sizes) > 1)))
    n_items = sum(sizes)
    ordering = tuple(draw(st.permutations(range(n_items))))
    labels = tuple(draw(st.permutations(reference.labels_of(sizes))))
    return sizes, ordering, labels


def sequence_of(ordering, labels):
    return np.array([[labels[item] for item in ordering]])


def test_all_distances_are_there():
    assert list(distance_names()) == NAMES
    assert all(get_distance(name).description for name in NAMES)
    assert "kendall" in repr(get_distance("kendall"))


def test_lists_for_people_leave_out_no_distance():
    root = Path(__file__).parents[1]
    pages = [root / "docs" / f"{name}.md" for name in ("glossary", "other-packages", "theory")]
    lists = [
        (path.name, paragraph)
        for path in (*pages, *(root / "src").rglob("*.py"))
        for paragraph in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").lower())
        if all(name in paragraph for name in ("kendall", "hamming", "footrule", "spearman"))
    ]
    found = {where for where, _ in lists}
    assert {"glossary.md", "other-packages.md", "theory.md", "fit.py"} <= found
    lacking = []
    for where, paragraph in lists:
        # A name in quotes is not taken for a word of the same spelling.
        quote = re.search(r"([\"']?)kendall", paragraph)[1]
        missing = [name for name in NAMES if not re.search(rf"{quote}\b{name}\b{quote}", paragraph)]
        if missing:
            lacking.append(f"{where} lacks {missing}: {paragraph.strip()[:100]}")
    assert not lacking, "\n".join(lacking)


def test_the_papers_example():
    # z = (2, 1, 1, 2, 3) and the ordering (2, 1, 3, 4, 5).
    labels, ordering, sizes = (1, 0, 0, 1, 2), (1, 0, 2, 3, 4), (2, 2, 1)
    sequences = sequence_of(ordering, labels)
    assert get_distance("hamming").between(sequences, sizes) == [2]
    assert get_distance("kendall").between(sequences, sizes) == [3]


# To make up cases takes longer than to look at them: each is looked at under all distances.


@given(case=orderings_and_tiers())
def test_all_ways_to_a_distance_agree_with_the_definition(case):
    sizes, ordering, labels = case
    rankings = Rankings.from_order_array(np.array([ordering]), range(len(labels)))
    for name in NAMES:
        distance = get_distance(name)
        expected = reference.DISTANCES[name](ordering, labels, sizes)
        assert distance.between(sequence_of(ordering, labels), sizes) == [expected], name
        costs = distance.costs(Counts.of(rankings).blocks(distance.blocks(sizes)), sizes)
        total = sum(
            costs.linear[item, label] for item, label in enumerate(labels) if costs.linear.size
        )
        if costs.pairs.size:
            total += sum(
                costs.pairs[first, second]
                for first in range(len(labels))
                for second in range(len(labels))
                if first != second and labels[second] <= labels[first]
            )
        assert total == pytest.approx(expected), name
        assert costs.n_items == len(labels), name


@given(case=orderings_and_tiers())
def test_walks_by_swaps_keep_count_of_the_distance(case):
    sizes, ordering, labels = case
    for name in NAMES:
        distance = get_distance(name)
        rule, blocks = distance.rule(sizes), np.array(distance.blocks(sizes))
        sequences = sequence_of(ordering, labels)
        units = (distance.between(sequences, sizes) / rule.unit).astype(np.int64)
        rng = np.random.default_rng(1)
        walk(sequences, blocks, 0.1, rule.misplaced, rule.placing, 20, units, rng)
        assert units * rule.unit == distance.between(sequences, sizes), name


@given(case=orderings_and_tiers(), data=st.data())
def test_relabelling_items_changes_nothing(case, data):
    sizes, ordering, labels = case
    names = data.draw(st.permutations(range(len(labels))))
    renamed_ordering = [names[item] for item in ordering]
    renamed_labels = [0] * len(labels)
    for item, label in enumerate(labels):
        renamed_labels[names[item]] = label
    for name in NAMES:
        distance = get_distance(name)
        assert distance.between(sequence_of(renamed_ordering, renamed_labels), sizes) == (
            distance.between(sequence_of(ordering, labels), sizes)
        ), name


@given(case=orderings_and_tiers())
def test_zero_exactly_at_the_tiers(case):
    sizes, ordering, labels = case
    sequences = sequence_of(ordering, labels)
    in_order = np.sort(sequences)
    for name in NAMES:
        distance = get_distance(name)
        # Where blocks are those of the tiers, each tier fills its block at the tiers.
        assert (distance.between(sequences, sizes) == 0) == (sequences == in_order).all(), name
        assert distance.between(in_order, sizes) == 0, name


@given(case=orderings_and_tiers())
def test_symmetric_in_blocks_and_labels(case):
    sizes, ordering, labels = case
    sequence = [labels[item] for item in ordering]
    # Each item of the other ordering has the block of this one as its label, and the other way.
    by_label = np.argsort(sequence, kind="stable")
    turned = np.array(reference.labels_of(sizes))[by_label]
    for name in NAMES:
        if name != "inversions":
            found = get_distance(name).between(np.array([sequence, turned]), sizes)
            assert found[0] == found[1], name


def test_a_distance_of_ones_own():
    class Sided(Distance):
        name = "sided"
        description = "Kendall, and one for every item that falls"

        def rule(self, sizes):
            falls = np.tril(np.ones((len(sizes), len(sizes)), dtype=np.int64), -1)
            return Rule(misplaced=2, placing=falls, unit=0.5, tied=2)

    sided = Sided()
    assert get_distance(sided) is sided
    assert "sided" not in distance_names()
    assert sided.between(np.array([[0, 1, 0, 1]]), (2, 2)) == [3 + 0.5]
    counts = Counts.of(Rankings.from_orderings([["a", "b"]])).blocks((1, 1))
    costs = sided.costs(counts, (1, 1))
    assert costs.linear.tolist() == [[0, 0], [0.5, 0]]
    assert costs.pairs.tolist() == [[0, 1], [0, 0]]


def test_ties_cost_as_much_as_reversals_or_nothing():
    class HalfTied(Distance):
        name = "half tied"
        description = "reversed pairs, and half for tied ones"

        def rule(self, sizes):
            nothing = np.zeros((len(sizes), len(sizes)), dtype=np.int64)
            return Rule(misplaced=2, placing=nothing, unit=0.5, tied=1)

    class FreeTies(HalfTied):
        def rule(self, sizes):
            nothing = np.zeros((len(sizes), len(sizes)), dtype=np.int64)
            return Rule(misplaced=1, placing=nothing, unit=1.0, tied=0)

    with pytest.raises(InputError, match="tied"):
        partition_function((2, 2), HalfTied())
    with pytest.raises(InputError, match="tied"):
        partition_function((2, 2), FreeTies())


class ByPlacing(Distance):
    """An additive distance, from what items cost."""

    name = "by placing"
    description = "given by a matrix"

    def __init__(self, placing, blocks=None):
        self._placing = np.array(placing)
        self._blocks = blocks

    def blocks(self, sizes):
        return self._blocks or sizes

    def rule(self, sizes):
        return Rule(misplaced=0, placing=self._placing, unit=1.0, tied=0)


@pytest.mark.parametrize(
    ("distance", "complaint"),
    [
        (ByPlacing([[0, 0, 2], [0, 0, 1], [1, 0, 0], [2, 1, 0]], (1, 1, 1, 1)), "blocks of sizes"),
        (ByPlacing([[0, 1, 2], [1, 0, 1], [2, 1, 0]], (2, 1, 1)), "blocks of sizes"),
        (ByPlacing([[1, 2, 3], [2, 1, 2], [3, 2, 1]]), "diagonal"),
        (ByPlacing([[0, 0, 1], [0, 0, 1], [1, 1, 0]]), "more than 0"),
        # Three items may change places in turn, and nothing is paid.
        (ByPlacing([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), "more than 0"),
    ],
)
def test_rules_that_methods_cannot_rely_on_are_refused(distance, complaint):
    rankings = Rankings.from_orderings([list("abcd"), list("bacd")])
    with pytest.raises(InputError, match=complaint):
        partition_function((1, 2, 1), distance)
    with pytest.raises(InputError, match=complaint):
        fit(rankings, (1, 2, 1), distance)


def test_names_of_known_distances_are_not_given_again():
    class Other(ByPlacing):
        name = "kendall"

    rankings = Rankings.from_orderings([list("abcd"), list("bacd")])
    other = Other([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    with pytest.raises(InputError, match="Other is another one: give it another name"):
        fit(rankings, (1, 2, 1), other, concentration="tier")
    with pytest.raises(InputError, match="Other is another one: give it another name"):
        partition_function((1, 2, 1), other)


@pytest.mark.parametrize(("unit", "misplaced"), [(0.0, 1), (-1.0, 1), (np.inf, 1), (1.0, -1)])
def test_units_are_positive_and_no_pair_is_paid_for(unit, misplaced):
    class Strange(Distance):
        name = "strange"
        description = "of a strange unit"

        def rule(self, sizes):
            return Rule(misplaced, np.zeros((len(sizes),) * 2, dtype=np.int64), unit, misplaced)

    with pytest.raises(InputError, match="must have a positive unit"):
        partition_function((1, 2), Strange())


def test_items_that_rise_may_cost_nothing():
    only_falls = ByPlacing(np.tril(np.ones((3, 3), dtype=np.int64), -1))
    expected = [
        sum(reference.labels_of((1, 2, 1))[place] > label for place, label in enumerate(sequence))
        for sequence in permutations((0, 1, 1, 2))
    ]
    found = partition_function((1, 2, 1), only_falls)
    assert found.log_value(0.7) == pytest.approx(log(sum(exp(-0.7 * units) for units in expected)))


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (1, 2, 1)])
@pytest.mark.parametrize("name", ["kendall", "hamming", "footrule", "spearman"])
def test_a_multiple_of_a_distance_has_a_fraction_of_its_theta(name, sizes):
    class Multiple(Distance):
        name = "multiple"
        description = "two and a half times a distance"

        def rule(self, sizes):
            known = plain.rule(sizes)
            return Rule(known.misplaced, known.placing, 2.5 * known.unit, known.tied)

    plain, multiple = get_distance(name), Multiple()
    one, other = partition_function(sizes, plain), partition_function(sizes, multiple)
    assert other.log_value(0.2) == pytest.approx(one.log_value(0.5))
    assert other.mean(0.2) == pytest.approx(2.5 * one.mean(0.5))
    assert other.variance(0.2) == pytest.approx(2.5**2 * one.variance(0.5))
    tiers = Tiers.from_sizes(sizes, "abcd")
    assert ClusteredMallows(tiers, 0.2, multiple).pair_probabilities() == pytest.approx(
        ClusteredMallows(tiers, 0.5, plain).pair_probabilities()
    )
    rankings = Rankings.from_orderings([list("abcd"), list("bacd"), list("dabc"), list("abdc")])
    fitted, expected = fit(rankings, sizes, multiple), fit(rankings, sizes, plain)
    assert fitted.theta == pytest.approx(expected.theta / 2.5)
    assert fitted.log_likelihood == pytest.approx(expected.log_likelihood)


def test_rules_in_largest_units():
    rule = get_distance("spearman").rule((2, 2))
    assert rule.placing.tolist() == [[0, 16], [16, 0]]
    reduced = rule.in_largest_units()
    assert reduced.placing.tolist() == [[0, 1], [1, 0]]
    assert reduced.unit == 4.0
    assert get_distance("spearman").rule((3,)).in_largest_units().unit == 0.25


@pytest.mark.parametrize("name", ["euclid", "", "Kendall", 3, None])
def test_unknown_distance(name):
    with pytest.raises(InputError, match="footrule, hamming, inversions, kendall, spearman"):
        get_distance(name)
