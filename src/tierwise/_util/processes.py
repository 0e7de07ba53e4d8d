"""Processes of this machine: how many run at once, and child processes that end with others."""

import os
import threading


def n_cores() -> int:
    """Return how many cores this process may use.

    Examples
    --------
    >>> n_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def end_with_parent() -> None:
    """End this process when its standard input ends: a pipe from its parent, which then is gone."""

    def wait() -> None:
        # Not through sys.stdin, whose lock would be in the way when this process ends by itself.
        while os.read(0, 4096):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
