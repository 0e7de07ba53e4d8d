"""The server of ``tierwise serve``: its pages (Starlette), and how it listens (uvicorn).

The pages are a file, how it was understood, a job, and its tiers.
"""

import asyncio
import re
import signal
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import PurePosixPath, PureWindowsPath
from time import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from tierwise import __version__
from tierwise.errors import (
    BEHIND_IS,
    InputError,
    TierwiseError,
    behind_in_words,
    printable,
    share_in_words,
)
from tierwise.web import choices
from tierwise.web.jobs import Job, Store, Upload, storing
from tierwise.web.security import Application, Guard, Settings
from tierwise.web.tasks import COMPILING, EXAMPLES

if TYPE_CHECKING:
    import uvicorn

_LONGEST_NAME = 80
_CHUNK = 1 << 20
# The files to download, with the content type that browsers get.
_DOWNLOADS = {
    "report.html": "text/html; charset=utf-8",
    "tiers.png": "image/png",
    "tiers.svg": "image/svg+xml",
    "tiers.csv": "text/csv; charset=utf-8",
    "result.json": "application/json",
}
_STATIC = {
    "web.css": "text/css; charset=utf-8",
    "report.css": "text/css; charset=utf-8",
    "web.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
}


# What is being done, in other words than a program's.
_STEPS = {
    "bootstrap": "Resampling answers to see how certain the tiers are",
    "chains": "Drawing from the posterior",
    "Fitting groups": "Looking for groups of people",
    "figures": "Drawing figures",
    "": "Starting",
}
_OWN_STEPS = ("Reading the file", "Finding the tiers", COMPILING)
# More connections than anybody has tabs; further ones get "try again later".
_MOST_CONNECTIONS = 300
_SECONDS_TO_FINISH = 2


def make_app(settings: Settings) -> Application:
    """Return the ASGI application with its access guard."""
    pages = Pages(settings)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await pages.store.prepare_while_people_choose()
        yield
        await pages.store.close()

    routes = [
        Route("/", pages.start),
        Route("/data", pages.take, methods=["POST"]),
        Route("/data/{number}", pages.understood),
        Route("/data/{number}/jobs", pages.run, methods=["POST"]),
        Route("/jobs/{number}", pages.job),
        Route("/jobs/{number}/progress", pages.progress),
        Route("/jobs/{number}/colours.css", pages.colours),
        Route("/jobs/{number}/cancel", pages.cancel, methods=["POST"]),
        Route("/jobs/{number}/delete", pages.delete, methods=["POST"]),
        Route("/jobs/{number}/own", pages.judge, methods=["POST"]),
        Route("/jobs/{number}/page", pages.report),
        Route("/jobs/{number}/files/{file}", pages.download),
        Route("/static/{file}", pages.static),
    ]
    app = Starlette(
        routes=[Mount(settings.base, routes=routes)] if settings.base else routes,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: pages.refused,
            InputError: pages.refused,
            Exception: pages.broken,
        },
    )
    return Guard(app, settings, pages.closed)


