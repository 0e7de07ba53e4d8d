"""Tiers of strength (Luce's model): strengths alone beside peers, the search, the posterior.

Strengths are found once, and again in battles that are drawn with replacement.

The battles of the arena and the scores of MTEB, which may not be shipped, are read from the folders
``arena`` and ``mteb`` in the folder that ``TIERWISE_DATA`` names; without it, data of their shapes
are drawn. Searches, posteriors and leaderboards are measured by the time that cores work on them.
"""

import os
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import tierwise as tw
from benchmarks.rows import Row, best_time, shortest_time
from tierwise.answers.races import races_of
from tierwise.luce.worths import best_worths

# How often battles are drawn again.
RESAMPLES = 100
# Peers maximise the likelihood, which an item that never lost would send to infinity.
SHRINKAGE = 1e-3


def strengths_alone() -> list[Row]:
    """One worth per item: Newton's method, and the iterations of evalica and choix."""
    rows = []
    for case, data in _strict_cases().items():
        races = races_of(data)
        labels = np.arange(races.n_items)
        seconds, found = best_time(lambda races=races, labels=labels: best_worths(races, labels))
        remark = f"log-likelihood {found.log_likelihood:,.1f}"
        for peer, run in _peers(data).items():
            if not find_spec(peer):
                rows.append(Row("strengths", case, seconds, f"{remark}; {peer} is not installed"))
                continue
            peer_seconds, strengths = best_time(run, repeats=3)
            value = races.value(labels, strengths)
            said = f"{remark}, of {peer} {value:,.1f}"
            rows.append(Row("strengths", case, seconds, said, peer, peer_seconds))
    return rows


def resampled_strengths() -> list[Row]:
    """One worth per item, found in battles that are drawn again, as often as `RESAMPLES` says."""
    rows = []
    for case, data in _strict_cases().items():
        if not isinstance(data, tw.Battles):
            continue
        seconds, ours = best_time(lambda data=data: _resampled(data), repeats=3)
        for peer, run in _resampling_peers(data).items():
            if not find_spec(peer):
                remark = f"{peer} is not installed"
                rows.append(Row(f"{RESAMPLES} resamples", case, seconds, remark))
                continue
            peer_seconds, theirs = shortest_time(run)
            errors, others = (_centred(found).std(axis=0) for found in (ours, theirs))
            remark = f"standard errors {np.median(errors / others):.2f} times those of {peer}"
            what = f"{RESAMPLES} resamples"
            rows.append(Row(what, case, seconds, remark, peer, peer_seconds))
    return rows


def _centred(log_strengths: np.ndarray) -> np.ndarray:
    return log_strengths - log_strengths.mean(axis=1)[:, None]


def _resampled(data: tw.Battles) -> np.ndarray:
    """Log worths of all items, one row per resample; each search begins where all battles lead."""
    rng, races = np.random.default_rng(1), races_of(data)
    labels = np.arange(races.n_items)
    start = best_worths(races, labels).point
    again = (races_of(data.resampled(rng, unit="battle")) for _ in range(RESAMPLES))
    # What is left to gain is far below what resamples differ by.
    return np.array([best_worths(one, labels, start, least_gain=1e-6).logs for one in again])


def _resampling_peers(data: tw.Battles) -> dict[str, Callable[[], np.ndarray]]:
    """What else finds strengths in battles that are drawn again."""

    def choix() -> np.ndarray:
        rng, cells = np.random.default_rng(1), np.stack([data.decided, np.triu(data.drawn)])
        total, shares, found = int(cells.sum()), (cells / cells.sum()).ravel(), []
        for _ in range(RESAMPLES):
            decided, drawn = rng.multinomial(total, shares).reshape(cells.shape)
            found.append(_choix_battles(decided + (drawn + drawn.T) / 2))
        return np.array(found)

    peers: dict[str, Callable[[], np.ndarray]] = {"choix": choix}
    if data.n_battles < 100_000:  # evalica takes one row per battle
        rows = _rows_of(data)
        peers["evalica"] = lambda: _evalica_resampled(rows, data.items)
    return peers


def search_of_strengths() -> list[Row]:
    """A whole search over tiers of all sizes, when all is compiled."""
    rows = []
    tw.search(_with_gaps(8, 20, 4), family="luce", progress="off")
    for case, make in _cases().items():
        data = make()
        start = process_time()
        found = tw.search(data, family="luce", progress="off")
        seconds = process_time() - start
        rows.append(Row("search, luce", case, seconds, f"tiers: {len(found.best.tiers)}"))
    return rows


def posterior_of_strengths() -> list[Row]:
    """Draws of tiers and worths, when all is compiled."""
    rows = []
    options: dict[str, Any] = {"family": "luce", "chains": 2, "progress": "off", "rng": 1}
    names = ("arena", "MTEB", "LLMFAO", "36 items")
    for case, make in _cases().items():
        if not case.startswith(names):
            continue
        data = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tw.TierwiseWarning)
            tw.sample_posterior(data, draws=10, **options)
            start = process_time()
            posterior = tw.sample_posterior(data, draws=1000, **options)
            seconds = process_time() - start
        remark = f"2,000 draws; most probable tiers: {len(posterior.tiers())}"
        rows.append(Row("posterior, luce", case, seconds, remark))
    return rows


def leaderboards_of_strengths() -> list[Row]:
    """A whole leaderboard with nothing named: the choice of a model, tiers, intervals of ranks."""
    rows = []
    options: dict[str, Any] = {"rng": 1, "progress": "off", "workers": 1}
    for case, make in _cases().items():
        if not case.startswith(("arena", "MTEB", "LLMFAO")):
            continue
        data = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tw.TierwiseWarning)
            tw.leaderboard(data, chains=2, draws=10, **options)
            start = process_time()
            board = tw.leaderboard(data, **options)
            seconds = process_time() - start
        remark = f"{board.fit.family}, tiers: {len(board.fit.tiers)}"
        rows.append(Row("leaderboard", case, seconds, remark))
    return rows


