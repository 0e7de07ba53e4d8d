"""Long work in parallel through joblib, with a progress bar or a hook.

This is the one place that knows joblib, and through it other engines.
"""

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing.process import current_process
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from tierwise._util.checks import check_choice, check_count
from tierwise.errors import InputError, drop, quoted

ProgressHook: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done and how many there are."""

Progress: TypeAlias = ProgressHook | Literal["auto", "off"]
"""A hook, "auto" for a bar on a terminal, or "off"."""

_Step = TypeVar("_Step")
_Result = TypeVar("_Result")
_SECONDS_TO_CONNECT = 10
_SECONDS_BETWEEN_LOOKS = 0.5
Engine: TypeAlias = Literal["processes", "threads", "dask"]


def track(
    steps: Iterable[_Step], description: str, total: int, progress: Progress = "auto"
) -> Iterator[_Step]:
    """Yield steps, and report after each how many are done.

    Parameters
    ----------
    steps
        What to go through.
    description
        The description of the work.
    total
        How many steps there are.
    progress
        "auto" shows a bar on stderr where that is a terminal; a function is called with the
        description, the number of steps done and their total; "off" stays silent.

    Examples
    --------
    >>> for letter in track("ab", "reading", 2, lambda *news: print(news)):
    ...     pass
    ('reading', 1, 2)
    ('reading', 2, 2)
    """
    with _reporter(description, total, progress) as report:
        for done, step in enumerate(steps, start=1):
            yield step
            report(description, done, total)


@contextmanager
def _reporter(description: str, total: int, progress: Progress) -> Iterator[ProgressHook]:
    if callable(progress):
        yield progress
    elif progress == "off" or total <= 1 or not sys.stderr.isatty():
        yield lambda _description, _done, _total: None
    else:
        with _bar(description, total) as report:
            yield report


@contextmanager
def _bar(description: str, total: int) -> Iterator[ProgressHook]:
    from rich import progress as bars
    from rich.console import Console

    with bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as shown:
        task = shown.add_task(description, total=total)
        yield lambda _description, done, _total: shown.update(task, completed=done)


def run_tasks(
    function: Callable[..., _Result],
    tasks: Sequence[tuple[Any, ...]],
    *,
    description: str,
    workers: int | None = None,
    progress: Progress = "auto",
) -> list[_Result]:
    """Call a function once per task, and return the results in the order of the tasks.

    Whatever is random must come with the task, as a seed: then the answer does not depend on the
    number of workers.

    Parameters
    ----------
    function
        What to call; it must be importable, so that other processes can find it.
    tasks
        The arguments of each call.
    description
        What is being done, for the progress bar.
    workers
        Number of processes; -1 means one per core. None means one, unless the call is inside a
        `parallel` block.
    progress
        As in `tierwise._util.tasks.track`.

    Examples
    --------
    >>> run_tasks(pow, [(2, 3), (3, 2)], description="powers")
    [8, 9]
    """
    results = stream_tasks(function, tasks, workers=workers)
    return list(track(results, description, len(tasks), progress))


def stream_tasks(
    function: Callable[..., _Result],
    tasks: Sequence[tuple[Any, ...]],
    *,
    workers: int | None = None,
    prefer: Literal["processes", "threads"] = "processes",
) -> Iterator[_Result]:
    """Call a function once per task, and pass the results on, in order, as they come.

    Parameters
    ----------
    function, tasks, workers
        As in `run_tasks`.
    prefer
        "threads" for work that mostly runs outside Python; a `parallel` block may say otherwise.

    Examples
    --------
    >>> list(stream_tasks(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    check_workers(workers)
    return _stream(function, tasks, workers, prefer)


def _stream(
    function: Callable[..., _Result],
    tasks: Sequence[tuple[Any, ...]],
    workers: int | None,
    prefer: str,
) -> Iterator[_Result]:
    if len(tasks) == 1:
        yield function(*tasks[0])
        return
    from joblib import Parallel, delayed

    results = Parallel(n_jobs=workers, prefer=prefer, return_as="generator")(
        delayed(_InWorker(function, os.getpid()))(*task) for task in tasks
    )
    try:
        for result in results:  # noqa: UP028 - "yield from" would close the results unasked
            yield result
    finally:
        with warnings.catch_warnings():
            # Whoever stops early knows that there were more tasks.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


@dataclass(frozen=True)
class _InWorker:
    """A function that is called in a process that ends when the one that wants the result does."""

    function: Callable[..., Any]
    wanted_by: int

    def __call__(self, *task: Any) -> Any:
        # Workers of a cluster have a life of their own, and what a worker wants of itself is no
        # reason to end it.
        is_worker = current_process().name.startswith("Loky") and os.getpid() != self.wanted_by
        if is_worker and hasattr(os, "fork"):
            _end_with(self.wanted_by)
        return self.function(*task)


@cache
def _end_with(process: int) -> None:
    """End this process soon after the one that started it: killed, that cannot say goodbye."""

    def watch() -> None:
        while os.getppid() == process:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def parallel(
    engine: Engine, *, workers: int | None = None, address: str | None = None
) -> Iterator[None]:
    """Run everything inside the block in parallel where possible.

    Searches, chains, bootstraps, mixtures and counting then use the workers of the block, unless a
    call has its own ``workers``. Results do not depend on it.

    Parameters
    ----------
    engine
        "processes" or "threads" of this machine, or "dask" for the workers of a Dask cluster.
    workers
        The number of processes or threads; None means one per core. A Dask cluster has its own
        number.
    address
        The address of the scheduler of a Dask cluster, such as ``tcp://10.0.0.1:8786``. By default,
        the cluster that the program is already connected to.

    Notes
    -----
    Dask repeats the work of a worker that died. Files must be available to all workers under the
    same name.

    Examples
    --------
    >>> import tierwise as tw
    >>> with tw.parallel("threads", workers=2):
    ...     found = tw.search(tw.load_political_goals(), "kendall")
    >>> found.best.sizes
    (2, 2)
    """
    from joblib import parallel_config

    _check_engine(engine, workers, address)
    if engine == "dask":
        with _dask_client(address), parallel_config(backend="dask"):
            yield
    else:
        backend = "loky" if engine == "processes" else "threading"
        with parallel_config(backend=backend, n_jobs=-1 if workers is None else workers):
            yield


def _check_engine(engine: str, workers: int | None, address: str | None) -> None:
    check_choice("engine", engine, get_args(Engine))
    check_workers(workers)
    if engine == "dask" and workers is not None:
        raise InputError("a Dask cluster has its own number of workers", [drop("workers")])
    if engine != "dask" and address is not None:
        raise InputError(
            f'an address needs a Dask cluster: use engine "dask", not {quoted(engine)}'
        )


def check_workers(workers: int | None) -> None:
    if workers is None:
        return
    if check_count("workers", workers, least=-1) == 0:
        raise InputError(f"workers must be at least 1, or -1 for all; got {workers}")


@contextmanager
def _dask_client(address: str | None) -> Iterator[Any]:
    """Connect to a cluster, or find the connection that is there."""
    try:
        from dask.distributed import Client, default_client
    except ImportError:
        raise InputError(
            'the engine "dask" needs Dask: install it with `pip install "tierwise[dask]"`'
        ) from None
    if address is None:
        try:
            connected = default_client()
        except ValueError:
            raise InputError(
                "there is no Dask cluster: give its address, or first connect to it with "
                "dask.distributed.Client"
            ) from None
        yield connected
        return
    try:
        client = Client(address, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask cluster answers at {address} ({error}): check the address"
        ) from None
    with client:
        yield client
