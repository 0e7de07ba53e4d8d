"""The Tohoku sushi rankings, described as in the paper's introduction and section 6.3."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from studies.harness import Claim, Place, Results, Study, number_claim, text_claim
from studies.sushi_paper import START
from studies.writing import figure, paragraphs, sizes_text, table, tiers_text
from tierwise import describe, load_sushi
from tierwise.searching.merging import merge_even_pairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Shares that the paper reads off its matrix, the majority's.
PAPER_PAIRS = {
    ("tuna roll", "squid"): 0.51,
    ("sea urchin", "sea eel"): 0.52,
    ("sea eel", "salmon roe"): 0.52,
    ("tuna", "shrimp"): 0.54,
}
TOLERANCE = 0.05


@dataclass(frozen=True)
class Settings:
    seed: int = 0


def compute(settings: Settings, place: Place) -> Results:  # noqa: ARG001
    rankings = load_sushi(place.folder("sushi"), region="Tohoku")
    described = describe(rankings)
    merging = merge_even_pairs(rankings, TOLERANCE)
    position = {item: number for number, item in enumerate(rankings.items)}
    return {
        "rankings": int(rankings.n_rankings),
        "items": list(rankings.items),
        "pairs": {
            f"{one}, {other}": float(described.pairwise[position[one], position[other]])
            for one, other in PAPER_PAIRS
        },
        "merging": merging.to_dict(),
        "default_tolerance": sqrt(0.5 / rankings.n_rankings),
        "merges_by_default_tolerance": len(merge_even_pairs(rankings).steps),
    }


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    if place is None:
        return {}
    from matplotlib import pyplot as plt

    from tierwise import plots

    rankings = load_sushi(place.folder("sushi"), region="Tohoku")
    drawn: dict[str, Figure] = {}
    for name, plot, size in (
        ("sushi-ranks", plots.rank_boxes, (6.4, 4.0)),
        ("sushi-pairs", plots.pairwise_matrix, (7.2, 5.6)),
    ):
        drawn[name], ax = plt.subplots(figsize=size, layout="constrained")
        plot(rankings, ax=ax)
    drawn["sushi-merging"], ax = plt.subplots(figsize=(6.8, 4.0), layout="constrained")
    plots.merging_steps(merge_even_pairs(rankings, TOLERANCE), ax=ax)
    return drawn


def _majority(share: float) -> float:
    return max(share, 1 - share)


def claims(results: Results) -> list[Claim]:
    found = [
        number_claim(
            f"sushi, share of the majority, {one} and {other}",
            paper,
            _majority(results["pairs"][f"{one}, {other}"]),
            2,
        )
        for (one, other), paper in PAPER_PAIRS.items()
    ]
    sizes = tuple(sorted(results["merging"]["sizes"]))
    found.append(text_claim("sushi, sizes to start from", sizes_text(START), sizes_text(sizes)))
    return found


def tell(results: Results, settings: Settings) -> str:  # noqa: ARG001
    merging = results["merging"]
    steps = [
        [
            str(number),
            ", ".join(step["first"]),
            ", ".join(step["second"]),
            f"{_majority(step['share']):.3f}",
        ]
        for number, step in enumerate(merging["steps"], 1)
    ]
    return paragraphs(
        f"{results['rankings']} people who lived in Tohoku until they were 15 ranked "
        f"{len(results['items'])} kinds of sushi.",
        figure("sushi-ranks", "Ranks of each sushi."),
        figure("sushi-pairs", "How often each sushi (row) is ranked above each other (column)."),
        table(
            ["pair", "paper", "here"],
            [
                [f"{one}, {other}", f"{paper:.2f}", f"{_majority(share):.3f}"]
                for (one, other), paper in PAPER_PAIRS.items()
                for share in [results["pairs"][f"{one}, {other}"]]
            ],
        ),
        f"Merging what is within {TOLERANCE:g} of even takes {len(steps)} steps, as in the paper:",
        table(["step", "merged", "with", "majority"], steps),
        figure("sushi-merging", "Which sushi are merged, step by step."),
        f"The groups, in order of preference, are {tiers_text(merging['groups'])}: sizes "
        f"{sizes_text(merging['sizes'])}. The paper starts its search from the same sizes, the "
        f"smallest first: {sizes_text(START)}. (The paper recommends a tolerance near "
        f"sqrt(0.5/q) = {results['default_tolerance']:.3f}; that makes "
        f"{results['merges_by_default_tolerance']} merges.)",
    )


STUDY = Study(
    name="sushi-data",
    title="Tohoku sushi: the data and where to start (sections 1.1 and 6.3)",
    full=Settings(),
    quick=Settings(),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
    data=("sushi",),
)
