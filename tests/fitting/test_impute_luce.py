"""What answers leave open, under models with one worth per tier."""

from itertools import permutations

import numpy as np
import pytest

import tierwise as tw
from tests import reference_luce
from tierwise import InputError, Preferences, Rankings, Tiers
from tierwise.fitting import impute as imputing

MODEL = tw.ClusteredLuce(Tiers([["a"], ["b", "c"], ["d", "e"]]), (4.0, 2.0, 0.5))
WORTHS = [4.0, 2.0, 2.0, 0.5, 0.5]
GAPS = Rankings.from_orderings(
    [["d", "b"], ["c", "a", "e"], ["b"]], items="abcde", unranked="anywhere"
)
TOPS = Rankings.from_orderings([["e", "b"], ["a"]], items="abcde", unranked="below")
TIES = Rankings.from_ranks(
    [[2, 1, 1, 4, 4], [1, 1, 1, 4, 5], [3, 1, 1, 3, 5]], items="abcde", ties="allow"
)
PAIRS = Preferences.from_pairs(
    [("Ann", "e", "b"), ("Ann", "b", "a"), ("Ann", "d", "a"), ("Bob", "c", "d")], items="abcde"
)


def by_enumeration(agrees):
    """Probability of each place of each item, over all orderings that agree with an answer."""
    table = np.zeros((5, 5))
    for ordering in permutations(range(5)):
        if agrees({item: place for place, item in enumerate(ordering)}):
            share = reference_luce.probability_of_ordering(ordering, WORTHS)
            for place, item in enumerate(ordering):
                table[item, place] += share
    return table / table[0].sum()


def expected(data):
    """The same for each answer of a data set."""
    if isinstance(data, Preferences):
        pairs = [
            [("abcde".index(a), "abcde".index(b)) for a, b in data.pairs(row)]
            for row in ("Ann", "Bob")
        ]
        return [
            by_enumeration(lambda rank, own=own: all(rank[a] < rank[b] for a, b in own))
            for own in pairs
        ]
    tables = []
    for row in data.places.tolist():
        listed = [None if place < 0 else place for place in row]
        below = data.unranked == "below"
        tables.append(
            by_enumeration(
                lambda rank, listed=listed, below=below: reference_luce.agrees(
                    sorted(rank, key=rank.__getitem__), listed, below
                )
            )
        )
    return tables


@pytest.mark.thorough
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(GAPS, id="gaps"),
        pytest.param(TOPS, id="tops", marks=pytest.mark.slow),
        pytest.param(TIES, id="ties", marks=pytest.mark.slow),
        pytest.param(PAIRS, id="pairs"),
    ],
)
def test_completions_are_summed_or_drawn(data, monkeypatch):
    tables = expected(data)
    exact = tw.impute(data, MODEL)
    assert exact.exact
    for answer, table in enumerate(tables):
        np.testing.assert_allclose(exact.place_probabilities(answer), table, atol=1e-12)
    monkeypatch.setattr(imputing, "MOST_COMPLETIONS", 1)
    drawn = tw.impute(data, MODEL, draws=40_000, rng=1)
    assert not drawn.exact
    assert 0 < drawn.error < 0.01
    for answer, table in enumerate(tables):
        # 40,000 draws: a standard error of at most 0.0025, for times drawn in turn a little more.
        np.testing.assert_allclose(drawn.place_probabilities(answer), table, atol=0.015)


def test_fits_and_posteriors_say_where_items_would_be():
    complete = MODEL.sample(150, rng=3)
    fit = tw.search(complete, family="luce").best
    by_fit = tw.impute(GAPS, fit)
    np.testing.assert_allclose(
        by_fit.place_probabilities(0), tw.impute(GAPS, fit.model()).place_probabilities(0)
    )
    posterior = tw.sample_posterior(complete, family="luce", draws=200, rng=1)
    averaged = tw.impute(GAPS, posterior)
    assert averaged.n_models > 1
    means = np.zeros((5, 5))
    order = [posterior.items.index(item) for item in GAPS.items]
    logs = posterior.log_worths[:, order]
    for row in logs[:: len(logs) // 20]:
        tiers = Tiers(
            [[item] for item in sorted("abcde", key=lambda item: -row["abcde".index(item)])]
        )
        model = tw.ClusteredLuce(tiers, sorted(np.exp(row), reverse=True))
        means += tw.impute(GAPS, model).place_probabilities(0)
    means /= means[0].sum()
    np.testing.assert_allclose(averaged.place_probabilities(0), means, atol=0.06)


def test_many_items_are_drawn():
    names = [f"item {number}" for number in range(60)]
    model = tw.ClusteredLuce(Tiers.from_sizes((20, 40), names), (3.0, 1.0))
    rows = [row[:10] for row in model.sample(5, rng=1).to_orderings()]
    found = tw.impute(Rankings.from_orderings(rows, items=names, unranked="below"), model, rng=1)
    means = found.mean_ranks()[0]
    listed = [names.index(item) for item in rows[0]]
    np.testing.assert_allclose(means[listed], np.arange(1, 11))
    others = [item for item in range(60) if item not in listed]
    assert means[[item for item in others if item < 20]].mean() < means[others].mean()


def test_answers_that_contradict_each_other_say_nothing():
    kept = Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "b", "a")], cycles="keep")
    fit = tw.fit(kept, (1, 1), family="luce")
    with pytest.raises(InputError, match="a separate race"):
        tw.impute(kept, fit)
