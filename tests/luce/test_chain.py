"""The chain over tiers and worths, against all ordered partitions with worths integrated out."""

from collections import Counter

import numpy as np
import pytest

import tierwise as tw
from tests import reference_luce as reference
from tests.inversions.small import chi_square_p_value
from tests.luce.small import KINDS, small
from tierwise.answers.meetings import Meetings
from tierwise.answers.races import races_of
from tierwise.luce.chain import RaceChain

WORTHS = {3: (4.0, 1.5, 1.5), 4: (3.0, 1.2, 1.2, 0.6)}
PRIORS = {
    "uniform over sizes": [1.0, 1.0, 1.0, 1.0],
    "few tiers": [4.0, 0.5, 0.25, 0.125],
    "two at most": [1.0, 3.0, 0.0, 0.0],
}
# Numbers of answers and priors of the fast tests: each of them at least once.
# One kind for each of the two chains: latent times, and meetings.
GIVEN_SIZES = {"ties and gaps", "battles"}
FAST_CASES = {(4, "uniform over sizes"), (20, "few tiers"), (4, "two at most")}


def draws_of(races, prior, n_draws, seed=1, sweeps_per_draw=8):
    """Draw, beginning with a single tier; after eight sweeps draws are as good as independent."""
    n_items = races.n_items
    with np.errstate(divide="ignore"):
        chain = RaceChain(races, np.log(prior[:n_items]).tolist())
    start = np.zeros(n_items, dtype=np.int64)
    return chain.run(
        start, np.zeros(n_items), n_draws, np.random.default_rng(seed), sweeps_per_draw
    )


def check_against_enumeration(races, likelihood, prior, n_draws=8000):
    n_items = races.n_items
    partitions, probabilities, _ = reference.posterior(likelihood, n_items, prior, n_nodes=16)
    labels, logs, _ = draws_of(races, prior, n_draws)
    found = Counter(map(tuple, labels.tolist()))
    observed = [found.pop(partition, 0) for partition in partitions]
    assert not found, "tiers were drawn that are not ordered partitions"
    possible = probabilities > 0
    assert not np.array(observed)[~possible].any()
    assert (
        chi_square_p_value(np.array(observed)[possible], n_draws * probabilities[possible]) > 1e-3
    )
    moments = np.zeros((2, n_items))
    for partition, probability in zip(partitions, probabilities, strict=True):
        if probability > 1e-9:
            moments += probability * np.array(
                reference.moments_of_log_worths(likelihood, partition, n_nodes=16)
            )
    check_moments(logs, moments)


