"""A server to talk to, in a thread of its own."""

import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
pytest.importorskip("multipart", reason="needs python-multipart")


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
