"""Memory limits, checked before allocation, and files, written completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from uuid import uuid4

from tierwise._util.checks import check_path
from tierwise.errors import InputError, TooLargeError, quoted

VARIABLE = "TIERWISE_MEMORY"
_SHARE_OF_FREE = 4
# So little is had everywhere, and asking how much is free takes time.
_ALWAYS_ALLOWED = 64 << 20
# Where the system does not tell how much is free.
_ASSUMED_FREE = 4 << 30
_UNITS = {"": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def check_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse what would take more memory than is allowed.

    Parameters
    ----------
    n_bytes
        How much it would take.
    what
        What would take it, as the subject of a sentence in the plural.
    remedy
        What can be done instead.

    Examples
    --------
    >>> check_memory(10**18, "the counts", "give fewer items")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tierwise.errors.TooLargeError: the counts take 931,322,575 GB of memory, and ...
    """
    if n_bytes < _ALWAYS_ALLOWED and VARIABLE not in os.environ:
        return
    limit = memory_limit()
    if n_bytes > limit:
        raise TooLargeError(
            f"{what} take {in_units(n_bytes)} of memory, and the limit is {in_units(limit)}: "
            f"{remedy}, or allow more with --memory or the environment variable {VARIABLE}"
        )


def memory_limit() -> int:
    """Return how many bytes may be used: what was allowed, or a quarter of what is free."""
    allowed = os.environ.get(VARIABLE)
    return free_memory() // _SHARE_OF_FREE if allowed is None else parse_size(allowed, VARIABLE)


def parse_size(text: str, name: str) -> int:
    """Return the number of bytes that people write as 500MB or 2 GB.

    Examples
    --------
    >>> parse_size("1.5 GB", "memory")
    1610612736
    """
    written = text.strip().upper()
    number = written.rstrip("BKMGT")
    try:
        n_bytes = float(number) * _UNITS[written.removeprefix(number).strip()]
    except (KeyError, ValueError):
        n_bytes = 0.0
    if not 1 <= n_bytes < 2**63:
        raise InputError(f"{name} must be a size such as 500MB or 2GB; got {quoted(text)}")
    return int(n_bytes)


def free_memory() -> int:
    """Return how many bytes are free on this machine, or in the container that it lends."""
    return min(_free_on_machine(), _free_in_container())


def _free_on_machine() -> int:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 2**10
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return _ASSUMED_FREE


def _free_in_container() -> int:
    folder = Path("/sys/fs/cgroup")
    try:
        most, used = (
            int((folder / name).read_text(encoding="ascii"))
            for name in ("memory.max", "memory.current")
        )
    except (OSError, ValueError):
        return 2**63
    return max(most - used, 0)


def in_units(n_bytes: float) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> in_units(3 * 2**30), in_units(70_000)
    ('3.0 GB', '68 KB')
    """
    for unit in ("KB", "MB", "GB"):
        if n_bytes < 1024 * _UNITS[unit] or unit == "GB":
            break
    number = n_bytes / _UNITS[unit]
    return f"{number:,.1f} {unit}" if number < 10 else f"{number:,.0f} {unit}"


def check_can_be_written(path: str | PathLike[str]) -> Path:
    """Return a path at which there can be a file: in a folder that is there."""
    wanted = check_path(path)
    if wanted.is_dir():
        raise InputError(f"{wanted} is a folder: name a file inside it")
    if not wanted.parent.is_dir():
        raise InputError(f"the folder {wanted.parent} does not exist: create it first")
    return wanted


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside the wanted one, which takes its name if all goes well."""
    wanted = check_can_be_written(path)
    partial = wanted.with_name(f".{wanted.name}.{uuid4().hex[:8]}.partial")
    try:
        yield partial
        partial.replace(wanted)
    except OSError as error:
        raise InputError(f"{wanted} cannot be written: {error.strerror or error}") from None
    finally:
        # Where nothing can be deleted either, the reason above is what people need to read.
        with suppress(OSError):
            partial.unlink(missing_ok=True)
