"""The settings of the paper's simulation studies: how often the search finds the true sizes."""

import pytest

import tierwise as tw


def simulate(sizes, theta, distance, seed):
    tiers = tw.Tiers.from_sizes(sizes, range(sum(sizes)))
    return tw.ClusteredMallows(tiers, theta, distance).sample(500, rng=seed)


def times_found(sizes, theta, distance, replications, **how):
    found = [
        tw.search(simulate(sizes, theta, distance, seed), distance, **how).best.sizes
        for seed in range(replications)
    ]
    return found.count(sizes)


@pytest.mark.parametrize(
    "replications", [5, pytest.param(100, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_first_study(replications):
    assert times_found((1, 1, 3, 1, 1), 0.9, "hamming", replications) == replications


@pytest.mark.parametrize("distance", ["kendall", pytest.param("hamming", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "replications", [2, pytest.param(100, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_third_study(distance, replications):
    arguments = ((3,) * 5, 1.5, distance, replications)
    by_likelihood = times_found(*arguments, method="greedy")
    by_agreement = times_found(*arguments, method="greedy", criterion="agreement")
    assert by_likelihood >= 0.97 * replications
    assert by_agreement <= 0.5 * replications


@pytest.mark.slow
def test_all_sizes_of_fifteen_items_with_progress_step_by_step():
    rankings = simulate((3,) * 5, 0.3, "kendall", seed=1)
    reports = []

    def tell(name, done, total):
        if name.startswith("all sizes"):
            reports.append((done, total))

    found = tw.search(
        rankings,
        method="exhaustive",
        workers=2,
        progress=tell,
        distance="kendall",
        criterion="likelihood",
    )
    assert found.exhaustive
    assert found.evaluated == 2**14
    assert found.best.sizes == (3,) * 5
    done, totals = zip(*reports, strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {done[-1]}
