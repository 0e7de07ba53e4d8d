"""How rankings lie in a table: which layout it has, and what each column is for."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from tierwise._util.names import split_names
from tierwise._util.types import Item, numbered_row
from tierwise.errors import InputError, Remark, quoted, use
from tierwise.files.cells import (
    can_be_encoded,
    check_cells,
    numbers,
    share_of_numbers,
)
from tierwise.files.options import Aside, TableLayout, TableOptions
from tierwise.files.wide import SAMPLE_ROWS, choose_columns, listed

if TYPE_CHECKING:
    import pyarrow as pa

# What a column is for is recognised by these names, in upper or lower case.
NAMES_OF_ROLES = {
    "weights": ("weight", "weights", "count"),
    "assessor": (
        *("assessor", "respondent", "participant", "subject", "person", "user", "voter"),
        *("judge", "rater", "name", "id"),
        *("befragter", "befragte", "teilnehmer", "teilnehmerin", "répondant", "repondant"),
        *("participante", "encuestado", "回答者", "回答者番号"),
    ),
    "item": ("item", "alternative", "candidate", "option"),
    "rank": ("rank", "place", "position"),
    "preferred": (
        *("preferred", "winner", "better", "chosen", "winner_name", "winner_model"),
        *("chosen_model", "winning_team"),
    ),
    "other": (
        *("other", "loser", "worse", "rejected", "loser_name", "loser_model"),
        *("rejected_model", "losing_team"),
    ),
}
NAMES_OF_PLACES = (
    *("rank", "place", "position", "pos", "finish", "finished", "placing", "finish_position"),
    *("finishing_position", "placement"),
)
"""What the column of places is called in results of races and the like."""
# Results of races and the like, recognised only if all three are there: elsewhere they mean other
# things, such as the race of a person.
_NAMES_IN_RESULTS = {
    "assessor": (
        *("race", "race_id", "raceid", "event", "heat", "contest", "competition", "stage"),
        *("tournament", "meet", "regatta", "grand prix"),
    ),
    "item": (
        *("driver", "driver_id", "driverid", "rider", "horse", "runner", "athlete", "player"),
        *("swimmer", "skater", "skier", "golfer", "boat", "crew", "competitor", "contestant"),
        *("participant", "team", "name"),
    ),
    "rank": NAMES_OF_PLACES,
}
# People who have numbers: respondent_id, Voter No.
_NUMBERED = re.compile(r"(\w+?)[ _-]?(?:id|no\.?|nr\.?|number|code)")
_NUMBERED_PEOPLE = frozenset(NAMES_OF_ROLES["assessor"]) - {"name", "id"} | {
    *("ballot", "case", "resp", "response", "interview", "record", "cvr"),
}
_FOR = {
    "weights": "how often an answer counts",
    "assessor": "the assessor",
    "item": "the item",
    "rank": "the rank",
    "preferred": "the preferred item",
    "other": "the other item",
}
# Columns of numbers that could be scores, and are about people.
_OF_PEOPLE = frozenset(
    ("age", "alter", "edad", "âge", "birth year", "year of birth", "geburtsjahr", "income", "plz")
) | {"einkommen", "zip", "zip code", "year", "jahr", "jahrgang", "duration", "seconds", "minutes"}
# What columns of weights are called that are not taken for such unasked, as words of the name.
_LIKE_WEIGHTS = re.compile(
    r"(?:^|[\W_\d])(?:weights?|weighting|gewichte?|gewichtung|gew|w[gh]?ts?|wght|[a-z]?weight|"
    r"[a-z]{0,3}wght|hochrechnung\w*|ponderation|pond[ée]ration|poids|peso|ponderaci[óo]n|vikt)"
    r"(?:$|[\W_\d])",
    re.IGNORECASE,
)


# What columns of counts are called, in files that hold each answer once.
_LIKE_COUNTS = re.compile(
    r"n|num|number|(?:number|no\.?|n) ?(?:of|_)? ?(?:ballots|votes|voters|answers|respondents)|"
    r"ballots|votes|voters|freq|frequency|frequencies|times|anzahl\b.*|häufigkeit|stimmen|effectifs?|"
    r"fréquence|nombre\b.*|frecuencia|frequenza|票数|人数|件数|度数",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The layout of a table and the numbers of its columns, by what they are for.

    ``cells`` are the columns that hold items (orderings, in order of places) or ranks (ranks),
    ``names`` what the items of a table of ranks are called; ``aside`` are the columns that are no
    part of the answers, and ``remarks`` further notes.
    """

    layout: TableLayout
    cells: tuple[int, ...] = ()
    weights: int | None = None
    assessor: tuple[int, ...] = ()
    item: int | None = None
    rank: int | None = None
    preferred: int | None = None
    other: int | None = None
    names: tuple[Item, ...] = ()
    aside: tuple[Aside, ...] = ()
    remarks: tuple[Remark | str, ...] = ()


