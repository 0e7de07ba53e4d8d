"""Theta given the total distance, against quadrature from the definition."""

from math import exp, lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from tierwise import InputError
from tierwise.model.priors import Gamma, as_theta_prior
from tierwise.partition.choose import partition_function
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance


def given_distance(sizes, n_rankings, prior=None, distance="kendall"):
    log_partition = LogPartition(partition_function(sizes, distance))
    return ThetaGivenDistance(log_partition, n_rankings, as_theta_prior(prior or Gamma(2, 2)))


@pytest.mark.parametrize(
    ("sizes", "distance"),
    [
        ((1,) * 10, "kendall"),
        ((1, 1, 1, 2, 3, 2), "kendall"),
        ((5, 5), "kendall"),
        ((4,), "kendall"),
        ((3, 3, 4), "hamming"),
        ((20,) * 5, "hamming"),
        ((2, 1, 2), "spearman"),
        ((1,) * 60, "kendall"),
    ],
)
def test_series_of_log_partition_is_exact_to_rounding(sizes, distance):
    psi = partition_function(sizes, distance)
    thetas = np.geomspace(1e-9, 500, 300)
    values = [float(psi.log_value(theta)) for theta in thetas]
    np.testing.assert_allclose(LogPartition(psi)(thetas), values, rtol=1e-13, atol=1e-12)


def test_series_of_estimates_is_as_good_as_they_are():
    estimates = partition_function((2, 2, 2), method="path", draws=20, rng=1)
    series = LogPartition(estimates)
    exact = LogPartition(partition_function((2, 2, 2)))
    for theta in (0.1, 0.5, 2.0):
        error = estimates.log_value(theta).standard_error
        found, wanted = (one(np.array([theta]))[0] for one in (series, exact))
        assert found == pytest.approx(wanted, abs=6 * error + 1e-3)
        assert found != wanted


@pytest.mark.thorough
@given(
    sizes=st.sampled_from([(2, 2), (1, 1, 1), (1, 3), (2, 1, 2)]),
    n_rankings=st.sampled_from([1, 3, 20, 300]),
    share=st.floats(0, 1),
    shape=st.sampled_from([1.0, 2.0, 5.0]),
    rate=st.sampled_from([0.5, 2.0]),
)
def test_integral_mean_and_quantiles_are_those_of_quadrature(sizes, n_rankings, share, shape, rate):
    psi = partition_function(sizes)
    total = round(share * n_rankings * float(psi.mean(0.0)) * 1.2)
    density = given_distance(sizes, n_rankings, Gamma(shape, rate)).density(float(total))

    def log_height(theta):
        log_prior = (shape - 1) * log(theta) - rate * theta + shape * log(rate)
        return log_prior - total * theta - n_rankings * float(psi.log_value(theta))

    top = max(log_height(theta) for theta in np.geomspace(1e-4, 30, 300))
    low, high = np.exp(density.log_thetas[[0, -1]])
    middle = density.mean

    def integral(upper, power=0):
        points = [point for point in (middle / 2, middle, 2 * middle) if low < point < upper]
        value, _ = quad(
            lambda theta: theta**power * exp(log_height(theta) - top),
            low,
            upper,
            points=points,
            limit=400,
            epsrel=1e-11,
            epsabs=0,
        )
        return value

    whole = integral(high)
    assert density.log_integral == pytest.approx(log(whole) + top - lgamma(shape), abs=1e-7)
    assert density.mean == pytest.approx(integral(high, power=1) / whole, rel=1e-6)
    shares = np.array([0.001, 0.1, 0.5, 0.9, 0.999])
    found = [integral(theta) / whole for theta in density.quantile(shares)]
    np.testing.assert_allclose(found, shares, atol=1e-6)


@pytest.mark.parametrize("factor", [1, 1000, 1_000_000])
def test_density_nears_a_normal_one_however_many_rankings_there_are(factor):
    from tierwise.theta.estimate import estimate_theta

    estimate = estimate_theta(partition_function((1,) * 10), 16.0, 5000 * factor)
    density = given_distance((1,) * 10, 5000 * factor).density(80_000.0 * factor)
    assert density.mean == pytest.approx(estimate.value, abs=0.2 * estimate.standard_error)
    low, high = density.quantile(np.array([0.1586553, 0.8413447]))
    assert (high - low) / 2 == pytest.approx(estimate.standard_error, rel=0.02)


