"""Small changes of things to read: of a field, of the way they are written, of what is told."""

from dataclasses import replace

from tests.fuzz.inputs import TABLES

# What means something to one of the formats, and what never should.
CELLS = (
    *("", None, " ", "0", "1", "2", "3", "4", "-1", "1.5", "1,5", "1e9", "1e400", "nan", "inf"),
    *("NA", "n/a", "DNF", "-", "99", "999", "99999999999999999999", "1,234", "1.234", "50%", "1st"),
    *(
        "first",
        "true",
        "None",
        "a",
        "é",
        "寿",
        "🍣",
        "tie",
        "model_a",
        "left",
        "bothbad",
        "1-0",
        "½-1/2",
        "skipped",
    ),
    *(
        "a > b",
        "b, a",
        "a;b",
        "{1,2}",
        "{1",
        "=1+1",
        "#",
        '"',
        "'",
        "\\",
        "\0",
        "\x1b[31m",
        "\u2028",
    ),
    *(
        "\ufeff",
        "\u202e",
        "e\u0301",
        "\u017f",
        "İ",
        "x" * 300,
        "1" * 40,
        "2026-11-17",
        "[tea]",
        "Q1 - tea",
    ),
)
TITLES = (
    *(
        "weight",
        "count",
        "assessor",
        "voter",
        "item",
        "rank",
        "id",
        "winner",
        "loser",
        "judge",
        "a",
    ),
    *(
        "model_a",
        "model_b",
        "place 1",
        "place 2",
        "1",
        "2",
        "score",
        "task",
        "Average",
        "",
        None,
        "b",
    ),
    *(
        "Q1_1",
        "Q1 - tea",
        "Rank [tea]",
        "age",
        "Timestamp",
        "candidate",
        "better",
        "x" * 300,
        "\x07",
    ),
)
WORDS = (
    *(
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "9",
        "10",
        "99",
        "-1",
        "9" * 12,
        "9" * 40,
        "1.5",
        "=",
        "-",
        "#",
    ),
    *(
        "{",
        "}",
        ",",
        ":",
        '"',
        " ",
        "",
        "a",
        "é",
        "\0",
        "\u2028",
        "ALTERNATIVE",
        "soc",
        "toi",
        "\t",
    ),
)
OPTIONS = {
    "unranked": ("below", "anywhere"),
    "ties": ("error", "allow"),
    "layout": ("auto", "orderings", "ranks", "long", "pairs", "wide"),
    "items": (["a", "b c"], ["tea", "coffee", "milk"], "a,b c", "Q1_*"),
    "weights": ("weight", "a"),
    "assessor": ("voter", "name", "id"),
    "item": ("item", "a"),
    "rank": ("rank", "a"),
    "better": ("higher", "lower"),
    "empty": ("skip", "error"),
    "rename": ({"a": "b c"}, {"7": "seven"}),
    "encoding": ("utf-8", "latin-1", "utf-16", "cp500", "utf-7", "big5"),
    "sheet": (1, "Answers", "2"),
    "cycles": ("keep", "error"),
    "missing": ("99", "nothing", [99, -1], "a"),
    "overvotes": ("skip", "end"),
    "repeats": ("first", "error"),
    "broken": ("skip", "error"),
    "spellings": ("keep", "ask"),
    "drawn": ("half", "drop", "ignore"),
    "winner": ("winner", "a"),
    "judge": ("judge", "voter"),
    "decimal": (".", ","),
    "tolerance": (0.0, 0.1, 1e300),
    "task": ("task", "a"),
    "score": ("score", "a"),
    "items_in": ("rows", "columns"),
    "tasks": ("t0,t1", "a"),
    "lower": ("t0", "a"),
}
TAKES = {
    "read": tuple(OPTIONS),
    "read_rankings": (
        *("unranked", "ties", "layout", "items", "weights", "assessor", "item", "rank", "better"),
        *("empty", "rename", "encoding", "sheet", "missing", "overvotes", "repeats", "broken"),
    ),
    "scan_rankings": ("unranked", "ties", "layout", "items", "weights", "assessor", "missing"),
    "read_preferences": ("cycles", "items", "assessor"),
    "read_battles": ("winner", "judge", "weights", "drawn", "rename", "spellings", "encoding"),
    "read_scores": (
        *("items", "tolerance", "decimal", "task", "item", "score", "encoding", "layout"),
        *("missing", "items_in", "tasks", "lower"),
    ),
}


def mutated(given, corpus, rng):
    """Return an input with one change, seldom with more."""
    n_changes = rng.choices((1, 2, 3), (82, 14, 4))[0]
    for _ in range(n_changes):
        changes, weights = zip(*_CHANGES.items(), strict=True)
        given = rng.choices(changes, weights)[0](given, corpus, rng)
    return given


def _with_row(given, number, row):
    rows = list(given.rows)
    rows[number] = tuple(row)
    return replace(given, rows=tuple(rows))


def _place(given, rng, first=0):
    """Return a row and a cell that there is."""
    filled = [number for number, row in enumerate(given.rows) if row and number >= first]
    if not filled:
        return None
    row = rng.choice(filled)
    return row, rng.randrange(len(given.rows[row]))


