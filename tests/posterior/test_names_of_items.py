"""Items keep their names in draws and in what is made of them, whatever kind of value they are."""

from datetime import date

import pytest

import tierwise as tw
from tests.unrendered import no_forecasts, unrendered_figures

NAMES = {
    "numbers": (1e300, 2.5, 3.0),
    "dates": (date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3)),
    "pairs": (("tea", 1), ("tea", 2), ("milk", 1)),
}


@pytest.fixture(params=NAMES)
def rankings(request):
    a, b, c = NAMES[request.param]
    return tw.Rankings.from_orderings([[a, b, c], [b, a, c], [b, c, a]] * 4)


@pytest.mark.parametrize(
    "rankings",
    ["pairs", *(pytest.param(name, marks=pytest.mark.slow) for name in ("numbers", "dates"))],
    indirect=True,
)
def test_posterior_and_report(rankings, tmp_path):
    posterior = tw.sample_posterior(rankings, rng=1)
    assert posterior.items == rankings.items
    assert set(posterior.tiers().items) == set(rankings.items)
    with unrendered_figures(), no_forecasts():
        analysis = tw.report(rankings, tmp_path / "report.html", replicates=20, rng=1)
    assert set(analysis.fit.tiers.items) == set(rankings.items)


def test_planning(rankings):
    found = tw.enough(rankings, futures=4, streams=0, rng=1)
    assert set(found.tiers.items) == set(rankings.items)


def test_numbers_are_stored_and_others_become_text(rankings, tmp_path):
    posterior = tw.sample_posterior(rankings, rng=1)
    posterior.save(tmp_path / "draws.nc")
    loaded = tw.Posterior.load(tmp_path / "draws.nc")
    as_numbers = isinstance(rankings.items[0], float)
    assert loaded.items == (rankings.items if as_numbers else tuple(map(str, rankings.items)))
