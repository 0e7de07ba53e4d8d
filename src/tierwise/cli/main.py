"""The program ``tierwise`` and its commands."""

import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from tierwise import __version__
from tierwise.cli import compare, fit, groups, pages, planning, posterior
from tierwise.cli.describe import describe
from tierwise.cli.printing import fitted
from tierwise.cli.remedies import Shell, options_of
from tierwise.cli.warm_up import warm_up_command
from tierwise.errors import TierwiseError

_INTERRUPTED = 130  # the convention of shells: 128 plus the number of the signal
_TERMINATED = 143


class _RememberedEnd:
    """A hook for exceptions that C code drops, which remembers that the program shall end.

    The compiler calls Python from C. It goes on, and fails later, where that call was ended.
    """

    def __init__(self) -> None:
        self.end: SystemExit | KeyboardInterrupt | None = None

    def __call__(self, dropped: "sys.UnraisableHookArgs") -> None:
        if isinstance(dropped.exc_value, SystemExit | KeyboardInterrupt):
            self.end = dropped.exc_value
        else:
            sys.__unraisablehook__(dropped)


class _Commands(TyperGroup):
    """The commands; an interrupted one reports what it has saved."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return self._invoke(ctx)
        except KeyboardInterrupt as interrupt:
            kept = getattr(interrupt, "__notes__", ["unfinished work is lost"])
            typer.echo(f"\ntierwise: interrupted: {kept[0]}", err=True)
            raise typer.Exit(_INTERRUPTED) from None

    def _invoke(self, ctx: Any) -> Any:
        """Run a command; one that failed because it was told to end just ends."""
        try:
            return super().invoke(ctx)
        except Exception:
            end = getattr(sys.unraisablehook, "end", None)
            if end is None:
                raise
            raise end from None


app = typer.Typer(
    name="tierwise",
    cls=_Commands,
    help="Find tiers in rankings, battles and scores, and say how sure they are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(describe)
app.command("fit", epilog=fit.FIT_EXAMPLES)(fit.fit_command)
app.command("search", epilog=fit.SEARCH_EXAMPLES)(fit.search_command)
app.command("posterior", epilog=posterior.POSTERIOR_EXAMPLES)(posterior.posterior_command)
app.command("sample", epilog=fit.SAMPLE_EXAMPLES)(fit.sample_command)
app.command("report", epilog=pages.REPORT_EXAMPLES)(pages.report_command)
app.command("mixture", epilog=groups.MIXTURE_EXAMPLES)(groups.mixture_command)
app.command("serve", epilog=pages.SERVE_EXAMPLES)(pages.serve_command)
app.command("groups", epilog=groups.GROUPS_EXAMPLES)(groups.groups_command)
app.command("leaderboard", epilog=posterior.LEADERBOARD_EXAMPLES)(posterior.leaderboard_command)
app.command("compare", epilog=compare.COMPARE_EXAMPLES)(compare.compare_command)
app.command("plan", epilog=planning.PLAN_EXAMPLES)(planning.plan_command)
app.command("next", epilog=planning.NEXT_EXAMPLES)(planning.next_command)
app.command("enough", epilog=planning.ENOUGH_EXAMPLES)(planning.enough_command)
app.command()(pages.demo)
app.command("warm-up")(warm_up_command)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"tierwise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def _show_warning(message: Warning | str, *_where: Any, **_options: Any) -> None:
    """Print a warning without the line of code that raised it."""
    typer.echo(fitted("tierwise: warning: " + Shell().says(str(message))), err=True)


def shell(command: str) -> Shell:
    """Return the command and its options, for messages."""
    called = [(one.name, one.callback) for one in app.registered_commands if one.callback]
    return Shell(command, {name or run.__name__: options_of(run) for name, run in called})


def _terminate(*_signal: Any) -> NoReturn:
    """End the program with an exception, so files and processes are cleaned up."""
    sys.exit(_TERMINATED)


def main() -> None:
    """Run the program; wrong input gives one line on stderr and exit code 2.

    Too little memory, or output that cannot be written, gives exit code 1.
    """
    warnings.showwarning = _show_warning
    # joblib replaces a worker that has become large: nothing is lost.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
    sys.unraisablehook = _RememberedEnd()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:  # the shell may have closed it
                sys.stdout.flush()
    except TierwiseError as error:
        typer.echo(fitted("tierwise: " + shell(sys.argv[1]).says(error)), err=True)
        sys.exit(2)
    except MemoryError as error:
        reason = f" ({Shell().says(str(error))})" if str(error) else ""
        typer.echo(f"tierwise: not enough memory{reason}", err=True)
        sys.exit(1)
    except OSError as error:
        # Python must not try to write the rest of the output again when it ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = error.filename or "standard output"
        typer.echo(f"tierwise: {where} cannot be used: {error.strerror or error}", err=True)
        sys.exit(1)