def change_cell(given, _corpus, rng):
    """Put something else into a cell."""
    place = _place(given, rng, first=int(given.form in TABLES))
    if place is None:
        return given
    row = list(given.rows[place[0]])
    row[place[1]] = rng.choice(CELLS if given.form in TABLES else WORDS)
    return _with_row(given, place[0], row)


def copy_cell(given, corpus, rng):
    """Put what stands elsewhere into a cell: in its column, anywhere, or in another file."""
    place = _place(given, rng)
    other = rng.choice(corpus) if rng.random() < 0.2 else given
    source = _place(other, rng, first=int(other.form in TABLES))
    if place is None or source is None:
        return given
    row = list(given.rows[place[0]])
    column = place[1] if rng.random() < 0.6 else source[1]
    values = other.rows[source[0]]
    row[place[1]] = values[column] if column < len(values) else values[source[1]]
    return _with_row(given, place[0], row)


def change_title(given, _corpus, rng):
    """Give a column another title."""
    if given.form not in TABLES or not given.rows or not given.rows[0]:
        return given
    row = list(given.rows[0])
    row[rng.randrange(len(row))] = rng.choice(TITLES)
    return _with_row(given, 0, row)


def change_rows(given, corpus, rng):
    """Swap, repeat, leave out, move, or borrow a row."""
    rows = list(given.rows)
    if len(rows) < 2:
        return given
    one, two = rng.randrange(len(rows)), rng.randrange(1, len(rows))
    how = rng.choice(["swap", "repeat", "repeat", "drop", "borrow", "blank"])
    if how == "swap":
        one = max(one, int(given.form in TABLES))
        rows[one], rows[two] = rows[two], rows[one]
    elif how == "repeat":
        rows[two:two] = [rows[two]] * rng.choice([1, 1, 2, 30])
    elif how == "drop":
        del rows[two]
    elif how == "blank":
        rows.insert(two, () if rng.random() < 0.5 else ("",) * len(rows[0]))
    else:
        other = rng.choice(corpus)
        rows.insert(two, rng.choice(other.rows) if other.rows else ())
    return replace(given, rows=tuple(rows))


def change_columns(given, _corpus, rng):
    """Swap, add or leave out a column; or a cell of one row, after which others move up."""
    if not given.rows or len(given.rows[0]) < 2:
        return given
    width = len(given.rows[0])
    one, two = rng.randrange(width), rng.randrange(width)
    how = rng.choice(["swap", "add", "add", "drop", "ragged"])
    rows = []
    for number, row in enumerate(given.rows):
        cells = list(row)
        if how == "swap" and max(one, two) < len(cells):
            cells[one], cells[two] = cells[two], cells[one]
        elif how == "add":
            cells.insert(one, rng.choice(CELLS) if number else rng.choice(TITLES))
        elif how == "drop":
            del cells[one : one + 1]
        rows.append(tuple(cells))
    if how == "ragged":
        at = rng.randrange(len(rows))
        rows[at] = rows[at][:one] if rng.random() < 0.5 else (*rows[at], rng.choice(CELLS))
    return replace(given, rows=tuple(rows))


def change_dialect(given, _corpus, rng):
    """Write the same in another way."""
    changed = {
        "delimiter": rng.choice(",;\t"),
        "encoding": rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-16-le", "utf-32"]),
        "newline": rng.choice(["\n", "\r\n", "\r"]),
        "quoted": rng.random() < 0.5,
        "typed": rng.random() < 0.5,
        "sparse": rng.random() < 0.5,
        "nested": rng.randrange(4),
    }
    name = rng.choice(list(changed))
    form = given.form
    if form in TABLES and rng.random() < 0.3:
        form = rng.choice(TABLES)
    return replace(given, form=form, dialect={**given.dialect, name: changed[name]})


def change_options(given, _corpus, rng):
    """Tell the reader something else."""
    options = dict(given.options)
    if options and rng.random() < 0.4:
        del options[rng.choice(list(options))]
    else:
        name = rng.choice(TAKES[given.reader])
        options[name] = rng.choice(OPTIONS[name])
    return replace(given, options=options)


def change_reader(given, _corpus, rng):
    """Let another function read it."""
    reader = rng.choice(list(TAKES))
    kept = {name: value for name, value in given.options.items() if name in TAKES[reader]}
    if reader == "read_scores":
        kept["better"] = rng.choice(OPTIONS["better"])
    return replace(given, reader=reader, options=kept)


def damage(given, _corpus, rng):
    """Change some bytes, wherever they are."""
    cut = rng.choice([0, 1, 1, 2, 8, 1 << 30])
    put = rng.randbytes(rng.randint(0, 4)) if rng.random() < 0.7 else b"\0" * rng.randint(1, 64)
    return replace(given, damage=(*given.damage, (rng.random(), cut, put)))


# How often each change is made.
_CHANGES = {
    change_cell: 20,
    copy_cell: 30,
    change_title: 5,
    change_rows: 20,
    change_columns: 6,
    change_dialect: 8,
    change_options: 6,
    change_reader: 2,
    damage: 3,
}
