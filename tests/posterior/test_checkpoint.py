"""A run that is killed goes on where it was, and gives the draws of one that was not."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tierwise as tw
from tests.options import in_groups
from tests.posterior.interrupted_run import CASES, run
from tests.posterior.small import SIZES, small_rankings
from tierwise import InputError
from tierwise.posterior.run import sample_posterior

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")


def draws_on_disk(folder, number):
    path = folder / f"chain-{number}.npz"
    if not path.exists():
        return 0
    with np.load(path) as saved:
        return json.loads(str(saved["stand"]))["draws"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "case",
    [
        case if number == 0 else pytest.param(case, marks=pytest.mark.slow)
        for number, case in enumerate(CASES)
    ],
)
def test_killed_run_resumes_with_the_same_draws(tmp_path, case):
    folder = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.posterior.interrupted_run", str(folder), case],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    limit = time.monotonic() + 240
    # The second chain has begun: the first is whole, and there is something to lose.
    while draws_on_disk(folder, 2) < 100 and process.poll() is None:
        assert time.monotonic() < limit
        time.sleep(0.005)
    process.kill()
    said, _ = process.communicate()
    assert said == b"", "the run was over before it could be killed"
    assert 100 <= draws_on_disk(folder, 2) < 2000
    resumed, whole = run(case, folder), run(case)
    assert resumed.data["posterior"].equals(whole.data["posterior"])
    assert resumed.data["sample_stats"].equals(whole.data["sample_stats"])


def test_user_can_interrupt_and_resume(tmp_path):
    def interrupt(what, done, _total):
        if what == "chain 2" and done == 80:
            raise KeyboardInterrupt

    options = {"method": "mcmc", "chains": 2, "draws": 300, "rng": 1}
    with pytest.raises(KeyboardInterrupt):
        sample_posterior(
            small_rankings(),
            SIZES,
            checkpoint=tmp_path / "run",
            progress=interrupt,
            **in_groups(options),
        )
    assert 0 < draws_on_disk(tmp_path / "run", 2) < 300
    resumed = sample_posterior(
        small_rankings(), SIZES, checkpoint=tmp_path / "run", **in_groups(options)
    )
    whole = sample_posterior(small_rankings(), SIZES, **in_groups(options))
    assert resumed.data["posterior"].equals(whole.data["posterior"])


def test_finished_run_is_read_and_not_run_again(tmp_path):
    options = {"method": "mcmc", "chains": 2, "draws": 50, "checkpoint": tmp_path / "run"}
    first = sample_posterior(small_rankings(), SIZES, **in_groups(options))
    reports = []
    again = sample_posterior(
        small_rankings(), SIZES, progress=lambda *said: reports.append(said), **in_groups(options)
    )
    assert not reports
    # Without a seed, the seed of the run there is counts.
    assert first.data["posterior"].equals(again.data["posterior"])


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"rng": 2}, "another seed"),
        ({"draws": 60}, "draws 50 instead of 60"),
        ({"thin": 2}, "thin 1 instead of 2"),
        ({"prior_theta": lambda theta: -theta}, "prior_theta"),
        ({"prior_sizes": {(1, 2, 1): 1.0}}, "prior_sizes"),
        ({"sizes": (2, 2)}, r"sizes \[1, 2, 1\] instead of \[2, 2\]"),
        ({"distance": "hamming"}, "distance 'kendall' instead of 'hamming'"),
        ({"theta_update": "integrated"}, "theta_update"),
        ({"data": small_rankings().subset(np.arange(7) < 6)}, "other data"),
    ],
    ids=lambda change: next(iter(change)) if isinstance(change, dict) else "",
)
def test_other_run_does_not_resume(tmp_path, change, difference):
    options = {
        "data": small_rankings(),
        "sizes": SIZES,
        "method": "mcmc",
        "chains": 1,
        "draws": 50,
        "rng": 1,
        "checkpoint": tmp_path / "run",
    }
    sample_posterior(**in_groups(options))
    with pytest.raises(InputError, match=f"holds another run, with {difference}"):
        sample_posterior(**in_groups(options | change))


def many_items(seed):
    rng = np.random.default_rng(seed)
    orderings = rng.permuted(np.tile(np.arange(51), (3, 1)), axis=1)
    return tw.Rankings.from_order_array(orderings, range(51))


TOP_ONE = [["a"], ["b"], ["a"], ["c"]]
VOTES = {"Ann": [("a", "b"), ("b", "c")], "Bob": [("c", "a")]}
TWICE = {"Ann": [("a", "b"), ("a", "b"), ("b", "c")], "Bob": [("c", "a")]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            tw.Rankings.from_orderings(TOP_ONE, items="abc", unranked="below"),
            tw.Rankings.from_orderings(TOP_ONE, items="abc", unranked="anywhere"),
        ),
        (
            tw.Preferences(VOTES, items="abc", cycles="keep"),
            tw.Preferences(TWICE, items="abc", cycles="keep"),
        ),
        (many_items(1), many_items(2)),
    ],
    ids=["unranked", "times", "many items"],
)
def test_other_data_do_not_resume(tmp_path, one, other):
    options = {"chains": 1, "draws": 5, "warmup": 1, "rng": 1, "checkpoint": tmp_path}
    if len(one.items) > 50:
        # All others would take long.
        options["prior_sizes"] = {(51,): 1.0, (1, 50): 1.0, (50, 1): 1.0}
    first = sample_posterior(one, **in_groups(options))
    again = sample_posterior(one, **in_groups(options))
    assert again.data["posterior"].equals(first.data["posterior"])
    with pytest.raises(InputError, match="with other data"):
        sample_posterior(other, **in_groups(options))


def test_run_is_readable(tmp_path):
    sample_posterior(small_rankings(), SIZES, draws=5, chains=1, checkpoint=tmp_path, rng=1)
    run = json.loads((tmp_path / "run.json").read_text())["run"]
    assert run["data"] == small_rankings().fingerprint()
    assert run["sizes"] == list(SIZES)
    assert run["prior_theta"] == "Gamma(2, 2)"


def test_damaged_checkpoint_is_refused(tmp_path):
    options = {"method": "mcmc", "chains": 1, "draws": 50, "checkpoint": tmp_path}
    sample_posterior(small_rankings(), SIZES, rng=1, **in_groups(options))
    chain = tmp_path / "chain-1.npz"
    chain.write_bytes(chain.read_bytes()[:200])
    with pytest.raises(InputError, match=r"chain-1.npz is damaged"):
        sample_posterior(small_rankings(), SIZES, rng=1, **in_groups(options))
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run.json is damaged"):
        sample_posterior(small_rankings(), SIZES, rng=1, **in_groups(options))


def changed(arrays, name):
    """Return the arrays of a chain with one of them changed, or left out."""
    kind, _, which = name.partition(" ")
    if kind == "without":
        return {key: value for key, value in arrays.items() if key != which}
    if kind == "short":
        return arrays | {which: arrays[which][:-1]}
    if which == "stand":
        said = json.loads(str(arrays["stand"])) | {"draws": 10**6}
        return arrays | {"stand": np.array(json.dumps(said))}
    return arrays | {which: arrays[which] + 1}


@pytest.mark.parametrize(
    "change",
    [
        "without stand",
        "without checksum",
        "without labels",
        "short labels",
        "short theta",
        "short state_labels",
        "other labels",
        "other theta",
        "other stand",
    ],
)
def test_changed_checkpoint_is_refused(tmp_path, change):
    options = {"method": "mcmc", "chains": 1, "draws": 50, "checkpoint": tmp_path, "rng": 1}
    sample_posterior(small_rankings(), SIZES, **in_groups(options))
    chain = tmp_path / "chain-1.npz"
    with np.load(chain) as saved:
        arrays = dict(saved)
    np.savez(chain, **changed(arrays, change))
    with pytest.raises(InputError, match=r"chain-1.npz is damaged"):
        sample_posterior(small_rankings(), SIZES, **in_groups(options))


@pytest.mark.parametrize(
    "text",
    ["[]", "3", '{"format": 2}', '{"format": 2, "run": {}, "seeds": [1]}', "\x00", "[" * 9999],
)
def test_changed_run_is_refused(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run.json is damaged"):
        sample_posterior(small_rankings(), SIZES, checkpoint=tmp_path, draws=5)


def test_checkpoint_of_a_newer_version_is_refused(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"format": 99, "identity": "", "seeds": []}))
    with pytest.raises(InputError, match="newer version"):
        sample_posterior(small_rankings(), SIZES, checkpoint=tmp_path, draws=5)


def test_checkpoint_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        sample_posterior(small_rankings(), SIZES, checkpoint=tmp_path / "file", draws=5)


def test_nothing_is_left_half_written(tmp_path):
    sample_posterior(small_rankings(), SIZES, checkpoint=tmp_path / "run", draws=20, chains=2)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"run.json", "chain-1.npz", "chain-2.npz"}
    assert tw.InputError is InputError
