"""Tiers of all sizes at once against the sum over all tiers, and on more items."""

import json
from math import exp, log

import numpy as np
import pytest
from scipy.stats import kstest

import tierwise as tw
from tests.data_paths import shared_data
from tests.inversions.small import chi_square_p_value, counts_of, random_answers
from tests.options import in_groups
from tests.reference_inversions import (
    LOG_PRIOR,
    LOG_THETAS,
    THETAS,
    Posterior,
    compositions,
    log_line,
    sizes_of,
)
from tierwise import InputError, sample_posterior
from tierwise.inversions.evidence import sum_evidence
from tierwise.model.priors import Gamma
from tierwise.posterior.ordered_partitions import weigh_single_tier

pytestmark = pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")

CASES = [
    (4, True, "uniform"),
    (4, True, "sceptical"),
    (4, False, "penalised"),
    (5, True, "penalised"),
    (5, False, "sceptical"),
]


def rankings_of(answers, n_items):
    rows = [[list(block) for block in blocks] for blocks, _ in answers]
    return tw.Rankings.from_orderings(
        rows, items=range(n_items), weights=[times for _, times in answers]
    )


def prior_of_sizes(name, n_items):
    every = list(compositions(n_items))
    weights = {sizes: 1.0 if name == "uniform" else exp(-len(sizes)) for sizes in every}
    if name == "sceptical":
        weights[(n_items,)] = sum(share for sizes, share in weights.items() if len(sizes) > 1)
    total = sum(weights.values())
    return {sizes: share / total for sizes, share in weights.items()}


class Enumerated:
    """The posterior of all tiers under any prior of sizes."""

    def __init__(self, answers, n_items, by_line, prior):
        uniform = Posterior(answers, n_items, by_line=by_line)
        shares = prior_of_sizes(prior, n_items)
        self.tiers = uniform.tiers
        logs = uniform.log_weights + np.array(
            [log(shares[sizes_of(labels)]) + (n_items - 1) * log(2) for labels in self.tiers]
        )
        self.log_evidence = np.logaddexp.reduce(logs)
        self.probabilities = np.exp(logs - self.log_evidence)
        self.number_of = {labels: number for number, labels in enumerate(self.tiers)}

    def sizes_probabilities(self):
        shares = {}
        for labels, one in zip(self.tiers, self.probabilities, strict=True):
            sizes = sizes_of(labels)
            shares[sizes] = shares.get(sizes, 0.0) + one
        return shares

    def numbers(self, posterior):
        return [self.number_of[tuple(row)] for row in (posterior.labels - 1).tolist()]

    def p_value(self, posterior):
        observed = np.bincount(self.numbers(posterior), minlength=len(self.tiers))
        return chi_square_p_value(observed, len(posterior) * self.probabilities)


def theta_p_value(answers, enumerated, thetas):
    """How surprising draws of one theta are, whatever the tiers."""
    density = np.zeros_like(THETAS)
    for labels, probability in zip(enumerated.tiers, enumerated.probabilities, strict=True):
        lines = [log_line(answers, labels, tier, THETAS) for tier in range(max(labels))]
        heights = sum(lines, np.zeros_like(THETAS)) + LOG_PRIOR
        heights = np.exp(heights - heights.max())
        density += probability * heights / heights.sum()
    cumulative = np.cumsum(density) / density.sum()
    return kstest(np.log(thetas), lambda x: np.interp(x, LOG_THETAS, cumulative)).pvalue


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("n_items", "complete", "prior", "concentration"),
    [
        # Each case once, and both concentrations; all pairs of them where there is time.
        pytest.param(
            *case,
            concentration,
            marks=() if (number + turn) % 2 == 0 else pytest.mark.slow,
        )
        for number, case in enumerate(CASES)
        for turn, concentration in enumerate(("tier", "single"))
    ],
)
def test_exact_draws_and_evidence_are_those_of_all_tiers(n_items, complete, prior, concentration):
    answers = random_answers(n_items, 9, seed=n_items, complete=complete)
    wanted = Enumerated(answers, n_items, concentration == "tier", prior)
    posterior = sample_posterior(
        rankings_of(answers, n_items),
        distance="inversions",
        concentration=concentration,
        priors=tw.Priors(sizes=prior),
        rng=3,
    )
    assert posterior.method == "exact"
    assert posterior.log_evidence == pytest.approx(wanted.log_evidence, abs=1e-6)
    shares = posterior.sizes_probabilities()
    assert shares == pytest.approx(wanted.sizes_probabilities(), abs=1e-6)
    for number, share in posterior.n_tiers_probabilities().items():
        of_number = sum(one for sizes, one in shares.items() if len(sizes) == number)
        assert share == pytest.approx(of_number, abs=1e-6)
    assert wanted.p_value(posterior) > 1e-4
    logs = posterior.data["posterior"]["log_posterior"].to_numpy().ravel()
    np.testing.assert_allclose(
        np.exp(logs - posterior.log_evidence),
        wanted.probabilities[wanted.numbers(posterior)],
        atol=1e-6,
    )
    if concentration == "single":
        assert theta_p_value(answers, wanted, posterior.thetas) > 1e-4


