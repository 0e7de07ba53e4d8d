"""Tohoku sushi: posterior of tiers and theta, agreement by group, rank-cluster probabilities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from studies.harness import Claim, Place, Results, Study, number_claim, text_claim
from studies.sushi_paper import DRAWS, MEANT
from studies.writing import duration, figure, paragraphs, sizes_text, table, tiers_text
from tierwise import ClusteredMallows, Exchange, Rankings, Sampler, Tiers, agreement, load_sushi
from tierwise.errors import TierwiseWarning
from tierwise.posterior.run import sample_posterior

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRICT = (1,) * 10
PAPER_TIERS = (
    ("fatty tuna",),
    ("tuna",),
    ("shrimp",),
    ("sea urchin", "salmon roe"),
    ("sea eel", "tuna roll", "squid"),
    ("egg", "cucumber roll"),
)
PAPER_STRICT = tuple((item,) for tier in PAPER_TIERS for item in tier)
PAPER_AGREEMENT = {
    "tiers": (0.74, 0.67, 0.68, 0.64, 0.73),
    "strict": (0.74, 0.67, 0.68, 0.61, 0.65, 0.65, 0.65, 0.72, 0.63),
}
PAPER_AVERAGES = (0.68, 0.65)
PAPER_INTERVAL = (0.244, 0.291)
# RC(1, first tier) and RC(1, last tier) at both ends of the paper's interval.
PAPER_FIRST, PAPER_LAST = (0.239, 0.273), (0.055, 0.047)


@dataclass(frozen=True)
class Settings:
    """The paper's chain: 200 Metropolis steps for each auxiliary ranking."""

    exact_draws: int = 5_000
    chain_draws: int = 2_500
    auxiliary_steps: int = 200
    model_draws: int = DRAWS
    seed: int = 20_263


def compute(settings: Settings, place: Place) -> Results:
    rankings = load_sushi(place.folder("sushi"), region="Tohoku")
    results: Results = {}
    for name, sizes in (("tiers", MEANT), ("strict", STRICT)):
        posterior = sample_posterior(
            rankings,
            sizes,
            sampler=Sampler(method="exact"),
            draws=settings.exact_draws,
            progress="off",
            rng=settings.seed,
        )
        tiers = posterior.tiers()
        results[name] = {
            "tiers": [list(tier) for tier in tiers],
            "share_of_mode": float((posterior.labels == _labels(tiers, rankings)).all(1).mean()),
            "interval": list(posterior.theta_interval()),
            "mean": float(posterior.thetas.mean()),
            "agreement": agreement(rankings, tiers).against_worse.tolist(),
            "seconds": posterior.provenance.seconds,
        }
    results["exchange"] = _exchange(rankings, settings)
    results["paper_agreement"] = {
        name: agreement(rankings, Tiers(tiers)).against_worse.tolist()
        for name, tiers in (("tiers", PAPER_TIERS), ("strict", PAPER_STRICT))
    }
    results["rank_tiers"] = [
        _first_place(theta, settings) for theta in (*PAPER_INTERVAL, *results["tiers"]["interval"])
    ]
    return results


def _labels(tiers: Tiers, rankings: Rankings) -> list[int]:
    return [tiers[item] for item in rankings.items]


def _exchange(rankings: Rankings, settings: Settings) -> Results:
    """Run the paper's approximate exchange algorithm."""
    with warnings.catch_warnings():
        # What the diagnostics say is part of the result.
        warnings.simplefilter("ignore", TierwiseWarning)
        posterior = sample_posterior(
            rankings,
            MEANT,
            sampler=Sampler(
                theta_update=Exchange(auxiliary="mcmc", steps=settings.auxiliary_steps)
            ),
            draws=settings.chain_draws,
            progress="off",
            rng=settings.seed,
        )
    return {
        "tiers": [list(tier) for tier in posterior.tiers()],
        "interval": list(posterior.theta_interval()),
        "mean": float(posterior.thetas.mean()),
        "worst_r_hat": posterior.diagnostics().worst_r_hat.r_hat,
        "seconds": posterior.provenance.seconds,
    }


def _first_place(theta: float, settings: Settings) -> Results:
    """Probability that the first place holds an item of the first, and of the last tier."""
    model = ClusteredMallows(Tiers(PAPER_TIERS), theta)
    exact = model.rank_tier_probabilities().probabilities
    drawn = model.rank_tier_probabilities(
        method="monte-carlo", draws=settings.model_draws, rng=settings.seed
    ).probabilities
    return {
        "theta": theta,
        "first": float(exact[0, 0]),
        "last": float(exact[0, -1]),
        "first_drawn": float(drawn[0, 0]),
        "last_drawn": float(drawn[0, -1]),
    }


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    from matplotlib import pyplot as plt

    from tierwise import plots

    drawn, axes = plt.subplots(1, 2, figsize=(10.5, 3.4), layout="constrained")
    for ax, theta in zip(axes, results["tiers"]["interval"], strict=True):
        plots.rank_tier_bars(ClusteredMallows(Tiers(results["tiers"]["tiers"]), theta), ax=ax)
        ax.set_title(f"theta {theta:.4f}")
    return {"sushi-rank-tiers": drawn}


def _in_order(tiers: object) -> str:
    return tiers_text(sorted(tier) for tier in tiers)  # type: ignore[attr-defined]


