"""What the Formula 1 races show, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies import formula_one_paper as paper
from studies.writing import duration, figure, paragraphs, sizes_text, table, tiers_text

if TYPE_CHECKING:
    from studies.formula_one import Settings
    from studies.harness import Results

MEANING = {"below": "below the finishers", "anywhere": "anywhere"}
"""What it means not to be listed."""


def of_complete(one: Results) -> float:
    """Return the criterion per complete ordering: without how many orderings agree."""
    return float(one["criterion"] - one["log_completions"])


def tell(results: Results, settings: Settings) -> str:
    """Return the section."""
    readings = [reading for reading in MEANING if reading in results]
    fits = [
        [
            MEANING[reading],
            name,
            f"{one['theta']:.4f}",
            f"{one['criterion']:.2f}",
            f"{of_complete(one):.2f}",
            duration(one["seconds"]),
        ]
        for reading in readings
        for name in ("tiers", "strict")
        for one in [results[reading][name]]
    ]
    chains = [
        [
            MEANING[reading],
            name,
            proposal,
            f"{one['theta_mean']:.4f} ({one['theta_sd']:.4f})",
            f"{one['best_criterion']:.2f}",
            f"{one['mean_criterion']:.2f}",
            f"{paper.CRITERION[name]:.2f}",
        ]
        for reading in readings
        for name in ("tiers", "strict")
        for proposal in ("reinsert", "refill")
        for one in [results[reading][f"{name}_{proposal}"]]
    ]
    implied = paper.CRITERION["strict"] + results["penalty_strict"]
    return paragraphs(
        f"{results['races']} races, {results['drivers']} drivers with more than ten entries. A "
        "race lists its finishers. What it means not to be listed, the data cannot say: to come "
        "below all finishers, or to be able to come anywhere. The paper's section 5.1 describes "
        "top-k lists, which is the first; its data augmentation can be read as the second. We "
        f"compute both, with sizes {sizes_text(paper.SIZES)}.",
        "**The tiers** (the last, of 15 drivers, is left out).",
        table(
            ["not listed means", "tiers"],
            [["paper", tiers_text(paper.TIERS)]]
            + [
                [MEANING[reading], tiers_text(results[reading]["tiers"]["tiers"])]
                for reading in readings
            ],
        ),
        "**The first ten of the strict consensus.**",
        table(
            ["not listed means", "drivers"],
            [["paper", " > ".join(paper.STRICT_TOP_TEN)]]
            + [
                [MEANING[reading], tiers_text(results[reading]["strict"]["tiers"])]
                for reading in readings
            ],
        ),
        "**Maximum likelihood**, all complete orderings that agree with a race being summed over. "
        "The criterion is that of the races as observed; less the log number of orderings that "
        "agree with them, it is on the scale of complete orderings, on which no tiers at all has "
        f"{results['uniform']:.1f}.",
        table(
            ["not listed means", "model", "theta", "criterion", "on the complete scale", "time"],
            fits,
        ),
        _conclusion(results, readings),
        f"**The paper's chain**: complete the races, switch tiers, draw theta, "
        f"{settings.iterations:,} iterations, the first {settings.warmup:,} dropped; the criterion "
        "is computed in each iteration with the races as they are completed then, and the paper "
        "reports its maximum. ('Refill' is the paper's proposal, all missing places at once; "
        "'reinsert' moves one driver at a time and mixes better.)",
        table(
            [
                "not listed means",
                "model",
                "proposal",
                "theta (sd)",
                "best criterion",
                "mean",
                "paper's best",
            ],
            chains,
        ),
        "Such a maximum over completions compares models unfairly: it rewards the model whose "
        "completions can be chosen to suit it, and it grows with the number of iterations. The "
        "table above it does not have this problem.",
        f"The paper's criterion of the strict model, {paper.CRITERION['strict']:.1f}, is a "
        f"log-likelihood of {implied:.1f}. The uniform distribution, which is the strict model "
        f"with theta 0, has {results['uniform']:.1f}; a maximum cannot lie below it.",
        figure("formula-one-ranks", "Ranks of the drivers, and of tiers of drivers."),
    )


def _conclusion(results: Results, readings: list[str]) -> str:
    gaps = {
        reading: results[reading]["strict"]["criterion"] - results[reading]["tiers"]["criterion"]
        for reading in readings
    }
    told = ", ".join(
        f"by {gap:.1f} if not listed means {MEANING[one]}" for one, gap in gaps.items()
    )
    if all(gap > 0 for gap in gaps.values()):
        return (
            f"The strict consensus has the higher criterion ({told}). The paper concludes the "
            "opposite; but a last tier of 15 drivers throws away all that is known about the order "
            "of those drivers, and there is much of it."
        )
    return f"The difference of the criteria, strict less tiers: {told}."
