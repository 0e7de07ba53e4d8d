"""sample_mixture: draws from the exact posterior, groups kept apart."""

import json
from itertools import permutations

import numpy as np
import pytest

import tierwise as tw
from tests import reference
from tests.mixture.simulated import from_groups
from tests.options import in_groups
from tierwise.errors import InputError
from tierwise.mixture.gibbs import matching_groups
from tierwise.model.priors import Gamma

ORDERINGS = [(0, 1, 2)] * 4 + [(0, 2, 1)] + [(2, 1, 0)] * 3


def exact_posterior_means():
    """Sums over all tiers of two strict groups, and fine grids of share and thetas."""
    shares = (np.arange(30) + 0.5) / 30
    thetas = (np.arange(80) + 0.5) / 10
    prior = thetas * np.exp(-2 * thetas)
    counts = reference.BruteForce((1, 1, 1), "kendall").counts()
    partition = sum(number * np.exp(-thetas * distance) for distance, number in counts.items())
    distinct = sorted(set(ORDERINGS))
    repeats = [ORDERINGS.count(row) for row in distinct]
    every = list(permutations(range(3)))
    # probability[labels][theta, answer]
    probability = [
        np.exp(-thetas[:, None] * [reference.kendall(row, own, (1, 1, 1)) for row in distinct])
        / partition[:, None]
        for own in every
    ]
    total, sums = 0.0, np.zeros(4)
    for one in probability:
        for other in probability:
            mixed = (
                shares[:, None, None, None] * one[None, :, None]
                + (1 - shares)[:, None, None, None] * other[None, None]
            )
            log_likelihood = np.log(mixed) @ repeats
            weight = np.exp(log_likelihood) * prior[:, None] * prior
            total += weight.sum()
            square = (shares**2 + (1 - shares) ** 2)[:, None, None]
            spread = np.abs(thetas[:, None] - thetas)[None]
            for position, value in enumerate(
                (log_likelihood, square, (thetas[:, None] + thetas)[None], spread)
            ):
                sums[position] += (weight * value).sum()
    return sums / total


@pytest.mark.thorough
def test_draws_are_from_the_exact_posterior():
    from arviz_stats.base import array_stats

    rankings = tw.Rankings.from_orderings(ORDERINGS)
    drawn = tw.sample_mixture(
        rankings,
        2,
        (1, 1, 1),
        chains=2,
        draws=3000,
        sampler=tw.Sampler(warmup=200),
        starts=1,
        rng=3,
    )
    values = (
        drawn.log_likelihood,
        (drawn.shares**2).sum(axis=2),
        drawn.thetas.sum(axis=2),
        np.abs(np.diff(drawn.thetas, axis=2))[:, :, 0],
    )
    assert drawn.problems == ()
    for value, expected in zip(values, exact_posterior_means(), strict=True):
        error = array_stats.mcse(value, chain_axis=0, draw_axis=1)
        assert abs(value.mean() - expected) < 5 * error
        assert error < 0.1


@pytest.fixture(scope="module")
def drawn():
    groups = [([[0], [1, 2], [3]], 1.5), ([[3], [2, 0], [1]], 1.5)]
    rankings, belongs = from_groups(groups, (150, 50), seed=1)
    with pytest.warns(tw.TierwiseWarning):
        found = tw.sample_mixture(
            rankings,
            2,
            (1, 2, 1),
            noise="uniform",
            chains=2,
            draws=300,
            sampler=tw.Sampler(warmup=100),
            rng=1,
        )
    return found, belongs


def test_groups_keep_their_meaning(drawn):
    found, belongs = drawn
    assert found.shares.shape == found.thetas.shape == (2, 300, 3)
    assert found.labels.shape == (2, 300, 3, 4)
    assert found.tiers(1) == tw.Tiers([[0], [1, 2], [3]])
    assert found.tiers(2) == tw.Tiers([[3], [2, 0], [1]])
    assert found.tier_probabilities(1).to_numpy().sum(axis=1) == pytest.approx(1.0)
    assert found.tier_probabilities(3).shape == (4, 1)
    assert found.memberships.sum(axis=1) == pytest.approx(1.0)
    agree = found.memberships[:, :2].argmax(axis=1) == belongs
    assert agree.mean() > 0.9
    low, high = found.share_intervals().T
    assert (low < found.shares.mean(axis=(0, 1))).all()
    assert (high > found.shares.mean(axis=(0, 1))).all()
    assert np.ptp(found.share_intervals(level=0.5), axis=1)[0] < high[0] - low[0]


def test_results_print_and_pack(drawn):
    found, _ = drawn
    assert "300 draws from each of 2 chains" in found.summary()
    assert "largest R-hat" in found.summary()
    assert "Careful: the effective sample size of" in found.summary()
    assert repr(found).startswith("MixtureDraws(2 groups, 2 chains of 300 draws")
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [group["kind"] for group in plain["groups"]] == ["tiers", "tiers", "uniform"]
    with pytest.raises(InputError, match="there is no group 4"):
        found.tiers(4)
    with pytest.raises(InputError, match="between 0 and 1"):
        found.share_intervals(level=1.0)


def test_intervals_are_printed_with_their_level(drawn):
    found, _ = drawn
    assert "intervals hold 95%" in found.summary()
    assert "intervals hold 50%" in found.summary(level=0.5)
    low, high = found.theta_intervals(level=0.5)[0]
    assert f"({low:.4f} to {high:.4f})" in found.summary(level=0.5)


