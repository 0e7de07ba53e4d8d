"""Every public function refuses wrong arguments with an InputError that names the argument."""

import inspect
import re

import numpy as np
import pyarrow as pa
import pytest

import tierwise as tw
from tierwise.distances import Rule

ANSWERS = tw.Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"], ["a", "b", "c"]])
TIERS = tw.Tiers([["a"], ["b", "c"]])
PEOPLE = pa.table({"sex": ["f", "m", "f"]})

NOT_DATA = [None, [["a", "b"]], np.eye(2), 3, "answers.csv"]
NOT_A_CHOICE = ["nonsense", 7, np.array(["auto", "csv"])]
NOT_A_COUNT = ["many", 1.5, -3, 10**12, np.arange(2)]
NOT_A_NUMBER = ["much", np.arange(2), float("nan")]
NOT_A_GROUP = [None, "sceptical", 3, {}, tw.Gamma(2, 2)]
NOT_SIZES = [7, (1.5, 1.5), (0, 3), (1, 1), "a,b"]
NOT_A_PATH = [3.5, "x" * 5000, "no/such/folder/x.csv", "nul\0.csv"]
NOT_ITEMS = [7, ["a", "a"], ["a", "b\x1b"], [["a"], ["b"]]]
NOT_A_LEVEL = [0, 1, 95, "high", np.arange(2)]

