"""Groups that are opposed show in answers with gaps, too."""

import numpy as np
import pytest

import tierwise as tw

ITEMS = tuple("abcdefgh")


def with_gaps(rankings, rng, n_shown=4):
    """Show some items of each answer, chosen at random."""
    places, n_items = rankings.restrict(ITEMS).places, len(ITEMS)
    shown = np.argsort(rng.random(places.shape), axis=1) < n_shown
    ranks = np.argsort(np.argsort(np.where(shown, places, n_items + places), axis=1), axis=1)
    hidden = np.where(shown, ranks, -1).astype(np.int32)
    return tw.Rankings(ITEMS, hidden, unranked="anywhere")


def model(items):
    worths = np.exp(np.linspace(1, -1, len(ITEMS)))
    return tw.ClusteredLuce(tw.Tiers([[item] for item in items]), worths)


@pytest.mark.parametrize("seed", range(4))
def test_opposed_groups_are_seen(seed):
    rng = np.random.default_rng(seed)
    halves = [model(order).sample(100, rng).restrict(ITEMS) for order in (ITEMS, ITEMS[::-1])]
    data = with_gaps(tw.Rankings.concat(halves), rng)
    check = tw.check_fit(data, tw.search(data, family="luce").best, rng=1)
    assert check.verdict == "mixture suspected"
    # One half ranks the first items high and the last ones low, the other half the reverse.
    assert abs(np.corrcoef(check.direction, np.arange(8))[0, 1]) > 0.8


@pytest.mark.parametrize("seed", range(4))
def test_one_group_fits(seed):
    rng = np.random.default_rng(seed)
    data = with_gaps(model(ITEMS).sample(200, rng), rng)
    check = tw.check_fit(data, tw.search(data, family="luce").best, rng=1)
    assert check.verdict == "fits"
    assert "direction" in {finding.name for finding in check.findings}
