"""Write remedies for the shell: keywords become options."""

import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin

from typer.models import OptionInfo

from tierwise._util.names import join_names
from tierwise.errors import Group, Remark, Remedy, TierwiseError, advise, listed, printable

# Keywords that options have other names for.
_OPTION_OF = {"n_groups": "groups", "rng": "seed"}
_PLAIN = re.compile(r"[\w.,/@%+:-]+")


@dataclass(frozen=True)
class Option:
    """An option of a command: its name, such as --unranked, and the words it takes, if few."""

    name: str
    choices: tuple[str, ...] = ()


def options_of(command: Callable[..., None]) -> dict[str, Option]:
    """Return the options of a command by the names of its parameters."""
    options = {}
    for parameter in inspect.signature(command).parameters.values():
        said = [one for one in get_args(parameter.annotation)[1:] if isinstance(one, OptionInfo)]
        if said:
            names = [name for name in said[0].param_decls or () if name.startswith("--")]
            name = names[0] if names else f"--{parameter.name.replace('_', '-')}"
            options[parameter.name] = Option(name, _words(get_args(parameter.annotation)[0]))
    return options


def _words(kind: Any) -> tuple[str, ...]:
    """Return the words that a type such as ``Literal["below", "anywhere"] | None`` allows."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(word for part in get_args(kind) for word in _words(part))


@dataclass(frozen=True)
class Shell:
    """The command that is run, and the options that each command has.

    Attributes
    ----------
    command
        The command; empty if every option exists.
    options
        For each command the options, by the names of their parameters.
    """

    command: str = ""
    options: Mapping[str, Mapping[str, Option]] = field(default_factory=dict)

    def says(self, message: TierwiseError | Remark | str) -> str:
        """Write a message on one line, with its remedies as options.

        Examples
        --------
        >>> from tierwise.errors import InputError, use
        >>> Shell().says(InputError("2 items are tied", [use("if that is meant", ties="allow")]))
        '2 items are tied: use --ties allow if that is meant'
        """
        if isinstance(message, str):
            text = message
        else:
            text = advise(self._problem(message), message.remedies, self._wording)
        return printable(" ".join(text.split()))

    def _problem(self, message: TierwiseError | Remark) -> str:
        """Return the problem; the argument that it is about becomes an option."""
        if not isinstance(message, TierwiseError):
            return message.problem
        name = _OPTION_OF.get(message.argument, message.argument)
        option = self.options.get(self.command, {}).get(name)
        return message.problem if option is None else message.about_argument(option.name)

    def _wording(self, remedy: Remedy) -> str | None:
        """Write a remedy as options; None if the command has no such option."""
        if remedy.function and not remedy.command:
            return None
        settings = [
            self._setting(remedy, keyword, value) for keyword, value in _ungrouped(remedy.settings)
        ]
        written = [setting for setting in settings if setting is not None]
        if remedy.command == self.command != "" and written:
            return listed(written)
        if remedy.command and len(written) == len(settings):
            return " ".join(["tierwise", remedy.command, "FILE", *written])
        # What is to be left out, but is not an option here, was not given.
        possible = written if remedy.verb == "leave out" else len(written) == len(settings)
        return listed(written) if possible else None

    def _setting(self, remedy: Remedy, keyword: str, value: Any) -> str | None:
        name = _OPTION_OF.get(keyword, keyword)
        command = remedy.command or self.command
        if not command:
            option = Option(f"--{name.replace('_', '-')}")
        elif name in self.options[command]:
            option = self.options[command][name]
        else:
            return None
        if value is None or value is ...:
            return option.name
        if option.choices and value not in option.choices:
            return None  # an option of the same name, but for something else
        if isinstance(value, Mapping):
            return " ".join(f"{option.name} {_as_word({old: new})}" for old, new in value.items())
        return f"{option.name} {_as_word(value)}"


def _ungrouped(settings: tuple[tuple[str, Any], ...]) -> Iterator[tuple[str, Any]]:
    """Yield keywords with their values; values that Python groups are separate in the shell."""
    for keyword, value in settings:
        yield from value.settings if isinstance(value, Group) else [(keyword, value)]


def _as_word(value: Any) -> str:
    """Write a value as one word of the shell.

    Examples
    --------
    >>> _as_word(["tea", "green tea"]), _as_word({"Q1": "tea"}), _as_word("below")
    ('"tea,green tea"', 'Q1=tea', 'below')
    >>> print(_as_word(["Wiley, Maya", "Yang"]))
    '"Wiley, Maya",Yang'
    """
    if isinstance(value, Mapping):
        text = " ".join(f"{old}={new}" for old, new in value.items())
    elif isinstance(value, list | tuple):
        text = join_names(value)
    else:
        text = str(value)
    if _PLAIN.fullmatch(text.replace("=", "")):
        return text
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
