"""A full disk or a read-only folder: an error that says so, and no half-written file."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.robustness.programs import python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix")

OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"]
MOUNT = 'mount -t tmpfs -o size=16k full "$0" && exec "$@"'

# Every way to write a file, by how its name ends.
WRITERS = {
    "csv": "tw.write_rankings(rankings, path)",
    "parquet": "tw.write_rankings(rankings, path)",
    "soc": "tw.write_rankings(rankings, path)",
    "nc": "posterior.save(path)",
    "html": "report(rankings, path, rng=1)",
}
PREPARE = """
import os, resource, signal, sys, warnings
from pathlib import Path
import numpy as np
import tierwise as tw
from tierwise.posterior.run import sample_posterior
warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
orders = rng.permuted(np.tile(np.arange(4), (20_000, 1)), axis=1)
weights = rng.integers(1, 10**9, len(orders))
items = ["item " + letter * 100 for letter in "abcd"]
rankings = tw.Rankings.from_order_array(orders, items, weights).with_weights_as("counts")
folder = Path(sys.argv[1])

"""
RESULTS = """
from tierwise import report
posterior = sample_posterior(rankings, (2, 2), draws=2000, rng=1)

def write(suffix, path):
    exec(WRITERS[suffix], globals() | {"path": path})
"""
TRY = """
for suffix in WRITERS:
    path = folder / f"out.{suffix}"
    before = path.read_bytes() if path.exists() else None
    try:
        write(suffix, path)
    except tw.TierwiseError as error:
        print(suffix, "refused:", error)
    after = path.read_bytes() if path.exists() else None
    assert after == before, "something was left that was not there before"
    assert not [file.name for file in folder.iterdir() if "partial" in file.name]
"""


def try_to_write(folder, hinder, *more, **options):
    program = f"WRITERS = {WRITERS!r}\n" + PREPARE + RESULTS + hinder + TRY
    done = python(program, folder, *more, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def expect_refusals(lines, reason):
    assert [line.split()[0] for line in lines] == list(WRITERS)
    for line in lines:
        assert "cannot be written" in line
        assert reason in line


@pytest.mark.slow
def test_files_that_may_not_grow(tmp_path):
    hinder = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
"""
    for suffix in WRITERS:
        (tmp_path / f"out.{suffix}").write_text("what was there before")
    expect_refusals(try_to_write(tmp_path, hinder), "File too large")


def can_mount():
    """Return whether a disk of its own can be had."""
    if not shutil.which("unshare"):
        return False
    command = [*OWN_MOUNTS, "mount", "-t", "tmpfs", "small", "/mnt"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="may not mount a small disk here")
def test_full_disk(tmp_path):
    own_disk = [*OWN_MOUNTS, "sh", "-c", MOUNT, str(tmp_path)]
    expect_refusals(try_to_write(tmp_path, "", before=own_disk), "No space left on device")


def close(folder):
    """Let everybody find and read a folder, and nobody write to it."""
    folder.chmod(0o555)
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o005:
            parent.chmod(parent.stat().st_mode | 0o055)


@pytest.mark.slow
def test_read_only_folder(tmp_path):
    # The administrator may write anywhere: what is needed is loaded first, then the rights go.
    hinder = """
for suffix in WRITERS:
    write(suffix, Path(sys.argv[2]) / f"out.{suffix}")
if os.getuid() == 0:
    os.setresuid(65534, 65534, 65534)
"""
    folder, elsewhere = tmp_path / "closed", tmp_path / "open"
    folder.mkdir()
    elsewhere.mkdir()
    close(folder)
    expect_refusals(try_to_write(folder, hinder, elsewhere), "Permission denied")


@pytest.mark.skipif(not can_mount(), reason="may not mount a small disk here")
def test_read_only_file_system(tmp_path):
    """There nothing can be deleted either, not even what is not there."""
    code = """
    import sys
    import tierwise as tw
    try:
        tw.write_rankings(tw.Rankings.from_orderings([["a", "b"]]), sys.argv[1] + "/out.csv")
    except tw.TierwiseError as error:
        print("refused:", error)
    """
    mount = 'mount -t tmpfs -o ro closed "$0" && exec "$@"'
    done = python(code, tmp_path, before=[*OWN_MOUNTS, "sh", "-c", mount, str(tmp_path)])
    assert done.returncode == 0, done.stderr
    assert "out.csv cannot be written: Read-only file system" in done.stdout


CHAINS = """
chain.SECONDS_BETWEEN = 0.0
try:
    sample_posterior(
        rankings, (2, 2), sampler=tw.Sampler(method="mcmc"), chains=1, draws=4000, rng=1,
        progress="off", checkpoint=folder / "run",
    )
except tw.TierwiseError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(not can_mount(), reason="may not mount a small disk here")
def test_chains_on_a_full_disk(tmp_path):
    program = PREPARE + "from tierwise.posterior import chain" + CHAINS
    own_disk = [*OWN_MOUNTS, "sh", "-c", MOUNT, str(tmp_path)]
    done = python(program, tmp_path, before=own_disk)
    assert done.returncode == 0, done.stderr
    assert "cannot be written: No space left on device" in done.stdout


@pytest.mark.slow
def test_chains_in_a_read_only_folder(tmp_path):
    close(tmp_path)
    # All that is loaded later may be closed to that user, too.
    program = PREPARE + RESULTS + "from tierwise.posterior import chain\n"
    program += "os.getuid() or os.setresuid(65534, 65534, 65534)" + CHAINS
    done = python(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "refused:" in done.stdout
    assert "Permission denied" in done.stdout
