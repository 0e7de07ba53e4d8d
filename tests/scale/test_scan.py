"""Rankings that stay in their files say the same as rankings in memory."""

import pickle
import subprocess
import sys
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import tierwise as tw
from tests import reference_scan as naive
from tests.scale.files import random_rankings, write_parts
from tests.strategies import rankings as any_rankings
from tierwise import Counts, InputError, Rankings, TooLargeError
from tierwise.data import scan as cutting
from tierwise.data import scan as scanning
from tierwise.data.counts import block_counts
from tierwise.data.scan import RankingScan
from tierwise.files import places


@pytest.fixture
def short_pieces(monkeypatch):
    """Cut files into pieces of a few rows, which are read in chunks of fewer."""
    monkeypatch.setattr(cutting, "_ROWS_OF_A_PIECE", 20)
    monkeypatch.setattr(cutting, "_ROWS_OF_A_CHUNK", 7)


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("layout", ["orderings", "ranks"])
@pytest.mark.parametrize("workers", [1, 3])
def test_counts_are_those_of_the_definition(tmp_path, suffix, layout, workers):
    answers = random_rankings(100, 4, seed=1)
    write_parts(tmp_path, answers, 3, suffix, layout)
    scan = Rankings.scan(tmp_path, layout=layout)
    counts = scan.counts(workers=workers)
    orderings = answers.to_orderings()
    assert counts.n_rankings == 100
    assert counts.places.tolist() == naive.place_counts(orderings, scan.items)
    for a, r, b, s in product(range(4), repeat=4):
        names = scan.items[a], r, scan.items[b], s
        assert counts.joint[a, r, b, s] == naive.joint_count(orderings, *names)


@pytest.mark.usefixtures("short_pieces")
def test_blocks_are_those_of_the_definition(tmp_path):
    answers = random_rankings(60, 5, seed=2)
    write_parts(tmp_path, answers, 2)
    scan = Rankings.scan(tmp_path)
    for sizes in [(1, 1, 1, 1, 1), (2, 3), (1, 3, 1), (5,)]:
        expected = naive.precedence(answers.to_orderings(), scan.items, sizes)
        assert scan.blocks(sizes).precedence.tolist() == expected
        assert scan.blocks(sizes).membership.tolist() == (
            block_counts(answers, sizes)
            .membership[[answers.items.index(item) for item in scan.items]]
            .tolist()
        )


@pytest.mark.usefixtures("short_pieces")
def test_one_file_of_many_row_groups_is_cut(tmp_path):
    table = pa.table({"place 1": ["a", "b"] * 50, "place 2": ["b", "a"] * 50})
    path = tmp_path / "answers.parquet"
    pq.write_table(table, path, row_group_size=8)
    scan = Rankings.scan(path)
    assert [piece.groups for piece in scan.pieces] == [
        range(3),
        range(3, 6),
        range(6, 9),
        range(9, 12),
        range(12, 13),
    ]
    assert scan.counts().places.tolist() == [[50, 50], [50, 50]]
    assert sum(len(chunk) for chunk in scan.chunks()) == 100


@pytest.mark.usefixtures("short_pieces")
@settings(max_examples=20)
@given(answers=any_rankings(with_ties=False))
def test_incomplete_answers_become_patterns(tmp_path_factory, answers):
    folder = tmp_path_factory.mktemp("scan")
    write_parts(folder, answers, min(3, len(answers)), "csv")
    scan = Rankings.scan(folder, items=answers.items, unranked=answers.unranked)
    distinct = scan.distinct(workers=2)
    assert len(distinct) == len(answers.patterns)
    assert np.array_equal(distinct.places, answers.patterns)
    assert np.array_equal(distinct.weights, answers.pattern_weights)
    assert distinct.unranked == answers.unranked
    if not answers.is_complete:
        assert scan.condensed() == distinct
        with pytest.raises(InputError, match="incomplete or have ties"):
            scan.counts()


