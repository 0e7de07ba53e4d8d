"""Several names in one text, as people type them: those with commas stand in quotes."""

import re
from collections.abc import Iterable

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)')


def split_names(text: str) -> list[str]:
    """Read names that are separated by commas.

    Examples
    --------
    >>> split_names("age, region"), split_names('"Wiley, Maya","Yang, Andrew"')
    (['age', 'region'], ['Wiley, Maya', 'Yang, Andrew'])
    """
    found = [in_quotes.replace('""', '"') or plain for in_quotes, plain in _NAME.findall(text)]
    return [name.strip() for name in found if name.strip()]


def join_names(names: Iterable[object]) -> str:
    """Write names so that `split_names` reads them again.

    Examples
    --------
    >>> print(join_names(["Wiley, Maya", "Yang"]))
    "Wiley, Maya",Yang
    """
    written = []
    for name in map(str, names):
        needs_quotes = "," in name or name.startswith('"')
        written.append('"' + name.replace('"', '""') + '"' if needs_quotes else name)
    return ",".join(written)