def assign_roles(columns: Sequence[Item], table: "pa.Table", options: TableOptions) -> Roles:
    """Decide what each column is for, from what the user says, the names, and the first rows."""
    names = [str(column).strip() for column in columns]
    _check_columns(names, table)
    layout, sample = options.layout, table.slice(0, SAMPLE_ROWS)
    if layout == "auto":
        _refuse_matrices(names, sample)
    if layout in ("auto", "long"):
        roles = _long_roles(names, sample, options)
        if roles is not None:
            return roles
    if layout in ("auto", "pairs"):
        roles = _roles_of_pairs(names, options)
        if roles is not None:
            return roles
    # Elsewhere a column may be an item, even one called "count".
    items = frozenset(str(item) for item in options.items or ())
    weights = _find("weights", names, options, items)
    assessor = _assessors(names, options, items)
    people: tuple[int, ...] = ()
    if options.better is not None and options.items is None:
        people = tuple(at for at, name in enumerate(names) if name.casefold() in _OF_PEOPLE)
    if layout == "auto":
        _refuse_ranks_of_nobody(names, options)
    wide = choose_columns(columns, table, sample, options, taken=(weights, *assessor, *people))
    if options.better is not None and options.items is None and options.pattern is None:
        _refuse_weights_as_scores(table, wide.cells)
    own = [Aside(names[column], "says whose answer it is") for column in assessor]
    own += [Aside(names[column], "describes people, not items") for column in people]
    free = [column for column in range(len(names)) if column not in (*wide.cells, *assessor)]
    if weights is None and options.better is None:
        _ask_about_counts(sample, free)
    remarks = wide.remarks if weights is not None else (*wide.remarks, *_weights_seen(table, free))
    return Roles(
        layout=wide.layout,
        cells=wide.cells,
        weights=weights,
        assessor=assessor,
        names=wide.names,
        aside=(*own, *wide.aside),
        remarks=remarks,
    )


def like_weights(table: "pa.Table", columns: Sequence[int]) -> list[str]:
    """Return the columns that are called like weights, and hold numbers that can be such.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"Gew_Bund": ["0,8", "1,2"], "Body weight": [80, 60], "wave": [1, 2]})
    >>> like_weights(table, [0, 1, 2])
    ['Gew_Bund', 'Body weight']
    """
    found = []
    for column in columns:
        name, cells = str(table.column_names[column]), table.column(column)
        if not _LIKE_WEIGHTS.search(name) or not can_be_encoded(cells):
            continue
        sample = cells.slice(0, SAMPLE_ROWS)
        if share_of_numbers([sample]) == 1:
            values = numbers(sample, "the weight", numbered_row)
            values = values[np.isfinite(values)]
            if len(values) and values.min() >= 0 and values.max() > 0:
                found.append(name)
    return found


def _refuse_matrices(names: Sequence[str], table: "pa.Table") -> None:
    """Refuse a table whose rows and columns are the same items: it holds no answers."""
    if table.num_rows != len(names) - 1 or len(names) < 3 or not can_be_encoded(table.column(0)):
        return
    if {str(cell).strip() for cell in table.column(0).to_pylist()} == set(names[1:]):
        raise InputError(
            f"the rows and the columns are the same items ({listed(names[1:4])}), so the table "
            "seems to say how often each beat each other: write one row per pair, with the columns "
            "winner, loser and count"
        )


def _ask_about_counts(table: "pa.Table", free: Sequence[int]) -> None:
    """Ask about a column beside the answers that seems to say how often each was given."""
    for column in free:
        name, cells = str(table.column_names[column]).strip(), table.column(column)
        if not _LIKE_COUNTS.fullmatch(name) or not can_be_encoded(cells):
            continue
        share = share_of_numbers([cells])
        if share >= 0.5 and (share < 1 or np.nanmax(numbers(cells, name, numbered_row)) > 1):
            raise InputError(
                f"column {quoted(name)} may say how often each answer was given",
                [
                    use("if it does", weights=name),
                    use("if it is not part of the answers", assessor=name),
                ],
            )