def test_patterns_merge_a_few_times_only(monkeypatch):
    merged = []
    original = scanning.collapse
    monkeypatch.setattr(
        scanning, "collapse", lambda rows: merged.append(len(rows)) or original(rows)
    )
    tally = scanning.PatternTally(2)
    for start in range(0, 1_000_000, 10_000):
        rows = np.arange(start, start + 10_000, dtype=np.int32)
        tally.add(np.stack([rows, rows], axis=1), np.ones(10_000, dtype=np.int64))
    patterns, weights = tally.result()
    assert patterns[:, 0].tolist() == list(range(1_000_000))
    assert weights.tolist() == [1] * 1_000_000
    assert sum(merged) < 4_000_000


def test_too_many_patterns(tmp_path, monkeypatch):
    monkeypatch.setenv("TIERWISE_MEMORY", "1KB")
    write_parts(tmp_path, random_rankings(50, 5, seed=3), 1)
    with pytest.raises(TooLargeError, match="answers"):
        Rankings.scan(tmp_path).distinct(workers=1)
    monkeypatch.setattr(places, "check_memory", lambda *_: None)
    with pytest.raises(TooLargeError, match="distinct answers"):
        Rankings.scan(tmp_path).distinct(workers=1)


def test_what_is_fitted_does_not_depend_on_where_the_rankings_are(tmp_path):
    answers = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"], ["d"]]), theta=0.8).sample(
        500, rng=1
    )
    write_parts(tmp_path, answers, 4)
    scan = Rankings.scan(tmp_path, items=answers.items)
    fitted, expected = tw.fit(scan, (1, 2, 1)), tw.fit(answers, (1, 2, 1))
    assert fitted.tiers == expected.tiers
    assert fitted.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
    assert (
        tw.search(scan, distance="kendall", criterion="likelihood").best.sizes
        == tw.search(answers, distance="kendall", criterion="likelihood").best.sizes
    )
    draws, same = (
        tw.sample_posterior(data, (1, 2, 1), rng=1, draws=50) for data in (scan, answers)
    )
    assert draws.tiers() == same.tiers()
    assert draws.theta_interval() == same.theta_interval()


def test_top_lists_are_fitted_from_their_patterns(tmp_path):
    path = tmp_path / "ballots.csv"
    path.write_text("place 1,place 2\n" + "a,b\nb,a\na,c\na,\n" * 30)
    scan = Rankings.scan(path, unranked="below")
    expected = tw.fit(tw.read_rankings(path, unranked="below"), (1, 2), rng=1)
    assert tw.fit(scan, (1, 2), rng=1).log_likelihood == pytest.approx(expected.log_likelihood)
    assert len(scan.distinct()) == 4


def test_more_items_than_joint_counts_allow(tmp_path):
    answers = random_rankings(40, 60, seed=4)
    write_parts(tmp_path, answers, 2)
    scan = Rankings.scan(tmp_path, items=answers.items)
    counts = scan.counts()
    sizes = (20, 40)
    assert counts.n_rankings == 40
    assert counts.places.sum() == 40 * 60
    assert np.array_equal(counts.blocks(sizes).precedence, block_counts(answers, sizes).precedence)
    fitted = tw.fit(scan, sizes, "hamming")
    assert fitted.total_distance == tw.fit(answers, sizes, "hamming").total_distance
    with pytest.raises(InputError, match="cannot be added"):
        counts + counts


def test_weights_and_pieces_without_any(tmp_path):
    (tmp_path / "one.csv").write_text("a,b,weight\n1,2,0\n2,1,0\n")
    (tmp_path / "two.csv").write_text("a,b,weight\n1,2,2.5\n2,1,1\n")
    scan = Rankings.scan(tmp_path)
    assert scan.counts().places.tolist() == [[2.5, 1.0], [1.0, 2.5]]
    with pytest.raises(InputError, match="all weights are 0"):
        Rankings.scan(tmp_path / "one.csv").counts()
    with pytest.raises(InputError, match="all weights are 0"):
        Rankings.scan(tmp_path / "one.csv").distinct()


