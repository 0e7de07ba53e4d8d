"""Processes of this machine: how many run at once, how they end, and that they do so quickly."""

import atexit
import gc
import os
import threading

# Python looks for garbage whenever there are 700 more objects: while libraries are loaded and code
# is compiled, which make a million objects that stay, that takes a tenth of the time.
_NEW_OBJECTS = 100_000


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


def collect_seldom() -> None:
    """Have Python look for garbage seldom in this process, and not when it ends.

    At the end all memory is given back at once, and to look through the compiler's objects before
    takes most of a second.
    """
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)
