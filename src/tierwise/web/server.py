"""Start the server: listen, say where, and open the browser."""

import asyncio
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tierwise.errors import InputError
from tierwise.web.app import make_app
from tierwise.web.security import Settings

if TYPE_CHECKING:
    import uvicorn

# More than anybody has tabs: what comes beyond is told to come back.
_MOST_CONNECTIONS = 300
_SECONDS_TO_FINISH = 2


def protocol_for(seconds: float) -> "type[asyncio.Protocol]":
    """Return how the server speaks HTTP: connections without a request are ended after a while.

    Uvicorn waits for ever for the first request of a connection, and for the headers of one that
    has begun: whoever sends a letter a minute would keep others out. And it goes on to take what it
    has answered already, however much that is. How long the body of a request may take that is not
    answered yet is for `tierwise.web.security` to say.
    """
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class InTime(H11Protocol):
        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._has_request():
                self._stop_waiting()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.their_state is h11.SEND_BODY:
                self.transport.close()
            elif not self._has_request():
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _has_request(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _wait(self) -> None:
            self._stop_waiting()
            self._waiting = self.loop.call_later(seconds, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()

    return InTime


def configuration(settings: Settings) -> "uvicorn.Config":
    """Return how uvicorn serves the pages."""
    import uvicorn

    return uvicorn.Config(
        make_app(settings),
        http=protocol_for(settings.limits.request_seconds),
        log_level="warning",
        access_log=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        server_header=False,
        proxy_headers=False,
        ws="none",
    )


def listen(host: str, port: int) -> socket.socket:
    """Open the port, or any free one where the port is 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":  # There, it would let two servers share a port.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"{host} port {port} cannot be listened on ({error.strerror or error}): give another "
            "port, or 0 for any that is free"
        ) from None
    return listening


def address_of(settings: Settings, listening: socket.socket) -> str:
    """Return the address to open, with the token."""
    host, port = listening.getsockname()[:2]
    name = "localhost" if host in ("0.0.0.0", "::", "127.0.0.1", "::1") else host
    return f"http://{name}:{port}{settings.base}/?token={settings.token}"


def run(
    settings: Settings, listening: socket.socket, *, open_browser: bool, say: Callable[[str], None]
) -> None:
    """Serve until it is interrupted."""
    import uvicorn

    address = address_of(settings, listening)
    server = uvicorn.Server(configuration(settings))

    async def serve() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.05)
        if server.started:
            say(f"tierwise is at {address}\nEnd it with Ctrl-C.")
            if open_browser:
                await asyncio.to_thread(webbrowser.open, address)
        await serving

    # The server raises again what ended it: as Ctrl-C does, so that files are cleared away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve())
