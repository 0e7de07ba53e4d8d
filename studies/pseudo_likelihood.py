"""The paper's worked example of its pseudo-likelihood, and its table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import exp, log

from studies.harness import Claim, Place, Results, Study, number_claim
from studies.writing import paragraphs, table
from tierwise import ClusteredMallows, Rankings, Tiers

LABELS, ORDERING, THETA = {1: 1, 2: 1, 3: 2, 4: 2}, (1, 3, 2, 4), 0.5
PAPER = {"pseudo": -3.487, "hamming": -3.344, "kendall": -3.593}
# The last column of the paper's table: the probability of the tier, and of the item within it.
PAPER_STEPS = ((0.731, 0.5), (0.269, 0.5), (0.622, 1.0))


@dataclass(frozen=True)
class Settings:
    seed: int = 0


def compute(settings: Settings, place: Place) -> Results:  # noqa: ARG001
    tiers = Tiers([[1, 2], [3, 4]])
    rankings = Rankings.from_orderings([ORDERING])
    model = ClusteredMallows(tiers, THETA)
    all_orderings = Rankings.from_orderings([list(one) for one in permutations(LABELS)])
    total = sum(exp(value) for value in model.log_pseudo_likelihood(all_orderings).tolist())
    return {
        "pseudo": float(model.log_pseudo_likelihood(rankings)[0]),
        "kendall": float(model.log_prob(rankings)[0]),
        "hamming": float(ClusteredMallows(tiers, THETA, "hamming").log_prob(rankings)[0]),
        "steps": _steps(),
        "sum_over_orderings": total,
    }


def _steps() -> list[Results]:
    """Go through the ordering place by place, as the paper's table does."""
    left = dict(LABELS)
    steps = []
    for item in ORDERING[:-1]:
        counts = {tier: list(left.values()).count(tier) for tier in sorted(set(left.values()))}
        best = min(counts)
        weights = {
            tier: exp(-THETA * (0 if tier == best else count)) for tier, count in counts.items()
        }
        tier = left[item]
        steps.append(
            {
                "items": list(left),
                "counts": list(counts.values()),
                "tier": weights[tier] / sum(weights.values()),
                "item": 1 / counts[tier],
            }
        )
        del left[item]
    return steps


def claims(results: Results) -> list[Claim]:
    names = {"pseudo": "log pseudo-likelihood", "hamming": "Hamming", "kendall": "Kendall"}
    found = [
        number_claim(
            f"pseudo-likelihood example, {label}"
            if name == "pseudo"
            else f"the same, log probability, {label}",
            PAPER[name],
            results[name],
            3,
        )
        for name, label in names.items()
    ]
    for number, (step, paper) in enumerate(zip(results["steps"], PAPER_STEPS, strict=True), 1):
        found.append(
            number_claim(f"the same, place {number}, tier probability", paper[0], step["tier"], 3)
        )
    return found


def tell(results: Results, settings: Settings) -> str:  # noqa: ARG001
    rows = [
        [
            str(number),
            str(tuple(step["items"])),
            str(tuple(step["counts"])),
            f"{step['tier']:.3f} x {step['item']:g}",
            f"{paper[0]:.3f} x {paper[1]:g}",
        ]
        for number, (step, paper) in enumerate(zip(results["steps"], PAPER_STEPS, strict=True), 1)
    ]
    product = sum(log(step["tier"] * step["item"]) for step in results["steps"])
    return paragraphs(
        "Labels (1,1,2,2), theta 0.5, ordering (1,3,2,4):",
        table(["place", "items left", "left by tier", "here", "paper"], rows),
        f"The logs sum to {product:.3f}; the package gives {results['pseudo']:.3f} (paper "
        f"{PAPER['pseudo']:.3f}). The log probability itself is {results['hamming']:.6f} for "
        f"Hamming (paper {PAPER['hamming']:.3f}) and {results['kendall']:.6f} for Kendall (paper "
        f"{PAPER['kendall']:.3f}).",
        "Two sentences have to be read with care for this to be a distribution: only tiers with "
        "items left have a term in the normaliser, and the item is drawn with probability one "
        "over the number of items left in the chosen tier (as in the paper's equation and table, "
        "not as in the sentence before them). Read so, the pseudo-likelihood sums to "
        f"{results['sum_over_orderings']:.12g} over all orderings.",
    )


STUDY = Study(
    name="pseudo-likelihood",
    title="The pseudo-likelihood, worked example (section 4.2)",
    full=Settings(),
    quick=Settings(),
    compute=compute,
    tell=tell,
    claims=claims,
)