@pytest.mark.parametrize(
    ("complete", "prior", "concentration"),
    [
        (True, "sceptical", "single"),
        (False, "penalised", "single"),
        pytest.param(True, "sceptical", "tier", marks=pytest.mark.slow),
        pytest.param(False, "penalised", "tier", marks=pytest.mark.slow),
    ],
)
def test_chain_follows_the_posterior(complete, prior, concentration):
    answers = random_answers(4, 6, seed=13, complete=complete)
    wanted = Enumerated(answers, 4, concentration == "tier", prior)
    posterior = sample_posterior(
        rankings_of(answers, 4),
        distance="inversions",
        concentration=concentration,
        priors=tw.Priors(sizes=prior),
        sampler=tw.Sampler(method="mcmc", warmup=50, thin=5),
        rng=4,
    )
    assert posterior.method == "mcmc"
    assert posterior.log_evidence is None
    assert wanted.p_value(posterior) > 1e-4
    if concentration == "single":
        assert theta_p_value(answers, wanted, posterior.thetas) > 1e-4


@pytest.mark.slow
def test_chain_agrees_with_exact_draws_on_eight_items():
    answers = rankings_of(random_answers(8, 25, seed=3), 8)
    for concentration in ("single", "tier"):
        options = {
            "distance": "inversions",
            "concentration": concentration,
            "priors": tw.Priors(sizes="sceptical"),
            "rng": 5,
        }
        exact = sample_posterior(answers, **options)
        chain = sample_posterior(
            answers, sampler=tw.Sampler(method="mcmc", warmup=100), chains=2, **options
        )
        for table in ("tier_probabilities", "co_tier_probabilities", "above_probabilities"):
            known, found = (getattr(one, table)().to_numpy() for one in (exact, chain))
            width = min(known.shape[1], found.shape[1])
            np.testing.assert_allclose(known[:, :width], found[:, :width], atol=0.06)


@pytest.mark.parametrize(
    ("complete", "concentration"),
    [
        (True, "single"),
        (False, "single"),
        *(pytest.param(complete, "tier", marks=pytest.mark.slow) for complete in (True, False)),
    ],
)
def test_odds_of_a_single_tier_are_those_of_exact_sums(complete, concentration):
    counts = counts_of(random_answers(6, 12, seed=8, complete=complete), 6)
    several = sum_evidence(counts, concentration, prior_sizes="several")
    both = sum_evidence(counts, concentration, prior_sizes="sceptical")
    assert several.number_of_tiers[1] == 0.0
    found = weigh_single_tier(counts, concentration, Gamma(2, 2))
    share = both.number_of_tiers[1]
    assert found.log_odds == pytest.approx(log(share / (1 - share)), abs=0.5)
    log_single = log(share) + both.log_evidence + log(2)
    assert log_single - found.log_odds == pytest.approx(several.log_evidence, abs=0.5)


def test_theta_of_a_line_follows_its_posterior():
    answers = random_answers(4, 9, seed=4, complete=True)
    wanted = Enumerated(answers, 4, True, "uniform")
    posterior = sample_posterior(
        rankings_of(answers, 4), distance="inversions", concentration="tier", rng=6
    )
    theta = posterior.data["posterior"]["theta"]
    assert theta.dims == ("chain", "draw", "line")
    assert theta.shape == (4, 1000, 3)
    n_lines = (~np.isnan(posterior.thetas)).sum(axis=1)
    np.testing.assert_array_equal(n_lines, posterior.labels.max(axis=1) - 1)
    likely = max(wanted.tiers, key=lambda labels: wanted.probabilities[wanted.number_of[labels]])
    chosen = (posterior.labels - 1 == likely).all(axis=1)
    assert max(likely) > 0
    for tier in range(max(likely)):
        heights = log_line(answers, likely, tier, THETAS) + LOG_PRIOR
        cumulative = np.cumsum(np.exp(heights - heights.max()))
        cumulative /= cumulative[-1]
        thetas = np.log(posterior.thetas[chosen, tier])
        p_value = kstest(thetas, lambda x, c=cumulative: np.interp(x, LOG_THETAS, c)).pvalue
        assert p_value > 1e-4
        items = np.flatnonzero(np.array(likely) == tier)
        np.testing.assert_array_equal(
            posterior.item_thetas[np.ix_(chosen, items)],
            np.repeat(posterior.thetas[chosen, tier][:, None], len(items), axis=1),
        )
    last = np.flatnonzero(np.array(likely) == max(likely))
    assert np.isnan(posterior.item_thetas[np.ix_(chosen, last)]).all()


