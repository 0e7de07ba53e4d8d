"""Whether forecasts of enough come true, on simulated answers and on real ones cut short."""

from __future__ import annotations

from csv import DictReader
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, table
from tierwise import (
    Battles,
    ClusteredLuce,
    Rankings,
    Tiers,
    choose,
    enough,
    load_sushi,
    read_battles,
    read_scores,
    sample_posterior,
)
from tierwise._util.tasks import run_tasks
from tierwise.planning.claims import chances_of_claims, drawn_tiers
from tierwise.planning.plan import short_chains

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from tierwise.planning.stopping import Enough
    from tierwise.searching.choice import Choice

    Integers = NDArray[np.int64]
    Answers = Rankings | Battles
    # So many of the answers, in the order in which they came.
    First = Callable[[int], Answers]

CERTAINTY = 0.95
SIMULATED = {
    ("votes", "three tiers"): "votes, three tiers of two",
    ("votes", "prior"): "votes, tiers and worths of the prior",
    ("rankings", "three tiers"): "rankings, three tiers of two",
    ("rankings", "prior"): "rankings, tiers and worths of the prior",
}
REAL = {
    "sushi": "200 people and six of ten sushi",
    "MTEB": "56 tasks and six models of MTEB",
    "LLMFAO": "votes on 20 models of LLMFAO with their judges",
    "arena": "3,000 votes on twelve models of the arena",
}
# The first part of real answers that a forecast is made from.
PARTS = {2: "half", 5: "fifth", 10: "tenth"}


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    # Seeds of votes and of rankings; sets with three tiers, which take the first seeds; sets of the
    # prior, which take the last ones; answers at hand.
    votes: tuple[int, int, int, int] = (200, 100, 160, 150)
    rankings: tuple[int, int, int, int] = (140, 100, 90, 40)
    # Real answers; how many times each is shuffled; the parts that are taken first.
    real: tuple[str, ...] = ("sushi", "MTEB", "LLMFAO", "arena")
    shuffles: int = 6
    parts: tuple[int, ...] = (2, 5, 10)
    futures: int = 60
    seed: int = 360


@dataclass(frozen=True)
class Outcome:
    """What was forecast of an open boundary, and what came."""

    source: str
    # Real answers: one of so many parts is at hand; simulated ones: 0.
    part: int
    number: int
    family: str
    probability: float
    # Share of the futures in which it was no longer open with as many answers again.
    share_again: float
    decided_again: bool
    # Further answers of the forecast at 80%, and whether it was no longer open with them.
    further: int | None
    decided_then: bool | None


def _three_tiers(rng: Generator) -> ClusteredLuce:
    logs = np.sort(rng.normal(scale=0.8, size=3))[::-1]
    return ClusteredLuce(Tiers([["a", "b"], ["c", "d"], ["e", "f"]]), np.exp(logs).tolist())


def _of_the_prior(rng: Generator) -> ClusteredLuce:
    """Draw tiers of six items, e times less probable with each further tier, and their worths."""
    from math import comb, exp

    names = rng.permutation(list("abcdef")).tolist()
    chances = np.array([comb(5, number - 1) * exp(-number) for number in range(2, 7)])
    n_tiers = int(rng.choice(np.arange(2, 7), p=chances / chances.sum()))
    ends = [0, *np.sort(rng.choice(np.arange(1, 6), n_tiers - 1, replace=False)).tolist(), 6]
    tiers = Tiers([names[start:end] for start, end in pairwise(ends)])
    return ClusteredLuce(tiers, np.sort(rng.gamma(1.0, size=n_tiers))[::-1].tolist())


def forecasts_of(
    source: str,
    part: int,
    number: int,
    first: First,
    at_hand: int,
    total: int,
    futures: int,
    family: Literal["luce", "auto"] = "auto",
) -> list[dict[str, Any]]:
    """Forecast from the first answers when each open boundary is decided, and see what comes."""
    data = first(at_hand)
    with short_chains():
        choice = choose(data, family=family, progress="off", rng=1)
        found = enough(data, choice=choice, futures=futures, streams=0, rng=2, progress="off")
    at_again = int(np.argmin(np.abs(np.array(found.further_tried or (0,)) - at_hand)))
    told = []
    for place, claim in enumerate(found.claims):
        if claim.state != "open" or claim.kind == "tie":
            continue
        then = None
        if claim.further is not None and at_hand + claim.further <= total:
            then = _decided(first(at_hand + claim.further), choice, found, place)
        last = min(at_again, len(claim.shares) - 1)
        outcome = Outcome(
            source,
            part,
            number,
            choice.family,
            claim.probability,
            claim.shares[last],
            _decided(first(2 * at_hand), choice, found, place),
            claim.further,
            then,
        )
        told.append(asdict(outcome))
    return told