# Each function: arguments that are right, and what is wrong for one of them at a time.
WRONG = {
    "cite": ({}, {"style": NOT_A_CHOICE}),
    "Tiers": ({}, {"tiers": [3, "ab", [["a"], ["a"]], [[]], [3]]}),
    "Tiers.from_labels": ({}, {"labels": [3, [1, 3], ["x"], [1.5], [1, 10**12], [0, 1]]}),
    "Tiers.from_sizes": ({"sizes": (1, 2), "items": "abc"}, {"sizes": NOT_SIZES}),
    "Rankings.from_orderings": (
        {"rows": [["a", "b"], ["b", "a"]]},
        {
            "rows": [3, "ab", [3], [[{}, "a"]], []],
            "items": NOT_ITEMS,
            "weights": [7, ["x", "y"], [1], [-1, 1], [0, 0], [float("nan"), 1]],
            "unranked": NOT_A_CHOICE,
        },
    ),
    "Rankings.from_ranks": (
        {"ranks": [[1, 2], [2, 1]]},
        {
            "ranks": [3, "ab", [[1, 2], [3]], [[1, 7]], [[0, 1]], [["x", "y"]]],
            "items": NOT_ITEMS,
            "weights": [7, ["x", "y"]],
            "unranked": NOT_A_CHOICE,
            "ties": NOT_A_CHOICE,
        },
    ),
    "Rankings.from_scores": (
        {"scores": [[1, 2], [2, 1]], "better": "higher"},
        {
            "scores": [3, "ab", [[1, 2], [3]], [["x", "y"]]],
            "better": NOT_A_CHOICE,
            "items": NOT_ITEMS,
            "tolerance": [*NOT_A_NUMBER, -1],
        },
    ),
    "Rankings.from_order_array": (
        {"orderings": np.array([[0, 1]]), "items": "ab"},
        {
            "items": NOT_ITEMS,
            "orderings": [3, "ab", np.array([[0.0, 1.0]]), np.array([[0, 7]]), np.array([0, 1])],
            "weights": [7, ["x"]],
        },
    ),
    "Rankings.scan": (
        {"path": "answers.csv"},
        {
            "path": NOT_A_PATH,
            "format": NOT_A_CHOICE,
            "layout": NOT_A_CHOICE,
            "unranked": NOT_A_CHOICE,
            "ties": NOT_A_CHOICE,
            "items": NOT_ITEMS,
        },
    ),
    "Rankings.concat": ({}, {"parts": [3, [], [3]]}),
    "Preferences.from_pairs": (
        {"rows": [("Ann", "a", "b")]},
        {
            "rows": [3, [], [3], [("Ann", "a")], [("Ann", "a", "a")], [([], "a", "b")]],
            "items": NOT_ITEMS,
            "cycles": NOT_A_CHOICE,
        },
    ),
    "Counts.of": ({}, {"rankings": NOT_DATA}),
    "describe": ({}, {"data": NOT_DATA}),
    "read": (
        {"source": "answers.csv"},
        {
            "source": [*NOT_A_PATH, {"a": [1, 2]}, [[1, 2]]],
            "better": NOT_A_CHOICE,
            "format": NOT_A_CHOICE,
            "layout": NOT_A_CHOICE,
            "cycles": NOT_A_CHOICE,
        },
    ),
    "read_rankings": (
        {"source": "answers.csv"},
        {
            "source": NOT_A_PATH,
            "format": NOT_A_CHOICE,
            "layout": NOT_A_CHOICE,
            "unranked": NOT_A_CHOICE,
            "ties": NOT_A_CHOICE,
            "items": NOT_ITEMS,
        },
    ),
    "read_preferences": (
        {"source": "answers.csv"},
        {"source": NOT_A_PATH, "format": NOT_A_CHOICE, "cycles": NOT_A_CHOICE},
    ),
    "read_battles": (
        {"source": "answers.csv", "winner": "place 1", "loser": "place 2"},
        {
            "source": NOT_A_PATH,
            "format": NOT_A_CHOICE,
            "drawn": NOT_A_CHOICE,
            "position": NOT_A_CHOICE,
            "spellings": NOT_A_CHOICE,
        },
    ),
    "read_best_worst": (
        {"source": "answers.csv", "shown": ["place 1", "place 2"], "best": "place 1"},
        {"source": NOT_A_PATH, "format": NOT_A_CHOICE},
    ),
    "sample_best_worst": (
        {"rankings": tw.Rankings.from_orderings([["a", "b", "c"]]), "set_size": 2},
        {"rankings": NOT_DATA, "set_size": [0, 1, "x", 2.5, 99]},
    ),
    "read_scores": (
        {"source": "answers.csv", "better": "higher"},
        {"source": NOT_A_PATH, "better": NOT_A_CHOICE, "format": NOT_A_CHOICE},
    ),
    "compare": (
        {"source": pa.table({"x": [1.0, 2.0, 3.0], "y": [3.0, 1.0, 2.0]})},
        {
            "source": NOT_A_PATH,
            "better": NOT_A_CHOICE,
            "rope": [*NOT_A_NUMBER, -1],
            "alpha": NOT_A_LEVEL,
            "items_in": NOT_A_CHOICE,
            "layout": NOT_A_CHOICE,
        },
    ),
    "Battles.from_rows": (
        {"rows": [("x", "y", "x")]},
        {"rows": [3, [], [("x", "y")]], "drawn": NOT_A_CHOICE, "spellings": NOT_A_CHOICE},
    ),
    "leaderboard": (
        {"data": ANSWERS},
        {
            "data": NOT_DATA,
            "level": NOT_A_LEVEL,
            "k": NOT_A_COUNT,
            "certainty": NOT_A_LEVEL,
            "uncertainty": NOT_A_CHOICE,
        },
    ),
    "plan": (
        {"truth": tw.ClusteredLuce(tw.Tiers([["a"], ["b"]]), (2.0, 1.0)), "answers": (5,)},
        {
            "truth": NOT_DATA,
            "ask": NOT_A_CHOICE,
            "answers": [3, "many", [0], [-1]],
            "power": [*NOT_A_NUMBER, 0, 1, 2],
            "certainty": [*NOT_A_NUMBER, 0.2, 1],
            "sets": NOT_A_COUNT,
        },
    ),
    "next_questions": (
        {"data": ANSWERS},
        {"data": NOT_DATA, "k": NOT_A_COUNT, "ask": NOT_A_CHOICE},
    ),
    "enough": (
        {"data": ANSWERS, "futures": 0, "streams": 0},
        {
            "data": NOT_DATA,
            "settle": NOT_A_CHOICE,
            "certainty": [*NOT_A_NUMBER, 0.2, 1],
            "futures": ["x", -1, 2.5],
            "streams": ["x", -1, 2.5],
        },
    ),
    "Rankings.load": ({"path": "answers.npz"}, {"path": [*NOT_A_PATH, "answers.csv"]}),
    "Rankings.merge": ({"parts": [ANSWERS]}, {"parts": [3, [], [3]]}),
    "write_rankings": (
        {"data": ANSWERS, "path": "written.csv"},
        {"data": NOT_DATA, "path": NOT_A_PATH, "format": NOT_A_CHOICE, "layout": NOT_A_CHOICE},
    ),
    "load_word_association": ({}, {"word": NOT_A_CHOICE}),
    "load_sushi": ({"path": "."}, {"path": NOT_A_PATH}),
    "load_f1": ({"path": "."}, {"path": NOT_A_PATH, "minimum_entries": NOT_A_COUNT}),
    "compositions": ({}, {"n_items": NOT_A_COUNT}),
    "parallel": (
        {"engine": "threads"},
        {"engine": NOT_A_CHOICE, "workers": ["many", 1.5, 0, -3, np.arange(2)]},
    ),
    "get_distance": ({}, {"distance": NOT_A_CHOICE}),
    "log_partition": (
        {"sizes": (1, 2), "theta": 1.0},
        {
            "sizes": [7, (1.5, 1.5), (0, 3), "a,b"],
            "theta": [*NOT_A_NUMBER, -1.0],
            "distance": NOT_A_CHOICE,
            "method": NOT_A_CHOICE,
            "draws": NOT_A_COUNT,
        },
    ),
    "partition_function": (
        {"sizes": (1, 2)},
        {
            "sizes": [7, (0, 3)],
            "distance": NOT_A_CHOICE,
            "method": NOT_A_CHOICE,
            "budget": [*NOT_A_NUMBER, None, 0, -1],
        },
    ),
    "ClusteredMallows": (
        {"tiers": TIERS, "theta": 1.0},
        {"tiers": [3, None, "a > b"], "theta": [*NOT_A_NUMBER, -1.0], "distance": NOT_A_CHOICE},
    ),
    "Gamma": ({}, {"shape": [*NOT_A_NUMBER, -1], "rate": [*NOT_A_NUMBER, 0]}),
    "Beta": ({}, {"mistakes": [*NOT_A_NUMBER, -1], "right": [*NOT_A_NUMBER, 0]}),
    "agreement": ({"data": ANSWERS, "tiers": TIERS}, {"data": NOT_DATA, "tiers": [3, None]}),
    "merge_even_pairs": ({"data": ANSWERS}, {"data": NOT_DATA, "tolerance": [*NOT_A_NUMBER, -1]}),
    "fit": (
        {"data": ANSWERS, "sizes": (1, 2)},
        {
            "data": NOT_DATA,
            "sizes": NOT_SIZES,
            "distance": NOT_A_CHOICE,
            "method": NOT_A_CHOICE,
            "theta_method": NOT_A_CHOICE,
            "partition_method": NOT_A_CHOICE,
            "likelihood": NOT_A_CHOICE,
            "time_limit": NOT_A_NUMBER,
            "level": NOT_A_LEVEL,
        },
    ),
    "search": (
        {"data": ANSWERS},
        {
            "data": NOT_DATA,
            "distance": NOT_A_CHOICE,
            "criterion": NOT_A_CHOICE,
            "method": NOT_A_CHOICE,
            "n_tiers": NOT_A_COUNT,
        },
    ),
    "compare_groups": (
        {"data": ANSWERS.with_people(PEOPLE), "by": "sex"},
        {"data": NOT_DATA, "by": [[], "age", ["sex", "sex"], 7, [7]]},
    ),
    "group_tree": (
        {"data": ANSWERS.with_people(PEOPLE), "by": "sex"},
        {
            "data": NOT_DATA,
            "by": [[], "age", ["sex", "sex"], 7, [7]],
            "smallest": NOT_A_COUNT,
            "permutations": NOT_A_COUNT,
        },
    ),
    "bootstrap": (
        {"data": ANSWERS, "fit": "a fit"},
        {"data": NOT_DATA, "fit": [None, 3], "replicates": NOT_A_COUNT, "kind": NOT_A_CHOICE},
    ),
    "check_fit": (
        {"data": ANSWERS, "fit": "a fit"},
        {"data": NOT_DATA, "fit": [None, 3], "draws": NOT_A_COUNT},
    ),
    "impute": (
        {"data": ANSWERS, "model": "a fit"},
        {"data": NOT_DATA, "model": [None, 3], "draws": NOT_A_COUNT},
    ),
    "sample_posterior": (
        {"data": ANSWERS, "sizes": (1, 2)},
        {
            "data": NOT_DATA,
            "sizes": NOT_SIZES,
            "distance": NOT_A_CHOICE,
            "chains": NOT_A_COUNT,
            "draws": NOT_A_COUNT,
            "sampler": NOT_A_GROUP,
            "priors": NOT_A_GROUP,
        },
    ),
    "Sampler": (
        {},
        {
            "warmup": NOT_A_COUNT,
            "thin": NOT_A_COUNT,
            "method": NOT_A_CHOICE,
            "theta_update": NOT_A_CHOICE,
            "likelihood": NOT_A_CHOICE,
            "completions": NOT_A_CHOICE,
        },
    ),
    "Priors": (
        {},
        {
            "theta": NOT_A_CHOICE,
            "sizes": NOT_A_CHOICE,
            "mistakes": NOT_A_CHOICE,
            "shares": [*NOT_A_NUMBER, 0, -1],
        },
    ),
    "choose": (
        {"data": ANSWERS},
        {
            "data": NOT_DATA,
            "family": NOT_A_CHOICE,
            "distance": NOT_A_CHOICE,
            "concentration": NOT_A_CHOICE,
            "max_tiers": NOT_A_COUNT,
            "margin": [*NOT_A_NUMBER, -1, 2],
            "priors": NOT_A_GROUP,
        },
    ),
    "fit_mixture": (
        {"data": ANSWERS, "n_groups": 2},
        {
            "data": NOT_DATA,
            "n_groups": NOT_A_COUNT,
            "distance": NOT_A_CHOICE,
            "noise": NOT_A_CHOICE,
            "criterion": NOT_A_CHOICE,
            "starts": NOT_A_COUNT,
        },
    ),
    "sample_mixture": (
        {"data": ANSWERS, "n_groups": 2},
        {
            "data": NOT_DATA,
            "n_groups": NOT_A_COUNT,
            "distance": NOT_A_CHOICE,
            "chains": NOT_A_COUNT,
            "draws": NOT_A_COUNT,
            "sampler": NOT_A_GROUP,
            "priors": NOT_A_GROUP,
        },
    ),
    "report": (
        {"data": ANSWERS, "path": "page.html"},
        {
            "data": NOT_DATA,
            "distance": NOT_A_CHOICE,
            "concentration": NOT_A_CHOICE,
            "uncertainty": NOT_A_CHOICE,
        },
    ),
}

