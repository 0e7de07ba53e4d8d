"""Blocks in which work runs side by side."""

import os
import sys
import threading
import time

import pytest

import tierwise as tw
from tests.scale.files import random_rankings
from tierwise import InputError
from tierwise._util.tasks import parallel, run_tasks, stream_tasks


def who(_task):
    return os.getpid(), threading.get_ident()


def ask(**options):
    return set(run_tasks(who, [(task,) for task in range(8)], description="asking", **options))


def test_without_a_block_one_process_does_it():
    assert ask() == {(os.getpid(), threading.get_ident())}


def test_threads_and_processes():
    with parallel("threads", workers=2):
        assert {process for process, _ in ask()} == {os.getpid()}
    with parallel("processes", workers=2):
        assert os.getpid() not in {process for process, _ in ask()}
        # A call that says how many workers it wants is not overruled.
        assert ask(workers=1) == {(os.getpid(), threading.get_ident())}
    assert ask() == {(os.getpid(), threading.get_ident())}


def several_and_a_while(_task):
    """Do several things one after the other, for longer than it takes to look for the parent."""
    found = ask(workers=1)
    time.sleep(1.2)
    return found


def test_work_inside_a_worker_does_not_end_it():
    tasks = [(task,) for task in range(2)]
    answers = run_tasks(several_and_a_while, tasks, description="asking", workers=2)
    assert [len(found) for found in answers] == [1, 1]
    assert all(process != os.getpid() for found in answers for process, _ in found)


def test_threads_are_preferred_where_asked():
    tasks = [(task,) for task in range(8)]
    answers = set(stream_tasks(who, tasks, workers=2, prefer="threads"))
    assert {process for process, _ in answers} == {os.getpid()}
    assert threading.get_ident() not in {thread for _, thread in answers}


def test_answers_do_not_depend_on_the_engine():
    rankings = random_rankings(60, 5, seed=1)
    expected = tw.search(rankings, rng=1, distance="kendall", criterion="likelihood")
    with parallel("threads", workers=2):
        assert tw.search(rankings, rng=1, distance="kendall", criterion="likelihood").table.equals(
            expected.table
        )


def test_bad_arguments():
    with pytest.raises(InputError, match="engine must be one of"), parallel("spark"):
        pass
    with pytest.raises(InputError, match="workers must be"), parallel("threads", workers=0):
        pass
    with pytest.raises(InputError, match="its own number of workers"), parallel("dask", workers=2):
        pass
    with (
        pytest.raises(InputError, match="an address needs a Dask cluster"),
        parallel("threads", address="x"),
    ):
        pass


def test_dask_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(InputError, match=r"tierwise\[dask\]"), parallel("dask"):
        pass