def test_draws_are_a_data_tree_that_can_be_saved(drawn, tmp_path):
    found, _ = drawn
    posterior = found.data["posterior"]
    assert posterior["share"].dims == posterior["theta"].dims == ("chain", "draw", "group")
    assert posterior["tier"].dims == ("chain", "draw", "group", "item")
    assert posterior["group"].to_numpy().tolist() == ["group 1", "group 2", "uniform"]
    found.save(tmp_path / "draws.nc")
    again = tw.MixtureDraws.load(tmp_path / "draws.nc")
    assert again.to_dict() == found.to_dict()
    assert again.summary() == found.summary()
    assert np.array_equal(again.labels, found.labels)
    assert again.data["posterior"].equals(posterior)


def test_other_files_are_refused(drawn, tmp_path):
    found, _ = drawn
    with pytest.raises(InputError, match="does not exist"):
        tw.MixtureDraws.load(tmp_path / "nowhere.nc")
    posterior = tw.sample_posterior(tw.load_political_goals(), (2, 2), draws=10, rng=1)
    posterior.save(tmp_path / "posterior.nc")
    with pytest.raises(InputError, match=r"posterior\.nc .*MixtureDraws\.save"):
        tw.MixtureDraws.load(tmp_path / "posterior.nc")
    found.save(tmp_path / "mixture.nc")
    with pytest.raises(InputError, match=r"mixture\.nc .*Posterior\.save"):
        tw.Posterior.load(tmp_path / "mixture.nc")


def test_frame_has_one_row_per_draw_and_group(drawn):
    found, _ = drawn
    frame = found.to_frame()
    assert len(frame) == 2 * 300 * 3
    second = frame[(frame["chain"] == 1) & (frame["draw"] == 7) & (frame["group"] == "group 2")]
    assert second["share"].item() == found.shares[1, 7, 1]
    assert [second[f"tier[{item}]"].item() for item in found.items] == (
        found.labels[1, 7, 1].tolist()
    )
    assert found.to_frame(backend="pyarrow").num_rows == len(frame)


def test_warning_says_what_to_do():
    goals = tw.load_political_goals()
    with pytest.warns(tw.TierwiseWarning) as message:
        found = tw.sample_mixture(
            goals, 2, (2, 2), chains=2, draws=50, sampler=tw.Sampler(warmup=5), starts=1, rng=1
        )
    said = [str(warning.message) for warning in message]
    assert said == list(found.problems)
    assert said[0].startswith("the chains have not converged: R-hat of")
    assert "Use a longer warmup and more draws" in said[0]
    assert said[1].endswith("should be at least 400: use more draws or chains")
    assert all(warning.filename == __file__ for warning in message)
    assert all(f"Careful: {text}." in found.summary(400) for text in said)


def test_one_chain_cannot_be_judged():
    goals = tw.load_political_goals()
    with pytest.warns(tw.TierwiseWarning, match="a single chain cannot be checked"):
        found = tw.sample_mixture(
            goals, 2, (2, 2), chains=1, draws=20, sampler=tw.Sampler(warmup=5), starts=1, rng=1
        )
    assert len(found.problems) == 1
    assert "R-hat" not in found.summary()
    assert "Careful: a single chain" in found.summary()


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_the_same_seed_gives_the_same_draws_and_arguments_matter():
    goals = tw.ClusteredMallows(tw.Tiers([["a", "b"], ["c", "d"]]), 1.0).sample(60, rng=1)
    base = {"n_groups": 2, "sizes": (2, 2), "chains": 2, "draws": 20, "warmup": 5, "starts": 2}
    plain = tw.sample_mixture(goals, **in_groups(base), rng=1)
    assert np.array_equal(plain.shares, tw.sample_mixture(goals, **in_groups(base), rng=1).shares)
    for change in (
        {"prior_theta": Gamma(50, 10)},
        {"prior_shares": 500.0},
        {"warmup": 6},
        {"distance": "hamming"},
    ):
        other = tw.sample_mixture(goals, **in_groups(base | change), rng=1)
        assert not np.array_equal(plain.thetas, other.thetas)


def test_groups_are_matched_by_their_members():
    pivot = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    members = np.array([[0, 5, 0], [5, 0, 0], [0, 0, 5]])
    alike = [(1, 1)] * 3
    assert matching_groups(pivot.T @ members, alike).tolist() == [1, 0, 2]
    different = [(1, 1), (2,), (1, 1)]
    assert matching_groups(pivot.T @ members, different)[1] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"chains": 0}, "chains must be at least 1"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"warmup": -1}, "warmup must be at least 0"),
        ({"prior_shares": 0.0}, "shares must be above 0"),
        ({"n_groups": (1, 2)}, "n_groups must be one number"),
        ({"method": "mcmc", "thin": 2}, "does not support method and thin, only warmup"),
        ({"prior_theta": "flat"}, "prior of theta"),
        ({"draws": 10**12}, "draws must be at most"),
        ({"prior_shares": np.inf}, "shares must be a finite number"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        tw.sample_mixture(tw.load_political_goals(), **in_groups({"n_groups": 2} | arguments))


def test_broken_weights_are_refused():
    rankings = tw.Rankings.from_orderings([["a", "b"]], weights=[0.5])
    with pytest.raises(InputError, match="whole weights"):
        tw.sample_mixture(rankings, 1)
