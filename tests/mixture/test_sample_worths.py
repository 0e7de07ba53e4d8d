"""sample_mixture with worths: draws from the exact posterior, groups kept apart."""

import json
from collections import Counter
from itertools import combinations_with_replacement, product
from math import lgamma

import numpy as np
import pytest

import tierwise as tw
from tests import reference_luce as reference
from tests.mixture.test_worths import FIRST, ITEMS, SECOND
from tierwise import InputError, MixtureDraws, Rankings
from tierwise.mixture.gibbs_worths import WorthTarget, run_chain_of_worths
from tierwise.mixture.groups import Component, distinct_rankings

pytestmark = pytest.mark.thorough

TINY = [[0, 1, 2], [0, 2, 1], [2, 1, 0], [2, 1], [1, 2, 0]]
LABELS = [(0, 1, 1), (1, 0, 1), (1, 1, 0)]


def exact_posterior(prior_shares):
    """Sum over all memberships: the two groups' tiers, and the mean of the sum of squared shares.

    Worths are averaged over by quadrature, group by group.
    """
    places = [[order.index(item) if item in order else None for item in range(3)] for order in TINY]
    evidence = {}
    for members in product((False, True), repeat=len(TINY)):
        own = [row for row, is_member in zip(places, members, strict=True) if is_member]
        likelihood = reference.Likelihood(3, own, [1] * len(own))
        evidence[members] = [
            reference.log_evidence(likelihood, one, 30) if own else 0.0 for one in LABELS
        ]
    of_tiers, squares, total = Counter(), 0.0, 0.0
    for members, logs in evidence.items():
        others = evidence[tuple(not one for one in members)]
        sizes = np.array([sum(members), len(TINY) - sum(members)]) + prior_shares
        prior = np.exp(sum(lgamma(size) for size in sizes))
        square = (sizes * (sizes + 1)).sum() / (sizes.sum() * (sizes.sum() + 1))
        for one, other in product(range(3), repeat=2):
            mass = prior * np.exp(logs[one] + others[other])
            of_tiers[tuple(sorted((one, other)))] += mass
            squares += mass * square
            total += mass
    return {pair: mass / total for pair, mass in of_tiers.items()}, squares / total


@pytest.mark.parametrize(
    ("prior_shares", "n_draws"),
    [(3.0, 2000), *(pytest.param(one, 4000, marks=pytest.mark.slow) for one in (3.0, 1.0))],
)
def test_tiny_data_against_all_memberships(prior_shares, n_draws):
    data = Rankings.from_orderings(TINY, items=range(3), unranked="anywhere")
    target = WorthTarget(distinct_rankings(data), prior_shares)
    components = tuple(
        Component((1, 2), np.array(LABELS[one]), np.nan, 0.0, np.array([0.5, -0.25]))
        for one in (0, 2)
    )
    trace = run_chain_of_worths(
        target, components, np.array([0.5, 0.5]), 100, n_draws, np.random.SeedSequence(4)
    )
    of_tiers, squares = exact_posterior(prior_shares)
    first = (trace.labels == 0).argmax(axis=2)
    pairs = np.sort(first, axis=1)
    checked = [(pairs == pair).all(axis=1) for pair in combinations_with_replacement(range(3), 2)]
    expected = [of_tiers[pair] for pair in combinations_with_replacement(range(3), 2)]
    checked.append((trace.shares**2).sum(axis=1))
    expected.append(squares)
    for values, value in zip(checked, expected, strict=True):
        batches = np.reshape(values.astype(float), (40, -1)).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(len(batches))
        assert abs(batches.mean() - value) < 4.5 * error
    assert np.allclose(trace.parameters["log_worth"].mean(axis=2), 0.0)
    assert np.allclose(trace.memberships.sum(axis=1), 1.0)


@pytest.fixture(scope="module")
def rankings():
    rng = np.random.default_rng(1)
    return Rankings.concat([FIRST.sample(120, rng), SECOND.sample(80, rng)]).restrict(ITEMS)


@pytest.fixture(scope="module")
def drawn(rankings):
    sampler = tw.Sampler(warmup=100)
    return tw.sample_mixture(
        rankings, 2, family="luce", starts=3, chains=2, draws=600, sampler=sampler, rng=1
    )


def test_groups_and_worths_are_recovered(drawn):
    assert drawn.family == "luce"
    assert [drawn.tiers(1), drawn.tiers(2)] == [FIRST.tiers, SECOND.tiers]
    low, high = drawn.share_intervals()[0]
    assert low < 0.6 < high
    for group, model in ((1, FIRST), (2, SECOND)):
        logs = np.log(model.worths)
        logs -= np.array(model.tiers.sizes) @ logs / len(ITEMS)
        table = np.log(drawn.worth_intervals(group, 0.9999))
        assert ((table[:, 1] < logs) & (logs < table[:, 2])).all()
        assert (np.diff(table[:, 0]) < 0).all()


def test_draws_are_shown_written_and_read(drawn, tmp_path):
    assert "worths" in drawn.summary()
    assert "theta" not in drawn.summary()
    assert drawn._repr_html_()
    plain = json.loads(json.dumps(drawn.to_dict(), allow_nan=False))
    assert len(plain["groups"][0]["worths"]) == 3
    assert "log_worth[a]" in drawn.to_frame().columns
    drawn.save(tmp_path / "draws.nc")
    again = MixtureDraws.load(tmp_path / "draws.nc")
    np.testing.assert_array_equal(again.log_worths, drawn.log_worths)
    with pytest.raises(InputError, match="log_worths"):
        _ = drawn.thetas


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_gaps_noise_and_given_sizes(rankings):
    rows = [row[:4] for row in rankings.to_orderings()]
    data = Rankings.from_orderings(rows, items=ITEMS, unranked="anywhere")
    found = tw.sample_mixture(
        data, 2, (2, 4), family="luce", noise="uniform", starts=2, chains=2, draws=20, rng=1
    )
    assert found.sizes == ((2, 4), (2, 4), (6,))
    assert (found.log_worths[:, :, 2] == 0).all()
    assert (found.log_worths[:, :, :2].std(axis=3) > 0).all()
