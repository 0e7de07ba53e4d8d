import json
import os
import signal
import subprocess
import sys
from math import exp, inf, isnan, log

import numpy as np
import pytest

import tierwise as tw
from tests import reference_structure as naive
from tests.data_paths import shared_data
from tests.reference import BLOCK_DISTANCES
from tierwise import Counts, InputError, Rankings, Tiers, TierwiseWarning, TooLargeError
from tierwise.answers.likelihood import source_of
from tierwise.model.priors import Gamma
from tierwise.searching import concluding, evaluate
from tierwise.searching import search as searching
from tierwise.tiers import neighbours


def random_rankings(seed, n_items, n_rankings, noise=0.4):
    rng = np.random.default_rng(seed)
    utilities = np.linspace(1, 0, n_items) + rng.gumbel(size=(n_rankings, n_items)) * noise
    return Rankings.from_order_array(np.argsort(-utilities, axis=1), "abcdefghijklmno"[:n_items])


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
def test_exhaustive_search_fits_every_size_vector(distance):
    rankings = random_rankings(1, 5, 30)
    found = tw.search(rankings, distance, criterion="likelihood")
    assert found.exhaustive
    assert found.method == "exhaustive"
    assert found.evaluated == 16
    assert {one.sizes for one in found.leaderboard} == set(naive.all_sizes(5))
    fits = {sizes: tw.fit(rankings, sizes, distance) for sizes in naive.all_sizes(5)}
    for one in found.leaderboard:
        fitted = fits[one.sizes]
        assert one.criterion == pytest.approx(fitted.criterion, abs=1e-9)
        assert one.theta == pytest.approx(fitted.theta, abs=1e-9)
        assert one.agreement == pytest.approx(fitted.agreement, nan_ok=True)
        assert one.tiers in (fitted.tiers, *fitted.alternatives)
        assert one.optimal
    criteria = [one.criterion for one in found.leaderboard]
    assert criteria == sorted(criteria, reverse=True)
    assert found.best.sizes == max(fits, key=lambda sizes: fits[sizes].criterion)
    assert found.best.criterion == pytest.approx(criteria[0], abs=1e-9)
    assert found.runner_up_gap == pytest.approx(criteria[0] - criteria[1])


def test_counts_and_rankings_give_the_same():
    rankings = random_rankings(2, 6, 20)
    first, second = (
        tw.search(rankings, distance="kendall", criterion="likelihood"),
        tw.search(Counts.of(rankings), distance="kendall", criterion="likelihood"),
    )
    assert [one.sizes for one in first.leaderboard] == [one.sizes for one in second.leaderboard]


def test_evidence_gives_posterior_probabilities():
    rankings = random_rankings(3, 4, 12)
    found = tw.search(
        rankings, criterion="evidence", priors=tw.Priors(theta=Gamma(3.0, 1.0)), distance="kendall"
    )
    rows = [tuple("abcd".index(item) for item in row) for row in rankings.to_orderings()]
    weights = [1] * len(rows)
    evidence = {
        sizes: exp(naive.log_evidence(rows, weights, sizes, "kendall", 3.0, 1.0))
        for sizes in naive.all_sizes(4)
    }
    total = sum(evidence.values())
    assert sum(found.probabilities.values()) == pytest.approx(1.0, abs=1e-12)
    for sizes, share in found.probabilities.items():
        assert share == pytest.approx(evidence[sizes] / total, rel=1e-7)
    assert found.leaderboard[0].probability == max(found.probabilities.values())
    default = tw.search(rankings, criterion="evidence", distance="kendall")
    assert default.probabilities != found.probabilities


def test_a_prior_over_sizes_multiplies_the_evidence():
    rankings = random_rankings(3, 4, 12)
    uniform = tw.search(rankings, criterion="evidence", distance="kendall").probabilities
    weights = {sizes: 1.0 / len(sizes) ** 2 for sizes in naive.all_sizes(4) if sizes != (4,)}

    def prior(sizes):
        return log(weights[sizes]) if sizes in weights else -inf

    found = tw.search(
        rankings, criterion="evidence", priors=tw.Priors(sizes=prior), distance="kendall"
    ).probabilities
    expected = {sizes: uniform[sizes] * weights.get(sizes, 0.0) for sizes in uniform}
    for sizes, share in found.items():
        assert share == pytest.approx(expected[sizes] / sum(expected.values()), rel=1e-9)