@pytest.mark.parametrize(
    ("n_answers", "prior"),
    [
        pytest.param(
            n_answers,
            prior,
            marks=() if (n_answers, prior) in FAST_CASES else pytest.mark.slow,
        )
        for n_answers in (4, 20)
        for prior in PRIORS
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_three_items(kind, n_answers, prior):
    made = small(kind, WORTHS[3], n_answers, seed=KINDS.index(kind))
    check_against_enumeration(made.races, made.likelihood, PRIORS[prior])


@pytest.mark.parametrize(
    ("kind", "n_answers", "prior"),
    [
        pytest.param(
            kind,
            n_answers,
            prior,
            marks=() if (n_answers, prior) == (4, "few tiers") else pytest.mark.slow,
        )
        for kind in KINDS
        for n_answers in (4, 20)
        for prior in PRIORS
    ],
)
def test_four_items(kind, n_answers, prior):
    made = small(kind, WORTHS[4], n_answers, seed=KINDS.index(kind))
    check_against_enumeration(made.races, made.likelihood, PRIORS[prior])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ties", "battles"])
def test_four_items_in_many_draws(kind):
    made = small(kind, WORTHS[4], 4, seed=KINDS.index(kind))
    prior = PRIORS["uniform over sizes"]
    check_against_enumeration(made.races, made.likelihood, prior, n_draws=100_000)


@pytest.mark.parametrize("kind", ["complete", "ties and gaps"])
def test_an_answer_with_weight_three_counts_three_times(kind):
    made = small(kind, WORTHS[3], 4, seed=7)
    races = made.races.reweighted(3 * made.races.weights)
    made.likelihood.weights *= 3
    check_against_enumeration(races, made.likelihood, PRIORS["uniform over sizes"])


@pytest.mark.parametrize("kind", ["complete", "gaps", "top lists", "battles"])
def test_weights_need_not_be_whole(kind):
    made = small(kind, WORTHS[3], 7, seed=8)
    if kind == "battles":
        wins = 0.5 * made.races.meetings.won
        races = made.races.reweighted(made.races.weights, Meetings(wins))
        made.likelihood.wins = wins.tolist()
    else:
        # By distinct answers: the same factor for all of them.
        races = made.races.reweighted(0.7 * made.races.weights)
        made.likelihood.weights *= 0.7
    check_against_enumeration(races, made.likelihood, PRIORS["uniform over sizes"])


@pytest.mark.parametrize("kind", KINDS)
def test_tiers_are_in_the_order_of_their_worths(kind):
    made = small(kind, (4.0, 2.0, 2.0, 1.0, 0.5, 0.5), 15, seed=3)
    labels, logs, _ = draws_of(made.races, [1.0] * 6, 200, sweeps_per_draw=1)
    again, logs_again, _ = draws_of(made.races, [1.0] * 6, 200, sweeps_per_draw=1)
    other, _, _ = draws_of(made.races, [1.0] * 6, 200, sweeps_per_draw=1, seed=2)
    assert np.array_equal(labels, again)
    assert np.array_equal(logs, logs_again)
    assert not np.array_equal(labels, other)
    assert logs.mean(axis=1) == pytest.approx(np.zeros(200), abs=1e-12)
    for tiers, worths in zip(labels, logs, strict=True):
        assert sorted(set(tiers.tolist())) == list(range(tiers.max() + 1))
        assert tiers.tolist() == [len({w for w in worths if w > own}) for own in worths]


def test_battles_are_drawn_as_rankings_of_two_items():
    # Rankings have latent times, and battles do not: these are two kernels.
    made = small("battles", (4.0, 3.6, 2.0, 1.8, 1.0, 0.9, 0.5), 120, seed=4)
    wins = made.races.meetings.won
    rows = [
        [first, second]
        for first, second in zip(*np.nonzero(wins), strict=True)
        for _ in range(int(wins[first, second]))
    ]
    rankings = tw.Rankings.from_orderings(rows, items=range(7), unranked="anywhere")
    prior = [0.5**number for number in range(7)]
    n_draws, shares, logs = 6000, [], []
    for races in (made.races, races_of(rankings)):
        labels, worths, _ = draws_of(races, prior, n_draws, sweeps_per_draw=4)
        shares.append((labels[100:, :, None] < labels[100:, None, :]).mean(axis=0))
        logs.append(worths[100:].mean(axis=0))
    # Each is off by five standard errors of a quarter as many independent draws at most.
    assert np.abs(shares[0] - shares[1]).max() < 5 * 0.5 * np.sqrt(2 / (n_draws / 4))
    assert np.abs(logs[0] - logs[1]).max() < 5 * worths.std(axis=0).max() * np.sqrt(8 / n_draws)


@pytest.mark.thorough
def test_parts_of_a_chain_are_one_chain():
    # Draws do not hold the common scale of worths, so each part must draw it first.
    made = small("complete", WORTHS[3], 4, seed=1)
    chain, rng = RaceChain(made.races, [0.0] * 3), np.random.default_rng(1)
    labels, logs, counts = np.zeros(3, dtype=np.int64), np.zeros(3), []
    for _ in range(20_000):
        drawn, worths, _ = chain.run(labels, logs, 1, rng)
        labels, logs = drawn[0], worths[0]
        counts.append(int(labels.max()))
    partitions, probabilities, _ = reference.posterior(made.likelihood, 3, [1.0] * 3, n_nodes=16)
    expected = np.zeros(3)
    for partition, probability in zip(partitions, probabilities, strict=True):
        expected[max(partition)] += probability
    shares = np.bincount(counts, minlength=3) / len(counts)
    assert shares == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(len(counts) / 8))


def test_the_start_is_forgotten():
    made = small("gaps", WORTHS[4], 30, seed=2)
    chain = RaceChain(made.races, [0.0] * 4)
    shares = []
    for labels, logs in (
        (np.zeros(4, dtype=int), np.zeros(4)),
        (np.array([3, 2, 1, 0]), np.array([-9.0, -3.0, 3.0, 9.0])),
    ):
        before = labels.copy()
        drawn, _, _ = chain.run(labels, logs, 4000, np.random.default_rng(5), 4)
        assert np.array_equal(labels, before)
        shares.append((drawn[200:, :, None] < drawn[200:, None, :]).mean(axis=0))
    # Each is off by five standard errors of a thousand independent draws at most.
    assert np.abs(shares[0] - shares[1]).max() < 2 * 5 * 0.5 / np.sqrt(1000)


def test_people_who_all_agree_are_no_trouble():
    rows = [list("abcdef")] * 5000 + [[["a", "b"], "c"]] * 500
    races = races_of(tw.Rankings.from_orderings(rows, items="abcdef", unranked="anywhere"))
    labels, logs, _ = draws_of(races, [1.0] * 6, 300, sweeps_per_draw=1)
    assert np.isfinite(logs).all()
    assert (labels[100:] == np.arange(6)).all()


def test_a_single_item_and_items_never_seen():
    one = races_of(tw.Rankings.from_orderings([["a"]], items="ab", unranked="anywhere"))
    labels, logs, _ = draws_of(one, [1.0, 1.0], 4000)
    # Nothing is known: half one tier, and a quarter each of the two orders.
    shares = [(labels == np.array(tiers)).all(axis=1).mean() for tiers in ((0, 0), (0, 1), (1, 0))]
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=5 * 0.5 / np.sqrt(4000))
    assert np.isfinite(logs).all()


