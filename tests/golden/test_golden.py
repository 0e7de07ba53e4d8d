"""Values of public calls are those that were recorded; draws are as frequent as they should be."""

import json

import numpy as np
import pytest

import tierwise as tw
from tests.golden.calls import CALLS, SAMPLED, Call
from tests.golden.data import data
from tests.golden.record import PATH, differences, plain

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * call.slow) for name, call in CALLS.items()],
)
def test_values_are_those_recorded(name):
    assert differences(GOLDEN[name], plain(CALLS[name].run()), CALLS[name]) == []


def test_every_value_has_a_call():
    assert list(GOLDEN) == list(CALLS)


@pytest.mark.parametrize(("name", "distance"), SAMPLED)
def test_draws_of_sizes_are_as_frequent_as_they_should_be(name, distance):
    exact = GOLDEN[f"probabilities of sizes | {name} | {distance}"]
    posterior = tw.sample_posterior(
        data(name),
        None,
        distance,
        priors=tw.Priors(sizes="uniform"),
        chains=2,
        draws=2000,
        sampler=tw.Sampler(method="exact"),
        progress="off",
        rng=3,
    )
    drawn = posterior.sizes_probabilities()
    for sizes, share in exact.items():
        key = tuple(map(int, sizes.split()))
        error = np.sqrt(share * (1.0 - share) / 4000)
        assert drawn.get(key, 0.0) == pytest.approx(share, abs=5 * error + 1e-3)


def test_what_differs_is_noticed():
    call = Call(dict, bound=1e-9, bound_of_thetas=1e-6)
    kept = {"thetas": [0.5], "criterion": -100.0, "tiers": "a > b", "log evidence": "nan"}
    assert differences(kept, kept, call) == []
    assert differences(kept, {**kept, "thetas": [0.5 + 1e-7]}, call) == []
    for key, value in (
        ("thetas", [0.5 + 1e-6]),
        ("thetas", ["inf"]),
        ("thetas", [0.5, 0.5]),
        ("criterion", -100.0 - 1e-6),
        ("tiers", "b > a"),
        ("log evidence", 1.0),
    ):
        assert len(differences(kept, {**kept, key: value}, call)) == 1
