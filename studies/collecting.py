"""Which comparisons to ask for, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, table
from tierwise import Battles, ClusteredLuce, Tiers, choose, next_questions, sample_posterior
from tierwise._util.tasks import run_tasks
from tierwise.planning.asking import Design
from tierwise.planning.plan import short_chains
from tierwise.planning.stopping import Kind, claims_hold
from tierwise.posterior.estimates import share_above

if TYPE_CHECKING:
    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from tierwise.posterior.result import Posterior

CERTAINTY = 0.95
WAYS = ("at random", "closest strengths", "next_questions")
TRUTHS = ("tiers", "all different", "one leader")


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    # Items, questions per batch, batches, and collections of each truth and way.
    asking: tuple[tuple[int, int, int, int], ...] = ((20, 40, 20, 3), (100, 1_000, 8, 1))
    # Rankings that are looked at one by one, and how many collections.
    looks: int = 40
    streams: int = 40
    seed: int = 36


def model_of(truth: str, n_items: int) -> ClusteredLuce:
    """Return the model that answers come from."""
    names = [f"m{number:03d}" for number in range(n_items)]
    if truth == "one leader":
        return ClusteredLuce(Tiers([names[:1], names[1:]]), (2.0, 1.0))
    size = 4 if truth == "tiers" else 1
    tiers = Tiers([names[start : start + size] for start in range(0, n_items, size)])
    logs = np.linspace(1.0, -1.0, len(tiers))
    return ClusteredLuce(tiers, np.exp(logs).tolist())


def _drawn(data: Battles, rng: Generator) -> Posterior:
    with short_chains():
        return sample_posterior(
            data, family="luce", chains=2, draws=200, rng=int(rng.integers(2**31)), progress="off"
        )


def _pairs(way: str, posterior: Posterior, number: int, rng: Generator) -> NDArray[np.int64]:
    """Choose the next pairs to ask about, one row each."""
    n_items = len(posterior.items)
    first, second = np.triu_indices(n_items, k=1)
    if way == "at random":
        chosen = rng.integers(len(first), size=number)
    elif way == "closest strengths":
        means = posterior.log_worths.mean(axis=0)
        apart = np.abs(means[first] - means[second])
        chosen = np.argsort(apart + 1e-9 * rng.random(len(apart)))[:number]
    else:
        items = {item: place for place, item in enumerate(posterior.items)}
        rows = next_questions(posterior, number).rows
        return np.array([[items[item] for item in row.items] for row in rows])
    return np.stack([first[chosen], second[chosen]], axis=1)


def collect(
    truth: str, way: str, n_items: int, batch: int, batches: int, seed: SeedSequence
) -> list[float]:
    """Collect votes; return the share of differing pairs that are separated after each batch."""
    model, rng = model_of(truth, n_items), np.random.default_rng(seed)
    logs = np.log(np.array(model.worths))[model.tiers.label_array(model.tiers.items)]
    labels = model.tiers.label_array(model.tiers.items)
    data = Design("pairs").answers(model, batch, rng)
    assert isinstance(data, Battles)
    shares = []
    for _ in range(batches):
        posterior = _drawn(data, rng)
        sure = share_above(posterior.labels) >= CERTAINTY
        shares.append(float(sure[labels[:, None] < labels].mean()))
        wins = np.zeros_like(data.decided)
        for one, other in _pairs(way, posterior, batch, rng).tolist():
            won = rng.random() < 1.0 / (1.0 + np.exp(logs[other] - logs[one]))
            wins[(one, other) if won else (other, one)] += 1.0
        data = data + Battles(data.items, wins, np.zeros_like(wins))
    return shares


def look_at_every_answer(rule: str, looks: int, seed: SeedSequence) -> tuple[bool, bool]:
    """Look after every ranking of four items, of which three are tied; say stopped, and wrong."""
    model, rng = model_of("one leader", 4), np.random.default_rng(seed)
    answers = model.sample(looks, rng)
    truth = model.tiers.label_array(answers.items)
    for number in range(4, looks + 1):
        data = answers.subset(slice(0, number))
        if rule == "naive":
            claimed = _naive(data.ranks())
        else:
            with short_chains():
                choice = choose(data, family="luce", progress="off", rng=1)
                draws = sample_posterior(
                    data, family="luce", chains=2, draws=200, rng=number, progress="off"
                ).labels
            labels = choice.fit.tiers.label_array(data.items)
            kinds: list[tuple[Kind, int]] = [
                ("boundary", tier) for tier in range(int(labels.max()))
            ]
            held = claims_hold(labels, kinds, draws).mean(axis=0) if kinds else np.zeros(1)
            claimed = labels if (held >= CERTAINTY).all() else None
        if claimed is not None:
            wrong = (claimed[:, None] < claimed) & (truth[:, None] >= truth)
            return True, bool(wrong.any())
    return False, False


def _naive(ranks: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Stop when the two best by mean rank differ with p < 0.05, and publish their difference."""
    from scipy.stats import wilcoxon

    order = np.argsort(ranks.mean(axis=0))
    apart = ranks[:, order[0]] - ranks[:, order[1]]
    if not apart.any() or float(wilcoxon(apart).pvalue) >= 0.05:
        return None
    claimed = np.ones(ranks.shape[1], dtype=np.int64)
    claimed[order[0]] = 0
    return claimed