# A message may call an argument by another name that its reader knows.
SYNONYMS = {
    "tiers": "tier|Tiers",
    "labels": "label",
    "rows": "row|rankings|preferences|assessor",
    "parts": "collection|join|Rankings",
    "ranks": "rank|row",
    "weights": "weight",
    "items": "item",
    "rankings": "data|Rankings",
    "frame": "data frame",
    "path": "path|file|folder|format",
    "source": "source|path|file|folder|format",
    "orderings": "orderings",
    "sizes": "sizes|tier",
    "theta_method": "theta.method",
    "mistakes": "mistakes|Beta",
    "right": "right|Beta",
}


def cases():
    for name, (right, wrong) in WRONG.items():
        for argument, values in wrong.items():
            yield pytest.param(name, right, argument, values, id=f"{name}-{argument}")


def call(name, arguments):
    made = tw
    for part in name.split("."):
        made = getattr(made, part)
    if any(isinstance(value, str) and value == "a fit" for value in arguments.values()):
        fitted = tw.fit(ANSWERS, (1, 2), rng=1)
        arguments = {
            key: fitted if isinstance(value, str) and value == "a fit" else value
            for key, value in arguments.items()
        }
    result = made(**arguments)
    if inspect.isgenerator(result):
        next(result)
    elif hasattr(result, "__enter__"):
        with result:
            pass
    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "right", "argument", "values"), list(cases()))
