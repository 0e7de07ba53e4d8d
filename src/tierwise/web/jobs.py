"""Uploaded files and jobs: each job waits in a queue, runs in a child process, has an address.

A file and its results lie in folders with random names, never in names that a browser sent. A
server that starts finds what its folder already holds, so results in a chosen folder last as long
as people like.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
import warnings
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from pathlib import Path
from secrets import token_hex
from time import monotonic, time
from typing import Any, Literal, TypeAlias, TypeVar

from starlette.exceptions import HTTPException

from tierwise._compiling.beforehand import Beside, compile_beside, uses_of_command
from tierwise._util.resources import whole_file
from tierwise.errors import InputError, TierwiseWarning
from tierwise.web.security import Limits
from tierwise.web.tasks import READY

State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]

_NUMBER = re.compile(r"[0-9a-f]{32}")
# What analyses need takes a child about so long to load; two cores have no time for more.
_SECONDS_OF_LOADING = 1.0
_LONGEST_LINE = 1 << 24  # bytes that a child may say at once
_INTERRUPTED = "The server stopped while this was being computed. Start it again."
_TOO_LONG = (
    "The result is too long for this server to show. Try fewer items or shorter names, or use "
    "tierwise on the command line."
)
_BROKEN = "Something went wrong in this program. Please report it."
_NOT_STORED = (
    "This cannot be stored: the server's disk is full or read-only. Try again later, or tell "
    "the person who runs the server."
)
_Known = TypeVar("_Known")
_Told: TypeAlias = Callable[[dict[str, Any]], None]


@dataclass
class Upload:
    """An uploaded file.

    Attributes
    ----------
    number
        The end of its address.
    name
        Its name in the browser: shown, and never used as a path.
    created
        When it was uploaded, in seconds since 1970.
    """

    number: str
    name: str
    created: float = field(default_factory=time)


@dataclass
class Job:
    """An analysis of a file.

    Attributes
    ----------
    number, upload
        The end of its address, and the number of the file.
    name
        The name of the file.
    reading, wishes
        How the file is read, and what is computed.
    state, message
        Its state, and why it failed.
    created, started, seconds
        When it was requested and when it began, in seconds since 1970, and how long it took.
    step, done, total
        The current step, and how much of it is done.
    result
        What its page shows.
    """

    number: str
    upload: str
    name: str
    reading: dict[str, Any]
    wishes: dict[str, Any]
    state: State = "waiting"
    message: str = ""
    created: float = field(default_factory=time)
    started: float = 0.0
    seconds: float = 0.0
    step: str = ""
    done: int = 0
    total: int = 0
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title of its result."""
        return str(self.wishes.get("title") or self.result.get("title") or self.name)

    @property
    def ended(self) -> bool:
        """Whether the job is over."""
        return self.state in ("done", "failed", "cancelled")


class ChildDiedError(Exception):
    """A child process ended without a result."""


