"""compare: tables of every shape, one answer with the leaderboard, and what is written of it."""

import json
import warnings
from io import StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tierwise.data.score_table import numbers_repeats

NAMES = ["forest", "boosting", "linear", "stump"]
SKILLS = np.array([0.9, 0.88, 0.7, 0.5])


def table_of(n_sets=12, seed=1, spread=0.03):
    scores = np.random.default_rng(seed).normal(SKILLS, spread, (n_sets, len(SKILLS)))
    frame = pd.DataFrame(scores.round(4), columns=NAMES)
    frame.insert(0, "dataset", [f"set {number}" for number in range(n_sets)])
    return frame


def quick(table, **options):
    """Compare with so few draws that some are said to be few, which is not what is tested."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        return _compared(table, **options)


def _compared(table, **options):
    return tw.compare(table, rng=1, workers=1, progress="off", **{"draws": 100, **options})


@pytest.fixture(scope="module")
def compared():
    return quick(table_of())


def test_tiers_and_probabilities_are_those_of_the_leaderboard(compared):
    rankings = tw.read_scores(table_of(), "higher")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)  # of few draws, as `quick` does
        board = tw.leaderboard(rankings, rng=1, workers=1, progress="off", draws=100)
    assert compared.tiers == board.tiers
    assert np.array_equal(compared.board.above_probabilities, board.above_probabilities)
    assert compared.board.rows == board.rows


def long_of(frame):
    return frame.melt(id_vars="dataset", var_name="method", value_name="score")


def turned(frame):
    return frame.set_index("dataset").T.rename_axis("method").reset_index()


SHAPES = {
    "columns": lambda frame: frame,
    "rows": turned,
    "long": long_of,
    "index": lambda frame: frame.set_index("dataset"),
    "rows in the index": lambda frame: frame.set_index("dataset").T.rename_axis("method"),
    "no names": lambda frame: frame.drop(columns="dataset"),
    "polars": pl.from_pandas,
    "file": lambda frame: StringIO(frame.to_csv(index=False)),
    "wide of long": lambda frame: long_of(frame).pivot(
        index="dataset", columns="method", values="score"
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_may_have_any_shape(compared, shape):
    found = quick(SHAPES[shape](table_of()))
    assert found.tiers == compared.tiers
    mean_of = dict(zip(found.methods, found.mean_ranks[:, 0], strict=True))
    for method, rank in zip(compared.methods, compared.mean_ranks[:, 0], strict=True):
        assert mean_of[method] == pytest.approx(rank)


def test_an_index_that_may_hold_methods_is_asked_about():
    frame = table_of().set_index("dataset").T
    with pytest.raises(tw.InputError, match="may be in rows"):
        quick(frame)
    assert set(quick(frame, items_in="rows").methods) == set(NAMES)


@pytest.mark.parametrize("kind", ["wide", "rows", "long"])
def test_seeds_and_folds_are_averaged_and_said(compared, kind):
    frame = table_of()
    one, other = frame.copy(), frame.copy()
    one[NAMES] += 0.05
    other[NAMES] -= 0.05
    if kind == "wide":
        one.insert(1, "seed", 0)
        other.insert(1, "seed", 1)
        both = pd.concat([one, other])
    elif kind == "long":
        both = pd.concat([long_of(one).assign(fold=1), long_of(other).assign(fold=2)])
    else:
        both = pd.concat([turned(one), turned(other)])
    found = quick(both)
    assert found.tiers == compared.tiers
    assert len(found.scores) == len(frame)
    assert found.scores.mean() == pytest.approx(compared.scores.mean())
    assert "mean" in str(found.reading)
    assert "seed" not in found.methods


def test_folds_are_the_data_sets_where_there_are_no_others():
    frame = table_of().rename(columns={"dataset": "cv_fold"})
    frame["cv_fold"] = range(len(frame))
    melted = frame.melt(id_vars="cv_fold", var_name="estimator", value_name="score")
    found = quick(melted)
    assert set(found.methods) == set(NAMES)
    assert len(found.scores) == len(frame)


def test_titles_that_number_repeats():
    assert numbers_repeats("random seed")
    assert not numbers_repeats("runtime")
    assert not numbers_repeats("seed accuracy")


def test_lower_may_be_better(compared):
    errors = table_of()
    errors[NAMES] = 1 - errors[NAMES]
    found = quick(errors, better="lower")
    assert found.tiers == compared.tiers
    assert found.friedman.mean_ranks == pytest.approx(compared.friedman.mean_ranks)


def test_gaps_stay_open():
    frame = table_of(20)
    frame.loc[:6, "stump"] = None
    frame.loc[7:9, NAMES[1:]] = None
    found = quick(frame, family="luce", draws=500)
    assert found.n_gaps == 7 + 9
    assert found.friedman.n_data_sets == 10
    assert found.tiers["stump"] == len(found.tiers)
    assert "16 of 80 scores are missing" in found.paragraph()


def test_data_sets_without_scores_are_left_out_and_said():
    frame = table_of()
    frame.loc[2, NAMES] = None
    found = quick(frame)
    assert len(found.scores) == 11
    assert "Row 'set 2' is empty: it was set aside." in str(found.reading)
    unnamed = quick(frame.drop(columns="dataset"))
    assert "Left out: 1 data set without any score." in str(unnamed.reading)


def test_the_rope_is_for_scores_and_leaves_tiers_alone():
    close = table_of(spread=0.004)
    strict, wide = quick(close), quick(close, rope=0.05)
    assert strict.signed_ranks.better[0, 1] > 0.95
    assert wide.signed_ranks.equivalent[0, 1] > 0.95
    assert wide.tiers == strict.tiers
    assert wide.board == strict.board or wide.board.rows == strict.board.rows
    pairs = wide.pairs()
    assert len(pairs) == 6
    assert pairs.p_equivalent[0] == pytest.approx(wide.signed_ranks.equivalent[0, 1])
    assert "5 of 6 pairs of methods differ by more than that, and 1 are" in wide.paragraph()


def test_the_tolerance_ties_scores_on_a_data_set():
    close = table_of(spread=0.004)
    found = quick(close, tolerance=0.05, family="luce", draws=500)
    rankings = tw.read_scores(close, "higher", tolerance=0.05)
    board = tw.leaderboard(rankings, family="luce", rng=1, workers=1, progress="off", draws=500)
    assert found.board.rows == board.rows
    assert "within 0.05" in found.paragraph()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rope": -1}, "rope"),
        ({"tolerance": -1}, "tolerance"),
        ({"alpha": 1.5}, "alpha must be between 0 and 1"),
        ({"better": "larger"}, "better"),
        ({"family": "thurstone"}, "family"),
        ({"items": ["forest", "tree"]}, "there is no column 'tree'"),
    ],
)
def test_wrong_arguments_are_named(options, says):
    with pytest.raises(tw.InputError, match=says):
        quick(table_of(), **options)


def test_verdicts_count_pairs_once(compared):
    verdicts = compared.verdicts()
    assert list(verdicts) == ["tiers", "probability", "nemenyi", "signed ranks"]
    for better in verdicts.values():
        assert not (better & better.T).any()
    assert f"tiers separate {int(verdicts['tiers'].sum())}" in compared.differences()


def test_letters_are_disjoint_and_those_of_nemenyi_may_overlap(compared):
    letters = compared.letters()
    for one, other in [(NAMES[0], NAMES[3]), (NAMES[1], NAMES[2])]:
        same = compared.tiers[one] == compared.tiers[other]
        assert (letters[one] == letters[other]) == same
    of_nemenyi = compared.nemenyi_letters()
    for number, clique in enumerate(compared.friedman.cliques):
        for method in clique:
            assert "abcd"[number] in of_nemenyi[compared.methods[method]]


def test_no_differences_are_said_with_their_evidence():
    noise = pd.DataFrame(np.random.default_rng(3).normal(size=(40, 4)), columns=NAMES)
    found = quick(noise, draws=500)
    assert len(found.tiers) == 1
    assert "No differences between the methods were found. This does not show" in found.paragraph()
    assert "neither would be preferred by more than 55%" in found.paragraph()
    assert 0.0 < found.board.one_tier_probability < 0.95


def test_what_is_written(compared, tmp_path):
    latex = compared.to_latex()
    assert r"\toprule" in latex
    assert latex.count(r"\\") == 5
    assert (
        "| a | forest |" in compared.to_markdown() or "| a | boosting |" in compared.to_markdown()
    )
    assert "<table>" in compared.to_html()
    for ending in ("tex", "md", "html", "csv", "json", "xlsx", "txt"):
        compared.write(tmp_path / f"table.{ending}")
        assert (tmp_path / f"table.{ending}").stat().st_size > 100
    again = pd.read_csv(tmp_path / "table.csv")
    assert again.method.tolist() == list(compared.methods)
    assert again.tier.tolist() == [row.tier for row in compared.board.rows]
    json.dumps(compared.to_dict(), allow_nan=False)
    assert "We compared 4 methods on 12 data sets." in compared.paragraph()
    assert "Nemenyi" in compared.summary()


@pytest.mark.thorough
def test_mteb_from_file_to_pdf(tmp_path):
    compared = tw.compare(shared_data("mteb") / "scores.csv", better="higher", rng=1)
    tw.plots.rank_diagram(compared).figure.savefig(tmp_path / "mteb.pdf")
    assert len(compared.methods) == 31
    assert compared.n_gaps == 15
    assert (tmp_path / "mteb.pdf").read_bytes().startswith(b"%PDF")


def test_a_table_of_autorank_users_goes_in_as_it_is():
    """Columns are populations, rows are measurements; mean ranks and difference are autorank's."""
    draws = np.random.RandomState(42)
    frame = pd.DataFrame()
    for number, mean in enumerate([0.2, 0.3, 0.5, 0.8, 0.85, 0.9]):
        frame[f"pop_{number}"] = draws.normal(mean, 0.3, 50).clip(0, 1)
    found = quick(frame, family="luce", draws=500)
    ranks = dict(zip(found.methods, found.mean_ranks[:, 0].round(2).tolist(), strict=True))
    # From autorank 1.3.0, whose critical difference comes from a table of four digits.
    assert ranks == {
        "pop_5": 2.18,
        "pop_4": 2.29,
        "pop_3": 2.47,
        "pop_2": 3.95,
        "pop_1": 4.71,
        "pop_0": 5.4,
    }
    assert found.friedman.critical_difference == pytest.approx(1.0662484, abs=1e-4)


