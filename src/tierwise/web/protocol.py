"""The HTTP protocol of the server, which closes connections that send no request in time.

Uvicorn waits for ever for the first request of a connection and for its headers: a client that
sends one byte per minute would keep others out. It also keeps reading a body that it has already
answered. Here, that ends after a while or after two files of the largest size; not at once, because
a client that is cut off while sending never sees the answer. `tierwise.web.security` limits how
long the body of an unanswered request may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from tierwise.web.security import Limits


class InTime(H11Protocol):
    """How the server speaks HTTP; a subclass for each server says which limits there are."""

    limits: ClassVar[Limits]

    _waiting: asyncio.TimerHandle | None = None
    _n_passed_over = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Pass on what arrives, unless it is too much of what is answered already."""
        if self.conn.their_state is h11.SEND_BODY and not self._has_request():
            self._n_passed_over += len(data)
            if self._n_passed_over > 2 * self.limits.upload_bytes:
                self.transport.close()
                return
        super().data_received(data)
        if self._has_request():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._n_passed_over = 0
        if not self._has_request():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(self.limits.request_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()


def protocol_within(limits: Limits) -> type[InTime]:
    """Return how a server with given limits speaks HTTP."""
    return type("InTime", (InTime,), {"limits": limits})