@pytest.mark.parametrize("concentration", ["single", "tier"])
def test_a_prior_given_as_a_function_is_normalised(concentration):
    rankings = rankings_of(random_answers(4, 9, seed=2, complete=True), 4)
    options = {"distance": "inversions", "concentration": concentration, "draws": 10, "rng": 1}
    function = sample_posterior(
        rankings, priors=tw.Priors(theta=lambda theta: 5 - 3 * theta), **options
    )
    gamma = sample_posterior(rankings, priors=tw.Priors(theta=Gamma(1, 3)), **options)
    assert function.log_evidence == pytest.approx(gamma.log_evidence, abs=1e-4)
    assert function.sizes_probabilities() == pytest.approx(gamma.sizes_probabilities(), abs=1e-4)


def test_other_priors_go_the_general_way():
    rankings = rankings_of(random_answers(4, 9, seed=2, complete=True), 4)
    listed = dict.fromkeys(compositions(4), 1.0)
    general = sample_posterior(
        rankings, distance="inversions", priors=tw.Priors(sizes=listed), rng=1
    )
    at_once = sample_posterior(
        rankings, distance="inversions", priors=tw.Priors(sizes="uniform"), rng=1
    )
    assert general.log_evidence == pytest.approx(at_once.log_evidence, abs=1e-6)
    assert general.sizes_probabilities() == pytest.approx(at_once.sizes_probabilities(), abs=1e-6)
    cut = sample_posterior(
        rankings,
        distance="inversions",
        priors=tw.Priors(theta=lambda theta: np.where(theta < 0.5, 0.0, -np.inf)),
        draws=50,
        rng=1,
    )
    assert cut.thetas.max() < 0.5


def simulated(theta, n_rankings, seed):
    tiers = tw.Tiers.from_sizes((8,) * 5, [f"item {number}" for number in range(40)])
    return tiers, tw.ClusteredMallows(tiers, theta, "inversions").sample(n_rankings, rng=seed)


def test_tiers_of_forty_items_are_recovered():
    tiers, rankings = simulated(0.15, 200, seed=1)
    posterior = sample_posterior(
        rankings,
        distance="inversions",
        priors=tw.Priors(sizes="sceptical"),
        chains=2,
        draws=100,
        sampler=tw.Sampler(warmup=150),
        rng=2,
    )
    assert posterior.method == "mcmc"
    assert posterior.tiers() == tiers
    assert posterior.tiers("consensus") == tiers
    low, high = posterior.theta_interval(0.999)
    assert low < 0.15 < high
    assert posterior.sizes_probabilities()[8, 8, 8, 8, 8] > 0.8
    best = posterior.best_k_probabilities(8)
    assert float(best.sel(item="item 3")) > 0.95
    assert float(best.sel(item="item 8")) < 0.05


def test_noise_of_forty_items_is_one_tier():
    _, rankings = simulated(0.0, 50, seed=3)
    posterior = sample_posterior(
        rankings,
        distance="inversions",
        priors=tw.Priors(sizes="sceptical"),
        chains=2,
        draws=50,
        sampler=tw.Sampler(warmup=150),
        rng=2,
    )
    assert posterior.single_tier_log_odds > 3
    assert posterior.n_tiers_probabilities()[1] > 0.9


def interrupting(what, done, _total):
    if what == "chain 2" and done == 80:
        raise KeyboardInterrupt


@pytest.mark.parametrize("concentration", ["single", "tier"])
def test_stopped_chain_resumes_with_the_same_draws(tmp_path, concentration):
    rankings = rankings_of(random_answers(4, 6, seed=13), 4)
    options = {
        "distance": "inversions",
        "concentration": concentration,
        "method": "mcmc",
        "chains": 2,
        "draws": 60,
        "warmup": 50,
        "thin": 2,
        "rng": 1,
    }
    with pytest.raises(KeyboardInterrupt):
        sample_posterior(
            rankings, checkpoint=tmp_path / "run", progress=interrupting, **in_groups(options)
        )
    resumed = sample_posterior(rankings, checkpoint=tmp_path / "run", **in_groups(options))
    whole = sample_posterior(rankings, **in_groups(options))
    assert resumed.data["posterior"].equals(whole.data["posterior"])
    exact = in_groups(options | {"method": "exact"})
    kept = sample_posterior(rankings, checkpoint=tmp_path / "exact", **exact)
    assert kept.data["posterior"].equals(sample_posterior(rankings, **exact).data["posterior"])


