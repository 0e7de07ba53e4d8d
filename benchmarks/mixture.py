"""Mixtures: how long groups of all sushi rankings take, and how often starts agree.

Give the folder with the sushi data, which may not be shipped: ``benchmarks/mixture.py DATA``.
"""

import argparse
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import tierwise as tw


def main() -> None:
    """Time fits of one to six groups, the comparison of them all, and the Gibbs sampler."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder with sushi3a.5000.10.order")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    sushi = tw.load_sushi(arguments.data)
    strict = (1,) * 10
    tw.fit_mixture(sushi.subset(slice(0, 50)), (1, 2), starts=5, rng=1, distance="kendall")

    table = Table("groups", "sizes", "seconds", "log-likelihood", "BIC", "starts that agree")
    for sizes in (strict, "search"):
        for n_groups in range(1, 7):
            found = tw.fit_mixture(
                sushi, n_groups, sizes, workers=arguments.workers, rng=1, distance="kendall"
            )
            table.add_row(
                str(n_groups),
                "strict" if sizes == strict else "search",
                f"{found.provenance.seconds:.1f}",
                f"{found.log_likelihood:.2f}",
                f"{found.bic:.2f}",
                f"{found.n_agreeing} of {found.n_runs}",
            )
    Console().print(table)

    start = perf_counter()
    compared = tw.fit_mixture(sushi, workers=arguments.workers, rng=1, distance="kendall")
    print(f"one to six groups, compared: {perf_counter() - start:.1f} s")
    print(compared.summary())
    home = np.loadtxt(f"{arguments.data}/sushi3.udata", dtype=np.int64, usecols=5)
    print(compared.to_frame(home).round(3).to_string(index=False))

    start = perf_counter()
    tw.sample_mixture(
        sushi, 3, strict, chains=1, draws=900, sampler=tw.Sampler(warmup=100), starts=5, rng=1
    )
    print(f"1,000 Gibbs iterations of three strict groups: {perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
