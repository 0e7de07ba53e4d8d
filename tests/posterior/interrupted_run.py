"""A run in a process of its own, to be killed: its arguments are the checkpoint and the case."""

import sys
from pathlib import Path

from tests.options import in_groups
from tests.posterior.small import SIZES, small_rankings
from tierwise.posterior import chain as checkpoints
from tierwise.posterior.run import sample_posterior

CASES = {
    "exact theta": {"sizes": SIZES, "method": "mcmc"},
    "integrated": {"sizes": SIZES, "theta_update": "integrated", "thin": 20},
    "exchange": {"sizes": SIZES, "theta_update": "exchange"},
    "open sizes": {"method": "mcmc"},
}
COMMON = {"chains": 2, "draws": 2000, "warmup": 400, "rng": 21, "progress": "off"}


def run(case, folder=None):
    return sample_posterior(small_rankings(), **in_groups(CASES[case] | COMMON), checkpoint=folder)


if __name__ == "__main__":
    checkpoints.SECONDS_BETWEEN = 0.0
    run(sys.argv[2], Path(sys.argv[1]))
    print("finished")  # noqa: T201 - the test must not hear this