def test_integral_is_convex_in_distance_with_the_mean_as_slope():
    theta = given_distance((1, 2, 1), 10)
    step = 1e-3
    for total in (0.0, 5.0, 20.0, 60.0):
        slope = (theta.log_integral(total + step) - theta.log_integral(total - step)) / (2 * step)
        assert slope == pytest.approx(-theta.density(total).mean, rel=1e-6)


def test_prior_with_edges_stays_within_them():
    inside = given_distance(
        (1, 1, 1), 10, lambda theta: np.where((theta > 0.2) & (theta < 0.3), 0.0, -np.inf)
    )
    thetas = inside.density(8.0).quantile(np.linspace(0, 1, 501))
    assert thetas.min() > 0.2
    assert thetas.max() < 0.3
    assert np.median(thetas) == pytest.approx(0.25, abs=0.01)


def test_prior_may_take_one_number_at_a_time():
    one = given_distance((1, 1, 1), 10, lambda theta: log(theta) - 2 * theta)
    many = given_distance((1, 1, 1), 10, lambda theta: np.log(theta) - 2 * theta)
    assert one.density(8.0).mean == many.density(8.0).mean


def test_prior_matters():
    means = [given_distance((1, 1, 1), 5, Gamma(2, rate)).density(4.0).mean for rate in (1, 2, 9)]
    assert means[0] > means[1] > means[2]


def test_improper_posterior_is_refused():
    flat = given_distance((1, 1, 1), 10, lambda theta: 0.0 * theta)
    assert 0.5 < flat.density(8.0).mean < 1.5
    with pytest.raises(InputError, match="does not decrease"):
        flat.density(0.0)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (lambda theta: np.full_like(theta, np.nan), "NaN"),
        (lambda theta: np.full_like(theta, -np.inf), "-inf everywhere"),
        (lambda theta: np.full_like(theta, np.inf), "infinite"),
        ("gamma", "prior of theta"),
    ],
)
def test_what_is_no_density_is_refused(prior, message):
    with pytest.raises(InputError, match=message):
        as_theta_prior(prior)


@pytest.mark.parametrize(("shape", "rate"), [(0, 1), (1, -1), (np.nan, 1), (np.inf, 1)])
def test_gamma_needs_positive_parameters(shape, rate):
    with pytest.raises(InputError, match="positive"):
        Gamma(shape, rate)


@pytest.mark.parametrize("rate", [0.004, 1e-9])
def test_theta_may_be_large_where_all_agree_and_the_prior_says_little(rate):
    density = given_distance((1, 1, 1), 5, Gamma(1, rate)).density(0.0)
    # All that the rankings say is that theta is not small.
    assert density.mean == pytest.approx(1 / rate, rel=0.05)
    assert density.log_integral == pytest.approx(0.0, abs=0.05)


def test_theta_may_be_small_where_the_prior_is_infinite_at_0():
    density = given_distance((1, 1, 1), 1, Gamma(0.1, 1.0)).density(3.0)
    weight = quad(
        lambda root: (
            10 * exp(-4 * root**10) / exp(float(partition_function((1, 1, 1)).log_value(root**10)))
        ),
        0,
        3,
    )[0]
    assert density.log_integral == pytest.approx(log(weight) - lgamma(0.1), abs=1e-8)


@pytest.mark.parametrize("n_rankings", [1, 30, 5000])
def test_integrals_at_many_distances_are_those_at_each(n_rankings):
    given_total = given_distance((1, 2, 1), n_rankings)
    totals = n_rankings * np.array([2.0, 0.5, 1.0, 2.0, 3.9])
    expected = [given_total.log_integral(total) for total in totals.tolist()]
    assert given_total.log_integrals(totals) == pytest.approx(expected, abs=1e-9)
