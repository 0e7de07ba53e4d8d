"""Sampling the posterior: effective draws of theta a second, and time by number of rankings.

BayesMallows (R) reaches 10 to 30 effective draws of its alpha, which is n times theta, a second on
the 5,000 sushi rankings with a strict consensus. The yardstick is the upper end, or what is given.
"""

import argparse
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from tierwise import Counts, Rankings, Sampler
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.posterior.run import sample_posterior
from tierwise.tiers import Tiers

STRICT = (1,) * 10
WAYS = {
    "theta integrated out": {"sampler": Sampler(theta_update="integrated"), "draws": 25_000},
    "theta drawn exactly": {"sampler": Sampler(method="mcmc"), "draws": 5_000},
    "independent draws": {"sampler": Sampler(method="exact"), "draws": 1_000},
    "exchange algorithm": {"sampler": Sampler(theta_update="exchange", thin=2), "draws": 2_000},
}


def the_rankings(folder: Path | None) -> Rankings:
    """Load the sushi rankings, or draw as many that are like them."""
    if folder is not None:
        from tierwise.data.datasets import load_sushi

        return load_sushi(folder)
    return ClusteredMallows(Tiers.from_sizes(STRICT, range(10)), 0.242).sample(5000, rng=1)


def effective_draws_a_second(data: Counts, options: dict) -> tuple[float, float, float]:
    sample_posterior(data, STRICT, rng=0, progress="off", **{**options, "draws": 20})  # compiles
    start = perf_counter()
    posterior = sample_posterior(data, STRICT, rng=1, progress="off", **options)
    seconds = perf_counter() - start
    theta = posterior.diagnostics().numbers[0]
    return theta.ess_bulk / seconds, 10 * theta.mean, 10 * theta.sd


def microseconds_a_draw(data: Counts) -> float:
    """Time of a long run less that of a short one: what is done once does not count."""
    times = []
    for draws in (2_000, 22_000):
        start = process_time()
        sample_posterior(
            data,
            STRICT,
            sampler=Sampler(theta_update="integrated", warmup=500),
            chains=1,
            draws=draws,
            rng=1,
            progress="off",
        )
        times.append(process_time() - start)
    return (times[1] - times[0]) / 20_000 * 1e6


def main() -> None:
    import warnings

    from tierwise import TierwiseWarning

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sushi", type=Path, help="folder with the sushi data")
    parser.add_argument("--yardstick", type=float, default=30.0, help="effective draws a second")
    options = parser.parse_args()
    warnings.simplefilter("ignore", TierwiseWarning)
    data = Counts.of(the_rankings(options.sushi))
    print(f"strict consensus of {data.n_rankings:,} rankings, effective draws of theta a second")
    for name, way in WAYS.items():
        rate, mean, sd = effective_draws_a_second(data, way)
        ratio = rate / options.yardstick
        print(f"{name:<22}{rate:>10,.0f}  {ratio:>8,.0f} times {options.yardstick:g}", end="")
        print(f"   10 theta = {mean:.3f} (sd {sd:.4f})")
    for factor in (1, 1000):
        larger = Counts(
            data.items, data.places * factor, data.joint * factor, data.n_rankings * factor
        )
        time = np.median([microseconds_a_draw(larger) for _ in range(3)])
        print(f"{larger.n_rankings:>12,} rankings  {time:8.1f} microseconds a draw")


if __name__ == "__main__":
    main()