def compute(settings: Settings, place: Place) -> Results:
    """Simulate everything."""
    root = np.random.SeedSequence(settings.seed)
    asked = []
    for n_items, batch, batches, sets in settings.asking:
        for truth in TRUTHS:
            seeds = root.spawn(sets)
            for way in WAYS:
                shares = run_tasks(
                    collect,
                    [(truth, way, n_items, batch, batches, seed) for seed in seeds],
                    description=f"{n_items} items, {truth}, {way}",
                    workers=place.workers,
                )
                asked.append(
                    {"items": n_items, "truth": truth, "way": way, "batch": batch, "shares": shares}
                )
    rules = {
        rule: run_tasks(
            look_at_every_answer,
            [(rule, settings.looks, seed) for seed in root.spawn(settings.streams)],
            description=f"stopping, {rule}",
            workers=place.workers,
        )
        for rule in ("naive", "enough")
    }
    return {
        "asked": asked,
        "rules": {rule: [list(map(bool, one)) for one in rows] for rule, rows in rules.items()},
    }


def votes_needed(shares: list[float], batch: int, goal: float) -> float:
    """Return after how many votes a share is reached, or infinity; evenly between two batches."""
    before = 0.0
    for number, share in enumerate(shares, start=1):
        if share >= goal:
            part = 1.0 if share == before else (goal - before) / (share - before)
            return batch * (number - 1 + part)
        before = share
    return float("inf")


def tell(results: Results, settings: Settings) -> str:
    """Write what was found."""
    return paragraphs(
        "Votes were collected in batches: pairs chosen at random, those of the closest strengths, "
        "or those that `next_questions` names. The goal is the share of differing pairs (at 95%) "
        "that random votes reach at the end of the collection; the ratio is how many votes each "
        "way needs for it, beside random ones, with its standard error.",
        _table_of_asking(results["asked"]),
        _rules_in_words(results["rules"], settings),
    )


def _table_of_asking(asked: list[dict[str, Any]]) -> str:
    rows = []
    for n_items in dict.fromkeys(one["items"] for one in asked):
        for truth in TRUTHS:
            of = {
                one["way"]: one for one in asked if (one["items"], one["truth"]) == (n_items, truth)
            }
            random = of["at random"]
            goals = [shares[-1] for shares in random["shares"]]
            cells = []
            for way in WAYS[1:]:
                ratios = [
                    votes_needed(shares, of[way]["batch"], goal)
                    / votes_needed(base, random["batch"], goal)
                    for shares, base, goal in zip(
                        of[way]["shares"], random["shares"], goals, strict=True
                    )
                    if goal > 0
                ]
                cells.append(_ratio(ratios))
            total = len(random["shares"][0]) * random["batch"]
            rows.append([str(n_items), truth, f"{total:,}", percent(float(np.mean(goals))), *cells])
    header = ["items", "truth", "random votes", "separated by them", *WAYS[1:]]
    return table(header, rows)


def _ratio(ratios: list[float]) -> str:
    reached = [ratio for ratio in ratios if np.isfinite(ratio)]
    if not reached:
        return "not reached"
    error = f" ± {np.std(reached, ddof=1) / len(reached) ** 0.5:.2f}" if len(reached) > 1 else ""
    missed = f" ({len(ratios) - len(reached)} of {len(ratios)} not reached)"
    return f"{np.mean(reached):.2f}{error}{missed if len(reached) < len(ratios) else ''}"


def _rules_in_words(rules: dict[str, list[list[bool]]], settings: Settings) -> str:
    naive, ours = (
        (sum(row[0] for row in rules[rule]), sum(row[1] for row in rules[rule]), len(rules[rule]))
        for rule in ("naive", "enough")
    )
    return (
        f"**Looking after every answer.** {settings.streams} collections of {settings.looks} "
        "rankings of four items, three of them tied behind one leader that wins two of three: "
        f"the rule of `enough` stopped {ours[0]} of {ours[2]}, {ours[1]} with a wrong difference; "
        "a signed-rank test of the two best, stopped at the first p below 0.05, stopped "
        f"{naive[0]} of {naive[2]}, {naive[1]} with a wrong one."
    )


STUDY = Study(
    name="collecting",
    title="Which comparisons to ask for, and when to stop",
    full=Settings(),
    quick=Settings(asking=((6, 20, 3, 1),), looks=10, streams=2),
    compute=compute,
    tell=tell,
    page="simulations",
)