def _decided(data: Answers, choice: Choice, found: Enough, place: int) -> bool:
    """Whether a claim is settled or ruled out by more answers."""
    claim = found.claims[place]
    with short_chains():
        posterior = sample_posterior(
            data,
            distance=choice.distance or None,
            family=choice.family,
            concentration="tier" if choice.concentration == "tier" else "single",
            chains=2,
            draws=500,
            rng=3,
            progress="off",
        )
    labels, kinds = found.tiers.label_array(data.items), [(claim.kind, claim.tier - 1)]
    chances = chances_of_claims(labels, kinds, drawn_tiers(posterior))
    return chances.states(CERTAINTY) != ["open"]


def simulated(
    kind: str, truth: str, number: int, at_hand: int, futures: int, seed: SeedSequence
) -> list[dict[str, Any]]:
    """Draw a model and answers, and forecast from the first of them.

    Votes are analysed by the family that they come from; for rankings a model is chosen.
    """
    rng = np.random.default_rng(seed)
    model = {"three tiers": _three_tiers, "prior": _of_the_prior}[truth](rng)
    total, source = 9 * at_hand, SIMULATED[kind, truth]
    if kind == "votes":
        winners, losers = _decided_pairs(model, total, rng)
        items = tuple(map(str, model.tiers.items))

        def first_votes(number: int) -> Battles:
            decided = np.zeros((len(items),) * 2)
            np.add.at(decided, (winners[:number], losers[:number]), 1.0)
            return Battles(items, decided, np.zeros_like(decided))

        return forecasts_of(source, 0, number, first_votes, at_hand, total, futures, "luce")
    answers = model.sample(total, rng)

    def first(number: int) -> Rankings:
        return answers.subset(slice(0, number))

    return forecasts_of(source, 0, number, first, at_hand, total, futures)


def _decided_pairs(model: ClusteredLuce, number: int, rng: Generator) -> tuple[Integers, Integers]:
    """Let a model decide pairs at random; return who won, and who lost."""
    labels = model.tiers.label_array(model.tiers.items)
    worths = np.array(model.worths)[labels]
    one, other = np.triu_indices(len(labels), k=1)
    asked = rng.integers(len(one), size=number)
    one, other = one[asked], other[asked]
    wins = rng.random(number) < worths[one] / (worths[one] + worths[other])
    return np.where(wins, one, other), np.where(wins, other, one)


def cut_short(
    name: str, number: int, folder: Path, parts: tuple[int, ...], futures: int, seed: SeedSequence
) -> list[dict[str, Any]]:
    """Shuffle real answers, forecast from the first part of them, and look at the rest."""
    rng = np.random.default_rng(seed)
    if name in ("sushi", "MTEB"):
        rankings = _rankings(name, folder, rng)
        total = len(rankings)

        def first(number: int) -> Answers:
            return rankings.subset(slice(0, number))
    else:
        rows = _votes(name, folder, rng)
        total = len(rows)

        def first(number: int) -> Answers:
            return Battles.from_rows(rows[:number])

    told = []
    for part in parts:
        at_hand = total // part
        # Too few votes may not name all models.
        if first(at_hand).items == first(total).items:
            told += forecasts_of(name, part, number, first, at_hand, total, futures, "luce")
    return told


def _rankings(name: str, folder: Path, rng: Generator) -> Rankings:
    """Return 200 rankings of six sushi, or the tasks of MTEB, of six models, in any order."""
    if name == "sushi":
        everybody = load_sushi(folder / "sushi")
        answers = everybody.subset(rng.permutation(len(everybody))[:200])
    else:
        tasks = read_scores(folder / "mteb" / "scores.csv", better="higher")
        answers = tasks.subset(rng.permutation(len(tasks)))
    some = np.sort(rng.permutation(len(answers.items))[:6])
    return answers.restrict([answers.items[place] for place in some])


def _votes(name: str, folder: Path, rng: Generator) -> list[tuple[str, ...]]:
    """Return votes on some models, in any order: of LLMFAO with their judges, or of the arena."""
    rows: list[tuple[str, ...]] = []
    if name == "LLMFAO":
        with (folder / "llmfao" / "crowd-comparisons.csv").open() as file:
            for row in DictReader(file):
                left, right = row["left"], row["right"]
                winner = {"left": left, "right": right}.get(row["winner"], "tie")
                rows.append((left, right, winner, row["worker"]))
        some = set(rng.choice(sorted({row[0] for row in rows}), size=20, replace=False).tolist())
        rows = [row for row in rows if row[0] in some and row[1] in some]
        return [rows[place] for place in rng.permutation(len(rows))]
    battles = read_battles(folder / "arena" / "battles.csv")
    met = (battles.decided + battles.drawn).sum(axis=1)
    some_places = np.sort(rng.choice(np.argsort(-met)[:40], size=12, replace=False))
    decided = battles.decided[np.ix_(some_places, some_places)]
    drawn = np.triu(battles.drawn[np.ix_(some_places, some_places)])
    counts = np.concatenate([decided.ravel(), drawn.ravel()]).astype(np.int64)
    kinds = np.repeat(np.arange(len(counts)), rng.multivariate_hypergeometric(counts, 3_000))
    for kind in rng.permutation(kinds).tolist():
        one, other = (battles.items[some_places[at]] for at in divmod(kind % 144, 12))
        rows.append((one, other, one if kind < 144 else "tie"))
    return rows