def _cases() -> dict[str, Callable[[], Any]]:
    return {
        "arena: 129 models, 1.67 million battles": _arena,
        "MTEB: 30 models, 56 tasks": _mteb,
        "LLMFAO: 59 models, 7,100 battles": tw.load_llmfao,
        "36 items, 392 answers with gaps": lambda: _with_gaps(36, 392, 12),
        "100 items, 5,000 answers of 10": lambda: _with_gaps(100, 5000, 10),
        "556 items, 12 answers": lambda: _with_gaps(556, 12, 200),
        "1,368 items, 4 answers": lambda: _with_gaps(1368, 4, 500),
        "1,000 items, 200 answers of 20": lambda: _with_gaps(1000, 200, 20),
    }


def _strict_cases() -> dict[str, Any]:
    kept = ("arena", "LLMFAO", "36 items", "100 items")
    return {case: make() for case, make in _cases().items() if case.startswith(kept)}


def _with_gaps(n_items: int, n_answers: int, n_listed: int) -> tw.Rankings:
    """Rankings of as many random items each, which lie in tiers of about ten."""
    rng = np.random.default_rng(1)
    logs = -0.5 * (np.arange(n_items) // max(10, n_items // 12))
    places = np.full((n_answers, n_items), -1, dtype=np.int32)
    for row in places:
        shown = rng.permutation(n_items)[:n_listed]
        order = np.argsort(np.log(rng.exponential(size=n_listed)) - logs[shown])
        row[shown[order]] = np.arange(n_listed)
    return tw.Rankings(range(n_items), places, unranked="anywhere")


def _arena() -> tw.Battles:
    folder = os.environ.get("TIERWISE_DATA")
    if folder and (Path(folder) / "arena").is_dir():
        return tw.read_battles(Path(folder) / "arena" / "battles.csv")
    rng = np.random.default_rng(1)
    logs = np.repeat(np.linspace(1.0, -2.0, 43), 3)
    pairs = np.triu_indices(len(logs), k=1)
    met = rng.multinomial(1_670_250, rng.dirichlet(np.full(len(pairs[0]), 0.3)))
    won = rng.binomial(met, 1.0 / (1.0 + np.exp(logs[pairs[1]] - logs[pairs[0]])))
    wins = np.zeros((len(logs), len(logs)))
    wins[pairs] = won
    wins.T[pairs] = met - won
    items = tuple(f"m{number:03}" for number in range(len(logs)))
    return tw.Battles(items, wins, np.zeros_like(wins))


def _mteb() -> tw.Rankings:
    folder = os.environ.get("TIERWISE_DATA")
    if folder and (Path(folder) / "mteb").is_dir():
        path = Path(folder) / "mteb" / "scores.csv"
        table = np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:]
        table = table[:, ~np.isnan(table).any(axis=0)]
        noise = 1e-9 * np.random.default_rng(1).normal(size=table.shape)
        orders = np.argsort(-(table + noise), axis=1)
        return tw.Rankings.from_order_array(orders, range(table.shape[1]))
    return _with_gaps(30, 56, 30)


def _peers(data: Any) -> dict[str, Callable[[], np.ndarray]]:
    """What else finds strengths of such data: log strengths, by item."""
    if isinstance(data, tw.Rankings):
        return {"choix": lambda: _choix_rankings(data)}
    peers: dict[str, Callable[[], np.ndarray]] = {"choix": lambda: _choix_battles(data.wins)}
    if data.n_battles < 100_000:  # evalica takes one row per battle
        rows = _rows_of(data)
        peers["evalica"] = lambda: _evalica(rows, data.items)
    return peers


def _choix_battles(wins: np.ndarray) -> np.ndarray:
    import choix

    return np.asarray(choix.ilsr_pairwise_dense(wins, alpha=SHRINKAGE))


def _choix_rankings(data: tw.Rankings) -> np.ndarray:
    import choix

    orders = [
        np.argsort(np.where(row < 0, row.size, row), kind="stable")[: (row >= 0).sum()].tolist()
        for row in data.places
    ]
    return np.asarray(choix.ilsr_rankings(len(data.items), orders, alpha=SHRINKAGE))


def _rows_of(battles: tw.Battles) -> tuple[list[str], list[str], list[str]]:
    frame = battles.to_frame()
    frame = frame.loc[frame.index.repeat(frame["weight"].astype(int))]
    return tuple(frame[name].tolist() for name in ("model_a", "model_b", "winner"))  # type: ignore[return-value]


def _winners(winners: list[str]) -> list[Any]:
    """Write who won as evalica does."""
    import evalica

    kinds = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    return [kinds[winner] for winner in winners]


def _evalica(rows: tuple[list[str], list[str], list[str]], items: tuple[str, ...]) -> np.ndarray:
    import evalica

    found = evalica.bradley_terry(*rows[:2], _winners(rows[2]))
    return np.log(found.scores.loc[list(items)].to_numpy())


def _evalica_resampled(
    rows: tuple[list[str], list[str], list[str]], items: tuple[str, ...]
) -> np.ndarray:
    import evalica

    found = evalica.bootstrap(
        evalica.bradley_terry,
        *rows[:2],
        _winners(rows[2]),
        n_resamples=RESAMPLES,
        bootstrap_method="percentile",
        random_state=1,
    )
    return np.log(found.distribution[list(items)].to_numpy())
