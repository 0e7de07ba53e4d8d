"""How many independent draws chains are worth per second of a core, for ranks and tied pairs.

``python -m benchmarks.effective`` prints a table of some shapes of `benchmarks.shapes`, and
``--json FILE`` keeps it. The model is named, so that nothing but the draws is timed.
"""

import argparse
import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

import tierwise as tw
from benchmarks.shapes import SHAPES

MODELS: dict[str, dict[str, str]] = {
    "90 x 10 scores": {"family": "luce"},
    "181 x 41 scores": {"family": "luce"},
    "134 x 500 pass or fail": {"distance": "inversions"},
}
"""Shapes by the beginning of their names, and the model that is drawn from."""
_SEED = 1
_FEW_DRAWS = 50


def effective_numbers(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what draws of tiers, ``[chain, draw, item]``, are worth: by item, and by pair.

    Ranks are means over a tier; pairs are those of neighbours by their mean tier.
    """
    from tierwise.posterior.summary import diagnose

    n_chains, n_draws, n_items = labels.shape
    ranks = np.empty(labels.shape)
    for chain in range(n_chains):
        for draw in range(n_draws):
            own = labels[chain, draw]
            sizes = np.bincount(own)
            ranks[chain, draw] = (np.cumsum(sizes) - (sizes - 1) / 2)[own]
    names = [str(item) for item in range(n_items)]
    numbers = {name: ranks[:, :, item] for item, name in enumerate(names)}
    found = diagnose(numbers, labels, names)
    by_item, by_pair = (
        np.array([min(one.ess_bulk, one.ess_tail) for one in rows])
        for rows in (found.numbers, found.ties)
    )
    return by_item, by_pair


def measure(name: str) -> dict[str, Any]:
    """Draw for the shape whose name begins so."""
    shape = next(shape for shape in SHAPES if shape.name.startswith(name))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        shape.write(path, shape.n_items, shape.n_answers, np.random.default_rng(_SEED))
        data = tw.read(path, better="higher")
    options: dict[str, Any] = {**MODELS[name], "progress": "off", "rng": _SEED}
    warnings.simplefilter("ignore")
    tw.sample_posterior(data, draws=_FEW_DRAWS, **options)  # compiling does not count
    start = process_time()
    drawn = tw.sample_posterior(data, **options)
    seconds = process_time() - start
    labels = np.asarray(drawn.labels)
    labels = labels.reshape(-1, 1000, labels.shape[-1])
    by_item, by_pair = effective_numbers(labels - labels.min())
    return {
        "core_seconds": seconds,
        "ranks_least": float(by_item.min()),
        "ranks_median": float(np.median(by_item)),
        "ties_least": float(by_pair.min()),
        "ties_median": float(np.median(by_pair)),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="the file in which the figures are kept")
    options = parser.parse_args()
    kept = {}
    for name in MODELS:
        kept[name] = found = measure(name)
        print(name, {key: round(value, 1) for key, value in found.items()}, flush=True)
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
