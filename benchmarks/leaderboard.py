"""Battles: tiers against Bradley-Terry strengths with bootstrap intervals, by evalica.

Models lie in tiers, so that it is known which pairs differ. Counted are the pairs of different
tiers that are called different, in the right order (power), and the pairs of one tier that are
called different (false alarms).
"""

import contextlib
import io
import warnings
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
from pyarrow import csv

import tierwise as tw
from benchmarks.rows import Row, core_time
from tierwise.partition.gaussian import pair_probabilities
from tierwise.posterior.estimates import sure_tiers

SIZES = (10,) * 10
THETA = 0.05
RESAMPLES = 100
# As `leaderboard` has it where the user does not say.
CERTAINTY = 0.95


def tiers_against_bradley_terry() -> list[Row]:
    """Tiers from a file of battles, and evalica's Bradley-Terry with bootstrap intervals."""
    tw.leaderboard(_small(), draws=10, chains=1, progress="off", rng=1)  # compiling does not count
    return [row for n_battles in (30_000, 1_000_000) for row in _race(n_battles)]


def tiers_of_scores() -> list[Row]:
    """Tiers of models by their scores, and autorank's tests of the same scores.

    autorank tests which mean ranks differ (Friedman and Nemenyi); tierwise compares models of
    rankings, and draws tiers.
    """
    rows = []
    for n_models, n_tasks in ((12, 40), (90, 10)):
        scores = _scores(n_models, n_tasks)
        names = [f"m{number:02}" for number in range(n_models)]
        data = tw.Rankings.from_scores(scores, "higher", names)
        seconds = core_time(lambda data=data: _board(data))
        case = f"{n_models} models, {n_tasks} tasks"
        if not find_spec("autorank"):
            rows.append(Row("tiers of scores", case, seconds, "autorank is not installed"))
            continue
        peer_seconds = _autorank(scores, names)
        remark = "a posterior of tiers, and tests of mean ranks"
        rows.append(Row("tiers of scores", case, seconds, remark, "autorank", peer_seconds))
    return rows


def _board(data: tw.Rankings) -> tw.Leaderboard:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        return tw.leaderboard(data, rng=1, progress="off", workers=1)


def _scores(n_models: int, n_tasks: int) -> np.ndarray:
    """Scores of models that lie in tiers: ``[task, model]``."""
    rng = np.random.default_rng(1)
    skill = -0.6 * (np.arange(n_models) * 4 // n_models)
    return 60 + 4 * (skill + rng.normal(size=(n_tasks, n_models)))


def _autorank(scores: np.ndarray, names: list[str]) -> float:
    """Least time that cores work on autorank's answer; many models take a minute, once."""
    import pandas as pd
    from autorank import autorank

    frame = pd.DataFrame(scores, columns=names)
    times: list[float] = []
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        while len(times) < 3 and sum(times) < 5.0:
            start = process_time()
            autorank(frame)
            times.append(process_time() - start)
    return min(times)


def _race(n_battles: int) -> list[Row]:
    case = f"{n_battles:,} battles of {sum(SIZES)} models in {len(SIZES)} tiers"
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "battles.csv"
        truth, columns = _write(path, n_battles)
        start = perf_counter()
        battles = tw.read_battles(path)
        found = tw.search(battles, rng=1)
        searched = perf_counter() - start
        labels = found.best.tiers.label_array(battles.items)
        below = np.sign(labels[None, :] - labels[:, None])
        start = perf_counter()
        posterior = tw.sample_posterior(
            battles, priors=tw.Priors(sizes="sceptical"), chains=2, draws=500, progress="off", rng=1
        )
        drawn = perf_counter() - start
    above = posterior.above_probabilities().to_numpy()
    sure = (above >= CERTAINTY).astype(int) - (above.T >= CERTAINTY)
    published = sure_tiers(above, CERTAINTY)
    separated = np.sign(published[None, :] - published[:, None])
    peer_seconds, remark = None, "evalica is not installed"
    if find_spec("evalica"):
        peer_seconds, called = _evalica(columns, battles.items)
        remark = f"evalica, intervals that do not overlap: {_rates(called, truth)}"
    return [
        Row(
            "reading and tiers",
            case,
            searched,
            f"different tiers: {_rates(below, truth)}; {remark}",
            f"evalica, {RESAMPLES} resamples",
            peer_seconds,
        ),
        Row(
            "posterior of tiers",
            case,
            drawn,
            f"better with P >= {CERTAINTY}: {_rates(sure, truth)}; tiers of a leaderboard: "
            f"{_rates(separated, truth)}",
        ),
    ]


def _small() -> tw.Battles:
    return tw.Battles.from_rows([("x", "y", "x"), ("y", "z", "y"), ("x", "z", "tie")])


def _write(path: Path, n_battles: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Write battles of models in tiers; return the tier of each, and the columns."""
    rng = np.random.default_rng(1)
    n_items = sum(SIZES)
    truth = rng.permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    first = rng.integers(n_items, size=n_battles)
    second = (first + 1 + rng.integers(n_items - 1, size=n_battles)) % n_items
    shares = pair_probabilities(SIZES, THETA)[truth[first], truth[second]]
    names = np.array([f"model {number:03}" for number in range(n_items)], dtype=object)
    winner = np.where(rng.random(n_battles) < shares, "model_a", "model_b")
    columns = {"model_a": names[first], "model_b": names[second], "winner": winner}
    csv.write_csv(pa.table(columns), str(path))
    return truth, columns


def _evalica(columns: dict[str, np.ndarray], items: tuple[str, ...]) -> tuple[float, np.ndarray]:
    """Return the time, and which pairs have intervals that do not overlap, 1 being better."""
    import evalica

    winners = [
        evalica.Winner.X if winner == "model_a" else evalica.Winner.Y
        for winner in columns["winner"]
    ]
    start = perf_counter()
    found = evalica.bootstrap(
        evalica.bradley_terry,
        columns["model_a"].tolist(),
        columns["model_b"].tolist(),
        winners,
        n_resamples=RESAMPLES,
        bootstrap_method="percentile",
        random_state=1,
    )
    seconds = perf_counter() - start
    low, high = (bound.loc[list(items)].to_numpy() for bound in (found.low, found.high))
    better = (low[:, None] > high[None, :]).astype(int)
    return seconds, better - better.T


def _rates(called: np.ndarray, truth: np.ndarray) -> str:
    """Write power and false alarms; ``called`` is 1 where the row is called better."""
    upper = np.triu_indices(len(truth), k=1)
    wanted = np.sign(truth[None, :] - truth[:, None])[upper]
    said = called[upper]
    power = (said[wanted != 0] == wanted[wanted != 0]).mean()
    alarms = (said[wanted == 0] != 0).mean()
    return f"{power:.1%} of true differences, {alarms:.1%} false alarms"
