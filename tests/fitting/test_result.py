import numpy as np
import pytest

from tests.data_paths import shared_data
from tierwise import Counts, Rankings, Tiers
from tierwise.fitting.result import agreement


def test_every_pair_of_items_counts_once_a_ranking():
    rows = [list("abcd"), list("bdac"), list("dcba")]
    tiers = Tiers([["a", "b"], ["c"], ["d"]])
    right = total = 0
    for row in rows:
        for better in row:
            for worse in row:
                if tiers[better] < tiers[worse]:
                    total += 1
                    right += row.index(better) < row.index(worse)
    rankings = Rankings.from_orderings(rows)
    assert agreement(rankings, tiers).overall == pytest.approx(right / total)
    assert agreement(Counts.of(rankings), tiers).overall == pytest.approx(right / total)


def test_pairs_left_open_do_not_count():
    rows = [["a"], ["b", "a", "c"]]
    tiers = Tiers([["a"], ["b"], ["c"]])
    below = Rankings.from_orderings(rows, unranked="below")
    assert agreement(below, tiers).overall == pytest.approx(4 / 5)
    anywhere = Rankings.from_orderings(rows, unranked="anywhere")
    assert agreement(anywhere, tiers).overall == pytest.approx(2 / 3)


def test_one_tier_has_no_agreement():
    rankings = Rankings.from_orderings([["a", "b"]])
    assert np.isnan(agreement(rankings, Tiers([["a", "b"]])).overall)
    assert agreement(rankings, Tiers([["a", "b"]])).to_dict()["overall"] is None


def test_the_papers_table_for_sushi():
    from tierwise.data.datasets import load_sushi

    rankings = load_sushi(shared_data("sushi"), region="Tohoku")
    tiers = Tiers(
        [
            ["fatty tuna"],
            ["tuna"],
            ["shrimp"],
            ["sea urchin", "salmon roe"],
            ["sea eel", "tuna roll", "squid"],
            ["egg", "cucumber roll"],
        ]
    )
    shares = agreement(rankings, tiers).against_worse
    np.testing.assert_allclose(shares, [0.74, 0.67, 0.68, 0.64, 0.73], atol=0.005)
