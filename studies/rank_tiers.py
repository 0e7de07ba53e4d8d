"""Rank-cluster probabilities of the paper's two settings, exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from studies.harness import Place, Results, Study
from studies.writing import figure, paragraphs, sizes_text, table
from tierwise import ClusteredMallows, Tiers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIX, NINE = (2, 2, 2), (3, 2, 3, 1)
SETTINGS_OF_SIX = [("hamming", 0.5), ("hamming", 1.0), ("kendall", 0.5), ("kendall", 1.0)]
SETTINGS_OF_NINE = [("hamming", 0.9), ("kendall", 0.5)]


@dataclass(frozen=True)
class Settings:
    seed: int = 0


def _model(sizes: tuple[int, ...], distance: str, theta: float) -> ClusteredMallows:
    return ClusteredMallows(Tiers.from_sizes(sizes, range(1, sum(sizes) + 1)), theta, distance)


def compute(settings: Settings, place: Place) -> Results:  # noqa: ARG001
    cases = [(SIX, *one) for one in SETTINGS_OF_SIX] + [(NINE, *one) for one in SETTINGS_OF_NINE]
    return {
        "cases": [
            {
                "sizes": list(sizes),
                "distance": distance,
                "theta": theta,
                "probabilities": _model(sizes, distance, theta)
                .rank_tier_probabilities()
                .probabilities.tolist(),
            }
            for sizes, distance, theta in cases
        ]
    }


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    from matplotlib import pyplot as plt

    from tierwise import plots

    drawn: dict[str, Figure] = {}
    for name, sizes, rows in (("rank-tiers-six", SIX, 2), ("rank-tiers-nine", NINE, 1)):
        cases = [one for one in results["cases"] if tuple(one["sizes"]) == sizes]
        drawn[name], axes = plt.subplots(
            rows, 2, figsize=(9.5, 3.0 * rows), layout="constrained", squeeze=False
        )
        for ax, one in zip(axes.flat, cases, strict=True):
            plots.rank_tier_bars(_model(sizes, one["distance"], one["theta"]), ax=ax)
            ax.set_title(f"{one['distance']}, theta {one['theta']:g}")
    return drawn


def tell(results: Results, settings: Settings) -> str:  # noqa: ARG001
    rows = []
    for one in results["cases"]:
        n_tiers = len(one["sizes"])
        block_starts = [sum(one["sizes"][:tier]) for tier in range(n_tiers)]
        own = [one["probabilities"][start][tier] for tier, start in enumerate(block_starts)]
        rows.append(
            [
                sizes_text(one["sizes"]),
                one["distance"],
                f"{one['theta']:g}",
                ", ".join(f"{share:.4f}" for share in own),
            ]
        )
    return paragraphs(
        "The probability that a place holds an item of a tier, by a forward-backward pass instead "
        "of simulation. The paper's first figure is captioned z = (1,1,2,2,3), five items, while "
        "its text says (1,1,2,2,3,3); the six bars it describes are those of sizes (2,2,2).",
        figure("rank-tiers-six", "Six items in tiers of sizes (2,2,2)."),
        figure("rank-tiers-nine", "Nine items in tiers of sizes (3,2,3,1)."),
        "The probability that a place holds an item of the tier it belongs to, tier by tier:",
        table(["sizes", "distance", "theta", "own tier"], rows),
        "All places of a block have the same probabilities, as the paper's remark says.",
    )


STUDY = Study(
    name="rank-tiers",
    title="Rank-cluster probabilities (section 3.3)",
    full=Settings(),
    quick=Settings(),
    compute=compute,
    tell=tell,
    draw=draw,
)
