"""Work side by side: the one place that knows joblib, and through it other engines."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from tierwise.errors import InputError
from tierwise.progress import Progress, track

_Result = TypeVar("_Result")


def run_tasks(
    function: Callable[..., _Result],
    tasks: Sequence[tuple[Any, ...]],
    *,
    description: str,
    workers: int | None = None,
    progress: Progress = "auto",
) -> list[_Result]:
    """Call a function once a task, and return the results in the order of the tasks.

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
        Number of processes; -1 is one a core. None leaves it to joblib: one process, unless the
        call stands in a ``joblib.parallel_config`` block that says otherwise.
    progress
        As for `tierwise.progress.track`.

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
) -> Iterator[_Result]:
    """Call a function once a task, and pass the results on, in order, as they come.

    Parameters
    ----------
    function, tasks, workers
        As for `run_tasks`.

    Examples
    --------
    >>> list(stream_tasks(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    if workers is not None and (workers == 0 or workers < -1):
        raise InputError(f"workers must be a number from 1 upwards, or -1 for all; got {workers}")
    from joblib import Parallel, delayed

    results: Iterator[_Result] = Parallel(n_jobs=workers, return_as="generator")(
        delayed(function)(*task) for task in tasks
    )
    return results
