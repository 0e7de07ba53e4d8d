"""Write down which kernels are called, and with which types: ``python tools/first_uses.py``.

Commands are run on small made-up files with nothing compiled, and the first call of each kernel
that is compiled then is noted, and what it calls. Kernels of other uses are taken from what has
been compiled on this machine, so run the tests before. The list is read by
`tierwise._compiling.beforehand`.
"""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from numba import config
from numba.core.dispatcher import Dispatcher
from numba.core.types import unliteral

from tierwise._compiling import beforehand
from tierwise._compiling import kernel as compiling
from tierwise._compiling.in_python import run as run_in_python
from tierwise._compiling.kernel import Kernel
from tierwise.cli import reading
from tierwise.cli.main import main as tierwise

VERY_FEW, FEW, MANY = 5, 9, 16
# So many that what is called for each of them is compiled, and not run by Python.
_MANY_ANSWERS = 1000


def _orders(n_items: int, n_answers: int) -> np.ndarray:
    """Draw orderings of items that lie in tiers of three."""
    logs = -0.6 * (np.arange(n_items) // 3)
    noise = np.random.default_rng(1).gumbel(size=(n_answers, n_items))
    return np.argsort(-(logs + noise), axis=1)


def complete(n_items: int) -> str:
    """Answers that put all items in order, best first."""
    return _lists(_orders(n_items, _MANY_ANSWERS).tolist())


def ballots(n_items: int) -> str:
    """Answers that list some of the best items."""
    return _lists(
        [order[: 1 + row % 5] for row, order in enumerate(_orders(n_items, _MANY_ANSWERS).tolist())]
    )


def _lists(orders: list[list[int]]) -> str:
    longest = max(map(len, orders))
    rows = [[f"item {one}" for one in order] + [""] * (longest - len(order)) for order in orders]
    return _table((f"choice {place}" for place in range(1, longest + 1)), rows)


def ratings(n_items: int) -> str:
    """Ranks with ties, one column per item."""
    ranks = 1 + np.argsort(_orders(n_items, 100), axis=1) // 2
    return _table((f"item {item}" for item in range(n_items)), ranks.tolist())


def ratings_with_gaps(n_items: int) -> str:
    """Ranks with ties, one column per item, some cells empty."""
    ranks = 1 + np.argsort(_orders(n_items, 100), axis=1) // 2
    missing = np.random.default_rng(2).random(ranks.shape) < 0.2
    return _table(
        (f"item {item}" for item in range(n_items)), np.where(missing, "", ranks.astype(str))
    )


def battles(n_items: int) -> str:
    """Models that won, lost or drew."""
    rng = np.random.default_rng(1)
    pairs = [rng.choice(n_items, 2, replace=False).tolist() for _ in range(1000)]
    outcomes = np.where(rng.random(1000) < 0.1, "tie", rng.choice(["model_a", "model_b"], 1000))
    rows = [[f"m{one}", f"m{two}", won] for (one, two), won in zip(pairs, outcomes, strict=True)]
    return _table(("model_a", "model_b", "winner"), rows)


def scores(n_items: int) -> str:
    """Models in rows, tasks in columns."""
    cells = np.random.default_rng(1).normal(60, 4, (n_items, 20)).round(2)
    cells -= 3 * (np.arange(n_items)[:, None] // 3)
    rows = [[f"model {number}", *row] for number, row in enumerate(cells.tolist())]
    return _table(("model", *(f"task {number}" for number in range(20))), rows)


def _table(head: Any, rows: Any) -> str:
    return "\n".join(",".join(map(str, row)) for row in (list(head), *rows)) + "\n"


Write = Callable[[int], str]
_UNTIED = ((complete, ""), (ballots, "--unranked below"), (ballots, "--unranked anywhere"))
_TIED = (
    (ratings, "--ties allow --layout ranks"),
    (ratings_with_gaps, "--ties allow --unranked anywhere"),
)
_COMPARED = ((battles, ""), (scores, "--better higher"))
USES: list[tuple[str, Write, int]] = [
    (f"{command} FILE {how}", write, n_items)
    for commands, kinds, sizes in (
        (("fit",), _UNTIED, (VERY_FEW, FEW, MANY)),
        (("fit",), _TIED, (VERY_FEW, FEW)),
        (("leaderboard",), _COMPARED, (VERY_FEW, FEW, MANY)),
        (("report",), (*_UNTIED, *_COMPARED), (VERY_FEW, FEW)),
        (("posterior", "search"), _UNTIED[:1], (VERY_FEW, FEW)),
    )
    for command in commands
    for write, how in kinds
    for n_items in sizes
]


class Noted:
    """What has been called, in order, by the name of the use."""

    def __init__(self) -> None:
        self.kernels: dict[str, list[Any]] = {}
        self.uses: dict[str, list[str]] = {}
        self.calls: dict[str, dict[str, float]] = {}
        self._of_use: dict[str, None] = {}
        self._caller = ""

    def note(self, function: Any, types: tuple[Any, ...]) -> str:
        """Note that a function is called, or has been compiled, for these types."""
        try:
            spelled = [beforehand.spelled(one) for one in types]
        except TypeError:
            return ""
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        known = self.kernels.setdefault(name, [])
        if spelled not in known:
            known.append(spelled)
        return f"{name} {known.index(spelled)}"

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note all calls under the name that the command says it is known by."""
        self._of_use = {}
        names: list[str] = []
        for kernel in _kernels():
            # As in a process of its own: nothing is loaded, and Python has taken no steps.
            vars(kernel).pop("dispatcher", None)
            kernel._n_steps_in_python = 0.0
        template = Dispatcher.get_call_template

        def from_python(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            if kernel.is_light(*args, **kwargs):
                return run_in_python(kernel.in_python, *args, **kwargs)
            bound = signature(kernel.__wrapped__).bind(*args, **kwargs).args
            self._caller = self.note(kernel, tuple(map(kernel.dispatcher.typeof_pyval, bound)))
            self._of_use[self._caller] = None
            return kernel.dispatcher(*args, **kwargs)

        def from_a_kernel(dispatcher: Any, args: Any, kws: Any) -> Any:
            start = process_time()
            found = template(dispatcher, args, kws)
            seconds = process_time() - start
            if str(dispatcher.py_func.__module__).startswith("tierwise.") and not kws:
                called = self.calls.setdefault(self._caller, {})
                if (one := self.note(dispatcher.py_func, tuple(map(unliteral, args)))) not in (
                    "",
                    *called,
                ):
                    called[one] = seconds
            return found

        with (
            patch.object(Kernel, "__call__", from_python),
            patch.object(Dispatcher, "get_call_template", from_a_kernel),
            patch.object(reading, "compile_beside", names.append),
            patch.object(compiling, "is_on_disk", lambda _: False),
            np.errstate(all="ignore"),
        ):
            yield
        self._of_use.pop("", None)
        for name in names:
            known = self.uses.setdefault(name, [])
            known += [one for one in self._of_use if one not in known]


def run(command: str, folder: Path) -> None:
    """Run a command, and say if it failed."""
    words = [str(folder / "data.csv") if word == "FILE" else word for word in command.split()]
    said = io.StringIO()
    with patch.object(sys, "argv", ["tierwise", *words]), redirect_stdout(io.StringIO()):
        try:
            with redirect_stderr(said):
                tierwise()
        except SystemExit as end:
            if end.code:
                print(command, said.getvalue(), sep="\n", file=sys.__stderr__)


def record() -> Noted:
    """Run all commands with nothing compiled, and look for all other kernels."""
    noted = Noted()
    with TemporaryDirectory() as name:
        folder = Path(name)
        config.CACHE_DIR = str(folder)
        for command, write, n_items in USES:
            (folder / "data.csv").write_text(write(n_items), encoding="utf-8")
            with noted.noting():
                run(command + (f" -o {folder}/page.html" * command.startswith("report")), folder)
    for kernel in _kernels():
        if kernel.is_called_from_python:
            file = kernel.dispatcher._cache._cache_file
            folder = beforehand.KERNELS / "__pycache__"
            file._index_path = str(folder / file._index_name)
            for types, *_ in file._load_index():
                noted.note(kernel, types)
    return noted


def _kernels() -> list[Any]:
    """Return all kernels, module by module."""
    return [
        kernel
        for path in sorted(beforehand.KERNELS.glob("*.py"))
        for kernel in vars(import_module(f"tierwise._kernels.{path.stem}")).values()
        if isinstance(kernel, Kernel)
    ]


def main() -> None:
    """Write the list."""
    noted = record()
    kernels = dict(sorted(noted.kernels.items()))
    # Other processes begin at the end. With the longest ones there, nobody waits for one of them.
    calls = {
        caller: sorted(called, key=lambda one: int(called[one]))
        for caller, called in sorted(noted.calls.items())
    }
    parts = [
        f'"kernels":{{\n{_one_per_line(kernels)}\n}}',
        f'"calls":{{\n{_one_per_line(calls)}\n}}',
        f'"uses":{{\n{_one_per_line(noted.uses)}\n}}',
    ]
    beforehand.LISTED.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")
    print(sum(map(len, kernels.values())), "kernels,", len(noted.uses), "uses")


def _one_per_line(values: dict[str, Any]) -> str:
    return ",\n".join(
        f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}"
        for name, value in values.items()
    )


if __name__ == "__main__":
    main()
