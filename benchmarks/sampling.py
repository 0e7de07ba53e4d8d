"""Sampling from the model: exact against Metropolis."""

from benchmarks.rows import Row, best_time, show_sizes
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.tiers import Tiers

DRAWS = 10_000
CASES = [
    ("kendall", (1,) * 10, 0.3),
    ("kendall", (1,) * 50, 0.3),
    ("kendall", (1, 1, 1, 2, 3, 2), 0.25),
    ("kendall", (5,) * 6, 0.1),
    ("hamming", (5,) * 6, 1.0),
    ("footrule", (5,) * 6, 0.2),
]


def exact_against_metropolis() -> list[Row]:
    """Ten thousand draws by either sampler, and how far their mean distance is off."""
    rows = []
    for name, sizes, theta in CASES:
        model = ClusteredMallows(Tiers.from_sizes(sizes, range(sum(sizes))), theta, name)
        for method in ("exact", "mcmc"):
            seconds, rankings = best_time(
                lambda model=model, method=method: model.sample(DRAWS, rng=1, method=method),
                repeats=5 if method == "exact" else 1,
            )
            off = model.distances(rankings).mean() - model.mean_distance()
            error = (model.var_distance() / DRAWS) ** 0.5
            rows.append(
                Row(
                    f"{DRAWS:,} draws, {method}",
                    f"{name} {show_sizes(sizes)}",
                    seconds,
                    f"mean distance off by {off / error:+.1f} standard errors",
                )
            )
    return rows
