"""Is every probability that is printed true that often, with the defaults?"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.harness import Place, Results, Study
from studies.truths import KINDS, Truth
from studies.writing import paragraphs, percent, table
from tierwise import TierwiseWarning, choose, leaderboard, sample_posterior
from tierwise._util.resources import whole_file
from tierwise._util.tasks import run_tasks
from tierwise.model.ranks import rank_shares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import SeedSequence

    from tierwise.leaderboards.result import Leaderboard
    from tierwise.posterior.result import Posterior

    # What was said, with which probability, and how far it is true.
    Said = tuple[str, float, float]
    # Number of claims, mean probability, and share that is true, for each bin.
    Bins = list[list[float]]

# Probabilities are put together that lie between these.
BOUNDS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
SURE = len(BOUNDS) - 2
INTERVAL = "95% interval of the rank"
CLAIMS = (
    "tier of the item",
    "another tier",
    "boundary holds",
    "better than the next",
    "better",
    "tied or nearly, with the next",
    "tied or nearly",
    "the best",
    "among the best 3",
    "number of tiers",
    "exactly these tiers",
)
# Nothing that is said with 95% or more may be true less often, whether the truth is known or not.
LEAST_IF_KNOWN, LEAST_IF_NOT = 0.90, 0.85
# Cells that are done are kept here until all of them are.
KEPT = Path(__file__).resolve().parents[1] / "build" / "studies" / "what-is-said"


@dataclass(frozen=True)
class Settings:
    """How many data sets there are of each truth and size of data, by the number of items."""

    items: tuple[int, ...] = (6, 12)
    sets: tuple[int, ...] = (30, 4)
    sizes: int = 3
    kinds: tuple[str, ...] = tuple(KINDS)
    chains: int = 2
    draws: int = 500
    seed: int = 33_003


def compute(settings: Settings, place: Place) -> Results:
    return {name: one_cell(settings, place, *cell) for name, cell in cells_of(settings).items()}


def cells_of(settings: Settings) -> dict[str, tuple[str, int, int]]:
    """Return truth, number of items and number of answers of each cell, by its name."""
    return {
        f"{kind}; {n_items}; {n_answers}": (kind, n_items, n_answers)
        for n_items in settings.items
        for kind in settings.kinds
        for n_answers in KINDS[kind].sizes[n_items][: settings.sizes]
    }


def one_cell(
    settings: Settings, place: Place, kind: str, n_items: int, n_answers: int
) -> dict[str, Bins]:
    """Compare what is said with one truth and size of data, unless that was done before."""
    cell = f"{kind}; {n_items}; {n_answers}"
    found = _kept(settings, cell)
    if not found:
        key = [settings.seed, list(KINDS).index(kind), n_items, n_answers]
        n_sets = settings.sets[settings.items.index(n_items)]
        tasks = [
            (kind, n_items, n_answers, settings.chains, settings.draws, seed)
            for seed in np.random.SeedSequence(key).spawn(n_sets)
        ]
        sets = run_tasks(one_set, tasks, description=cell, workers=place.workers, progress="off")
        found = summed([said for one in sets for said in one])
        _keep(settings, cell, found)
    return found


def _file(settings: Settings, cell: str) -> Path:
    return KEPT / f"{cell.replace('; ', '-').replace(' ', '_')}-{settings.seed}.json"


def _kept(settings: Settings, cell: str) -> dict[str, Any]:
    """Return what an interrupted run has found of a cell, with the same settings."""
    file = _file(settings, cell)
    if not file.is_file():
        return {}
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    same = kept["settings"] == json.loads(json.dumps(asdict(settings)))
    return dict(kept["found"]) if same else {}


def _keep(settings: Settings, cell: str, found: dict[str, Any]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    with whole_file(_file(settings, cell)) as partial:
        partial.write_text(json.dumps({"settings": asdict(settings), "found": found}))


def one_set(
    kind: str, n_items: int, n_answers: int, chains: int, draws: int, seed: SeedSequence
) -> list[Said]:
    """Draw a truth and answers, and hold all that is said about them against the truth."""
    truth = KINDS[kind].draw(n_items, n_answers, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)  # few draws
        choice = choose(truth.data, workers=1, progress="off", rng=1)
        board = leaderboard(
            truth.data, choice=choice, chains=chains, draws=draws, workers=1, progress="off", rng=2
        )
        posterior = sample_posterior(
            truth.data, choice=choice, chains=chains, draws=draws, workers=1, progress="off", rng=3
        )
    # Of items that people are divided about nothing is said.
    shown = [number for number, item in enumerate(truth.data.items) if item in board.tiers.items]
    truth = truth.among(shown)
    return [
        *said_of_items(board, truth),
        *said_of_pairs(board, truth),
        *said_of_tiers(posterior, board, truth, shown),
    ]


def said_of_items(board: Leaderboard, truth: Truth) -> Iterator[Said]:
    """Say of each item in which tier it is, at which rank, and whether among the best."""
    places = {item: place for place, item in enumerate(truth.items)}
    # Tied items share their ranks: what is true of one of them is so with a probability.
    ranks = rank_shares(truth.labels[None] + 1)
    ends = np.cumsum(board.tiers.sizes)
    for row in board.rows:
        own = ranks[places[row.item]]
        by_tier = np.split(own, ends[:-1])
        for tier, share in enumerate(row.tier_probabilities, start=1):
            name = "tier of the item" if tier == row.tier else "another tier"
            yield name, share, float(by_tier[tier - 1].sum())
        yield INTERVAL, board.level, float(own[row.rank_low - 1 : row.rank_high].sum())
        for k, share in zip(board.k, row.best_k_probabilities, strict=True):
            name = "the best" if k == 1 else f"among the best {k}"
            yield name, share, float(own[:k].sum())


def said_of_pairs(board: Leaderboard, truth: Truth) -> Iterator[Said]:
    """Say of pairs which is better and which are tied; of those in neighbouring rows, again."""
    places = [truth.items.index(row.item) for row in board.rows]
    better = truth.labels[:, None] < truth.labels
    above, near = board.above_probabilities, board.tied_or_nearly_probabilities
    assert near is not None
    for first, second in permutations(range(len(places)), 2):
        yield "better", above[first, second], float(better[places[first], places[second]])
    for first, second in combinations(range(len(places)), 2):
        close = truth.close[places[first], places[second]]
        yield "tied or nearly", near[first, second], float(close)
    for row, one, other in zip(board.rows, places, places[1:], strict=False):
        assert row.better_than_next is not None
        assert row.tied_with_next is not None
        yield "better than the next", row.better_than_next, float(better[one, other])
        close = float(truth.close[one, other])
        yield "tied or nearly, with the next", row.tied_with_next, close


def said_of_tiers(
    posterior: Posterior, board: Leaderboard, truth: Truth, shown: list[int]
) -> Iterator[Said]:
    """Say whether boundaries hold, how many tiers there are, and whether they are just these."""
    own, drawn = board.tiers.label_array(truth.items), posterior.labels[:, shown]
    for boundary in range(1, len(board.tiers)):
        up, down = own < boundary, own >= boundary
        share = float((drawn[:, up].max(axis=1) < drawn[:, down].min(axis=1)).mean())
        holds = truth.labels[up].max() < truth.labels[down].min()
        yield "boundary holds", share, float(holds)
    if drawn.shape != posterior.labels.shape:
        return
    numbers = range(truth.fewest_tiers, int(truth.labels.max()) + 2)
    by_sizes = posterior.sizes_for_sameness().items()
    for number in range(1, len(own) + 1):
        share = sum(share for sizes, share in by_sizes if len(sizes) == number)
        yield "number of tiers", min(share, 1.0), float(number in numbers)
    exactly = float(posterior.sameness_weights @ (drawn == own + 1).all(axis=1))
    yield "exactly these tiers", min(exactly, 1.0), float(truth.allows(own))


def summed(claims: list[Said]) -> dict[str, Bins]:
    """Put claims together by what they are about and by their probability."""
    found = {}
    for name in dict.fromkeys(name for name, _, _ in claims):
        said, true = np.array([one[1:] for one in claims if one[0] == name]).T
        which = np.digitize(said, BOUNDS[1:-1])
        found[name] = [
            [int((which == number).sum()), *_means(said, true, which == number)]
            for number in range(len(BOUNDS) - 1)
        ]
    return found


def _means(*columns: Any) -> list[float]:
    """Means of all but the last column, where that says so; 0 where it does so nowhere."""
    *numbers, where = columns
    return [round(float(one[where].mean()), 6) if where.any() else 0.0 for one in numbers]


def together(cells: list[dict[str, Bins]], claim: str) -> Bins:
    """Add up the bins of a claim over cells."""
    found = []
    for number in range(len(BOUNDS) - 1):
        rows = [cell[claim][number] for cell in cells if claim in cell]
        count = sum(row[0] for row in rows)
        mean = [sum(row[0] * row[place] for row in rows) / max(count, 1) for place in (1, 2)]
        found.append([count, *mean])
    return found


def tell(results: Results, settings: Settings) -> str:
    known = [kind for kind in settings.kinds if KINDS[kind].known]
    others = [kind for kind in settings.kinds if not KINDS[kind].known]
    return paragraphs(
        # Said of stored results that were made in several parts.
        results.get("origin", ""),
        f"We draw truths and answers from them: {_listed(settings.sets)} data sets for each truth, "
        f"number of items ({_listed(settings.items)}) and size of the data. Rankings: 30, 150 and "
        "800 answers; battles: 120, 600 and 3,000 of 6 items, 400, 2,000 and 10,000 of 12. Tiers: "
        "items in random order, with a cut between neighbours with probability one half. Theta is "
        "uniform between 1/n and 5/n. Log worths are normal with a standard deviation of 0.8, and "
        "those of single judges scatter around them with 0.8. In *two opposed halves*, each person "
        "gives the opposite order with probability one half. Survey weights are lognormal, with a "
        "mean of 1 or 1,700.",
        "What counts as true: a tier holds the items that are tied in the model that made the "
        "answers; if all worths differ, each item is a tier of its own. *Tied or nearly*: neither "
        "item is preferred by more than 55%, by the model that made the answers, or by a judge "
        "drawn at random. If judges differ, the better item is the one with the higher mean of log "
        "worths. Two opposed halves prefer any two items equally often, so all are tied. *Tier of "
        "the item*: its rank is among those of its tier, where tied items share their ranks at "
        "random. *Boundary*: every item above it is better than every item below. *Number of "
        "tiers* and *exactly these tiers*: there are tiers like these, the better ones above the "
        "others, whose items are tied or nearly.",
        "Of the claims made with 95% or more, the share that is true (and the number of claims):",
        _sure_table(results, known, "truths that are among the models compared"),
        _sure_table(results, others, "other truths"),
        "All claims by their probability: the mean probability and the share that is true:",
        _bins_table(results, known, "truths that are among the models compared"),
        _bins_table(results, others, "other truths"),
        _verdict(results, settings),
        _not_run(results, settings),
        "Differences are claimed under the sceptical prior, which gives half of its probability to "
        '"no tiers", so noise is not mistaken for tiers. Ties are claimed under the uniform '
        "prior of sizes, in which a line between neighbours is as probable as none: a prior that "
        "favours ties must not be the evidence for them. So few answers support neither.",
    )


def _listed(numbers: tuple[int, ...]) -> str:
    return " and ".join(map(str, numbers))


def _cells(results: Results, kind: str) -> list[dict[str, Bins]]:
    return [found for cell, found in results.items() if cell.split("; ")[0] == kind]


def _sure_table(results: Results, kinds: list[str], title: str) -> str:
    claims = [*CLAIMS, INTERVAL]
    rows = []
    for claim in claims:
        cells = [together(_cells(results, kind), claim)[SURE] for kind in kinds]
        rows.append([claim, *(f"{percent(true)} ({n:,})" if n else "" for n, _, true in cells)])
    return table([title, *kinds], rows)


def _bins_table(results: Results, kinds: list[str], title: str) -> str:
    names = [f"{low:.0%} to {high:.0%}" for low, high in pairwise(BOUNDS)]
    cells = [cell for kind in kinds for cell in _cells(results, kind)]
    rows = [
        [
            claim,
            *(
                f"{percent(said)}: {percent(true)} ({count:,})" if count else ""
                for count, said, true in together(cells, claim)
            ),
        ]
        for claim in CLAIMS
    ]
    return table([title, *names], rows)


def _verdict(results: Results, settings: Settings) -> str:
    """Say what is true less often than it may be."""
    failing = []
    for kind in settings.kinds:
        least = LEAST_IF_KNOWN if KINDS[kind].known else LEAST_IF_NOT
        for claim in (*CLAIMS, INTERVAL):
            count, _, true = together(_cells(results, kind), claim)[SURE]
            if count and true < least:
                failing.append(f"{kind}: {claim}, {percent(true)} of {count:,}")
    bounds = f"{LEAST_IF_KNOWN:.0%} (other truths: {LEAST_IF_NOT:.0%})"
    if not failing:
        return f"Nothing that is said with 95% or more is true in less than {bounds}."
    return f"Said with 95% or more, and true in less than {bounds}: " + "; ".join(failing) + "."


def _not_run(results: Results, settings: Settings) -> str:
    """Name the cells that stored results do not have."""
    missing = [name for name in cells_of(settings) if name not in results]
    return f"Not run (truth; items; answers): {', '.join(missing)}." if missing else ""


STUDY = Study(
    name="what-is-said",
    title="Is what is said with a probability true that often?",
    full=Settings(),
    quick=Settings(items=(6,), sets=(2,), sizes=1, draws=100),
    compute=compute,
    tell=tell,
    page="simulations",
)
