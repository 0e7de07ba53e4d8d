"""``tierwise serve``: files in, tiers out, in the browser."""

import os
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from tierwise.errors import InputError

TOKEN_VARIABLE = "TIERWISE_TOKEN"
_TEAM = "For a team, behind a proxy"
_LIMITS = "What people may ask for"

EXAMPLES = """
Examples:

tierwise serve

tierwise serve --folder results

tierwise serve --host 0.0.0.0 --port 8765 --allow-host tiers.example.org --base-path /tiers --https
"""


def serve_command(
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep files and results here; they are gone when the server ends if not given.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 is any that is free.")
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; 127.0.0.1 is this machine only.", rich_help_panel=_TEAM
        ),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name by which browsers may call the server, besides localhost; may be given "
            "several times.",
            show_default=False,
            rich_help_panel=_TEAM,
        ),
    ] = None,
    base_path: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="The path below which all pages lie, such as /tiers.",
            show_default=False,
            rich_help_panel=_TEAM,
        ),
    ] = "",
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many analyses run at once; one per core if not given.",
            show_default=False,
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    upload: Annotated[
        str, typer.Option(metavar="SIZE", help="The largest file.", rich_help_panel=_LIMITS)
    ] = "50MB",
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="The most memory that an analysis may take.",
            rich_help_panel=_LIMITS,
        ),
    ] = "4GB",
    minutes: Annotated[
        float,
        typer.Option(min=0.1, help="How long an analysis may take.", rich_help_panel=_LIMITS),
    ] = 60.0,
    *,
    https: Annotated[
        bool,
        typer.Option(
            "--https",
            help="The proxy speaks https: cookies go over it only.",
            rich_help_panel=_TEAM,
        ),
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Open a page on which a file is dropped, understood and answered with tiers.

    The first address holds a token, without which nobody comes in. It is random, or what the
    environment variable TIERWISE_TOKEN says.
    """
    missing = [name for name in ("starlette", "uvicorn", "multipart") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"tierwise serve needs {' and '.join(missing)}: install it with "
            'pip install "tierwise[web]"'
        )
    from tierwise._util.resources import parse_size
    from tierwise.web.security import host_name
    from tierwise.web.settings import LOCAL_NAMES, Limits, Settings

    path = base_path.strip("/")
    told: dict[str, Any] = {} if jobs is None else {"jobs": jobs}
    limits = Limits(
        upload_bytes=parse_size(upload, "--upload"),
        memory_bytes=parse_size(memory, "--memory"),
        job_seconds=60 * minutes,
        **told,
    )
    secret = os.environ.get(TOKEN_VARIABLE, "")
    if secret and len(secret) < 16:
        raise InputError(f"{TOKEN_VARIABLE} is too short to be a secret: give at least 16 letters")
    with TemporaryDirectory(prefix="tierwise-", ignore_cleanup_errors=True) as gone_at_the_end:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        settings = Settings(
            folder=(folder or Path(gone_at_the_end)).resolve(),
            hosts=(*LOCAL_NAMES, *(host_name(name) for name in allow_host or ())),
            base=f"/{path}" if path else "",
            secure=https,
            limits=limits,
            **({"token": secret} if secret else {}),
        )
        _serve(settings, host, port, open_browser=browser)


def _serve(settings: Any, host: str, port: int, *, open_browser: bool) -> None:
    from tierwise.web.server import listen, run

    with listen(host, port) as listening:
        run(settings, listening, open_browser=open_browser, say=typer.echo)
