"""Chains that go on until they have settled."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.posterior.chain import Chain, State, Trace, prolong_chain


def counting_sampler(state, kept, trace, rng):
    """Write down the number of each iteration as theta."""
    iterations = state.iteration + 1 + np.arange(len(kept))
    labels = np.zeros((int(kept.sum()), 2), dtype=np.int64)
    trace.extend(labels, theta=iterations[kept].astype(float))
    return state._replace(iteration=state.iteration + len(kept))


@pytest.mark.parametrize("n_draws", [6, 7])
@pytest.mark.parametrize("thin", [1, 2])
@pytest.mark.parametrize("part_dropped", [0, 0.5])
def test_draws_of_a_prolonged_chain_lie_twice_as_far_apart(n_draws, thin, part_dropped):
    state = State(np.zeros(2, dtype=np.int64), (2,), 0.0, 1.0)
    trace = Trace(n_draws, state)
    every = np.arange(1, n_draws * thin + 1)
    state = counting_sampler(state, every % thin == 0, trace, None)
    n_dropped = int(part_dropped * n_draws)
    before = Chain(1, state, trace, np.random.default_rng(1))
    chain = prolong_chain(before, counting_sampler, thin, n_dropped, "off")
    thetas = chain.trace.numbers["theta"]
    assert chain.trace.length == n_draws
    assert (np.diff(thetas) == 2 * thin).all()
    assert (thetas % (2 * thin) == 0).all()
    assert thetas[0] > n_dropped * thin
    assert chain.state.iteration == thetas[-1]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_chains_that_have_not_settled_go_on_and_say_how_far_draws_are_apart(monkeypatch):
    monkeypatch.setattr("tierwise.posterior.run._LEAST_SHARE", 1.0)  # more than chains are worth
    rng = np.random.default_rng(3)
    strengths = -0.1 * np.arange(20)
    orders = np.argsort(-(strengths + rng.gumbel(size=(12, 20))), axis=1)
    rankings = tw.Rankings.from_orderings(orders.tolist())
    options = {"distance": "inversions", "draws": 100, "chains": 2, "progress": "off", "rng": 1}
    patient = tw.Sampler(thin="auto", seconds=600)
    going_on = tw.sample_posterior(rankings, sampler=patient, **options)
    stopped = tw.sample_posterior(rankings, sampler=tw.Sampler(thin="auto", seconds=0), **options)
    once = tw.sample_posterior(rankings, sampler=tw.Sampler(thin=1), **options)
    assert stopped.data["posterior"].identical(once.data["posterior"])
    assert going_on.labels.shape == once.labels.shape
    assert going_on.to_dict()["thin"] > once.to_dict()["thin"] == 1