def test_wrong_arguments_are_refused_by_name(name, right, argument, values, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text("place 1,place 2\na,b\nb,a\n")
    for value in values:
        with pytest.raises(tw.InputError) as reported:
            call(name, {**right, argument: value})
        message = str(reported.value)
        assert re.search(rf"\b({SYNONYMS.get(argument, argument)})", message), message
        assert len(message) < 600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv"]


def test_every_public_function_is_called():
    public = {name for name in tw.__all__ if inspect.isfunction(getattr(tw, name))}
    without_arguments = {"load_apa1980", "load_llmfao", "load_political_goals"}
    assert public - without_arguments <= set(WRONG)


@pytest.mark.parametrize("seed", [-1, "x", 1.5, [1, 2], {}, True, float("nan"), np.arange(2)])
def test_what_is_not_a_seed(seed):
    model = tw.ClusteredMallows(TIERS, 1.0)
    for called in (
        lambda: tw.fit(ANSWERS, (1, 2), rng=seed),
        lambda: tw.sample_posterior(ANSWERS, draws=5, chains=1, rng=seed),
        lambda: model.sample(3, rng=seed),
        lambda: tw.log_partition((1, 2), 0.5, method="anchored", rng=seed),
        lambda: tw.log_partition((1, 2), 0.5, method="path", rng=seed),
    ):
        with pytest.raises(tw.InputError, match="rng must be a non-negative whole number"):
            called()


def test_sizes_of_numpy():
    assert tw.fit(ANSWERS, np.array([1, 2])).sizes == (1, 2)
    with pytest.raises(tw.InputError, match="sizes are empty"):
        tw.fit(ANSWERS, np.array([], dtype=int))


def test_rules_that_kernels_do_not_expect():
    """A distance of one's own ended in a segmentation fault if its table was too small."""

    class Own(tw.Distance):
        name, description = "own", "with a table that is too small"

        def rule(self, sizes):
            return Rule(misplaced=1, placing=np.zeros((1, 1), dtype=np.int64), unit=1.0, tied=1)

    for method in ("auto", "recursion", "path", "importance", "anchored"):
        with pytest.raises(tw.InputError, match="the rule of the distance own"):
            tw.log_partition((1, 2), 0.5, Own(), method=method, rng=1)
    with pytest.raises(tw.InputError, match="the rule of the distance own"):
        tw.fit(ANSWERS, (1, 2), Own())


@pytest.mark.parametrize("n_rows", [0, -1, 1.5, "x"])
def test_numbers_of_draws(n_rows):
    with pytest.raises(tw.InputError, match="n_rows"):
        tw.partition_function((1, 2)).draw_sequences(0.5, n_rows, np.random.default_rng(1))


def test_more_items_than_memory_holds():
    with pytest.raises(tw.TooLargeError, match="2,000,000,000 items"):
        tw.log_partition((10**9, 10**9), 0.5)
