"""A child is started before there is a task: it has loaded what analyses need when one comes."""

import asyncio
import subprocess
import sys

import pytest

from tests.web.conftest import client_of, prepare_children
from tierwise.web.jobs import Children
from tierwise.web.security import Limits, Settings
from tierwise.web.tasks import READY

pytestmark = pytest.mark.thorough


def understanding(folder):
    """A task that is over soon."""
    file = folder / "upload"
    file.write_text("a,b\n1,2\n2,1\n", encoding="utf-8")
    return {"do": "understand", "upload": str(file), "name": "x.csv", "reading": {}}


class Counted(Children):
    """Children whose starts are counted."""

    def __init__(self):
        super().__init__(Limits(), 1)
        self.started = []

    async def _start(self, *words):
        process = await super()._start(*words)
        self.started.append((words, process))
        return process


def run(use):
    """Give children to a function, and end them."""

    async def with_children():
        children = Counted()
        try:
            return await use(children)
        finally:
            await children.end()

    with prepare_children():
        return asyncio.run(with_children())


def test_a_task_is_given_to_the_child_that_is_ready(tmp_path):
    async def use(children):
        await children.prepare()
        await children.prepare()  # one is enough
        reply = await children.run(understanding(tmp_path), 60)
        return reply, [words for words, _ in children.started]

    reply, started = run(use)
    assert reply["result"]["columns"]
    assert started == [(READY,)]


def test_a_child_that_died_before_its_task_is_replaced(tmp_path):
    async def use(children):
        await children.prepare()
        children.started[0][1].kill()
        await children.started[0][1].wait()
        reply = await children.run(understanding(tmp_path), 60)
        await children.prepare()
        return reply, [words for words, _ in children.started]

    reply, started = run(use)
    assert reply["result"]["columns"]
    assert started == [(READY,), (), (READY,)]


def test_a_child_without_a_task_ends_with_the_server():
    async def use(children):
        await children.prepare()
        return children.started[0][1]

    process = run(use)
    assert process.returncode is not None


def test_a_server_has_a_child_ready_from_its_start_and_after_each_analysis(tmp_path, monkeypatch):
    prepared = []

    async def prepare(children):
        prepared.append(children)

    monkeypatch.setattr(Children, "prepare", prepare)
    with client_of(Settings(folder=tmp_path)) as client:
        assert len(prepared) == 1
        here = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
        assert len(prepared) == 1
        job = client.post(f"{here}/jobs", data={}).headers["location"]
        while "hx-refresh" not in client.get(f"{job}/progress").headers:
            pass
        assert prepared == [prepared[0]] * 2


@pytest.mark.parametrize("words", [[], [READY]])
def test_a_child_without_a_task_has_loaded_what_analyses_need_if_it_was_told_to(words):
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tierwise.web.tasks", *words],
        input=b"",  # the server ends before it gives a task
        capture_output=True,
        check=True,
    )
    assert ended.stdout == b""
    assert (b"xarray" in ended.stderr) == bool(words)