class Children:
    """Child processes, with a limit on how many run at once."""

    def __init__(self, limits: Limits, at_once: int) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(at_once)
        self._running: set[Process] = set()
        self._ready: Process | None = None
        self._preparing = asyncio.Lock()

    async def prepare(self) -> None:
        """Start the next child before there is a task, so that it has loaded what analyses need."""
        async with self._preparing:
            if self._ready is None or self._ready.returncode is not None:
                self._ready = await self._start(READY)

    async def _start(self, *words: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tierwise.web.tasks", *words),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=_LONGEST_LINE,
            start_new_session=True,
            env=_environment(),
        )

    async def run(
        self,
        task: dict[str, Any],
        seconds: float,
        tell: _Told = lambda _news: None,
        started: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        """Run a task when a place is free, and return its last message.

        When the caller is cancelled, the child and all its own children end at once.
        """
        async with self._free:
            started()
            process, self._ready = self._ready, None
            if process is None or process.returncode is not None:
                process = await self._start()
            self._running.add(process)
            try:
                async with asyncio.timeout(seconds):
                    return await self._converse(process, task, tell)
            except TimeoutError:
                return {"problem": f"It took longer than {seconds:,.0f} seconds and was stopped."}
            finally:
                self._running.discard(process)
                _end(process)
                await process.wait()

    async def _converse(
        self, process: Process, task: dict[str, Any], tell: _Told
    ) -> dict[str, Any]:
        if process.stdin is None or process.stdout is None:
            raise ChildDiedError
        limits = {**asdict(self._limits)}
        process.stdin.write(json.dumps({**task, "limits": limits}).encode() + b"\n")
        await process.stdin.drain()
        while line := await self._line(process.stdout):
            news = json.loads(line)
            if "step" not in news:
                return dict(news)
            tell(news)
        await process.wait()
        raise ChildDiedError(_why_it_died(process.returncode or 0))

    @staticmethod
    async def _line(stream: asyncio.StreamReader) -> bytes:
        try:
            return await stream.readline()
        except ValueError:
            raise ChildDiedError(_TOO_LONG) from None

    async def end(self) -> None:
        """End all children, also one that has no task yet."""
        for process in self._running:
            _end(process)
        if self._ready is not None:
            _end(self._ready)
            await self._ready.wait()


def _environment() -> dict[str, str]:
    """Return what a child sees: not the token, and one thread for linear algebra.

    There are as many children as cores. Threads of several that wait for one another take ten
    times the time.
    """
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    kept = {name: value for name, value in os.environ.items() if name != "TIERWISE_TOKEN"}
    return {**dict.fromkeys(threads, "1"), **kept}


def _end(process: Process) -> None:
    """End a process and those that it has started, at once."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass


def _why_it_died(code: int) -> str:
    reason = f"exit code {code}"
    if code < 0:
        # So end those that the system ends, and those that get no more memory.
        of_memory = code in (-9, -6)
        reason = "there may have been too little memory" if of_memory else f"signal {-code}"
    return (
        f"The analysis stopped without a result ({reason}). Try fewer items or answers, or "
        "other options; if that does not help, please report it."
    )


class Store:
    """The state of the server: files, jobs, and the children that work on them."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder, self._limits = folder, limits
        self.uploads: dict[str, Upload] = {}
        self.jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._understood: dict[tuple[str, str], dict[str, Any]] = {}
        self._being_read: dict[tuple[str, str], asyncio.Task[dict[str, Any]]] = {}
        self._analysts = Children(limits, limits.jobs)
        # People who look at their file do not wait for the analyses of others.
        self._readers = Children(limits, limits.jobs)
        self._n_reading = 0
        self._step_began: dict[str, float] = {}
        self._compiling = Beside()
        self._waiting_to_compile: asyncio.Task[None] | None = None
        self._find_again()

    def _find_again(self) -> None:
        for upload in _kept(self._folder, "upload.json", Upload):
            self.uploads[upload.number] = upload
        for job in _kept(self._folder, "job.json", Job):
            if not job.ended:
                job.state, job.message = "failed", _INTERRUPTED
            self.jobs[job.number] = job

    async def prepare_while_people_choose(self) -> None:
        """Have what analyses need loaded, and compiled once after an installation.

        Compiling ends when an analysis starts, which compiles what it needs itself, and its own
        kind of answers first.
        """
        await self._analysts.prepare()
        self._waiting_to_compile = asyncio.create_task(self._compile_soon())

    async def _compile_soon(self) -> None:
        """Compile once the child that waits for an analysis has loaded what it needs."""
        await asyncio.sleep(_SECONDS_OF_LOADING)
        # Pages of very few items compile little.
        uses = [use for use in uses_of_command("report") if "very few items" not in use]
        self._compiling = compile_beside(*uses)

    def _stop_compiling(self) -> None:
        if self._waiting_to_compile is not None:
            self._waiting_to_compile.cancel()
        self._compiling.end()

    async def close(self) -> None:
        """Stop all running work."""
        self._stop_compiling()
        for task in self._tasks.values():
            task.cancel()
        await self._readers.end()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._analysts.end()

    def folder_of(self, number: str) -> Path:
        """Return the folder of a file or a job."""
        if not _NUMBER.fullmatch(number):
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return self._folder / number

    def file_of(self, upload: Upload) -> Path:
        """Return the path of an uploaded file."""
        return self.folder_of(upload.number) / "upload"

    def upload(self, number: str) -> Upload:
        """Return a file by its number."""
        return _found(self.uploads, number, "That file is no longer here. Upload it again.")

    def job(self, number: str) -> Job:
        """Return a job by its number."""
        return _found(self.jobs, number, "That result is no longer here. Compute it again.")

    @contextmanager
    def new_upload(self, name: str) -> Iterator[Upload]:
        """Make room for a file; if it cannot be stored completely, nothing is kept."""
        self._make_room()
        upload = Upload(token_hex(16), name)
        self.uploads[upload.number] = upload
        try:
            with storing():
                folder = self.folder_of(upload.number)
                folder.mkdir(mode=0o700)
                _write(folder / "upload.json", asdict(upload))
                yield upload
        except BaseException:
            self.forget_upload(upload.number)
            raise

    def _make_room(self) -> None:
        if len(self.uploads) < self._limits.kept:
            return
        used = {job.upload for job in self.jobs.values()}
        unused = [one for one in self.uploads.values() if one.number not in used]
        if not unused:
            raise HTTPException(
                HTTPStatus.INSUFFICIENT_STORAGE,
                "This server has reached its limit of files. Delete some results first.",
            )
        self.forget_upload(min(unused, key=lambda one: one.created).number)

    def forget_upload(self, number: str) -> None:
        """Delete a file."""
        self.uploads.pop(number, None)
        for key in [key for key in self._understood if key[0] == number]:
            del self._understood[key]
        shutil.rmtree(self.folder_of(number), ignore_errors=True)

    async def forget_job(self, job: Job) -> None:
        """Delete a result, and its file unless another result uses it."""
        await self.cancel(job)
        if self.jobs.pop(job.number, None) is None:  # somebody else was faster
            return
        shutil.rmtree(self.folder_of(job.number), ignore_errors=True)
        if job.upload in self.uploads and all(
            one.upload != job.upload for one in self.jobs.values()
        ):
            self.forget_upload(job.upload)

    def _task(self, do: str, upload: Upload, reading: dict[str, Any]) -> dict[str, Any]:
        path = str(self.file_of(upload))
        return {"do": do, "upload": path, "name": upload.name, "reading": reading}

    async def write_example(self, upload: Upload, example: str) -> None:
        """Write an example where a file would be."""
        reply = await self._ask({**self._task("example", upload, {}), "example": example})
        if "problem" in reply:
            raise InputError(reply["problem"])

    async def understand(self, upload: Upload, reading: dict[str, Any]) -> dict[str, Any]:
        """Return how a file is read; the result is cached."""
        key = upload.number, json.dumps(reading, sort_keys=True)
        if key not in self._understood:
            if key not in self._being_read:
                # Those who ask the same meanwhile wait for the same child.
                asked = asyncio.create_task(self._ask(self._task("understand", upload, reading)))
                asked.add_done_callback(lambda _task: self._being_read.pop(key, None))
                self._being_read[key] = asked
            reply = await asyncio.shield(self._being_read[key])
            if "result" not in reply:
                return {"problem": reply["problem"], "columns": [], "sheets": [], "asks": []}
            if len(self._understood) >= 2 * self._limits.kept:
                self._understood.pop(next(iter(self._understood)))
            self._understood[key] = reply["result"]
        return self._understood[key]

    async def judge(self, job: Job, own: list[list[int]]) -> dict[str, Any]:
        """Compare the user's own tiers with those found."""
        task = self._task("judge", self.upload(job.upload), job.reading)
        names = ("found", "family", "distance", "concentration", "ranked")
        # Older results that a folder keeps do not have them all.
        model = {name: job.result[name] for name in names if name in job.result}
        return await self._ask({**task, "own": own, **model})

    async def _ask(self, task: dict[str, Any]) -> dict[str, Any]:
        """Let a child do what takes seconds."""
        if self._n_reading >= self._limits.waiting:
            raise _busy()
        self._n_reading += 1
        try:
            return await self._readers.run(task, self._limits.reading_seconds)
        except ChildDiedError as error:
            return {"problem": str(error)}
        finally:
            self._n_reading -= 1

    def start(self, upload: Upload, reading: dict[str, Any], wishes: dict[str, Any]) -> Job:
        """Put an analysis at the end of the queue."""
        if sum(job.state == "waiting" for job in self.jobs.values()) >= self._limits.waiting:
            raise _busy()
        job = Job(token_hex(16), upload.number, upload.name, reading, wishes)
        with storing():
            self.folder_of(job.number).mkdir(mode=0o700)
            self._keep(job)
        self.jobs[job.number] = job
        self._tasks[job.number] = asyncio.create_task(self._work(job))
        return job

    async def _work(self, job: Job) -> None:
        task = {
            **self._task("analyse", self.upload(job.upload), job.reading),
            "wishes": job.wishes,
            "folder": str(self.folder_of(job.number)),
        }

        def started() -> None:
            self._stop_compiling()
            job.started, job.state = time(), "running"

        def tell(news: dict[str, Any]) -> None:
            if news["step"] != job.step or news["done"] < job.done:
                self._step_began[job.number] = monotonic()
            job.step, job.done, job.total = news["step"], news["done"], news["total"]

        try:
            reply = await self._analysts.run(task, self._limits.job_seconds, tell, started)
            if "result" in reply:
                job.state, job.result = "done", reply["result"]
            else:
                job.state, job.message = "failed", reply["problem"]
        except asyncio.CancelledError:
            job.state = "cancelled"
        except ChildDiedError as error:
            job.state, job.message = "failed", str(error)
        except Exception:  # noqa: BLE001 - whatever it is, a job that has ended must not seem to run
            job.state, job.message = "failed", _BROKEN
        job.seconds = time() - job.started if job.started else 0.0
        self._tasks.pop(job.number, None)
        self._step_began.pop(job.number, None)
        with suppress(HTTPException):  # what cannot be kept is known until the server ends
            self._keep(job)
        await self._analysts.prepare()

    def _keep(self, job: Job) -> None:
        folder = self.folder_of(job.number)
        if folder.is_dir():
            _write(folder / "job.json", asdict(job))

    async def cancel(self, job: Job) -> None:
        """End a job at once, running or waiting."""
        task = self._tasks.get(job.number)
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if not job.ended:  # it had not begun
            job.state = "cancelled"
            self._tasks.pop(job.number, None)
            self._keep(job)

    def waiting_before(self, job: Job) -> int:
        """Return how many jobs are ahead in the queue."""
        waiting = [one.number for one in self.jobs.values() if one.state == "waiting"]
        return waiting.index(job.number) if job.number in waiting else 0

    def seconds_left(self, job: Job) -> float | None:
        """Estimate the remaining time of the current step from the time it has taken so far."""
        began = self._step_began.get(job.number)
        if began is None or job.total <= 0 or job.done <= 0 or job.done >= job.total:
            return None
        return (monotonic() - began) / job.done * (job.total - job.done)


def _found(known: dict[str, _Known], number: str, otherwise: str) -> _Known:
    if number not in known:
        raise HTTPException(HTTPStatus.NOT_FOUND, otherwise)
    return known[number]


def _busy() -> HTTPException:
    return HTTPException(
        HTTPStatus.SERVICE_UNAVAILABLE, "Too many analyses are waiting. Try again in a minute."
    )


def _write(path: Path, values: dict[str, Any]) -> None:
    try:
        with whole_file(path) as partial:
            partial.write_text(json.dumps(values), encoding="utf-8")
    except InputError:
        raise _not_stored() from None


def _kept(folder: Path, name: str, kind: Callable[..., _Known]) -> Iterator[_Known]:
    """Read saved records; skip damaged ones with a warning."""
    for file in sorted(folder.glob(f"*/{name}")):
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
            found = kind(**values)
            sound = values["number"] == file.parent.name
        except (OSError, TypeError, ValueError, KeyError):
            sound = False
        if sound:
            yield found
        else:
            warnings.warn(
                f"{file} is damaged and was skipped: delete its folder, or restore the file",
                TierwiseWarning,
                stacklevel=2,
            )


@contextmanager
def storing() -> Iterator[None]:
    """Report that something cannot be stored, without the system's own message."""
    try:
        yield
    except OSError:
        raise _not_stored() from None


def _not_stored() -> HTTPException:
    return HTTPException(HTTPStatus.INSUFFICIENT_STORAGE, _NOT_STORED)