def test_agreement_needs_no_theta_and_prefers_degenerate_tiers():
    found = tw.search(random_rankings(4, 6, 50), criterion="agreement", distance="kendall")
    assert found.exhaustive
    assert found.evaluated == 32
    shares = [one.agreement for one in found.contenders]
    assert shares == sorted(shares, reverse=True)
    assert all(isnan(one.theta) and isnan(one.criterion) for one in found.leaderboard)
    assert len(found.best.sizes) == 2
    assert found.leaderboard[-1].sizes == (6,)


def test_both_narrows_by_agreement_and_decides_by_likelihood():
    rankings = random_rankings(5, 7, 60)
    everything = {
        one.sizes: one
        for one in tw.search(rankings, distance="kendall", criterion="likelihood").leaderboard
    }
    found = tw.search(rankings, criterion="both", shortlist=0.3, distance="kendall")
    compared = [one for one in found.leaderboard if not isnan(one.criterion)]
    assert found.evaluated == 64
    assert not found.exhaustive
    assert found.best.criterion == max(one.criterion for one in compared if one.allowed)
    for n_tiers in range(2, 7):
        group = [one for one in everything.values() if len(one.sizes) == n_tiers]
        group.sort(key=lambda one: one.agreement, reverse=True)
        passed = [one for one in compared if len(one.sizes) == n_tiers]
        assert len(passed) == -(-3 * len(group) // 10)
        assert min(one.agreement for one in passed) >= group[len(passed)].agreement - 1e-12
    assert tw.search(rankings, criterion="both", shortlist=1.0, distance="kendall").exhaustive


@pytest.mark.parametrize("method", ["greedy", "tabu", "genetic"])
@pytest.mark.parametrize("criterion", ["likelihood", "evidence", "agreement", "both"])
def test_searches_find_sizes_from_which_no_move_is_better(method, criterion):
    rankings = random_rankings(6, 7, 80)
    found = tw.search(rankings, method=method, criterion=criterion, rng=1, distance="kendall")
    assert found.method == method
    best = found.leaderboard[0]
    assert found.best.sizes == best.sizes
    scores = {one.sizes: one.score for one in found.leaderboard}
    assert set(found.path) <= set(scores)
    top = max(found.path, key=scores.__getitem__)
    if method == "greedy":
        climbed = [scores[sizes] for sizes in found.path]
        assert climbed == sorted(climbed)
        assert found.path[-1] == top
    if method != "genetic":
        # Greedy search ends where no neighbour is better, and tabu search has seen them all.
        assert all(scores[near] <= scores[top] for near in neighbours(top))


@pytest.mark.parametrize("method", ["greedy", "tabu", "genetic"])
def test_searches_find_the_best_of_few_sizes(method):
    rankings = random_rankings(6, 7, 80)
    everything = tw.search(
        rankings, method="exhaustive", distance="kendall", criterion="likelihood"
    )
    assert everything.evaluated == 64
    found = tw.search(rankings, method=method, rng=1, distance="kendall", criterion="likelihood")
    assert found.best.sizes == everything.best.sizes
    assert found.best.criterion == pytest.approx(everything.best.criterion, abs=1e-9)


def test_the_search_hands_over_what_it_solved(monkeypatch):
    """The winner, the strict consensus and no tiers are solved once, and not again for the fit."""
    from tierwise.fitting.fit import fit
    from tierwise.fitting.solve import solve

    rankings = random_rankings(6, 5, 80)
    solved = []

    def counting(source, sizes, settings, rng):
        solved.append(sizes)
        return solve(source, sizes, settings, rng)

    monkeypatch.setattr(evaluate, "solve", counting)
    monkeypatch.setitem(fit.__globals__, "solve", counting)
    found = tw.search(rankings, workers=1, distance="kendall", criterion="likelihood")
    assert len(solved) == len(set(solved))
    assert {found.best.sizes, (1,) * 5, (5,)} <= set(solved)
    monkeypatch.undo()
    fitted = tw.fit(rankings, found.best.sizes)
    assert found.best.tiers == fitted.tiers
    assert found.best.criterion == fitted.criterion
    assert found.best.references == fitted.references


def test_nothing_is_evaluated_twice(monkeypatch):
    asked = []
    original = evaluate.evaluate_sizes

    def counting(setting, sizes, depth):
        asked.append((sizes, depth))
        return original(setting, sizes, depth)

    monkeypatch.setattr(evaluate, "evaluate_sizes", counting)
    monkeypatch.setattr(evaluate, "can_be_together", lambda *_: False)
    for method in ("greedy", "tabu", "genetic", "exhaustive"):
        for criterion in ("likelihood", "both"):
            asked.clear()
            found = tw.search(
                random_rankings(7, 7, 40),
                method=method,
                criterion=criterion,
                rng=1,
                distance="kendall",
            )
            assert len(asked) == len(set(asked))
            assert {sizes for sizes, _ in asked} == {one.sizes for one in found.leaderboard}


def test_references_are_always_there_but_win_only_if_allowed():
    rankings = random_rankings(8, 6, 200, noise=0.1)
    found = tw.search(rankings, n_tiers=2, top=(1,), distance="kendall", criterion="likelihood")
    sizes = {one.sizes: one for one in found.leaderboard}
    assert set(sizes) == {(1, 5), (6,), (1,) * 6}
    assert sizes[(6,)].name == "no tiers"
    assert sizes[(1,) * 6].name == "strict consensus"
    assert not sizes[(6,)].allowed
    assert found.best.sizes == (1, 5)
    assert found.leaderboard[0].sizes == (1,) * 6
    assert found.behind(found.leaderboard[0]) < 0
    assert found.runner_up_gap == inf
    assert found.exhaustive


@pytest.mark.parametrize("method", ["exhaustive", "greedy", "tabu", "genetic"])
def test_constraints_hold_whatever_the_method(method):
    rankings = random_rankings(9, 8, 60)
    found = tw.search(
        rankings,
        method=method,
        top=(1,),
        bottom=(1, 1),
        n_tiers=5,
        rng=2,
        distance="kendall",
        criterion="likelihood",
    )
    for one in found.leaderboard:
        expected = len(one.sizes) == 5 and one.sizes[0] == 1 and one.sizes[-2:] == (1, 1)
        assert one.allowed == expected
    assert (
        found.best.sizes
        == tw.search(
            rankings, top=(1,), bottom=(1, 1), n_tiers=5, distance="kendall", criterion="likelihood"
        ).best.sizes
    )


def test_where_to_start():
    rankings = random_rankings(10, 6, 40)
    merging = tw.merge_even_pairs(rankings, 0.3)
    found = tw.search(
        rankings, method=tw.Greedy(tolerance=0.3), distance="kendall", criterion="likelihood"
    )
    assert found.path[0] == merging.sizes
    assert found.start.groups == merging.groups
    by_size = tw.search(
        rankings,
        method=tw.Greedy(tolerance=0.3, start="merging-by-size"),
        distance="kendall",
        criterion="likelihood",
    )
    assert by_size.path[0] == tuple(sorted(merging.sizes))
    assert tw.search(
        rankings, method=tw.Greedy(start=(3, 3)), distance="kendall", criterion="likelihood"
    ).path[0] == (3, 3)


def test_greedy_leaps_over_sizes_that_are_worse_than_both_ends():
    tiers = Tiers.from_sizes((3,) * 5, range(15))
    rankings = tw.ClusteredMallows(tiers, 1.5).sample(500, rng=2)
    stuck = tw.search(
        rankings,
        method=tw.Greedy(start=(1, 1, 1, 3, 3, 3, 3), moves="adjacent"),
        distance="kendall",
        criterion="likelihood",
    )
    assert stuck.path == ((1, 1, 1, 3, 3, 3, 3),)
    free = tw.search(
        rankings,
        method=tw.Greedy(start=(1, 1, 1, 3, 3, 3, 3)),
        distance="kendall",
        criterion="likelihood",
    )
    assert free.path[-1] == (3,) * 5


def test_moves_and_sampled_neighbours_limit_what_is_tried():
    rankings = random_rankings(11, 8, 40)
    start = (2, 2, 2, 2)
    wide = tw.search(
        rankings, method=tw.Greedy(start=start), distance="kendall", criterion="likelihood"
    )
    narrow = tw.search(
        rankings,
        method=tw.Greedy(start=start, moves="adjacent"),
        distance="kendall",
        criterion="likelihood",
    )
    few = tw.search(
        rankings,
        method=tw.Greedy(start=start, sample_neighbours=2),
        rng=1,
        distance="kendall",
        criterion="likelihood",
    )
    again = tw.search(
        rankings,
        method=tw.Greedy(start=start, sample_neighbours=2),
        rng=1,
        distance="kendall",
        criterion="likelihood",
    )
    assert few.evaluated < narrow.evaluated < wide.evaluated
    assert few.evaluated <= 2 + 1 + 2 * 2 * len(few.path)
    assert few.path == again.path


@pytest.mark.parametrize("method", ["exhaustive", "genetic"])
def test_the_answer_does_not_depend_on_the_number_of_workers(method):
    rankings = random_rankings(12, 6, 30)
    alone, together = (
        tw.search(
            rankings,
            method=method,
            workers=workers,
            rng=3,
            distance="kendall",
            criterion="likelihood",
        )
        for workers in (1, 2)
    )
    assert alone.path == together.path
    assert [(one.sizes, one.score) for one in alone.leaderboard] == [
        (one.sizes, one.score) for one in together.leaderboard
    ]


def test_progress_is_told_by_the_size_vector():
    reports = []
    tw.search(
        random_rankings(13, 6, 20),
        progress=lambda *call: reports.append(call),
        distance="kendall",
        criterion="likelihood",
    )
    assert reports[-1] == ("all sizes, kendall", 30, 30)
    assert [done for name, done, _ in reports if name == "all sizes, kendall"] == list(range(1, 31))


def test_batches_are_fair_samples_of_the_work():
    from tierwise.answers.likelihood import source_of
    from tierwise.distances import get_distance
    from tierwise.searching.evaluate import seconds_of

    kendall = get_distance("kendall")
    counts = tw.Counts.of(tw.ClusteredMallows(tw.Tiers.from_sizes((13,), range(13)), 0).sample(2))
    setting = evaluate.Setting(source_of(counts, kendall), tw.Gamma(), 1)
    batches = list(evaluate.deal(list(tw.compositions(13)), setting, "likelihood"))
    work = [sum(seconds_of(sizes, kendall, "likelihood") for sizes in batch) for batch in batches]
    assert sorted(sizes for batch in batches for sizes in batch) == sorted(tw.compositions(13))
    assert len(batches) > 10
    assert max(work) < 1.3 * min(work)


def test_interruption_leaves_the_leaderboard_so_far():
    def interrupt(_description, done, _total):
        if done == 20:
            raise KeyboardInterrupt

    rankings = random_rankings(14, 7, 30)
    with pytest.warns(TierwiseWarning, match="interrupted after 2"):
        found = tw.search(rankings, progress=interrupt, distance="kendall", criterion="likelihood")
    assert found.interrupted
    assert not found.exhaustive
    assert 20 <= found.evaluated <= 22
    assert found.best.sizes == found.leaderboard[0].sizes
    assert "interrupted" in found.summary()


def test_interruption_before_anything_is_there_is_an_interruption():
    def interrupt(*_told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tw.search(
            random_rankings(14, 7, 30),
            progress=interrupt,
            distance="kendall",
            criterion="likelihood",
        )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix signals")
@pytest.mark.parametrize("workers", ["None", "2"])
def test_control_c_at_the_terminal(workers):
    program = (
        "import tierwise as tw\n"
        "model = tw.ClusteredMallows(tw.Tiers.from_sizes((3,) * 5, range(15)), 0.3)\n"
        "def tell(name, done, total):\n"
        "    if done == 500: print('going', flush=True)\n"
        "found = tw.search(model.sample(100, rng=1), 'kendall', criterion='likelihood',\n"
        "                  method='exhaustive', progress=tell,\n"
        f"                  workers={workers})\n"
        "print(found.interrupted, found.evaluated > 500, len(found.leaderboard[0].tiers) > 0)\n"
    )
    lines = []
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        for line in running.stdout:
            lines.append(line.strip())
            if line.startswith("going"):
                # The terminal sends the signal to all processes of the group.
                os.killpg(running.pid, signal.SIGINT)
    assert running.returncode == 0
    assert lines[-1] == "True True True"


def test_monte_carlo_error_that_could_change_the_winner_is_warned_of(monkeypatch):
    from tierwise.fitting.solve import Settings

    monkeypatch.setattr(
        evaluate, "Settings", lambda **options: Settings(partition_method="path", **options)
    )
    monkeypatch.setattr(evaluate, "can_be_together", lambda *_: False)
    # Read from the other end these are the same rankings, so two sizes are equally good.
    rankings = Rankings.from_orderings([list("abc")] * 50 + [list("bac")] * 20 + [list("acb")] * 20)
    with pytest.warns(TierwiseWarning, match="could change the winner"):
        found = tw.search(rankings, n_tiers=2, rng=1, distance="kendall", criterion="likelihood")
    assert found.doubtful
    errors = {one.sizes: one.criterion_error for one in found.leaderboard}
    assert errors[found.best.sizes] > 0
    assert "criterion_error" in found.to_frame(backend="pyarrow").column_names
    assert "Monte Carlo" in found.summary()


def test_table_is_a_data_frame_best_first():
    found = tw.search(tw.load_political_goals(), distance="kendall", criterion="likelihood")
    table = found.table
    assert list(table.columns[:5]) == ["sizes", "criterion", "agreement", "theta", "tiers"]
    assert table["sizes"][0] == (2, 2)
    assert table["tiers"][0] == "order ~ prices > say ~ speech"
    assert table["behind"][0] == 0
    weighed = tw.search(tw.load_political_goals(), criterion="evidence", distance="kendall").table
    assert weighed["probability"].sum() == pytest.approx(1.0)


def test_to_dict_is_json():
    for criterion in ("likelihood", "agreement", "evidence"):
        found = tw.search(
            random_rankings(16, 4, 10), criterion=criterion, rng=5, distance="kendall"
        )
        document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert document["best"]["sizes"] == list(found.best.sizes)
        assert len(document["leaderboard"]) == 8
        assert document["leaderboard"][0]["tiers"] == found.leaderboard[0].tiers.to_lists()
        assert document["provenance"]["seed"] == 5
        assert document["exhaustive"]


def test_summary_says_what_was_compared():
    found = tw.search(tw.load_political_goals(), distance="kendall", criterion="likelihood")
    text = found.summary(rows=2)
    assert "order ~ prices > say ~ speech" in text
    assert "strict consensus" in text
    assert "no tiers" in text
    assert "All allowed sizes" in text
    assert "... and" in text
    degenerate = tw.search(
        tw.load_political_goals(), criterion="agreement", distance="kendall"
    ).summary()
    assert "degenerate" in degenerate
    assert "degenerate" in tw.search.__doc__


def test_two_items_and_one_ranking():
    found = tw.search(
        Rankings.from_orderings([["a", "b"]]), distance="kendall", criterion="likelihood"
    )
    assert found.best.sizes == (1, 1)
    assert found.best.theta == inf
    assert found.summary()


def test_answers_need_not_be_complete():
    top = Rankings.from_orderings([["a", "b"], ["b", "a"]], items="abcd", unranked="below")
    found = tw.search(top, bottom=(2,), distance="kendall", criterion="likelihood")
    assert {one.sizes for one in found.leaderboard} == {(1, 1, 2), (2, 2), (4,), (1, 1, 1, 1)}
    assert found.exhaustive
    assert found.best.tiers == Tiers([["a", "b"], ["c", "d"]])


def test_auto_is_greedy_where_all_sizes_are_too_many():
    found = tw.search(random_rankings(17, 15, 60), "hamming", rng=1, criterion="likelihood")
    assert found.method == "greedy"
    assert not found.exhaustive
    assert {one.name for one in found.leaderboard} >= {"strict consensus", "no tiers"}


@pytest.mark.parametrize(
    ("arguments", "error", "complaint"),
    [
        ({"criterion": "bic"}, InputError, "evidence"),
        ({"method": "random"}, InputError, "tabu"),
        ({"method": np.array(["greedy"])}, InputError, "method"),
        ({"method": tw.Greedy(start=(1, 1))}, InputError, "sum to 2"),
        ({"method": tw.Tabu(start=(2, 2)), "n_tiers": 3}, InputError, "start"),
        ({"n_tiers": 7}, InputError, "1 to 4 tiers"),
        ({"shortlist": 0.0}, InputError, "share"),
        ({"priors": "flat", "criterion": "evidence"}, InputError, "priors must be a Priors"),
        ({"method": tw.Greedy(tolerance=2.0)}, InputError, "tolerance"),
        ({"workers": 0}, InputError, "workers"),
        ({"distance": "cayley"}, InputError, "kendall"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, complaint):
    with pytest.raises(error, match=complaint):
        tw.search(random_rankings(1, 4, 5), **arguments)


@pytest.mark.parametrize(
    ("strategy", "choices", "complaint"),
    [
        (tw.Greedy, {"moves": "swap"}, "adjacent"),
        (tw.Greedy, {"start": "middle"}, "merging"),
        (tw.Greedy, {"sample_neighbours": 0}, "at least 1"),
        (tw.Tabu, {"tenure": 0}, "tenure"),
        (tw.Tabu, {"patience": 1.5}, "patience"),
        (tw.Genetic, {"population": 4}, "population"),
        (tw.Genetic, {"tolerance": "wide"}, "tolerance"),
    ],
)
def test_bad_choices_of_a_strategy_are_refused(strategy, choices, complaint):
    with pytest.raises(InputError, match=complaint):
        strategy(**choices)


def test_evidence_of_too_many_items_is_refused_at_once():
    with pytest.raises(TooLargeError, match="likelihood"):
        tw.search(
            Rankings.from_orderings([list(range(30))]), criterion="evidence", distance="kendall"
        )


def test_published_tables():
    words = tw.search(tw.load_word_association("idea"), distance="kendall", criterion="likelihood")
    assert words.best.sizes == (1, 2, 1, 1)
    assert words.best.criterion == pytest.approx(-249.84, abs=0.005)
    assert tw.search(tw.load_apa1980(), distance="kendall", criterion="likelihood").best.sizes == (
        2,
        3,
    )
    goals = tw.search(tw.load_political_goals(), distance="kendall", criterion="likelihood")
    assert goals.best.tiers == Tiers([["order", "prices"], ["say", "speech"]])


def test_searching_names_its_methods():
    assert set(searching.SearchMethod.__args__) == {
        "auto",
        "exhaustive",
        "greedy",
        "tabu",
        "genetic",
    }


@pytest.mark.thorough
def test_data_of_tohoku():
    rankings = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    found = tw.search(rankings, distance="kendall", criterion="likelihood")
    expected = {
        (1, 1, 1, 2, 1, 2, 1, 1): -3957.00,
        (1, 1, 1, 3, 2, 1, 1): -3957.89,
        (1, 1, 1, 2, 1, 2, 2): -3958.48,
        (1, 2, 2, 1, 2, 1, 1): -3958.63,
        (1, 2, 3, 2, 1, 1): -3958.70,
    }
    assert found.evaluated == 512
    assert [one.sizes for one in found.leaderboard[:5]] == list(expected)
    for one in found.leaderboard[:5]:
        assert one.criterion == pytest.approx(expected[one.sizes], abs=0.005)
    assert found.best.theta == pytest.approx(0.2746, abs=5e-5)
    strict = next(one for one in found.leaderboard if one.name == "strict consensus")
    assert strict.criterion == pytest.approx(-3961.57, abs=0.005)
    hamming = tw.search(rankings, "hamming", criterion="likelihood")
    assert hamming.best.sizes == (5, 2, 1, 2)
    assert hamming.best.criterion == pytest.approx(-4064.68, abs=0.005)
    assert hamming.best.theta == pytest.approx(0.7220, abs=5e-5)
    agreeing = tw.search(rankings, criterion="agreement", distance="kendall")
    assert agreeing.best.sizes == (9, 1)
    assert agreeing.best.agreement == pytest.approx(0.7837, abs=5e-5)
    both = tw.search(rankings, criterion="both", distance="kendall")
    assert both.best.sizes == found.best.sizes


def test_paths_through_tohoku():
    rankings = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    papers = tw.Greedy(start="merging-by-size", tolerance=0.05, moves="adjacent")
    adjacent = tw.search(rankings, method=papers, distance="kendall", criterion="likelihood")
    assert adjacent.path[0] == (1, 1, 1, 2, 2, 3)
    assert adjacent.path[-1] == adjacent.best.sizes == (1, 1, 1, 3, 2, 1, 1)
    for start in ("merging", "merging-by-size"):
        wider = tw.search(
            rankings, method=tw.Greedy(start=start), distance="kendall", criterion="likelihood"
        )
        assert wider.best.sizes == (1, 1, 1, 2, 1, 2, 1, 1)
    for method in ("tabu", "genetic"):
        assert tw.search(
            rankings, method=method, rng=1, distance="kendall", criterion="likelihood"
        ).best.sizes == (1, 1, 1, 2, 1, 2, 1, 1)


@pytest.mark.slow
def test_posterior_over_all_sizes_of_tohoku_sums_to_one():
    rankings = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    found = tw.search(rankings, criterion="evidence", distance="kendall")
    assert len(found.probabilities) == 512
    assert sum(found.probabilities.values()) == pytest.approx(1.0, abs=1e-12)
    assert found.best.sizes == (1, 1, 1, 2, 1, 2, 1, 1)


def test_only_the_best_of_the_families_is_compared_with_references(monkeypatch):
    compared = []
    references_of = concluding.references_of

    def counting(source, *options):
        compared.append(source.distance.name)
        return references_of(source, *options)

    monkeypatch.setattr(concluding, "references_of", counting)
    found = tw.search(tw.load_political_goals())
    assert len(found.families) == 4
    assert compared == [found.best.distance]
    assert [one.name for one in found.best.references] == ["strict consensus", "no tiers"]


def test_the_likelihood_of_open_answers_is_made_once_for_sizes(monkeypatch):
    gaps = tw.Rankings.from_orderings(
        [["a", "b"], ["c", "b"], ["a", "d", "c"], ["b", "d"]] * 3, unranked="anywhere"
    )
    setting = evaluate.Setting(source_of(gaps, "kendall"), Gamma(2.0, 2.0), entropy=1)
    made = []
    at = type(setting.source).at

    def counting(source, sizes, **options):
        made.append(sizes)
        return at(source, sizes, **options)

    monkeypatch.setattr(type(setting.source), "at", counting)
    for sizes in ((2, 2), (1, 1, 2), (1, 1, 1, 1)):
        assert np.isfinite(evaluate.evaluate_sizes(setting, sizes, "posterior").log_integrated)
    assert made == [(2, 2), (1, 1, 2), (1, 1, 1, 1)]


@pytest.mark.parametrize("limit", [{"margin": 0.6}, {"max_tiers": 2}])
@pytest.mark.parametrize("asked", [{"bottom": (1,)}, {"top": (1,)}, {"criterion": "likelihood"}])
def test_limits_where_no_family_of_models_is_left(limit, asked):
    rankings = tw.Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]])
    with pytest.raises(tw.InputError, match="limits of the tiers need worths"):
        tw.search(rankings, **limit, **asked)


def drinks(times):
    rows = {"tcjm": 14, "ctjm": 12, "ctmj": 9, "tcmj": 11, "tjcm": 3, "jmct": 2}
    weights = [times * weight for weight in rows.values()]
    return Rankings.from_orderings([list(row) for row in rows], weights=weights)


def test_a_distance_is_used_before_worths_only_if_it_is_clearly_ahead():
    undecided = tw.search(drinks(1), progress="off", rng=1)
    assert undecided.best.family == "luce"
    assert [one.name for one in undecided.families][:2] == ["one worth per tier", "kendall"]
    assert -3.0 <= undecided.families[1].behind < 0.0
    assert undecided.families[1].standing == "2.1 ahead (8.6 to 1)"
    assert "No model is clearly ahead" in undecided.summary()
    decided = tw.search(drinks(3), progress="off", rng=1)
    assert decided.best.distance == "kendall"
    assert min(one.behind for one in decided.families) == 0.0
    worths = next(one for one in decided.families if one.family == "luce")
    assert worths.behind > 3.0


def test_agreement_needs_answers_that_order_items():
    tied = Rankings.from_ranks([[1, 1, 1, 1]] * 2, "abcd", ties="allow")
    with pytest.raises(InputError, match=r"no answer orders two items.*criterion="):
        tw.search(tied, criterion="agreement", bottom=(1,))


def test_a_margin_that_no_two_tiers_reach():
    rankings = Rankings.from_orderings([["a", "b", "c"], ["c", "b", "a"]])
    with pytest.raises(InputError, match="no 2 tiers of these items differ so much"):
        tw.search(rankings, family="luce", n_tiers=2, margin=0.9)


def test_what_a_check_sees_stands_above_the_summary():
    orders = [list("abcd")] * 60 + [list("dcba")] * 40
    answers = tw.Rankings.from_orderings(orders)
    found = tw.search(answers, progress="off")
    check = tw.check_fit(answers, found.best, rng=1)
    assert check.caution()
    head = found.summary(10_000, check=check).splitlines()[0]
    assert head == check.caution()
    assert found.summary(10_000) == found.summary(10_000, check=check).split("\n\n", 1)[1]
