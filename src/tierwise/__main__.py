"""The program ``tierwise`` from its first moment on, when its parts are not loaded yet."""

import sys

from tierwise._util.processes import collect_seldom


def main() -> None:
    """Load the program, and run it."""
    collect_seldom()
    try:
        from tierwise.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("\ntierwise: interrupted before any work was done\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
