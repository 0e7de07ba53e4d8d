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


def test_excess_of_few_rows_is_the_largest_eigenvalue():
    from tierwise.checking import rankings as checks

    rng = np.random.default_rng(3)
    n_items, n_rows = 30, 4
    scales = np.linspace(0.5, 3.0, n_items)
    few, every = checks._FewRows(n_items), checks._AllCovariances(n_items)
    weights = np.full(n_rows, 1 / n_rows)
    for _ in range(checks._REPLICATES):
        places = scales * rng.normal(size=(n_rows, n_items))
        few.add(places, weights)
        every.add(places, weights)
    np.testing.assert_allclose(few.excesses(), every.excesses(), rtol=1e-8)
    observed = scales * rng.normal(size=(5, n_items))
    shares = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    excess, direction = few.excess(observed, shares)
    wanted, wanted_direction = every.excess(observed, shares)
    assert excess == pytest.approx(wanted, rel=1e-8)
    assert abs(direction @ wanted_direction) == pytest.approx(1.0, abs=1e-6)
    # Nothing that does not vary exceeds what is expected.
    assert few.excess(np.zeros((3, n_items)), np.full(3, 1 / 3))[0] == 0.0
