"""Who may use the server, and what for: settings, limits, and their enforcement.

Any web page can send requests to servers on the same machine. So a request must use a host name
that the server knows (against DNS rebinding), carry a cookie that only the holder of the start-up
token has and that browsers do not send from other sites, and, if it changes something, come from a
page of this server. Limits are enforced while bodies arrive.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from hmac import compare_digest
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from secrets import token_urlsafe
from time import monotonic
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
"""Host names that a browser on the same machine may use for the server."""

_MEGABYTE = 1 << 20
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    # With no-referrer, browsers would not say where a form comes from either.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_METHODS = ("GET", "HEAD", "POST")
# What is too large is read to its end, and discarded, up to so many times what is accepted.
_DISCARDED = 4


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits on what people may ask for.

    Attributes
    ----------
    request_seconds
        How long a connection may take to send its request, headers included.
    upload_bytes, upload_seconds
        The size of a file, counted while it arrives, and how long that may take.
    form_bytes
        The size of anything else that is sent.
    unpacked_bytes
        The largest size of an Excel or Parquet file when unpacked.
    rows, items
        The most answers and items that are analysed.
    reading_seconds, job_seconds
        How long a file may be read, and how long an analysis may take.
    memory_bytes
        How much memory a child process may take.
    jobs, waiting
        How many analyses run at once, and how many may wait for their turn.
    kept
        How many files are kept; when full, the oldest file without a result is deleted.
    """

    request_seconds: float = 20.0
    upload_bytes: int = 50 * _MEGABYTE
    upload_seconds: float = 120.0
    form_bytes: int = _MEGABYTE
    unpacked_bytes: int = 500 * _MEGABYTE
    rows: int = 200_000
    items: int = 500
    reading_seconds: float = 120.0
    job_seconds: float = 3600.0
    memory_bytes: int = 4096 * _MEGABYTE
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    waiting: int = 50
    kept: int = 200


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a server runs.

    Attributes
    ----------
    folder
        Where files and results lie.
    token
        The secret in the first address that a browser opens.
    session
        The content of the cookie that the browser gets in return.
    hosts
        The host names that browsers may use, without ports.
    base
        The path below which all pages lie, such as "/tiers"; empty for the root.
    secure
        Whether the cookie is for https only.
    limits
        The limits on what people may ask for.
    """

    folder: Path
    token: str = field(default_factory=lambda: token_urlsafe(24))
    session: str = field(default_factory=lambda: token_urlsafe(24))
    hosts: tuple[str, ...] = LOCAL_NAMES
    base: str = ""
    secure: bool = False
    limits: Limits = Limits()


class Guard:
    """An ASGI application in front of another, which passes on only allowed requests.

    Parameters
    ----------
    inner
        The application.
    settings
        Hosts, token and limits.
    refusal
        Makes the page for visitors without a cookie, given the address that they requested.
    """

    def __init__(
        self, inner: Application, settings: Settings, refusal: Callable[[str], Response]
    ) -> None:
        self._inner, self._settings, self._refusal = inner, settings, refusal

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _Headers(scope)
        refused = self._refuse(scope, headers)
        if refused is not None:
            await refused(scope, receive, _with_headers(send))
            return
        limited = self._limited(scope, headers, receive)
        await self._inner(scope, limited, _with_headers(send))

    def _refuse(self, scope: Message, headers: "_Headers") -> Response | None:
        """Return the answer to a request that is not passed on."""
        host = headers.one("host")
        if host is None or host_name(host) not in self._settings.hosts:
            return _plain(HTTPStatus.BAD_REQUEST, "This server does not answer to that host name.")
        if scope["method"] not in _METHODS:
            return _plain(HTTPStatus.METHOD_NOT_ALLOWED, "This server accepts only GET and POST.")
        if scope["path"].startswith(f"{self._settings.base}/static/"):
            return None
        return self._refuse_stranger(scope, headers, host)

    def _refuse_stranger(self, scope: Message, headers: "_Headers", host: str) -> Response | None:
        """Let those in who have the token, and turn away who has no cookie or comes from afar."""
        path = scope["path"]
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and given and _same(given, self._settings.token):
            return self._let_in(path, host)
        if not self._has_cookie(headers, host):
            return self._refusal(path)
        if scope["method"] == "POST" and not _comes_from(headers.one("origin"), host):
            return _plain(
                HTTPStatus.FORBIDDEN,
                "This server accepts forms only from its own pages. Open the start page and "
                "try again from there.",
            )
        return None

    def _has_cookie(self, headers: "_Headers", host: str) -> bool:
        held = SimpleCookie()
        try:
            held.load(headers.one("cookie") or "")
        except CookieError:
            return False
        morsel = held.get(_cookie_name(host))
        return morsel is not None and _same(morsel.value, self._settings.session)

    def _let_in(self, path: str, host: str) -> Response:
        """Exchange the token for a cookie, so that it does not stay in the address."""
        # A path that begins with two slashes would be the address of another host.
        response = RedirectResponse("/" + path.lstrip("/"), HTTPStatus.SEE_OTHER)
        response.set_cookie(
            _cookie_name(host),
            self._settings.session,
            path=self._settings.base or "/",
            httponly=True,
            samesite="strict",
            secure=self._settings.secure,
        )
        return response

    def _limited(self, scope: Message, headers: "_Headers", receive: Receive) -> Receive:
        """Return a body that ends with an error where it is too large, or too slow.

        Bytes are counted: what a request says about its own length is only used to refuse earlier.
        """
        limits = self._settings.limits
        is_upload = scope["path"] == f"{self._settings.base}/data"
        # Around a file stand the lines of the form.
        most = limits.upload_bytes + (1 << 16) if is_upload else limits.form_bytes
        deadline = monotonic() + limits.upload_seconds
        length = headers.one("content-length") or ""
        announced = int(length) if length.isdecimal() else 0
        taken, complete = 0, False

        async def limited() -> Message:
            nonlocal taken, complete
            if complete:
                return await receive()
            if announced > _DISCARDED * most:
                raise _too_large(most)
            while True:
                try:
                    message = await asyncio.wait_for(receive(), max(0.0, deadline - monotonic()))
                except TimeoutError:
                    raise HTTPException(
                        HTTPStatus.REQUEST_TIMEOUT, "The file took too long to arrive. Try again."
                    ) from None
                taken += len(message.get("body", b""))
                complete = not message.get("more_body", False)
                if max(taken, announced) <= most:
                    return message
                # If what is on its way is left there, the connection may be reset, and the answer
                # or the next request is lost.
                if complete or taken > _DISCARDED * most:
                    raise _too_large(most)

        return limited


def host_name(host: str) -> str:
    """Return a host as a browser names it, without its port and in lower case.

    Examples
    --------
    >>> host_name("LocalHost:8765"), host_name("[::1]:80"), host_name("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    name, mark, port = host.rpartition(":")
    return (name if mark and port.isdecimal() else host).lower()


class _Headers:
    """The headers of a request."""

    def __init__(self, scope: Message) -> None:
        self._all = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope["headers"]
        ]

    def one(self, wanted: str) -> str | None:
        """Return a header that is there once; None if it is missing, or there twice."""
        found = [value for name, value in self._all if name == wanted]
        return found[0] if len(found) == 1 else None


def _cookie_name(host: str) -> str:
    """Name the cookie by the port, which cookies do not heed: two servers must not share one."""
    port = host.rpartition(":")[2]
    return f"tierwise-{port}" if port.isdecimal() else "tierwise"


def _comes_from(origin: str | None, host: str) -> bool:
    """Return whether a form comes from a page of the host that it is sent to."""
    if origin is None:
        return False
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _same(given: str, wanted: str) -> bool:
    return compare_digest(given.encode(), wanted.encode())


def _plain(status: HTTPStatus, text: str) -> Response:
    return PlainTextResponse(text, status)


def _too_large(most: int) -> HTTPException:
    return HTTPException(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"That is more than this server accepts ({most / (1 << 20):.0f} MB). Remove columns "
        "that are not answers, or use tierwise on the command line.",
    )


def _with_headers(send: Send) -> Send:
    """Add the headers that every answer has, unless it has its own."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *(
                    (name.encode(), value.encode())
                    for name, value in _HEADERS.items()
                    if name.encode() not in own
                ),
            ]
        await send(message)

    return with_headers
