"""Learn tiers from rankings: an ordered partition of the items, and how sure that is.

Examples
--------
>>> import tierwise as tw
>>> rankings = tw.Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]])
>>> rankings
Rankings(2 rankings of 3 items, complete, 2 distinct)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tierwise._version import __version__

if TYPE_CHECKING:
    from tierwise.counts import Counts as Counts
    from tierwise.errors import InputError as InputError
    from tierwise.errors import TierwiseError as TierwiseError
    from tierwise.errors import TierwiseWarning as TierwiseWarning
    from tierwise.errors import TooLargeError as TooLargeError
    from tierwise.preferences import Preferences as Preferences
    from tierwise.rankings import Rankings as Rankings
    from tierwise.tiers import Tiers as Tiers

# Names are looked up on first use: `import tierwise` does not wait for compilers and readers.
_HOME_OF = {
    "Counts": "counts",
    "InputError": "errors",
    "Preferences": "preferences",
    "Rankings": "rankings",
    "TierwiseError": "errors",
    "TierwiseWarning": "errors",
    "Tiers": "tiers",
    "TooLargeError": "errors",
}

__all__ = ["__version__"]
__all__ += list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tierwise' has no attribute {name!r}")
    value = getattr(import_module(f"tierwise.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