def check_given_sizes(races, likelihood, sizes, n_draws=4000):
    """Compare tiers of given sizes, and worths, with all such tiers and quadrature."""
    partitions = [
        labels
        for labels in reference.ordered_partitions(races.n_items)
        if tuple(labels.count(tier) for tier in range(max(labels) + 1)) == sizes
    ]
    logs = np.array([reference.log_evidence(likelihood, one, 16) for one in partitions])
    probabilities = np.exp(logs - logs.max())
    probabilities /= probabilities.sum()
    start = np.repeat(np.arange(len(sizes)), sizes)
    chain = RaceChain(races, held="sizes")
    labels, log_worths, _ = chain.run(start, -1.0 * start, n_draws, np.random.default_rng(3), 10)
    found = Counter(map(tuple, labels.tolist()))
    observed = np.array([found.pop(partition, 0) for partition in partitions])
    assert not found, "tiers of other sizes were drawn"
    assert chi_square_p_value(observed, n_draws * probabilities) > 1e-3
    moments = sum(
        probability * np.array(reference.moments_of_log_worths(likelihood, one, 16))
        for one, probability in zip(partitions, probabilities, strict=True)
    )
    check_moments(log_worths, moments)


def check_moments(logs, moments):
    """Compare means of log worths and of their squares: within 4.5 standard errors."""
    for powers, expected in ((logs, moments[0]), (logs**2, moments[1])):
        error = powers.std(axis=0) / np.sqrt(len(logs))
        assert (np.abs(powers.mean(axis=0) - expected) < 4.5 * error + 1e-9).all()


@pytest.mark.parametrize(
    "sizes",
    [(1, 2), *(pytest.param(sizes, marks=pytest.mark.slow) for sizes in [(2, 1), (1,) * 3])],
)
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind in GIVEN_SIZES else pytest.mark.slow) for kind in KINDS],
)
def test_given_sizes_of_three_items(kind, sizes):
    made = small(kind, WORTHS[3], 6, seed=KINDS.index(kind))
    check_given_sizes(made.races, made.likelihood, sizes)


@pytest.mark.slow
@pytest.mark.parametrize("n_answers", [4, 20])
@pytest.mark.parametrize(
    "sizes",
    [(1, 2, 1), *(pytest.param(sizes, marks=pytest.mark.slow) for sizes in [(3, 1), (2, 2)])],
)
@pytest.mark.parametrize("kind", ["complete", "ties and gaps", "battles"])
def test_given_sizes_of_four_items(kind, sizes, n_answers):
    made = small(kind, WORTHS[4], n_answers, seed=KINDS.index(kind))
    check_given_sizes(made.races, made.likelihood, sizes)


@pytest.mark.parametrize("tiers", [(0, 1, 1), (2, 0, 1), (0, 1, 2, 1), (1, 0, 1, 1)])
@pytest.mark.parametrize("kind", ["complete", "ties and gaps", "battles"])
def test_worths_of_given_tiers(kind, tiers):
    made = small(kind, WORTHS[len(tiers)], 6, seed=KINDS.index(kind))
    start = np.array(tiers)
    chain = RaceChain(made.races, held="tiers")
    labels, logs, _ = chain.run(start, -1.0 * start, 4000, np.random.default_rng(4), 8)
    assert (labels == start).all()
    check_moments(logs, reference.moments_of_log_worths(made.likelihood, tiers, 40))


@pytest.mark.slow
def test_chains_of_many_items_agree():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(5), 6)
    worths = np.exp(-0.8 * truth)
    orders = np.argsort(rng.exponential(size=(100, 30)) / worths, axis=1)
    rows = [order[np.sort(rng.permutation(30)[:12])].tolist() for order in orders]
    races = races_of(tw.Rankings.from_orderings(rows, items=range(30), unranked="anywhere"))
    tied = []
    for seed in (1, 2):
        labels, _, _ = draws_of(
            races, [0.5**k for k in range(30)], 3000, seed=seed, sweeps_per_draw=4
        )
        tied.append((labels[300:, :, None] == labels[300:, None, :]).mean(axis=0))
    assert np.abs(tied[0] - tied[1]).max() < 0.1
    same = truth[:, None] == truth[None, :]
    mean = (tied[0] + tied[1]) / 2
    assert mean[same].mean() > 5 * mean[np.abs(truth[:, None] - truth[None, :]) > 1].mean()
