"""Weights of a survey count as the effective number of people, whichever function is asked."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.data.weights import EffectiveNumber, answers_in_words
from tierwise.errors import InputError

ITEMS = tuple("abcdef")


def _places(n_rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((n_rows, len(ITEMS))), axis=1).astype(np.int32)


def _noise(weights: np.ndarray, seed: int = 1, **options: object) -> tw.Rankings:
    return tw.Rankings(ITEMS, _places(len(weights), seed), weights, **options)


def _signal(scale: float) -> tw.Rankings:
    rng = np.random.default_rng(5)
    model = tw.ClusteredMallows(tw.Tiers([list("ab"), list("cd"), list("ef")]), 0.5)
    answers = model.sample(80, rng)
    weights = scale * rng.uniform(0.4, 2.5, 80)
    return tw.Rankings(answers.items, answers.places, weights)


def test_effective_number_by_hand() -> None:
    weights = np.array([0.5, 1.5, 2.5, 0.25])
    effective = _noise(weights).with_effective_weights()
    wanted = weights.sum() ** 2 / (weights**2).sum()
    assert float(effective.n_rankings) == pytest.approx(wanted)
    np.testing.assert_allclose(effective.weights / effective.weights[0], weights / weights[0])
    assert isinstance(effective.n_rankings, EffectiveNumber)
    assert effective.n_rankings.n_answers == 4
    assert effective.with_effective_weights() is effective


def test_parts_of_scaled_answers_are_not_scaled_again() -> None:
    effective = _signal(1700.5).with_effective_weights()
    part = effective.subset(range(10)).with_effective_weights()
    np.testing.assert_array_equal(part.weights, effective.weights[:10])
    fewer = effective.restrict("abc").with_effective_weights()
    np.testing.assert_array_equal(fewer.weights, effective.weights)


def test_counts_stay_counts() -> None:
    goals = tw.load_political_goals()
    assert goals.with_effective_weights() is goals
    few = tw.Rankings.from_orderings(list(map(list, ["abc", "cba"])), weights=[1700, 1650])
    assert few.with_effective_weights() is few
    with_rare_ones = _noise(np.r_[np.full(30, 500), 3])
    assert with_rare_ones.with_effective_weights() is with_rare_ones


@pytest.mark.parametrize(
    "take", [tw.fit, tw.search, tw.sample_posterior, tw.leaderboard, tw.choose]
)
def test_whole_numbers_that_no_table_of_counts_has_are_asked_about(take) -> None:
    answers = _noise(np.random.default_rng(2).integers(1200, 2300, 60))
    with pytest.raises(InputError, match="survey weights") as caught:
        take(answers)
    settings = [dict(remedy.settings) for remedy in caught.value.remedies]
    assert settings == [{"weights_are": "counts"}, {"weights_are": "survey"}]


def test_what_is_said_of_weights_is_taken() -> None:
    weights = np.random.default_rng(2).integers(1200, 2300, 60)
    said = _noise(weights).with_weights_as("counts")
    assert said.effective_size == weights.sum()
    survey = _noise(weights, weights_are="survey")
    assert survey.effective_size < 60
    fractions = _noise(weights / 1000).with_weights_as("counts")
    assert fractions.with_effective_weights() is fractions


def test_noise_of_weighted_people_has_no_tiers() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        weights = rng.gamma(4.0, 425.0, 60)
        assert len(tw.search(_noise(weights, seed), rng=1).best.tiers) == 1


def test_the_unit_of_weights_does_not_matter() -> None:
    one, thousand = _signal(1.0), _signal(1000.0)
    for family in ("mallows", "luce"):
        first, second = (tw.search(data, family=family, rng=1) for data in (one, thousand))
        assert first.best.tiers == second.best.tiers
        assert first.best.log_likelihood == pytest.approx(second.best.log_likelihood)
    fits = [tw.fit(data, (2, 2, 2)) for data in (one, thousand)]
    assert fits[0].theta_estimate.standard_error == pytest.approx(
        fits[1].theta_estimate.standard_error
    )
    draws = [tw.sample_posterior(data, draws=200, rng=1) for data in (one, thousand)]
    assert draws[0].n_rankings == pytest.approx(draws[1].n_rankings)
    mixtures = [tw.fit_mixture(data, 1, rng=1, distance="kendall") for data in (one, thousand)]
    assert mixtures[0].n_rankings == pytest.approx(mixtures[1].n_rankings)


def test_standard_error_of_weighted_answers_is_that_of_the_bootstrap() -> None:
    data = _signal(1000.0)
    fitted = tw.fit(data, (2, 2, 2), distance="kendall")
    again = tw.bootstrap(data, fitted, replicates=200, rng=3)
    ratio = np.std(again.thetas) / fitted.theta_estimate.standard_error
    assert 0.6 < ratio < 1.6


def test_it_is_said() -> None:
    data = _signal(3.0)
    weights = f"with survey weights (as {data.effective_size:,.1f} of equal weight, Kish)"
    said = f"80 rankings of 6 items {weights}"
    assert said in tw.fit(data, (2, 2, 2)).summary()
    assert f"Data: 80 rankings {weights}" in tw.search(data, rng=1).summary()
    posterior = tw.sample_posterior(data, draws=200, rng=1)
    assert said in posterior.summary()
    assert said in tw.fit_mixture(data, 1, rng=1, distance="kendall").summary()


def test_a_posterior_keeps_it_in_its_file(tmp_path) -> None:
    posterior = tw.sample_posterior(_signal(3.0), draws=200, rng=1)
    posterior.save(tmp_path / "draws.nc")
    again = tw.Posterior.load(tmp_path / "draws.nc")
    assert answers_in_words(again.n_rankings) == answers_in_words(posterior.n_rankings)


def test_saved_and_merged_answers_keep_the_weights_of_people(tmp_path) -> None:
    data = tw.Rankings.from_orderings(list(map(list, ["ab", "ab", "ba"])), weights=[0.5, 1.5, 1.0])
    data.save(tmp_path / "answers.npz")
    assert tw.Rankings.load(tmp_path / "answers.npz").effective_size == data.effective_size
    other = tw.Rankings.from_orderings(list(map(list, ["ab", "ba"])), weights=[2.5, 0.5])
    assert len(tw.Rankings.merge([data, other])) == 5
    said = tw.Rankings.from_orderings(
        list(map(list, ["ab", "ba"])), weights=[20, 10], weights_are="survey"
    )
    said.save(tmp_path / "said.npz")
    assert tw.Rankings.load(tmp_path / "said.npz").weights_are == "survey"


def test_files_that_are_scanned_count_as_those_that_are_read(tmp_path) -> None:
    data = _signal(1000.0)
    file = tmp_path / "answers.csv"
    tw.write_rankings(data, file)
    read, scan = tw.read_rankings(file), tw.Rankings.scan(file)
    one, other = (tw.fit(answers, (2, 2, 2)) for answers in (read, scan))
    assert float(one.n_rankings) == pytest.approx(float(other.n_rankings))
    assert one.theta == pytest.approx(other.theta)
    counts = tw.Rankings.scan(file, weights_are="counts")
    assert float(tw.fit(counts, (2, 2, 2)).n_rankings) == pytest.approx(data.weights.sum())