def compute(settings: Settings, place: Place) -> Results:
    """Forecast, and see what comes."""
    outcomes: list[dict[str, Any]] = []
    for kind, truth in SIMULATED:
        n_seeds, three, prior, at_hand = settings.votes if kind == "votes" else settings.rankings
        seeds = np.random.SeedSequence(settings.seed).spawn(n_seeds)
        some = seeds[:three] if truth == "three tiers" else seeds[n_seeds - prior :]
        found = run_tasks(
            simulated,
            [
                (kind, truth, number, at_hand, settings.futures, seed)
                for number, seed in enumerate(some)
            ],
            description=f"forecasts, {kind}, {truth}",
            workers=place.workers,
        )
        outcomes += [row for rows in found for row in rows]
    root = np.random.SeedSequence(settings.seed)
    for name in settings.real:
        found = run_tasks(
            cut_short,
            [
                (name, number, place.data, settings.parts, settings.futures, seed)
                for number, seed in enumerate(root.spawn(settings.shuffles))
            ],
            description=f"forecasts, {name}",
            workers=place.workers,
        )
        outcomes += [row for rows in found for row in rows]
    return {"outcomes": outcomes}


def tell(results: Results, settings: Settings) -> str:
    """Write what was found."""
    rows = results["outcomes"]
    members = {name: [row for row in rows if row["source"] == name] for name in SIMULATED.values()}
    members["all simulated"] = [row for row in rows if not row["part"]]
    for name in settings.real:
        for part in settings.parts:
            own = [row for row in rows if (row["source"], row["part"]) == (name, part)]
            members[f"{name}, first {PARTS[part]}"] = own
    members["all real"] = [row for row in rows if row["part"]]
    header = [
        "answers",
        "open boundaries",
        "decided with as many again: forecast",
        "came",
        "forecasts at 80%",
        "of these came true",
    ]
    lines = []
    for name, own in members.items():
        if not own:
            continue
        then = [row["decided_then"] for row in own if row["decided_then"] is not None]
        lines.append(
            [
                name,
                str(len(own)),
                percent(float(np.mean([row["share_again"] for row in own]))),
                _share([row["decided_again"] for row in own]),
                str(len(then)),
                _share(then) if then else "",
            ]
        )
    parts = ", ".join(f"the first {PARTS[part]}" for part in settings.parts)
    real = (
        f" Real answers ({'; '.join(REAL[name] for name in settings.real)}) were put in a random "
        f"order, {settings.shuffles} times each, and a forecast was made from {parts} of them, all "
        "by the family `luce`. There a forecast can be checked only if its number is at most what "
        "the rest holds. Parts without an open boundary have no row: all was settled, or the most "
        "probable tiers were a single one."
        if settings.shuffles
        else " Real answers cut short were not part of this run (`shuffles`)."
    )
    return paragraphs(
        f"`enough` forecast from {settings.votes[-1]} votes on six items, "
        f"{sum(settings.votes[1:3])} sets, and from {settings.rankings[-1]} rankings of six items, "
        f"{sum(settings.rankings[1:3])} sets, with "
        f"{settings.futures} futures each. Votes "
        "are analysed by the family that they come from (`luce`); for rankings a model is chosen, "
        f"which may be another one.{real} A boundary that was open is "
        "decided if it is settled or ruled out at 95%. The forecast at 80% is the number of "
        "further answers that `enough` gives; it came true if the boundary was decided with "
        "exactly so many. Shares have their standard error.",
        table(header, lines),
    )


def _share(values: list[bool]) -> str:
    """A share with its standard error."""
    mean = float(np.mean(values))
    return f"{percent(mean)} ± {percent((mean * (1 - mean) / len(values)) ** 0.5)}"


STUDY = Study(
    name="forecasts",
    title="Do forecasts of enough answers come true?",
    full=Settings(),
    quick=Settings(votes=(4, 2, 2, 40), rankings=(4, 2, 2, 20), shuffles=1, parts=(2,), futures=4),
    compute=compute,
    tell=tell,
    page="simulations",
)
