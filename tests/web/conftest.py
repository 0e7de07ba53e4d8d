"""A server to talk to, in a thread of its own."""

import asyncio
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from unittest.mock import patch

import pytest

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
pytest.importorskip("multipart", reason="needs python-multipart")

from tierwise.web.jobs import Children

_PREPARE = Children.prepare


@pytest.fixture(autouse=True, scope="session")
def unprepared():
    """Start children when they are needed: most servers of tests end before that."""

    async def prepare(_children):
        pass

    with patch.object(Children, "prepare", prepare):
        yield


@contextmanager
def prepare_children():
    """Let children be started before there is a task, as servers do."""
    with patch.object(Children, "prepare", _PREPARE):
        yield


@contextmanager
def running(settings):
    """Serve on a free port in a thread; yield the address, without base path and token."""
    import uvicorn

    from tierwise.web.app import configuration, listen

    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(configuration(settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.02)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
        assert not thread.is_alive()


@contextmanager
def client_of(settings, *, let_in=True):
    """Serve, and yield somebody who asks; who is let in has the cookie, and fills in forms."""
    import httpx

    with running(settings) as here, httpx.Client(base_url=here, timeout=120) as client:
        if let_in:
            client.headers["origin"] = here
            assert client.get(f"{settings.base}/?token={settings.token}").status_code == 303
        yield client


@contextmanager
def tasks_in_this_process(settings, *names):
    """Do these tasks of a server in a thread: a second for each start of Python is saved.

    Tests of what pages say need no children; what children are for is tested with children.
    """
    from tierwise.web.tasks import reply_to

    in_a_child = Children.run

    async def run(children, task, seconds, tell=lambda _news: None, started=lambda: None):
        if task["do"] not in names or settings.folder not in Path(task["upload"]).parents:
            return await in_a_child(children, task, seconds, tell, started)

        def tell_step(step, done, total):
            tell({"step": step, "done": done, "total": total})

        started()
        sent = json.loads(json.dumps({**task, "limits": asdict(children._limits)}))
        return json.loads(await asyncio.to_thread(reply_to, sent, tell_step))

    with patch.object(Children, "run", run):
        yield