def _refuse_weights_as_scores(table: "pa.Table", cells: Sequence[int]) -> None:
    """Ask about columns that would be items, and are called like weights."""
    found = like_weights(table, cells)
    if found:
        items = [str(table.column_names[cell]) for cell in cells]
        raise InputError(
            f"column {quoted(found[0])} seems to hold weights, not the scores of an item",
            [
                use("to weight the answers by it", weights=found[0]),
                use("if it is an item", items=items),
            ],
        )


def _refuse_ranks_of_nobody(names: Sequence[str], options: TableOptions) -> None:
    """Refuse a table of items and their ranks that does not say whose ranks they are."""
    ranks = [name for name in names if name.casefold() in NAMES_OF_PLACES]
    if len(names) == 2 and len(ranks) == 1 and options.items is None and options.assessor is None:
        raise InputError(
            f"column {quoted(ranks[0])} holds ranks, but no column says which answer each row "
            "belongs to",
            [f"add such a column, called {quoted('assessor')}"],
        )


def _weights_seen(table: "pa.Table", free: Sequence[int]) -> tuple[Remark, ...]:
    """Say that there seem to be weights, which were not used."""
    found = like_weights(table, free)
    if not found:
        return ()
    one = len(found) == 1
    return (
        Remark(
            f"Column{'' if one else 's'} {', '.join(map(quoted, found))} "
            f"seem{'s' if one else ''} to hold weights. They are not used, so every answer "
            "counts once",
            tuple(use("to weight the answers by it", weights=name) for name in found),
        ),
    )


def _check_columns(names: Sequence[str], table: "pa.Table") -> None:
    """Refuse two columns of one name, and columns whose cells are neither text nor numbers."""
    seen: set[str] = set()
    for name, column in zip(names, table.columns, strict=True):
        if name in seen:
            raise InputError(f"column {quoted(name)} occurs twice: give each column its own name")
        seen.add(name)
        check_cells(name, column)


def _long_roles(names: list[str], sample: "pa.Table", options: TableOptions) -> Roles | None:
    """Return the roles in a table with a row for each item of each answer; None if it is none."""
    found = {role: _find(role, names, options) for role in ("weights", "item", "rank")}
    assessor = _assessors(names, options)
    if options.assessor is None:
        # A name may be that of a person; here it was said to be something else.
        assessor = tuple(column for column in assessor if column not in found.values())
    taken = {*found.values(), *assessor}
    left = [column for column in range(len(names)) if column not in taken]
    said = options.layout == "long" or options.item is not None or options.rank is not None
    # What is left over is what is missing, if that is one thing.
    if len(left) == 1 and found["rank"] is not None:
        is_text = share_of_numbers(sample.select(left).columns) < 0.5
        if found["item"] is None and assessor and (said or is_text):
            found["item"] = left[0]
        elif found["item"] is not None and not assessor:
            assessor = (left[0],)
    missing = [role for role in ("item", "rank") if found[role] is None]
    missing += [] if assessor else ["assessor"]
    if not missing:
        if len(assessor) > 1 and options.assessor is None:
            raise _doubt("assessor", [names[column] for column in assessor])
        weights, item, rank = found.values()
        return _long(names, assessor, weights, cast("int", item), cast("int", rank))
    if results := _roles_of_results(names, options):
        return results
    if said:
        raise InputError(
            f"the long layout needs a column for {_FOR[missing[0]]}",
            [
                f"rename a column to {quoted(missing[0])}",
                use(f"to say which of {listed(names)} it is", **{missing[0]: ...}),
            ],
        )
    return None


def _roles_of_results(names: list[str], options: TableOptions) -> Roles | None:
    """Return the roles in results of races or the like, if each has one column that is named so."""
    found = {}
    for role, known in _NAMES_IN_RESULTS.items():
        said = getattr(options, role)
        if said is not None:
            found[role] = (
                list(_assessors(names, options))
                if role == "assessor"
                else [_position(said, role, names)]
            )
        else:
            found[role] = [at for at, name in enumerate(names) if name.casefold() in known]
    if len(found["item"]) > 1 and len(found["rank"]) == 1 and found["assessor"]:
        raise _doubt("item", [names[column] for column in found["item"]])
    if len(found["item"]) != 1 or len(found["rank"]) != 1 or not found["assessor"]:
        return None
    if options.assessor is None and len(found["assessor"]) > 1:
        return None
    weights = _find("weights", names, options)
    return _long(names, tuple(found["assessor"]), weights, found["item"][0], found["rank"][0])