def claims(results: Results) -> list[Claim]:
    found = [
        text_claim(
            f"sushi, most probable tiers, {name}",
            _in_order(paper),
            _in_order(results[name]["tiers"]),
        )
        for name, paper in (("tiers", PAPER_TIERS), ("strict", PAPER_STRICT))
    ]
    for end, paper, here in zip(
        ("2.5%", "97.5%"), PAPER_INTERVAL, results["tiers"]["interval"], strict=True
    ):
        found.append(number_claim(f"sushi, theta, {end} quantile", paper, here, 3, close=0.003))
    for name, papers in PAPER_AGREEMENT.items():
        for tier, (paper, here) in enumerate(
            zip(papers, results["paper_agreement"][name], strict=True), 1
        ):
            found.append(
                number_claim(f"sushi, agreement, {name}, ({tier}, {tier + 1}+)", paper, here, 2)
            )
    for name, number, papers in (("first", 1, PAPER_FIRST), ("last", 6, PAPER_LAST)):
        for paper, here in zip(papers, results["rank_tiers"], strict=False):
            what = f"sushi, RC(1, {number}) at theta {here['theta']:g}"
            found.append(number_claim(what, paper, here[name], 3, close=_error(here[name])))
    return found


def _error(probability: float) -> float:
    """Three standard errors of the paper's estimate from 100,000 rankings."""
    return 3 * sqrt(probability * (1 - probability) / DRAWS)


def tell(results: Results, settings: Settings) -> str:
    tiers, strict, exchange = results["tiers"], results["strict"], results["exchange"]
    modes = [
        ["tiers", "paper", tiers_text(PAPER_TIERS)],
        ["tiers", "exact", tiers_text(tiers["tiers"])],
        ["tiers", "exchange", tiers_text(exchange["tiers"])],
        ["strict", "paper", tiers_text(PAPER_STRICT)],
        ["strict", "exact", tiers_text(strict["tiers"])],
    ]
    thetas = [
        ["paper", "", f"{PAPER_INTERVAL[0]:.3f} to {PAPER_INTERVAL[1]:.3f}", ""],
        *(
            [
                label,
                f"{one['mean']:.4f}",
                f"{one['interval'][0]:.4f} to {one['interval'][1]:.4f}",
                duration(one["seconds"]),
            ]
            for label, one in (("exact, independent draws", tiers), ("exchange", exchange))
        ),
    ]
    agreements = []
    for name, papers in PAPER_AGREEMENT.items():
        here = results["paper_agreement"][name]
        agreements.append([name, "paper", *_cells([f"{share:.2f}" for share in papers])])
        agreements.append([name, "here", *_cells([f"{share:.3f}" for share in here])])
    averages = [
        sum(results["paper_agreement"][name][3:]) / len(results["paper_agreement"][name][3:])
        for name in PAPER_AGREEMENT
    ]
    first_place = [
        [
            f"{one['theta']:.4f}",
            f"{paper_first:.3f}" if paper_first else "",
            f"{one['first']:.6f}",
            f"{one['first_drawn']:.4f}",
            f"{paper_last:.3f}" if paper_last else "",
            f"{one['last']:.6f}",
            f"{one['last_drawn']:.4f}",
        ]
        for one, paper_first, paper_last in zip(
            results["rank_tiers"],
            (*PAPER_FIRST, None, None),
            (*PAPER_LAST, None, None),
            strict=True,
        )
    ]
    return paragraphs(
        f"Sizes {sizes_text(MEANT)}, Kendall, theta ~ Gamma(2, 2). The posterior can be drawn from "
        "exactly; the paper's approximate exchange algorithm (auxiliary rankings from "
        f"{settings.auxiliary_steps} Metropolis steps each) is run beside it.",
        "**Most probable tiers.**",
        table(["model", "by", "tiers"], modes),
        f"They have {100 * tiers['share_of_mode']:.1f}% of the posterior given these sizes; the "
        f"most probable strict consensus has {100 * strict['share_of_mode']:.1f}%.",
        "**Theta**, mean and central 95%.",
        table(["by", "mean", "interval", "time"], thetas),
        "**Agreement of the data with each tier against all worse ones**, for the paper's tiers.",
        table(["model", "", *(f"({one}, {one + 1}+)" for one in range(1, 10))], agreements),
        f"The averages from the fourth on are {averages[0]:.3f} and {averages[1]:.3f} (paper "
        f"{PAPER_AVERAGES[0]:.2f} and {PAPER_AVERAGES[1]:.2f}). That the tiers have the larger one "
        "is no evidence for them: comparisons within tiers, the closest ones, are left out.",
        "**Probability that the first place holds** fatty tuna, and one of the last tier, at both "
        f"ends of the paper's interval and of ours; exact, and from {settings.model_draws:,} "
        "simulated rankings as in the paper.",
        table(
            [
                "theta",
                "first tier, paper",
                "exact",
                "simulated",
                "last tier, paper",
                "exact",
                "simulated",
            ],
            first_place,
        ),
        figure("sushi-rank-tiers", "What the model expects in each place, at both ends of theta."),
    )


def _cells(values: list[str]) -> list[str]:
    return values + [""] * (9 - len(values))


STUDY = Study(
    name="sushi-posterior",
    title="Tohoku sushi: tiers, theta and what they imply (section 7.2)",
    full=Settings(),
    quick=Settings(exact_draws=200, chain_draws=100, model_draws=5_000),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
    data=("sushi",),
)
