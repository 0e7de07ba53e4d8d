"""Other programs that do the same job, on the same data in the same run.

They are optional: ``pip install "tierwise[bench]"``. Where a peer is not there, a line says so.
"""

import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from math import exp

import numpy as np

from benchmarks.rows import Row, best_time, shortest_time
from tierwise import ClusteredMallows, Fit, Rankings, Tiers, fit, sample_posterior

THETA = 0.1


def kemeny_consensus() -> list[Row]:
    """The strict consensus: the order with the least sum of Kendall distances to all rankings."""
    rows = []
    for n_rankings, n_items in [(100, 6), (100, 7), (100, 10), (1000, 10), (100, 15), (100, 20)]:
        rankings = _rankings(n_rankings, n_items)
        case = _case(n_rankings, n_items)
        orderings = rankings.to_orderings()
        seconds, found = best_time(lambda rows=orderings: _strict_fit(rows), 3)
        for name, peer, most_items in [
            ("corankco", _kemeny_by_corankco, 20),
            ("pref_voting", _kemeny_by_pref_voting, 7),
        ]:
            if not find_spec(name):
                rows.append(_absent(name, case))
            elif n_items <= most_items:
                peer([[0, 1, 2]] * 5)  # importing and compiling do not count
                peer_seconds, total = shortest_time(lambda run=peer, rows=orderings: run(rows))
                assert total == found.total_distance, (name, total, found.total_distance)
                remark = "same distance; tierwise also fits theta and counts all optima"
                rows.append(Row("Kemeny consensus", case, seconds, remark, name, peer_seconds))
    return rows


def mallows_draws() -> list[Row]:
    """Draws from the Mallows model with Kendall distance, in which every tier holds one item."""
    rows = []
    for n_rankings, n_items in [(1_000, 10), (10_000, 10), (10_000, 50)]:
        model = ClusteredMallows(Tiers.from_sizes((1,) * n_items, range(n_items)), THETA)
        seconds, drawn = best_time(lambda m=model, n=n_rankings: m.sample(n, rng=1), 3)
        case = _case(n_rankings, n_items)
        if not find_spec("prefsampling"):
            rows.append(_absent("prefsampling", case))
            continue
        from prefsampling.ordinal import mallows

        peer_seconds, votes = shortest_time(
            lambda n=n_rankings, m=n_items: mallows(n, m, exp(-THETA), seed=1)
        )
        theirs = Rankings.from_order_array(np.array(votes), range(n_items))
        means = [model.distances(data).mean() for data in (drawn, theirs)]
        remark = f"mean distance {means[0]:.1f} and {means[1]:.1f}"
        rows.append(Row("Mallows draws", case, seconds, remark, "prefsampling", peer_seconds))
    return rows


def kendall_distances() -> list[Row]:
    """The Kendall distance of every ranking from one order."""
    n_rankings, n_items = 10_000, 10
    case = _case(n_rankings, n_items)
    rankings = _rankings(n_rankings, n_items)
    model = ClusteredMallows(Tiers.from_sizes((1,) * n_items, rankings.items), THETA)
    seconds, distances = best_time(lambda: model.distances(rankings), 3)
    if not find_spec("choix"):
        return [_absent("choix", case)]
    from choix import kendalltau_dist

    peer_seconds, theirs = shortest_time(lambda: [kendalltau_dist(row) for row in rankings.places])
    assert np.array_equal(distances, theirs)
    return [Row("Kendall distances", case, seconds, "same distances", "choix", peer_seconds)]


def order_of_items() -> list[Row]:
    """An order of the items: choix fits another model, Plackett-Luce, to the same end."""
    rows = []
    for n_rankings, n_items in [(100, 10), (1_000, 10), (10_000, 10)]:
        case = _case(n_rankings, n_items)
        rankings = _rankings(n_rankings, n_items)
        orderings = rankings.to_orderings()
        seconds, found = best_time(lambda rows=orderings: _strict_fit(rows), 3)
        if not find_spec("choix"):
            rows.append(_absent("choix", case))
            continue
        from choix import ilsr_rankings

        peer_seconds, worth = shortest_time(
            lambda rows=orderings, n=n_items: ilsr_rankings(n, rows, alpha=1e-6)
        )
        same = [int(item) for item in np.argsort(-worth)] == list(found.tiers.items)
        remark = f"{'same' if same else 'another'} order, by another model"
        rows.append(Row("order of items", case, seconds, remark, "choix", peer_seconds))
    return rows