def test_options_reach_the_files(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text("who;1;2;votes\nx;a;b;3\ny;b;a;1\n")
    options = {"format": "csv", "layout": "orderings", "weights": "votes", "assessor": "who"}
    scan = Rankings.scan(path, items=["b", "a"], **options)
    assert scan.items == ("b", "a")
    assert scan.counts().places.tolist() == [[1, 3], [3, 1]]
    tied = tmp_path / "tied.csv"
    tied.write_text("a,b,c\n1,1,2\n")
    assert Rankings.scan(tied, ties="allow").distinct().has_ties
    with pytest.raises(InputError, match="both have rank 1"):
        Rankings.scan(tied).distinct()


def test_patterns_of_names_and_folders(tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"{year}").mkdir()
        (tmp_path / f"{year}" / "votes.csv").write_text("place 1,place 2\na,b\n")
    (tmp_path / "2024" / "_notes.csv").write_text("not a ranking")
    assert repr(Rankings.scan(tmp_path)).endswith("2 files)")
    assert Rankings.scan(tmp_path / "*" / "votes.csv").counts().n_rankings == 2
    assert Rankings.scan(f"{tmp_path}/2024/v*.csv").counts().n_rankings == 1
    assert repr(Rankings.scan(f"{tmp_path}/**/votes.csv")).endswith("2 files)")


def test_progress_is_told(tmp_path):
    write_parts(tmp_path, random_rankings(30, 3, seed=5), 3)
    reports = []
    scan = Rankings.scan(tmp_path, items=[f"item {item}" for item in range(3)])
    scan.counts(progress=lambda *step: reports.append(step))
    assert reports == [("counting", done, 3) for done in (1, 2, 3)]


def test_a_scan_travels_to_other_processes(tmp_path):
    write_parts(tmp_path, random_rankings(30, 3, seed=6), 2)
    scan = Rankings.scan(tmp_path)
    copy = pickle.loads(pickle.dumps(scan))
    assert isinstance(copy, RankingScan)
    assert copy.counts() == scan.counts()


def test_what_cannot_be_scanned(tmp_path):
    with pytest.raises(InputError, match="no file matches"):
        Rankings.scan(tmp_path / "*.parquet")
    with pytest.raises(InputError, match="holds no file of rankings"):
        Rankings.scan(tmp_path)
    (tmp_path / "votes.soc").write_text("# NUMBER ALTERNATIVES: 2\n")
    with pytest.raises(InputError, match="cannot be read in chunks"):
        Rankings.scan(tmp_path / "votes.soc")
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "empty.parquet")
    with pytest.raises(InputError, match="no rankings"):
        Rankings.scan(tmp_path)
    with pytest.raises(InputError, match="format must be one of"):
        Rankings.scan(tmp_path, format="json")
    (tmp_path / "votes.csv").write_text("place 1,place 2\na,b\na\n")
    with pytest.raises(InputError, match=r"votes\.csv, line 3 has 1 cell, but"):
        Rankings.scan(tmp_path / "votes.csv").counts()
    (tmp_path / "votes.csv").write_text("place 1,place 2\na,b\n")
    with pytest.raises(InputError, match="workers"):
        Rankings.scan(tmp_path / "votes.csv").counts(workers=0)


@pytest.mark.usefixtures("short_pieces")
def test_a_bad_row_is_named_by_its_number_in_the_file(tmp_path):
    first = ["a"] * 90 + ["b"] + ["a"] * 9
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"place 1": first, "place 2": ["b"] * 100}), path, row_group_size=8)
    with pytest.raises(InputError, match=r"answers\.parquet, row 91: item 'b' is listed twice"):
        Rankings.scan(path).counts()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Four times the rows, the same peak: measured by the kernel, in processes of their own."""
    code = (
        "import sys; from pathlib import Path; from tierwise import Rankings\n"
        "Rankings.scan(sys.argv[1]).counts(workers=2)\n"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    peaks = []
    for n_parts in (4, 16):
        folder = tmp_path / str(n_parts)
        folder.mkdir()
        answers = random_rankings(150_000, 6, seed=7)
        for part in range(n_parts):
            tw.write_rankings(answers, folder / f"{part}.parquet")
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True
        )
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] < peaks[0] + 60
    assert peaks[1] < 1024


def test_counting_a_scan_is_counting_its_chunks(tmp_path):
    write_parts(tmp_path, random_rankings(200, 5, seed=8), 3)
    scan = Rankings.scan(tmp_path)
    assert Counts.from_chunks(scan.chunks()) == scan.counts()
