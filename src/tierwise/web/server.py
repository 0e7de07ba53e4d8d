"""Start the server: listen, say where, and open the browser."""

import asyncio
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress

from tierwise.errors import InputError
from tierwise.web.app import make_app
from tierwise.web.settings import Settings

# More than anybody has tabs: what comes beyond is told to come back.
_MOST_CONNECTIONS = 300
_SECONDS_TO_FINISH = 2


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
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(settings),
            log_level="warning",
            access_log=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_SECONDS_TO_FINISH,
            server_header=False,
            proxy_headers=False,
            ws="none",
        )
    )

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
