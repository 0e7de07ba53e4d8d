"""What can be done about a problem, in the words of the shell: keywords become options."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tierwise.errors import Remark, Remedy, TierwiseError, advise, listed, printable

# Keywords that options have other names for.
_OPTION_OF = {"n_groups": "groups", "rng": "seed"}
_PLAIN = re.compile(r"[\w.,/@%+:-]+")


@dataclass(frozen=True)
class Shell:
    """The command that is run, and the options that each command has.

    Attributes
    ----------
    command
        The command; empty where every option is known to be there.
    options
        For each command the options, such as --unranked, by the names of their parameters.
    """

    command: str = ""
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def says(self, told: TierwiseError | Remark | str) -> str:
        """Put a message on one line, its remedies as options.

        Examples
        --------
        >>> from tierwise.errors import InputError, use
        >>> Shell().says(InputError("2 items are tied", [use("if that is meant", ties="allow")]))
        '2 items are tied: use --ties allow if that is meant'
        """
        text = told if isinstance(told, str) else advise(told.problem, told.remedies, self._wording)
        return printable(" ".join(text.split()))

    def _wording(self, remedy: Remedy) -> str | None:
        """Write a remedy as options; None if the command cannot be told so."""
        if remedy.function and not remedy.command:
            return None
        written = [self._setting(remedy, keyword, value) for keyword, value in remedy.settings]
        if None in written:
            return None
        if remedy.command:
            return " ".join(["tierwise", remedy.command, "FILE", *map(str, written)])
        return listed(written)

    def _setting(self, remedy: Remedy, keyword: str, value: Any) -> str | None:
        name = _OPTION_OF.get(keyword, keyword)
        command = remedy.command or self.command
        known = self.options.get(command, {})
        if command and name not in known:
            return None
        option = known.get(name, f"--{name.replace('_', '-')}")
        return option if value is None or value is ... else f"{option} {_as_word(value)}"


def _as_word(value: Any) -> str:
    """Write a value as one word of the shell.

    Examples
    --------
    >>> _as_word(["tea", "green tea"]), _as_word({"Q1": "tea"}), _as_word("below")
    ('"tea,green tea"', 'Q1=tea', 'below')
    """
    if isinstance(value, Mapping):
        text = ",".join(f"{old}={new}" for old, new in value.items())
    elif isinstance(value, list | tuple):
        text = ",".join(map(str, value))
    else:
        text = str(value)
    if _PLAIN.fullmatch(text.replace("=", "")):
        return text
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
