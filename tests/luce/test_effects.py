"""Draws and the first place: likelihood, evidence and chain against definition and quadrature."""

from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tierwise as tw
from tests import reference_luce as reference
from tests.luce.test_chain import check_against_enumeration, check_given_sizes, draws_of
from tierwise.answers.meetings import Meetings
from tierwise.answers.races import races_of
from tierwise.luce.effects import PRIORS, log_prior_of_effects
from tierwise.luce.search import TierSearch, search_tiers
from tierwise.luce.worths import best_worths, log_evidence, log_prior_density

NAMES = ("x", "y", "z", "u")
CHOICES = [("model", "ignore"), ("half", "model"), ("model", "model"), ("drop", "model")]
# Both effects at once; with one of them alone where there is time.
BOTH_OR_SLOW = [
    pytest.param(*choice, marks=() if choice == ("model", "model") else pytest.mark.slow)
    for choice in CHOICES
]


def drawn_battles(worths, n_battles, seed, first_factor=1.6, draw_factor=0.8):
    """Rows of battles of random pairs, by the definition of the model."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_battles):
        a, b = rng.permutation(len(worths))[:2].tolist()
        shares = reference.probabilities_of_outcomes(
            worths[a], worths[b], first_factor, draw_factor
        )
        outcome = rng.choice(3, p=shares)
        rows.append((NAMES[a], NAMES[b], (NAMES[a], NAMES[b], "tie")[outcome]))
    return rows


def outcomes_of(rows, items, drawn, position):
    """``outcomes[outcome][first][second]`` of rows, counted one by one."""
    number = {item: place for place, item in enumerate(items)}
    outcomes = np.zeros((3, len(items), len(items)))
    for one, other, winner in rows:
        a, b = number[one], number[other]
        if winner == "tie":
            if drawn == "model":
                outcomes[2, a, b] += 1
            elif drawn == "half":
                outcomes[0, a, b] += 0.5
                outcomes[1, a, b] += 0.5
        else:
            outcomes[0 if winner == one else 1, a, b] += 1
    return outcomes


def made(worths, n_battles, seed, drawn, position, **fixed):
    """Battles, and their likelihood by definition."""
    rows = drawn_battles(worths, n_battles, seed)
    battles = tw.Battles.from_rows(rows, drawn=drawn, position=position)
    outcomes = outcomes_of(rows, battles.items, drawn, position)
    if position == "ignore":
        fixed["first_factor"] = 1.0
    if drawn != "model":
        fixed["draw_factor"] = 0.0
    return battles, reference.BattlesWithEffects(outcomes, **fixed)


@pytest.mark.thorough
@settings(max_examples=25)
@given(st.integers(2, 4), st.sampled_from(CHOICES), st.integers(0, 99), st.data())
def test_likelihood_gradient_and_hessian(n_items, choice, seed, data):
    worths = np.exp(np.linspace(1, -1, n_items))
    labels = np.array(
        data.draw(st.sampled_from(sorted(reference.ordered_partitions(n_items)))), dtype=np.int64
    )
    n_tiers = labels.max() + 1
    battles, _ = made(worths, 25, seed, *choice)
    if len(battles.items) < n_items:
        return
    races = races_of(battles)
    rng = np.random.default_rng(seed)
    point = rng.normal(0, 1.5, n_tiers + races.n_effects)

    def value(at):
        effects = dict(zip(races.meetings.effects, np.exp(at[n_tiers:]), strict=True))
        _, likelihood = made(
            worths,
            25,
            seed,
            *choice,
            first_factor=effects.get("position", 1.0),
            draw_factor=effects.get("draws", 0.0),
        )
        return likelihood.table(np.exp(at[:n_tiers])[None, labels])[0, 0, 0]

    def slopes(at):
        steps = 1e-30j * np.eye(len(at))
        return np.array([value(at + step).imag / 1e-30 for step in steps])

    found, gradient, hessian = races.derivatives(labels, point)
    assert found == pytest.approx(value(point), rel=1e-11)
    assert races.value(labels, point) == pytest.approx(found, rel=1e-12)
    assert gradient == pytest.approx(slopes(point), rel=1e-9, abs=1e-9)
    step = 3e-5
    expected = [
        (slopes(point + move) - slopes(point - move)) / (2 * step)
        for move in step * np.eye(len(point))
    ]
    assert hessian == pytest.approx(np.array(expected), rel=1e-6, abs=1e-6)
    assert np.linalg.eigvalsh(hessian).max() < 1e-9


@pytest.mark.parametrize("name", ["position", "draws"])
def test_the_prior_of_an_effect_is_a_density(name):
    shape, middle = PRIORS[name]
    at = np.linspace(-40, 40, 40001)
    logs = log_prior_of_effects([name], at[:, None])
    assert np.trapezoid(np.exp(logs), at) == pytest.approx(1, abs=1e-6)
    share = 0.3
    expected = 2 * shape * log(share * (1 - share)) / 2 + lgamma(2 * shape) - 2 * lgamma(shape)
    found = log_prior_of_effects([name], np.log([middle * share / (1 - share)]))
    assert float(found) == pytest.approx(expected)


@pytest.mark.parametrize("choice", CHOICES)
def test_worths_and_effects_are_most_probable_and_their_precision_is_that_of_the_density(choice):
    battles, _ = made((3.0, 1.2, 0.6), 60, 4, *choice)
    races, labels = races_of(battles), np.array([0, 1, 1])
    found = best_worths(races, labels, shape=1.7)

    def log_density(point):
        # Log worths of which the prior is taken sum to 0.
        density = log_prior_density(point[:2] - point[:2].mean(), 1.7)
        density = density + log_prior_of_effects(races.meetings.effects, point[2:])
        return races.value(labels, point) + float(density)

    assert found.log_density == pytest.approx(log_density(found.point), rel=1e-12)
    moves = 1e-3 * np.eye(len(found.point))
    slopes = [log_density(found.point + one) - log_density(found.point - one) for one in moves]
    assert np.array(slopes) / 2e-3 == pytest.approx(np.zeros(len(moves)), abs=1e-3)
    bends = [
        [
            log_density(found.point + one + two)
            - log_density(found.point + one - two)
            - log_density(found.point - one + two)
            + log_density(found.point - one - two)
            for one in moves
        ]
        for two in moves
    ]
    assert -np.array(bends) / 4e-6 == pytest.approx(found.precision, rel=1e-4, abs=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize(("drawn", "position"), BOTH_OR_SLOW)
@pytest.mark.parametrize(
    "labels",
    [(0, 1, 1), *(pytest.param(one, marks=pytest.mark.slow) for one in [(0,) * 3, (0, 1, 2)])],
)
def test_evidence_is_that_of_quadrature(drawn, position, labels):
    battles, likelihood = made((3.0, 1.2, 0.6), 60, 4, drawn, position)
    races = races_of(battles)
    best = best_worths(races, np.array(labels))
    expected = reference.log_evidence(likelihood, labels, n_nodes=40)
    found = log_evidence(races, best, np.random.default_rng(1), 20_000)
    assert abs(float(found) - expected) < 5 * found.standard_error + 1e-9
    assert found.standard_error < 0.01
    assert best.log_evidence == pytest.approx(expected, abs=0.15)


@pytest.mark.thorough
@pytest.mark.parametrize(("drawn", "position"), BOTH_OR_SLOW)
@pytest.mark.parametrize("n_battles", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_the_chain_draws_from_the_posterior(drawn, position, n_battles):
    battles, likelihood = made((3.0, 1.5, 1.0), n_battles, 5, drawn, position)
    races = races_of(battles)
    check_against_enumeration(races, likelihood, [1.0, 0.5, 0.5])
    # Effects: means and squares of their logarithms over all tiers.
    _, _, effects = draws_of(races, [1.0, 0.5, 0.5], 8000)
    partitions, probabilities, _ = reference.posterior(likelihood, 3, [1.0, 0.5, 0.5], n_nodes=16)
    table = np.zeros((len(likelihood.firsts), len(likelihood.draws)))
    for partition, probability in zip(partitions, probabilities, strict=True):
        worths, masses = reference.ordered_worths(max(partition) + 1, 16)
        values = likelihood.table(worths[:, list(partition)])
        shares = np.exp(values - values.max()) * masses[:, None, None]
        shares = shares.sum(axis=0) * np.outer(likelihood.first_masses, likelihood.draw_masses)
        table += probability * shares / shares.sum()
    along = {"position": (likelihood.firsts, 1), "draws": (likelihood.draws, 0)}
    for number, name in enumerate(races.meetings.effects):
        factors, axis = along[name]
        for power in (1, 2):
            expected = table.sum(axis=axis) @ np.log(factors) ** power
            found = effects[:, number] ** power
            error = found.std() / np.sqrt(len(found))
            assert abs(found.mean() - expected) < 4.5 * error, (name, power)


@pytest.mark.thorough
@pytest.mark.parametrize(("drawn", "position"), BOTH_OR_SLOW)
@pytest.mark.parametrize("sizes", [(1, 2), (1, 1, 1)])
def test_the_chain_of_given_sizes_draws_from_the_posterior(drawn, position, sizes):
    battles, likelihood = made((3.0, 1.5, 1.0), 20, 6, drawn, position)
    check_given_sizes(races_of(battles), likelihood, sizes)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 12), marks=pytest.mark.slow)])
def test_the_best_tiers_are_found_as_by_enumeration(seeds):
    for seed in seeds:
        battles, _ = made((3.0, 1.5, 1.5, 0.7), 80, seed, "model", "model")
        search = TierSearch(races_of(battles), lambda sizes: 0.0)
        found = search_tiers(search)[0]
        best = max(
            search.evaluate(np.array(labels)).score for labels in reference.ordered_partitions(4)
        )
        assert found.score == pytest.approx(best, abs=1e-9)


def test_an_effect_that_says_nothing_changes_nothing():
    # Equal numbers of both orders, and of wins by who was shown first: gamma is 1.
    rows = [("x", "y", "x"), ("y", "x", "x"), ("x", "y", "y"), ("y", "x", "y")] * 5
    rows += [("x", "y", "x"), ("y", "x", "x")] * 6
    plain = best_worths(races_of(tw.Battles.from_rows(rows)), np.array([0, 1]))
    other = best_worths(races_of(tw.Battles.from_rows(rows, position="model")), np.array([0, 1]))
    assert other.effects == pytest.approx([0.0], abs=1e-6)
    assert other.logs == pytest.approx(plain.logs, abs=1e-6)
    # Davidson's model without draws estimates few of them: one in 34 with its uniform prior.
    none = best_worths(races_of(tw.Battles.from_rows(rows, drawn="model")), np.array([0, 1]))
    assert np.exp(none.effects[0]) == pytest.approx(2 / 33, rel=0.1)
    assert none.logs == pytest.approx(plain.logs, rel=0.05)


def test_meetings_add_up_by_tiers():
    rng = np.random.default_rng(1)
    won, lost, drawn = rng.integers(0, 9, (3, 4, 4)).astype(float)
    meetings = Meetings(won, lost, drawn)
    tiers = meetings.of_tiers(np.array([0, 1, 0, 1]), 2)
    assert tiers.won[0, 1] == won[[0, 0, 2, 2], [1, 3, 1, 3]].sum()
    assert tiers.met.sum() == won.sum() + lost.sum() + drawn.sum()
    assert meetings.arrivals.sum() == meetings.met.sum()
    assert meetings.successes.tolist() == [won.sum(), drawn.sum()]
