"""The distribution of both distances under a few sizes of six items, counted exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Claim, Place, Results, Study, number_claim
from studies.writing import figure, paragraphs, sizes_text, table
from tierwise import ClusteredMallows, Rankings, Tiers
from tierwise.partition.choose import partition_function

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISTANCES = ("hamming", "kendall")
# The paper's example: labels (2,1,1,2,3), ordering (2,1,3,4,5).
EXAMPLE_TIERS, EXAMPLE_ORDERING = [[2, 3], [1, 4], [5]], [2, 1, 3, 4, 5]
PAPER = {"hamming": 2, "kendall": 3}


@dataclass(frozen=True)
class Settings:
    """The paper does not name the sizes it draws; these run from one extreme to the other."""

    sizes: tuple[tuple[int, ...], ...] = ((1, 5), (3, 3), (2, 2, 2), (1, 2, 2, 1), (1,) * 6)
    seed: int = 0


def compute(settings: Settings, place: Place) -> Results:  # noqa: ARG001
    rankings = Rankings.from_orderings([EXAMPLE_ORDERING])
    return {
        "example": {
            name: float(ClusteredMallows(Tiers(EXAMPLE_TIERS), 1.0, name).distances(rankings)[0])
            for name in DISTANCES
        },
        "distributions": [
            {
                "sizes": list(sizes),
                "distance": name,
                "distances": distribution.distances.tolist(),
                "counts": np.exp(distribution.log_counts).round().astype(int).tolist(),
            }
            for sizes in settings.sizes
            for name in DISTANCES
            for distribution in [partition_function(sizes, name).distribution()]
        ],
    }


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    from matplotlib import pyplot as plt

    from tierwise import plots

    drawn, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
    for ax, name in zip(axes, DISTANCES, strict=True):
        sizes = [one["sizes"] for one in results["distributions"] if one["distance"] == name]
        plots.distance_distributions(sizes, name, ax=ax)
        ax.set_title(name)
    return {"distance-distributions": drawn}


def claims(results: Results) -> list[Claim]:
    return [
        number_claim(
            f"{name.title()} distance of the worked example",
            PAPER[name],
            results["example"][name],
            0,
        )
        for name in DISTANCES
    ]


def tell(results: Results, settings: Settings) -> str:  # noqa: ARG001
    rows = [
        [
            sizes_text(one["sizes"]),
            one["distance"],
            f"{one['distances'][-1]:.0f}",
            f"{_mean(one):.3f}",
            f"{sum(one['counts'])}",
        ]
        for one in results["distributions"]
    ]
    return paragraphs(
        "The number of orderings at each distance from the tiers, for six items. It is counted "
        f"exactly; each row sums to 6! = {factorial(6)}. The paper does not say which sizes it "
        "draws, so these are ours.",
        figure("distance-distributions", "Distribution of both distances for six items."),
        table(["sizes", "distance", "largest", "mean", "orderings"], rows),
        f"The paper's worked example, labels (2,1,1,2,3) and ordering (2,1,3,4,5): Hamming "
        f"{results['example']['hamming']:.0f}, Kendall {results['example']['kendall']:.0f}.",
    )


def _mean(one: Results) -> float:
    pairs = zip(one["distances"], one["counts"], strict=True)
    return float(sum(distance * count for distance, count in pairs) / sum(one["counts"]))


STUDY = Study(
    name="distances",
    title="Distances between an ordering and tiers (the paper's section 3)",
    full=Settings(),
    quick=Settings(),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
)