def test_a_table_of_scikit_posthocs_users_goes_in_as_it_is():
    """One row per fold and estimator; p values of Nemenyi's test are those of scikit-posthocs."""
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(
        {
            "clf1": rng.normal(0.9, 0.1, 10),
            "clf2": rng.normal(0.4, 0.3, 10),
            "clf3": rng.normal(0.7, 0.2, 10),
            "clf4": rng.normal(0.8, 0.1, 10),
            "clf5": rng.normal(0.1, 0.05, 10),
            "clf6": rng.normal(0.1, 0.05, 10),
        }
    )
    melted = (
        wide.rename_axis("cv_fold")
        .melt(var_name="estimator", value_name="score", ignore_index=False)
        .reset_index()
    )
    found = quick(melted, family="luce", draws=500)
    order = [found.methods.index(f"clf{number}") for number in range(1, 7)]
    p_values = found.friedman.p_values[np.ix_(order, order)]
    # From scikit-posthocs 0.17.1, posthoc_nemenyi_friedman: clf1 against all, clf2 against all.
    first = [1.0, 0.047403, 0.470338, 0.991226, 0.000008, 0.000026]
    second = [0.047403, 1.0, 0.891189, 0.205990, 0.260953, 0.394405]
    assert p_values[0] == pytest.approx(first, abs=1e-6)
    assert p_values[1] == pytest.approx(second, abs=1e-6)
