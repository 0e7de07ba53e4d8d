"""What messages say: remedies are data, so that Python, the shell and the page each word them."""

import ast
import inspect
import pickle
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tierwise as tw
from tierwise.cli.main import shell
from tierwise.data.kinds import check_data
from tierwise.errors import InputError, Remark, Remedy, advise, drop, in_python, instead, use
from tierwise.web.choices import WISHES, asked_by, on_page

SOURCE = Path(tw.__file__).parent
EXPORTS = sorted((Path(__file__).parent / "files" / "exports").iterdir())
# Keywords with a value, or waiting for one: unranked="below", items=, rename={...}.
KEYWORD = re.compile(r"(?<![\w-])[a-z_]+=(?!=)")
# What only Python has: names with dots, names with underscores, classes, calls and empty lists.
PYTHON = re.compile(
    r"\b(?:tw|tierwise|Rankings|Preferences|Battles)\.[a-z_]+|\w+\(\.\.\.|\w+\(\)"
    r"|\b[a-z]+_[a-z_]+\b|\b(?:None|True|False|dict|tuple|DataFrame|Counts|Sampler|Priors)\b"
    r"|\bRankings\b|\[\]|\{\}|``"
)
# Words with underscores that files hold.
IN_FILES = re.compile(r"\b(?:model_a|model_b|both_bad)\b")

READING = (
    *("describe", "fit", "search", "posterior", "sample", "report", "mixture", "groups"),
    "leaderboard",
)
MODELS = ("fit", "search", "posterior", "sample", "report", "mixture")
# Which commands can end with the errors of a file, by how its path begins; the longest counts.
COMMANDS = {
    "": MODELS,
    "files/": READING,
    "files/battle": ("leaderboard",),
    "data/": READING,
    "comparing/": ("compare",),
    "groups/": ("groups", "report"),
    "mixture/": ("mixture", "report"),
    "planning/": ("plan", "next", "enough"),
    "posterior/": ("posterior", "report"),
    "leaderboards/leaderboard.py": ("leaderboard",),
    "reporting/": ("report",),
    "searching/": ("search", "fit", "report"),
    "cli/": READING,
    "cli/planning.py": ("plan",),
}
# Remedies that no command can be told, each with the reason.
ONLY_IN_PYTHON = {
    ("answers/dispatch.py", "completions"): "commands leave the way of completing to the sampler",
    ("answers/drawn.py", "proposal"): "commands leave the proposal to the estimate",
    ("consensus/subsets.py", "max_steps"): "commands switch to a method that takes fewer steps",
    ("data/frames.py", "backend"): "commands print tables, not data frames",
    ("fitting/bootstrap.py", "kind"): "commands resample, and never draw from the model",
    ("fitting/bootstrap.py", "unit"): "commands resample judges who decide several battles",
    ("fitting/solve.py", "theta_method"): "commands estimate theta exactly where that is possible",
    ("partition/recursion.py", "method"): "commands take the method that is affordable",
    ("plots/comparison.py", "along"): "the command has one option for each axis",
    ("mixture/fit.py", "folds"): "commands compare groups by BIC or ICL",
}
# Messages about objects and arguments that only Python can make, each with what they are.
OF_OBJECTS = {
    "_util/checks.py": "generators of random numbers",
    "checking/check.py": "fits and posteriors that are given",
    "consensus/annealing.py": "options of a search for a consensus",
    "data/joining.py": "rankings and battles that are put together",
    "data/best_worst.py": "choices that are simulated",
    "data/counts.py": "counts",
    "data/rankings.py": "rankings that are put together",
    "data/scan.py": "scans",
    "fitting/bootstrap.py": "fits that are given",
    "fitting/neighbours.py": "fits that are given",
    "fitting/resampled.py": "attributes of resampled fits",
    "fitting/result.py": "attributes of fits",
    "mixture/draws.py": "a chain of mixtures",
    "model/clustered_luce.py": "models that are made",
    "model/clustered_mallows.py": "models that are made",
    "leaderboards/changes.py": "leaderboards that are given",
    "posterior/drawn.py": "attributes of posteriors",
    "posterior/listed.py": "priors that are given",
    "tiers.py": "tiers that are made",
}
# Remedies of readers that the page does not ask as a question, each with the reason.
NOT_ASKED = {
    "format": "the page recognises the format by the file",
    "encoding": "the page has a list of encodings, which is open where something is wrong",
    "repeats": "it is said of ballots that were read, and nothing has to be asked",
    "overvotes": "it is said of ballots that were read, and nothing has to be asked",
}


