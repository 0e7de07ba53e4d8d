"""Searching for sizes: how long it takes, and how often it finds the truth.

Each part prints a few lines; `--part` picks one. The studies are the settings of the paper's first
and third simulation study.
"""

import argparse
from time import perf_counter

import tierwise as tw


def seconds_of(function) -> float:
    start = perf_counter()
    function()
    return perf_counter() - start


def simulate(sizes, theta, distance, n_rankings, seed):
    tiers = tw.Tiers.from_sizes(sizes, range(sum(sizes)))
    return tw.ClusteredMallows(tiers, theta, distance).sample(n_rankings, rng=seed)


def measure_speed(_replications: int, workers: int) -> None:
    """All sizes of ten items, once compiled, by distance and criterion."""
    rankings = simulate((1, 1, 1, 2, 1, 2, 1, 1), 0.27, "kendall", 280, seed=1)
    for distance in ("kendall", "hamming"):
        for criterion in ("likelihood", "evidence"):

            def run(distance=distance, criterion=criterion) -> None:
                tw.search(rankings, distance, criterion=criterion, workers=workers)

            run()
            print(
                f"10 items, all 512 sizes, {distance:<8} {criterion:<10} {seconds_of(run):7.2f} s"
            )


def measure_fifteen(_replications: int, workers: int) -> None:
    """All 16,384 sizes of fifteen items, with the remaining time as shown on the way."""
    rankings = simulate((3,) * 5, 0.3, "kendall", 300, seed=1)
    for distance in ("kendall", "hamming"):
        start = perf_counter()
        told = {}

        def tell(_name, done, total, start=start, told=told) -> None:
            for share in (0.1, 0.25, 0.5):
                if done == round(share * total):
                    told[share] = (perf_counter() - start) / share

        tw.search(
            rankings,
            distance,
            method="exhaustive",
            workers=workers,
            progress=tell,
            criterion="likelihood",
        )
        foretold = ", ".join(f"{total:.0f} s after {share:.0%}" for share, total in told.items())
        print(
            f"15 items, all sizes, {distance:<8} {perf_counter() - start:7.1f} s, told {foretold}"
        )


def first_study(replications: int, workers: int) -> None:
    """Sizes (1, 1, 3, 1, 1), Hamming, theta 0.9, 500 rankings: how often the truth wins."""
    sizes = (1, 1, 3, 1, 1)
    found = [
        tw.search(
            simulate(sizes, 0.9, "hamming", 500, seed),
            "hamming",
            workers=workers,
            criterion="likelihood",
        ).best.sizes
        for seed in range(replications)
    ]
    print(f"study 1: the true sizes win in {found.count(sizes)} of {replications}")


def third_study(replications: int, workers: int) -> None:
    """Fifteen items in tiers of three, theta 1.5, 500 rankings: how often the truth wins."""
    sizes = (3,) * 5
    ways = {
        "the paper's search": {"start": "merging-by-size", "moves": "adjacent"},
        "default greedy search": {},
    }
    for distance in ("kendall", "hamming"):
        samples = [simulate(sizes, 1.5, distance, 500, seed) for seed in range(replications)]
        for way, options in ways.items():
            for criterion in ("likelihood", "agreement"):
                found = [
                    tw.search(
                        sample,
                        distance,
                        criterion=criterion,
                        method="greedy",
                        workers=workers,
                        **options,
                    ).best.sizes
                    for sample in samples
                ]
                print(
                    f"study 3, {distance:<8} {way:<22} {criterion:<10} the true sizes win in "
                    f"{found.count(sizes)} of {replications}",
                    flush=True,
                )


PARTS = {
    "speed": measure_speed,
    "fifteen": measure_fifteen,
    "study-1": first_study,
    "study-3": third_study,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    for part in options.part or PARTS:
        PARTS[part](options.replications, options.workers)


if __name__ == "__main__":
    main()
