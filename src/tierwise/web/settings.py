"""What a server is told when it starts: where it listens, who may come in, and what it allows."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
"""Hosts by which a browser on the same machine may call the server."""

_MEGABYTE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What people may ask for at most.

    Attributes
    ----------
    request_seconds
        How long a connection may last without a request: until the last of its headers.
    upload_bytes, upload_seconds
        The size of a file, counted while it arrives, and how long that may take.
    form_bytes
        The size of anything else that is sent.
    unpacked_bytes
        What an Excel or Parquet file may hold once it is unpacked.
    rows, items
        How many answers and items are analysed.
    reading_seconds, job_seconds
        How long a file may be read, and how long an analysis may take.
    memory_bytes
        How much memory a child process may take.
    jobs, waiting
        How many analyses run at once, and how many may wait for their turn.
    kept
        How many files are kept; the oldest that nothing was computed from makes room.
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
        What must be in the first address that a browser opens.
    session
        What the cookie holds that the browser gets in return.
    hosts
        The names by which the server may be called, without ports.
    base
        The path below which all pages lie, such as "/tiers"; empty for the root.
    secure
        Whether the cookie is for https only.
    limits
        What people may ask for at most.
    """

    folder: Path
    token: str = field(default_factory=lambda: token_urlsafe(24))
    session: str = field(default_factory=lambda: token_urlsafe(24))
    hosts: tuple[str, ...] = LOCAL_NAMES
    base: str = ""
    secure: bool = False
    limits: Limits = Limits()