def in_r() -> list[Row]:
    """Draws from the Mallows model and from its posterior in R; each program keeps its own time."""
    if not shutil.which("Rscript"):
        remark = "Rscript was not found: BayesMallows and PerMallows were not run"
        return [Row("Mallows draws", "in R", None, remark, "R")]
    n_rankings, n_items = 10_000, 10
    model = ClusteredMallows(Tiers.from_sizes((1,) * n_items, range(n_items)), THETA)
    seconds, drawn = best_time(lambda: model.sample(n_rankings, rng=1), 3)
    ours = model.distances(drawn).mean()
    calls = {
        "PerMallows": f'rmm({n_rankings}, 1:{n_items}, {THETA}, dist.name = "kendall")',
        # BayesMallows divides its alpha by the number of items.
        "BayesMallows": f"sample_mallows(1:{n_items}, {THETA * n_items}, {n_rankings}, "
        'metric = "kendall")',
    }
    case = _case(n_rankings, n_items)
    rows = []
    for package, call in calls.items():
        # Both number the items from 1 and return the place of each, or the other way round.
        mean = "mean(apply(made, 1, function(r) sum(outer(r, r, '>')[upper.tri(diag(10))])))"
        told = _in_r(package, call, mean)
        remark = told if isinstance(told, str) else f"mean distance {ours:.1f} and {told[1]:.1f}"
        peer_seconds = None if isinstance(told, str) else told[0]
        rows.append(Row("Mallows draws", case, seconds, remark, package, peer_seconds))
    return [*rows, _posterior_in_r()]


def _posterior_in_r() -> Row:
    """Draws from the posterior of a strict order and theta, given complete rankings."""
    n_draws, n_items = 10_000, 10
    model = ClusteredMallows(Tiers.from_sizes((1,) * n_items, range(n_items)), 0.3)
    rankings = model.sample(280, rng=1)
    seconds, posterior = best_time(
        lambda: sample_posterior(
            rankings, (1,) * n_items, "kendall", draws=n_draws, chains=1, progress="off", rng=1
        ),
        3,
    )
    places = ",".join(map(str, (rankings.places + 1).T.ravel()))
    call = (
        f"compute_mallows(setup_rank_data(matrix(c({places}), ncol = {n_items})), model_options = "
        'set_model_options(metric = "kendall"), compute_options = set_compute_options('
        f"nmc = {n_draws + 1000}, burnin = 1000))"
    )
    mean = f"mean(made$alpha$value[made$alpha$iteration > 1000]) / {n_items}"
    told = _in_r("BayesMallows", call, mean)
    what, case = "posterior, 10,000 draws", "280 complete rankings of 10 items"
    if isinstance(told, str):
        return Row(what, case, seconds, told, "BayesMallows")
    remark = (
        f"mean theta {posterior.thetas.mean():.3f} and {told[1]:.3f}; independent draws against a "
        "chain with 1,000 more to settle"
    )
    return Row(what, case, seconds, remark, "BayesMallows", told[0])


def _in_r(package: str, call: str, number: str) -> tuple[float, float] | str:
    """Return the seconds that a call takes in R and a number made of what comes out, or say why."""
    code = (
        f"suppressMessages(library({package})); "
        f'seconds <- system.time(made <- {call})[["elapsed"]]; cat(seconds, {number})'
    )
    done = subprocess.run(["Rscript", "-e", code], check=False, capture_output=True, text=True)
    if done.returncode:
        absent = "there is no package called" in done.stderr
        return "not installed in R" if absent else "stopped with an error"
    seconds, told = done.stdout.split()
    return float(seconds), float(told)


def _strict_fit(orderings: list[list[int]]) -> Fit:
    """Fit tiers of one item each, from the same lists that the peers get."""
    return fit(Rankings.from_orderings(orderings), (1,) * len(orderings[0]))


def _kemeny_by_corankco(orderings: list[list[int]]) -> float:
    # Its own choice among solvers takes CPLEX even where that is not installed.
    from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
    from corankco.dataset import Dataset
    from corankco.scoringscheme import ScoringScheme

    data = Dataset.from_raw_list([[{item} for item in row] for row in orderings])
    # A tie in the consensus costs as much as the wrong order, so it never helps.
    scheme = ScoringScheme([[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]])
    found = ExactAlgorithmPulp().compute_consensus_rankings(
        data, scheme, return_at_most_one_ranking=True
    )
    return round(found.kemeny_score, 6)


def _kemeny_by_pref_voting(orderings: list[list[int]]) -> float:
    from pref_voting.other_methods import kemeny_young_rankings
    from pref_voting.profiles import Profile

    _, total = kemeny_young_rankings(Profile(orderings))
    return float(total)


def _rankings(n_rankings: int, n_items: int) -> Rankings:
    model = ClusteredMallows(Tiers.from_sizes((1,) * n_items, range(n_items)), THETA)
    return model.sample(n_rankings, rng=1)


def _case(n_rankings: int, n_items: int) -> str:
    return f"{n_rankings:,} rankings of {n_items} items"


def _absent(name: str, case: str) -> Row:
    return Row(name, case, None, f"{name} is not installed: it was not run", name)


PEERS: list[Callable[[], list[Row]]] = [
    kemeny_consensus,
    mallows_draws,
    kendall_distances,
    order_of_items,
    in_r,
]
