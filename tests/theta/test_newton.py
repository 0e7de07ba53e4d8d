"""Curves over theta: their derivatives are those of their values, and their tops are maxima."""

from math import inf

import numpy as np
import pytest

import tierwise as tw
from tests.golden.data import data
from tierwise.answers.curves import CurveOfParts, Derivatives
from tierwise.answers.given_sizes import CurveOfWins, tier_wins
from tierwise.answers.likelihood import source_of
from tierwise.fitting.solve import PseudoCurve, PseudoLikelihood
from tierwise.partition.choose import partition_function
from tierwise.theta.estimate import best_theta, best_theta_of_wins, top_of
from tierwise.theta.newton import climb

LABELS = np.array([0, 1, 1, 2, 2, 0, 2])


def of_distance():
    return CurveOfParts(partition_function((2, 2, 3)), np.array([400.0]), 0.0, 60.0)


def of_answers(name, distance, labels):
    sizes = tuple(np.bincount(labels).tolist())
    return source_of(data(name), distance).at(sizes).curve(labels)


def of_wins():
    return CurveOfWins(*tier_wins(data("battles").wins, np.array([0, 0, 0, 1, 1, 1, 2, 2])))


def of_parts():
    partition = partition_function((2, 2, 3), "kendall", concentration="tier")
    answers = source_of(data("seven"), partition.distance).with_thetas(partition)
    return answers.curve(np.array([0, 0, 1, 1, 2, 2, 2]))


def of_lines():
    """A theta per tier under inversions, where the parts are independent."""
    partition = partition_function((2, 2, 3), "inversions", concentration="tier")
    answers = source_of(data("seven"), partition.distance).with_thetas(partition)
    return answers.curve(np.array([0, 0, 1, 1, 2, 2, 2]))


def of_pseudo():
    source = source_of(data("seven"), "kendall")
    pseudo = PseudoLikelihood(source.complete_orderings(), source.weights, (2, 2, 3))
    return PseudoCurve(pseudo, np.array([0, 0, 1, 1, 2, 2, 2]))


CURVES = {
    "distance": of_distance,
    "top lists": lambda: of_answers("top", "kendall", LABELS),
    "top lists, inversions": lambda: of_answers("top", "inversions", LABELS),
    "ties": lambda: of_answers("tied", "hamming", LABELS[:6]),
    "gaps": lambda: of_answers("gaps", "kendall", LABELS[:6]),
    "wins": of_wins,
    "parts": of_parts,
    "lines": of_lines,
    "lines with one theta": lambda: of_lines().with_one_theta(),
    "pseudo-likelihood": of_pseudo,
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("theta", [0.02, 0.4, 2.5])
def test_gradient_and_hessian_are_those_of_the_value(name, theta):
    curve = CURVES[name]()
    thetas = theta * np.linspace(1.0, 1.5, curve.n_thetas)
    found = curve.derivatives(thetas)
    assert found.gradient.shape == (curve.n_thetas,)
    assert found.hessian.shape == (curve.n_thetas, curve.n_thetas)
    step = 1e-4 * theta
    for part in range(curve.n_thetas):
        low, high = (
            curve.derivatives(thetas + sign * step * np.eye(curve.n_thetas)[part])
            for sign in (-1.0, 1.0)
        )
        slope = (high.value - low.value) / (2.0 * step)
        scale = max(1.0, abs(found.value))
        assert found.gradient[part] == pytest.approx(slope, rel=1e-5, abs=1e-7 * scale / theta)
        bends = (high.gradient - low.gradient) / (2.0 * step)
        np.testing.assert_allclose(found.hessian[part], bends, rtol=1e-5, atol=1e-6 * scale)


@pytest.mark.parametrize("name", CURVES)
def test_no_theta_near_the_top_is_higher(name):
    curve = CURVES[name]()
    top = top_of(curve, np.full(curve.n_thetas, 0.1), 46.0)
    for part in range(curve.n_thetas):
        for share in (0.5, 0.99, 1.01, 2.0):
            thetas = top.point.copy()
            thetas[part] = thetas[part] * share if thetas[part] > 0.0 else share / 10.0
            assert curve.derivatives(thetas).value <= top.derivatives.value + 1e-9


def hill(at):
    """Two tops, at 1 and at 4, and a valley between them."""
    x = float(at[0])
    value = -((x - 1.0) ** 2) * (x - 4.0) ** 2
    slope = -2.0 * (x - 1.0) * (x - 4.0) * (2.0 * x - 5.0)
    bend = -2.0 * ((x - 4.0) * (2.0 * x - 5.0) + (x - 1.0) * (4.0 * x - 13.0))
    return Derivatives(value, np.array([slope]), np.array([[bend]]))


@pytest.mark.parametrize(
    ("start", "low", "high", "expected"),
    [(0.5, 0.0, 9.0, 1.0), (3.6, 0.0, 9.0, 4.0), (5.0, 4.5, 9.0, 4.5), (0.5, 0.0, 0.8, 0.8)],
)
def test_one_coordinate_climbs_to_the_top_nearby_or_to_a_bound(start, low, high, expected):
    found = climb(hill, np.array([start]), low=low, high=high, longest=0.1, scale=1e-9)
    assert found.point[0] == pytest.approx(expected, abs=1e-9)


def test_several_coordinates_climb_out_of_where_the_function_bends_upwards():
    def bowl(at):
        # A ring of radius 1 around the origin, and a slope that chooses one point of it.
        x, y = at.tolist()
        square = x * x + y * y
        value = -((square - 1.0) ** 2) + 0.1 * x
        gradient = np.array([-4.0 * x * (square - 1.0) + 0.1, -4.0 * y * (square - 1.0)])
        hessian = -4.0 * (square - 1.0) * np.eye(2) - 8.0 * np.outer(at, at)
        return Derivatives(value, gradient, hessian)

    found = climb(bowl, np.array([-0.1, 0.05]), low=-9.0, high=9.0, longest=1.0, scale=1.0)
    assert found.derivatives.gradient == pytest.approx([0.0, 0.0], abs=1e-8)
    assert found.point == pytest.approx([1.0123, 0.0], abs=1e-3)


def test_several_coordinates_stop_at_bounds():
    def plane(at):
        return Derivatives(float(at[0] - at[1]), np.array([1.0, -1.0]), -1e-9 * np.eye(2))

    found = climb(plane, np.array([1.0, 1.0]), low=0.0, high=5.0, longest=1.0, scale=1e-6)
    assert found.point.tolist() == [5.0, 0.0]


def test_theta_of_wins_is_a_closed_form_for_two_items():
    between, sizes = np.array([[0.0, 7.0], [2.0, 0.0]]), np.array([1, 1])
    assert best_theta_of_wins(between, sizes) == pytest.approx(np.log(3.5), rel=1e-12)
    battles = tw.Battles.from_rows([("a", "b", "a")] * 7)
    likelihood = source_of(battles, None).at((1, 1))
    assert best_theta(likelihood, np.array([0, 1])) == inf
    assert best_theta(likelihood, np.array([1, 0])) == 0.0
