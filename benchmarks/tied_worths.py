"""Worths that may be tied: rankclust and partial-rankings, which ask the same question.

rankclust was built in R and run in November 2026; its figures stand here as they were found then,
on data of the same shape. partial-rankings reads its data with graph_tool and divides its work by
ray, but needs neither to compute. Where the package is installed it is run, on games of few
players; for many, it stands with the time that it took for real matches of tennis, in November
2026.
"""

import contextlib
import io
import sys
import warnings
from importlib.util import find_spec
from time import process_time
from types import ModuleType

import numpy as np

import tierwise as tw
from benchmarks.races import WHEN
from benchmarks.rows import Row, core_time

# Players lie in four tiers.
LOG_WORTHS = (1.2, 0.4, -0.4, -1.2)
_SEEDS = (1, 2, 3)


def effective_draws_of_ties() -> list[Row]:
    """Effective draws of whether two items are tied, of the pair that has least."""
    rows = []
    # Rankings, items, and effective draws a second of the peer.
    for n_rankings, n_items, peer in ((100, 10, 0.06), (200, 6, 1.9)):
        data = _rankings(n_rankings, n_items)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tw.TierwiseWarning)
            _posterior(data, 20)  # compiles
            start = process_time()
            posterior = _posterior(data, 2000)
            seconds = process_time() - start
        ties = [tie.ess_bulk for tie in posterior.diagnostics().judged if "~" in tie.name]
        case = f"{n_rankings} rankings of {n_items} items"
        if not ties:
            rows.append(Row("posterior of ties", case, seconds, "every tie is sure"))
            continue
        least = min(ties)
        remark = f"{least / seconds:,.0f}/s; peer {peer:g}/s {WHEN}"
        what = "1,000 effective draws of the worst tie"
        rows.append(Row(what, case, 1000 * seconds / least, remark, "rankclust", 1000 / peer))
    return rows


def _posterior(data: tw.Rankings, draws: int) -> tw.Posterior:
    return tw.sample_posterior(
        data, family="luce", chains=2, draws=draws, rng=1, progress="off", workers=1
    )


def _rankings(n_rankings: int, n_items: int) -> tw.Rankings:
    """Rankings of items in three tiers."""
    tiers = tw.Tiers.from_sizes(
        (n_items // 3, n_items - 2 * (n_items // 3), n_items // 3), range(n_items)
    )
    return tw.ClusteredLuce(tiers, (2.0, 1.0, 0.5)).sample(n_rankings, rng=1)


def ranks_that_are_shared() -> list[Row]:
    """Tiers of players who meet in games, and how many pairs are put in the right order."""
    rows = []
    for n_players, n_games, dated_seconds in ((30, 2_000, None), (105, 7_891, 213.0)):
        games = [_games(n_players, n_games, seed) for seed in _SEEDS]
        case = f"{n_games:,} games of {n_players} players in {len(LOG_WORTHS)} tiers"
        seconds = core_time(lambda one=games[0][0]: _search(one), 2)
        found = [_search(battles).label_array(battles.items) for battles, _ in games]
        truths = [truth for _, truth in games]
        said = f"{_rates(found, truths)}, mean of {len(_SEEDS)} sets"
        peer_seconds = dated_seconds
        if dated_seconds is not None:
            said += f"; peer: 105 players of tennis in 4 tiers, {WHEN}"
        elif find_spec("partial_rankings"):
            start = process_time()
            theirs = [_partial_rankings(battles) for battles, _ in games]
            peer_seconds = (process_time() - start) / len(games)
            said += f"; peer {_rates(theirs, truths)}"
        else:
            said += "; partial-rankings is not installed"
        rows.append(Row("tiers of players", case, seconds, said, "partial-rankings", peer_seconds))
    return rows


def _search(battles: tw.Battles) -> tw.Tiers:
    return tw.search(battles, family="luce", progress="off").best.tiers


def _games(n_players: int, n_games: int, seed: int) -> tuple[tw.Battles, np.ndarray]:
    """Games of players who lie in tiers, and the tier of each."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n_players) % len(LOG_WORTHS))
    first = rng.integers(n_players, size=n_games)
    second = (first + rng.integers(1, n_players, size=n_games)) % n_players
    apart = np.array(LOG_WORTHS)[truth[first]] - np.array(LOG_WORTHS)[truth[second]]
    won = rng.random(n_games) < 1 / (1 + np.exp(-apart))
    wins = np.zeros((n_players, n_players))
    np.add.at(wins, (np.where(won, first, second), np.where(won, second, first)), 1.0)
    names = tuple(f"{number:03}" for number in range(n_players))
    return tw.Battles(names, wins, np.zeros_like(wins)), truth


class _StandIn(ModuleType):
    """A module of which only the names are needed."""

    def __getattr__(self, name: str) -> object:
        return sys.modules.get(f"{self.__name__}.{name}", object)


def _partial_rankings(battles: tw.Battles) -> np.ndarray:
    """Tier of each player, 0 being the best, as partial-rankings finds them."""
    for name in ("ray", "ray.util", "ray.util.multiprocessing", "graph_tool", "graph_tool.all"):
        sys.modules.setdefault(name, _StandIn(name))
    winners, losers = np.nonzero(battles.wins)
    table = np.column_stack((winners, losers, battles.wins[winners, losers])).astype(int)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        # It takes hold of the stream for errors when it is imported.
        from partial_rankings.model import partial_rankings
        from partial_rankings.preprocessing import get_edges

        wins_of, losses_of = get_edges(table)
        found = partial_rankings(
            len(battles.items), int(battles.n_battles), wins_of, losses_of, force_merge=True
        )
    strengths = np.empty(len(battles.items))
    for name, members in found["Clusters"].items():
        strengths[list(members)] = found["Strengths"][name]
    return np.unique(-strengths, return_inverse=True)[1]


def _rates(found: list[np.ndarray], truths: list[np.ndarray]) -> str:
    """Write how many pairs are said to be as they are: in order, or tied."""
    in_order, tied, number = [], [], []
    for labels, truth in zip(found, truths, strict=True):
        upper = np.triu_indices(len(truth), 1)
        said = np.sign(labels[:, None] - labels)[upper]
        wanted = np.sign(truth[:, None] - truth)[upper]
        in_order.append((said == wanted)[wanted != 0].mean())
        tied.append((said == wanted)[wanted == 0].mean())
        number.append(labels.max() + 1)
    return (
        f"{np.mean(in_order):.1%} of differences in order, {np.mean(tied):.1%} of ties tied, "
        f"{np.mean(number):.1f} tiers"
    )