def _long(
    names: list[str], assessor: tuple[int, ...], weights: int | None, item: int, rank: int
) -> Roles:
    """Return the roles of a table with a row for each item of each answer."""
    used = {*assessor, weights, item, rank}
    aside = _aside(names, used, "holds neither assessors, items nor ranks")
    return Roles(
        layout="long", assessor=assessor, weights=weights, item=item, rank=rank, aside=aside
    )


def _aside(names: Sequence[str], used: Set[int | None], why: str) -> tuple[Aside, ...]:
    """List the columns that are not used."""
    return tuple(Aside(name, why) for at, name in enumerate(names) if at not in used)


def _roles_of_pairs(names: list[str], options: TableOptions) -> Roles | None:
    """Return the roles in a table with a row for each comparison; None if it is none."""
    preferred, other = _find("preferred", names, options), _find("other", names, options)
    if preferred is not None and other is not None:
        assessor = _assessors(names, options)
        if len(assessor) > 1 and options.assessor is None:
            raise _doubt("assessor", [names[column] for column in assessor])
        weights = _find("weights", names, options)
        used = {*assessor, preferred, other, weights}
        return Roles(
            layout="pairs",
            assessor=assessor,
            preferred=preferred,
            other=other,
            weights=weights,
            aside=_aside(names, used, "holds neither assessors nor one of the two items"),
        )
    if options.layout == "pairs" or options.preferred is not None or options.other is not None:
        missing = "other" if preferred is not None else "preferred"
        raise InputError(
            f"pairs need a column for {_FOR[missing]}",
            [
                f"rename a column to {quoted(missing)}",
                use(f"to say which of {listed(names)} it is", **{missing: ...}),
            ],
        )
    return None


def _assessors(
    names: list[str], options: TableOptions, items: frozenset[str] = frozenset()
) -> tuple[int, ...]:
    """Find the columns that say whose answer it is."""
    if options.assessor is None:
        return tuple(_named("assessor", names, items))
    if len(options.assessor) == 1 and options.assessor[0] not in names:
        together = split_names(options.assessor[0])
        if set(together) <= set(names):
            return tuple(names.index(name) for name in together)
    return tuple(_position(name, "assessor", names) for name in options.assessor)


def columns_for_people(columns: Sequence[Item], options: TableOptions) -> frozenset[int]:
    """Return the columns that are named for people, weights, or names of items, and no answers."""
    names = [str(column).strip() for column in columns]
    found = set()
    for role in ("weights", "assessor", "item", "preferred", "other"):
        said = getattr(options, role)
        chosen = (said,) if isinstance(said, str) else said
        wanted = NAMES_OF_ROLES[role] if chosen is None else chosen
        found |= {
            at for at, name in enumerate(names) if name in wanted or name.casefold() in wanted
        }
    return frozenset(found)


def _find(
    role: str, names: list[str], options: TableOptions, items: frozenset[str] = frozenset()
) -> int | None:
    """Find the column for a role: the one the user names, or one with a name for it."""
    said = getattr(options, role)
    if said is not None:
        return _position(said, role, names)
    found = _named(role, names, items)
    if len(found) > 1:
        raise _doubt(role, [names[column] for column in found])
    return found[0] if found else None


def _named(role: str, names: list[str], items: frozenset[str]) -> list[int]:
    """Find the columns with a name for a role, unless items are called so."""
    return [
        number for number, name in enumerate(names) if _is_called(name, role) and name not in items
    ]


def _is_called(name: str, role: str) -> bool:
    """Return whether a column is named for a role; people may have "id" or "number" after it."""
    folded = name.casefold()
    if folded in NAMES_OF_ROLES[role]:
        return True
    numbered = _NUMBERED.fullmatch(folded) if role == "assessor" else None
    return numbered is not None and numbered[1] in _NUMBERED_PEOPLE


def _position(said: str, role: str, names: list[str]) -> int:
    if said not in names:
        raise InputError(
            f"there is no column {quoted(said)} for {_FOR[role]}: the columns are {listed(names)}"
        )
    return names.index(said)


def _doubt(role: str, found: list[str]) -> InputError:
    return InputError(
        f"columns {quoted(found[0])} and {quoted(found[1])} may both hold {_FOR[role]}",
        [use(**{role: one}) for one in found],
    )