class Pages:
    """The pages and their contents."""

    def __init__(self, settings: Settings) -> None:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        self.settings = settings
        self.store = Store(settings.folder, settings.limits)
        self._environment = Environment(
            loader=PackageLoader("tierwise.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["share"] = share_in_words
        self._environment.filters["behind"] = behind_in_words
        self._environment.globals["behind_is"] = BEHIND_IS

    def _page(
        self, template: str, status: HTTPStatus = HTTPStatus.OK, **shown: Any
    ) -> HTMLResponse:
        text = self._environment.get_template(template).render(
            base=self.settings.base, limits=self.settings.limits, version=__version__, **shown
        )
        return HTMLResponse(text, status)

    def _address(self, *parts: str) -> str:
        return "/".join((self.settings.base, *parts))

    def _go_to(self, *parts: str) -> Response:
        return RedirectResponse(self._address(*parts), HTTPStatus.SEE_OTHER)

    def closed(self, path: str) -> Response:
        """Ask a visitor without the cookie to open the address with the token."""
        return self._page("closed.html", HTTPStatus.FORBIDDEN, path="/" + path.lstrip("/"))

    async def refused(self, _request: Request, error: Exception) -> Response:
        """Show why a request failed."""
        status, message = HTTPStatus.BAD_REQUEST, str(error)
        if isinstance(error, TierwiseError):
            message = choices.on_page(error)
        elif isinstance(error, HTTPException):
            status, message = HTTPStatus(error.status_code), error.detail
            if message == HTTPStatus.NOT_FOUND.phrase:  # no message says what is missing
                message = "There is no page at this address."
        return self._page("message.html", status, message=message)

    async def broken(self, _request: Request, _error: Exception) -> Response:
        """Report an internal error without its details."""
        message = "Something went wrong in this program. Please report it."
        return self._page("message.html", HTTPStatus.INTERNAL_SERVER_ERROR, message=message)

    async def start(self, _request: Request) -> Response:
        """Show the upload form, the examples and the earlier results."""
        jobs = sorted(self.store.jobs.values(), key=lambda job: job.created, reverse=True)
        return self._page("start.html", examples=EXAMPLES, jobs=jobs)

    async def take(self, request: Request) -> Response:
        """Take a file, text, or the name of an example."""
        form_limits = {"max_fields": 10, "max_part_size": self.settings.limits.form_bytes}
        # Large files go to the disk while the form is read.
        with storing():
            async with request.form(max_files=1, **form_limits) as form:
                upload = await self._store(form)
        return self._go_to("data", upload.number)

    async def _store(self, form: FormData) -> Upload:
        file, text, example = form.get("file"), form.get("text"), form.get("example")
        if isinstance(example, str) and example in EXAMPLES:
            with self.store.new_upload(f"{example}.csv") as upload:
                await self.store.write_example(upload, example)
        elif isinstance(file, UploadFile) and (file.filename or file.size):
            with self.store.new_upload(shown_name(file.filename or "")) as upload:
                await self._save(file, upload)
        elif isinstance(text, str) and text.strip():
            # Browsers end lines as Windows does.
            content = text.replace("\r\n", "\n").encode()
            # Starlette before 1.5 limits files and parts of forms, but no text in a plain form.
            if len(content) > self.settings.limits.form_bytes:
                raise HTTPException(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    "This text is too long for this server. Save it as a file and upload that.",
                )
            with self.store.new_upload("pasted text") as upload:
                self.store.file_of(upload).write_bytes(content)
        else:
            raise InputError("You gave neither a file nor text. Choose a file, or paste answers.")
        return upload

    async def _save(self, file: UploadFile, upload: Upload) -> None:
        with self.store.file_of(upload).open("wb") as kept:
            while chunk := await file.read(_CHUNK):
                await run_in_threadpool(kept.write, chunk)

    async def understood(self, request: Request) -> Response:
        """Show how a file was read, and ask what the file does not say."""
        upload = self.store.upload(request.path_params["number"])
        fields = {name: value for name, value in request.query_params.items() if value}
        reading = choices.parse_reading(fields)
        seen = await self.store.understand(upload, reading)
        return self.page_of_reading(upload, fields, seen)

    def page_of_reading(
        self, upload: Upload, fields: dict[str, str], seen: dict[str, Any]
    ) -> Response:
        """Show how a file was read with the user's choices, and the result of reading it."""
        reading = choices.parse_reading(fields)
        asked = {question["name"]: question for question in seen["asks"]}
        answered = [one for one in choices.answered_by(reading) if one.name not in asked]
        return self._page(
            "understood.html",
            upload=upload,
            seen=seen,
            reading=reading,
            questions=[*asked.values(), *answered],
            said=choices.fields_of(reading),
            roles=choices.ROLES,
            wishes=choices.WISHES,
            query=urlencode(fields),
        )

    async def run(self, request: Request) -> Response:
        """Start an analysis."""
        upload = self.store.upload(request.path_params["number"])
        reading = choices.parse_reading(request.query_params)
        async with request.form(max_files=0, max_fields=50) as form:
            wishes = choices.parse_wishes({name: str(value) for name, value in form.items()})
        return self._go_to("jobs", self.store.start(upload, reading, wishes).number)

    async def job(self, request: Request) -> Response:
        """Show the progress of a job, or its result."""
        job = self.store.job(request.path_params["number"])
        fields = urlencode(choices.fields_of(job.reading))
        again = self._address("data", job.upload) + (f"?{fields}" if fields else "")
        if job.state != "done":
            return self._page("job.html", job=job, again=again, **self._how_far(job))
        options, wishes = job.result["options"], job.result["wishes"]
        found = job.result["found"]
        without = job.result.get("without", [])  # older results that a folder keeps have none
        tier_of = {item: number for number, tier in enumerate(found, start=1) for item in tier}
        return self._page(
            "result.html",
            job=job,
            again=again,
            names=job.result["items"],
            labels=[tier_of[item] for item in sorted(tier_of)],
            python=choices.in_python(job.name, options, without, wishes),
            command=choices.in_shell(job.name, options, without, wishes),
        )

    def _how_far(self, job: Job) -> dict[str, Any]:
        left = self.store.seconds_left(job)
        return {
            "step": step_in_words(job.step, ended=0 < job.total <= job.done),
            "before": self.store.waiting_before(job),
            "worked": in_words(time() - job.started) if job.started else "",
            "left": None if left is None else in_words(left),
        }

    async def progress(self, request: Request) -> Response:
        """Show the progress of a job; the page reloads when the job has ended."""
        job = self.store.job(request.path_params["number"])
        response = self._page("progress.html", job=job, **self._how_far(job))
        if job.ended:
            response.headers["hx-refresh"] = "true"
        return response

    async def cancel(self, request: Request) -> Response:
        """End a job."""
        job = self.store.job(request.path_params["number"])
        await self.store.cancel(job)
        return self._go_to("jobs", job.number)

    async def delete(self, request: Request) -> Response:
        """Delete a result and its file."""
        await self.store.forget_job(self.store.job(request.path_params["number"]))
        return self._go_to("")

    def _finished(self, request: Request) -> Job:
        job = self.store.job(request.path_params["number"])
        if job.state != "done":
            raise HTTPException(HTTPStatus.NOT_FOUND, "There is no result yet.")
        return job

    async def judge(self, request: Request) -> Response:
        """Show how much worse the user's own tier list is."""
        job = self._finished(request)
        n_items = sum(map(len, job.result["found"]))
        async with request.form(max_files=0, max_fields=n_items) as form:
            given = [str(tier) for tier in form.getlist("tier")]
        if len(given) != n_items or not all(re.fullmatch(r"\d{1,4}", tier) for tier in given):
            raise InputError("Every item must be in exactly one tier: reload the page.")
        labels = [int(tier) for tier in given]
        own = [
            [item for item, label in enumerate(labels) if label == tier]
            for tier in sorted(set(labels))
        ]
        same = same_tiers(own, job.result["found"])
        reply = {"result": {}} if same else await self.store.judge(job, own)
        return self._page("own.html", reply=reply, same=same)

    async def colours(self, request: Request) -> Response:
        """Return the colours of the tiers as a style sheet: pages contain no inline styles."""
        rules = [
            f".row-{number} {{ --colour: {tier['colour']}; --ink: {tier['ink']}; }}"
            for number, tier in enumerate(self._finished(request).result["tiers"], start=1)
        ]
        return Response("\n".join(rules), media_type="text/css")

    async def report(self, request: Request) -> Response:
        """Show the report, which may run its own script and nothing else."""
        job = self._finished(request)
        policy = f"{job.result['policy']}; sandbox allow-scripts; frame-ancestors 'self'"
        headers = {"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
        path = self.store.folder_of(job.number) / "report.html"
        return FileResponse(path, headers=headers, media_type=_DOWNLOADS["report.html"])

    async def download(self, request: Request) -> Response:
        """Send a file of a result."""
        job, file = self._finished(request), request.path_params["file"]
        if file not in _DOWNLOADS:
            raise HTTPException(HTTPStatus.NOT_FOUND, "This file does not exist.")
        path = self.store.folder_of(job.number) / file
        # Downloads carry the name of the data; what a browser may not like in it is left out.
        stem = re.sub(r"[^\w .-]+", "", PurePosixPath(job.name).stem).strip(" .")[:_LONGEST_NAME]
        name = f"{stem}-{file}" if stem else file
        return FileResponse(path, filename=name, media_type=_DOWNLOADS[file])

    async def static(self, request: Request) -> Response:
        """Return a script or a style sheet of the package."""
        from importlib.resources import files

        name = request.path_params["file"]
        if name not in _STATIC:
            raise HTTPException(HTTPStatus.NOT_FOUND, "This file does not exist.")
        own = files("tierwise.web") / "static" / name
        shared = files("tierwise.reporting") / "templates" / name
        content = (shared if name == "report.css" else own).read_bytes()
        headers = {"cache-control": "max-age=3600"}
        return Response(content, headers=headers, media_type=_STATIC[name])


def shown_name(name: str) -> str:
    r"""Return a file name that is safe to show: no folders, no control characters, one line.

    Examples
    --------
    >>> shown_name("../../etc/passwd"), shown_name("C:\\data\\survey.csv"), shown_name("\n")
    ('passwd', 'survey.csv', 'file')
    """
    last = PureWindowsPath(PurePosixPath(name).name).name
    clean = "".join(mark for mark in last if printable(mark) == mark).strip()
    stem, mark, suffix = clean.rpartition(".")
    if len(clean) > _LONGEST_NAME:
        clean = stem[: _LONGEST_NAME - 10] + mark + suffix[:9]
    return clean.strip(".") or "file"


def same_tiers(own: list[list[int]], found: list[list[int]]) -> bool:
    """Return whether two tier lists are equal, ignoring the order of items within tiers."""
    return [set(tier) for tier in own] == [set(tier) for tier in found]


def step_in_words(step: str, *, ended: bool = False) -> str:
    """Return the words for the current step; when a step has ended, for the next one.

    Examples
    --------
    >>> step_in_words("chain 2"), step_in_words("greedy")
    ('Drawing from the posterior', 'Comparing tiers of other sizes')
    >>> step_in_words("a single tier, kendall")
    'Comparing with a strict order and with no tiers'
    >>> step_in_words("bootstrap", ended=True)
    'Checking the tiers'
    """
    if ended and (step == "bootstrap" or step.startswith("chain")):
        return "Checking the tiers"
    if step.startswith("chain"):
        return _STEPS["chains"]
    if step.startswith(("a single tier", "as many tiers as items")):
        return "Comparing with a strict order and with no tiers"
    return step if step in _OWN_STEPS else _STEPS.get(step, "Comparing tiers of other sizes")


def in_words(seconds: float) -> str:
    """Return a rough duration in words.

    Examples
    --------
    >>> in_words(3), in_words(50), in_words(400)
    ('a few seconds', 'about 50 seconds', 'about 7 minutes')
    """
    if seconds < 5:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds / 5) * 5} seconds"
    return f"about {round(seconds / 60)} minutes"


def configuration(settings: Settings) -> "uvicorn.Config":
    """Return the uvicorn configuration."""
    import uvicorn

    from tierwise.web.protocol import protocol_within

    return uvicorn.Config(
        make_app(settings),
        http=protocol_within(settings.limits),
        log_level="warning",
        access_log=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        server_header=False,
        proxy_headers=False,
        ws="none",
    )


def listen(host: str, port: int) -> socket.socket:
    """Open the port, or any free port if it is 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":  # There, it would let two servers share a port.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"{host} port {port} cannot be opened ({error.strerror or error}): choose another "
            "port, or 0 for any free port"
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
    """Serve until interrupted."""
    import uvicorn

    address = address_of(settings, listening)
    server = uvicorn.Server(configuration(settings))

    async def serve() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.05)
        if server.started:
            say(f"tierwise is at {address}\nStop it with Ctrl-C.")
            if open_browser:
                await asyncio.to_thread(webbrowser.open, address)
        await serving

    # The server raises again what ended it, as Ctrl-C does, so files are cleared away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve())