def divided_rankings():
    """Rankings that agree about four items, and place a fifth anywhere."""
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(150):
        row = ["a", "b", "c", "d"]
        if rng.random() < 0.3:
            place = rng.integers(3)
            row[place], row[place + 1] = row[place + 1], row[place]
        row.insert(int(rng.integers(5)), "x")
        rows.append(row)
    return tw.Rankings.from_orderings(rows)


def test_summary_says_about_whom_people_are_divided(tmp_path):
    posterior = sample_posterior(
        divided_rankings(), distance="inversions", concentration="tier", rng=1
    )
    assert posterior.divided_items() == ("x",)
    assert "people are divided about x:" in posterior.summary()
    assert "a theta per tier" in repr(posterior)
    low, high = posterior.item_theta_intervals().sel(item="x").to_numpy()
    assert low < 0.1
    assert high < posterior.item_theta_intervals().sel(item="a").to_numpy()[0]
    plain = json.loads(json.dumps(posterior.to_dict()))
    assert plain["divided_items"] == ["x"]
    posterior.save(tmp_path / "draws.nc")
    loaded = tw.Posterior.load(tmp_path / "draws.nc")
    assert loaded.data["posterior"].equals(posterior.data["posterior"])
    assert loaded.summary() == posterior.summary()
    with pytest.raises(InputError, match="one per tier"):
        posterior.theta_interval()
    with pytest.raises(InputError, match="one per tier"):
        posterior.rank_tier_bands()
    one_theta = sample_posterior(divided_rankings(), distance="inversions", rng=1)
    assert one_theta.divided_items() == ()
    assert "divided" not in one_theta.summary()


def test_what_a_theta_per_tier_is_not_for():
    goals = tw.load_political_goals()
    for options in (
        {"distance": "kendall"},
        {"distance": "inversions", "sizes": (2, 2)},
        {"distance": "inversions", "prior_sizes": {(2, 2): 1.0}},
        {"distance": "inversions", "theta_update": "integrated"},
    ):
        with pytest.raises(InputError, match="one theta per tier needs"):
            sample_posterior(goals, concentration="tier", **in_groups(options))
    with pytest.raises(InputError, match="concentration"):
        sample_posterior(goals, concentration="line")


def test_exact_draws_of_too_many_items_are_refused():
    _, rankings = simulated(0.15, 20, seed=1)
    with pytest.raises(tw.TooLargeError, match="mcmc"):
        sample_posterior(rankings, distance="inversions", sampler=tw.Sampler(method="exact"))


def test_distance_may_be_left_to_a_search():
    goals = tw.load_political_goals()
    posterior = sample_posterior(goals, distance="auto", concentration="single", draws=50, rng=1)
    assert posterior.distance == "kendall"
    assert list(posterior.compared) == ["kendall", "inversions", "one worth per tier"]
    assert posterior.compared["kendall"] == 0.0
    assert "Kendall describes the answers best" in posterior.summary()
    assert sample_posterior(goals, distance="kendall", draws=5).compared is None
    with pytest.raises(
        InputError, match=r"only with open sizes.*distance=\"kendall\", or leave out sizes"
    ):
        sample_posterior(goals, (2, 2), distance="auto")


@pytest.mark.parametrize(
    ("concentration", "log_evidence"), [("single", -6440.66), ("tier", -6426.98)]
)
def test_evidence_of_political_goals(concentration, log_evidence):
    posterior = sample_posterior(
        tw.load_political_goals(),
        distance="inversions",
        concentration=concentration,
        priors=tw.Priors(sizes="uniform"),
        draws=10,
        rng=1,
    )
    assert posterior.log_evidence == pytest.approx(log_evidence, abs=0.01)


@pytest.mark.parametrize(
    ("concentration", "log_evidence"), [("single", -3957.99), ("tier", -3925.06)]
)
def test_evidence_of_sushi(concentration, log_evidence):
    tohoku = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    posterior = sample_posterior(
        tohoku,
        distance="inversions",
        concentration=concentration,
        priors=tw.Priors(sizes="uniform"),
        draws=200,
        rng=1,
    )
    assert posterior.log_evidence == pytest.approx(log_evidence, abs=0.01)
    if concentration == "single":
        assert str(posterior.tiers()).startswith("fatty tuna > shrimp ~ sea eel ~ tuna")
    else:
        assert "sea urchin" in posterior.divided_items()
        assert "fatty tuna" not in posterior.divided_items()