def files():
    return sorted(SOURCE.rglob("*.py"))


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def text_of(node):
    """Return what a string says, whatever is filled in being left out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, ast.List | ast.Tuple):
        return "\n".join(text_of(part) for part in node.elts)
    if isinstance(node, ast.IfExp):
        return f"{text_of(node.body)}\n{text_of(node.orelse)}"
    return ""


def calls(*names):
    """Yield all calls of functions or classes, with the files they are in."""
    for file, node in every_call():
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "warn":
            called = ast.Name(called.attr)
        if isinstance(called, ast.Name) and called.id.endswith(names):
            yield file, node


@cache
def every_call():
    """Return all calls in the package, with the files they are in."""
    return [
        (name_of(path), node)
        for path in files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


@dataclass(frozen=True)
class Written:
    """A remedy as the source has it; values that are computed are unknown."""

    file: str
    line: int
    function: str
    command: str
    settings: dict[str, Any]

    @property
    def commands(self):
        """Return the commands that may show the remedy."""
        if self.command:
            return (self.command,)
        return COMMANDS[max((start for start in COMMANDS if self.file.startswith(start)), key=len)]


UNKNOWN = object()


def remedies():
    for file, call in calls("use", "drop", "instead"):
        if file == "errors.py":
            continue
        kind = call.func.id
        settings = {
            one.arg: value_of(one.value)
            for keyword in call.keywords
            for one in fields_of(keyword)
            if one.arg
        }
        command = settings.pop("command", "")
        function = call.args[0].value if kind == "instead" else ""
        if kind == "drop":
            settings = dict.fromkeys(map(value_of, call.args))
        yield Written(file, call.lineno, function, command, settings)


def fields_of(keyword):
    """Return what a keyword gives: options of a group are options of their own on the shell."""
    called = keyword.value.func if isinstance(keyword.value, ast.Call) else None
    is_group = isinstance(called, ast.Name) and called.id == "grouped"
    return keyword.value.keywords if is_group else [keyword]


def value_of(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return UNKNOWN


@pytest.mark.thorough
def test_no_message_writes_keywords_itself():
    said = [
        (file, call.lineno, text_of(part))
        for file, call in (*calls("Error"), *calls("Remark", "Aside", "use", "instead"))
        for part in call.args
        if not (call.func.id == "instead" and part is call.args[0])
    ]
    assert len(said) > 400
    wrong = [one for one in said if KEYWORD.search(one[2])]
    assert not wrong, wrong


def names_python(text):
    return PYTHON.search(IN_FILES.sub("", text))


def test_no_message_names_what_only_python_has():
    said = [
        (file, call.lineno, text_of(part))
        for file, call in (*calls("Error"), *calls("Remark", "Aside", "warn", "use"))
        for part in call.args
    ]
    found = {one[:2]: one[2] for one in said if names_python(one[2])}
    wrong = {where: text for where, text in found.items() if where[0] not in OF_OBJECTS}
    assert not wrong, wrong
    assert OF_OBJECTS.keys() == {file for file, _ in found}, "these name nothing of Python now"


def test_every_remedy_can_be_told_the_commands_that_show_it():
    known, unused, wrong = shell("").options, set(ONLY_IN_PYTHON), []
    for remedy in remedies():
        if remedy.function and not remedy.command:
            continue
        for keyword, value in remedy.settings.items():
            if value is None:
                continue  # what a command does not have cannot have been given
            options = [known[command] for command in remedy.commands]
            found = [of[name] for of in options if (name := SHELL.get(keyword, keyword)) in of]
            takes = [
                one for one in found if not one.choices or value in (*one.choices, ..., UNKNOWN)
            ]
            where = (remedy.file, keyword)
            if not takes:
                wrong += [] if where in ONLY_IN_PYTHON else [remedy]
                unused.discard(where)
    assert not wrong
    assert not unused, "these can be told a command now"


SHELL = {"n_groups": "groups", "rng": "seed"}


def test_functions_that_remedies_name_are_there_and_take_the_keywords():
    named = [remedy for remedy in remedies() if remedy.function]
    assert named
    for remedy in named:
        found = tw if hasattr(tw, remedy.function.split(".")[0]) else tw.Posterior
        for part in remedy.function.split("."):
            found = getattr(found, part)
        taken = inspect.signature(found).parameters if callable(found) else {}
        assert remedy.settings.keys() <= taken.keys(), remedy


def test_the_page_asks_what_readers_can_be_told():
    of_readers = [
        one
        for one in remedies()
        if one.file.startswith(("files/", "data/read.py", "data/preferences.py"))
        and not one.file.startswith("files/battle")
        and not one.function
    ]
    asked = set()
    for remedy in of_readers:
        # What is to be filled in is said in the forms below the message.
        if any(value is None or value is ... for value in remedy.settings.values()):
            continue
        filled_in = {"rename": {"old": "new"}}
        given = {
            name: filled_in.get(name, "filled in") if value is UNKNOWN else value
            for name, value in remedy.settings.items()
        }
        questions = asked_by([use(**given)])
        if not questions:
            assert set(given) <= NOT_ASKED.keys(), remedy
        asked |= {question.name for question in questions}
    assert asked >= {"unranked", "ties", "better", "empty", "cycles", "layout", "items", "sheet"}


SMALL = {
    "battles": "model_a,model_b,winner\nx,y,A\nx,y,w\n",
    "battles twice": "model_a,model_b,left,right,winner\nx,y,x,y,x\n",
    "spellings": "model_a,model_b,winner\nGPT 4,x,tie\ngpt-4,x,tie\n",
    "pairs": "voter,winner,loser\nA,x,y\nA,y,x\n",
    "leaderboard": "Model,Params (B),MMLU,ARC\nx,7,61.5,99\ny,70,50.5,40\n",
    "long scores": "task,model,score\na,x,1\na,x,2\n",
    "ranks with codes": "a,b,c\n1,2,3\n2,99,1\n3,1,2\n1,99,2\n",
    "gaps": "a,b,c\n1,2,\n2,1,3\n",
    "ties": "a,b,c\n1,1,2\n2,1,3\n",
    "places": "place 1,place 2,place 3\na,b,c\nb,b,a\n",
    "grades": "id,a,b\np,S,A\nq,B,S\n",
    "empty rows": "a,b,c\n1,2,3\n,,\n",
    "weights": "a,b,Gew_Bund\n1,2,0.5\n2,1,1.7\n",
    "letter": "Dear all,\nwe met on Monday\n",
    "lines": "Anna: a > b > a\nBen: b > a\n",
    "tiers": "S: a, b\nA: a\n",
    "list": '[{"a": 1}, {"a": 2}]',
    "best and worst": "shown,best,worst\na;b;c,a,a\n",
}
SAID = (
    {},
    {"better": "higher"},
    {"layout": "ranks"},
    {"unranked": "below", "better": "higher"},
    {"layout": "long", "item": "no such column"},
    {"items": ["no such column"]},
    {"rename": {"no such item": "b"}},
    {"drawn": "drop"},
    {"cycles": "keep"},
    {"weights_are": "survey"},
    {"missing": "99"},
    {"winner": "b", "loser": "a"},
    {"order": "S,A,B"},
    {"tasks": "MMLU", "better": "lower"},
)


@pytest.mark.parametrize("options", SAID, ids=str)
@pytest.mark.parametrize("purpose", ["any", "leaderboard"])
def test_no_door_but_python_shows_keywords(purpose, options, tmp_path):
    made, shells = [], [shell(command) for command in READING]
    for name, text in SMALL.items():
        made.append(tmp_path / f"{name}.csv")
        made[-1].write_text(text, encoding="utf-8")
    n_told = 0
    # The first of the options say what exports hold.
    for file in (*made, *(EXPORTS if options in SAID[:3] else ())):
        try:
            found = tw.read(file, purpose=purpose, **options)
            check_data(found, "groups", tw.Rankings)
        except InputError as error:
            n_told += 1
            for said in (*(one.says(error) for one in shells), on_page(error)):
                # Names that a file holds stand in quotes, and behind options.
                own = re.sub(r"'[^']*'|\"[^\"]*\"|--\S+ \S+", "", said.replace(file.name, ""))
                assert not KEYWORD.search(own), said
                assert not names_python(own), said
            for question in asked_by(error.remedies):
                assert question.answers
    assert n_told > 10


def test_the_page_takes_values_of_every_kind():
    for value in ("tea", ["tea", "milk"], {"tea": "milk"}, 5, None, ...):
        error = InputError("no", ["correct it", use("if so", items=value), use(distance=value)])
        assert on_page(error) == "no: correct it"
        assert all(question.name == "items" for question in asked_by(error.remedies))


def test_wishes_of_the_page_are_values_of_the_report():
    parameters = shell("").options["report"]
    for name, (_, values) in WISHES.items():
        # Nothing said is the default of the report.
        assert set(values) - {""} == set(parameters[name].choices)


def test_errors_keep_their_remedies_in_other_processes():
    error = InputError("no", ["correct it", use("if so", ties="allow")])
    again = pickle.loads(pickle.dumps(error))
    assert again.remedies == error.remedies
    assert str(again) == str(error) == 'no: correct it, or use ties="allow" if so'
    assert str(error.within("line 3: ")).startswith("line 3: no: correct")


@pytest.mark.parametrize(
    ("remedies", "said"),
    [
        ([], "no"),
        ([use(a=1), use(b="x")], 'no: use a=1 or b="x"'),
        ([use("if so", a=1), use("if not", b=2)], "no: use a=1 if so, or b=2 if not"),
        ([use("if so", a=1, b=..., c=[1])], "no: use a=1, b=... and c=[1] if so"),
        ([drop("a", "b"), use(c=1), "stop"], "no: leave out a and b, or use c=1, or stop"),
        ([instead("fit", "for one", b=2)], "no: use fit(..., b=2) for one"),
        ([instead("fit")], "no: use fit"),
    ],
)
def test_remedies_in_python(remedies, said):
    assert advise("no", remedies, in_python) == said
    assert str(Remark("no", tuple(remedies))) == said


def test_what_cannot_be_told_is_left_out():
    def never(_remedy: Remedy) -> None:
        return None

    assert advise("no", [use(a=1), "stop"], never) == "no: stop"
    assert advise("no", [use(a=1)], never) == "no"


def test_options_of_the_same_name_for_something_else_are_not_shown():
    error = InputError("too large", ["raise the budget", use(method="path")])
    assert shell("fit").says(error) == "too large: raise the budget"
