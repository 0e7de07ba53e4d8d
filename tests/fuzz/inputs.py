"""Things to read: tables and ballots, the format they are written in, and who reads them how.

A table is kept as rows of cells, and a file of ballots as lines of words, so that one cell or one
word can be changed and all others stay as they were.
"""

import csv
import json
import re
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.workbooks import workbook

EXPORTS = Path(__file__).parents[1] / "files" / "exports"
TABLES = ("csv", "jsonl", "parquet", "xlsx")
NAMES = ("a", "b c", "d,e", "é", "寿", '"f"', "7", "model-1", "Model 2", "<b>", "a;b", "Ω")


@dataclass(frozen=True)
class Input:
    """Something to read.

    Attributes
    ----------
    reader, options
        Which function reads it, and what it is told.
    form
        The format it is written in.
    rows
        The cells of a table, titles first; or the lines of another format, word by word.
    dialect
        How cells become text: delimiter, encoding, end of line, quotes, numbers as numbers.
    damage
        Changes of the bytes that come of it: where, how many are cut, and what is put there.
    """

    reader: str
    form: str
    rows: tuple[tuple[str | None, ...], ...]
    options: dict = field(default_factory=dict)
    dialect: dict = field(default_factory=dict)
    damage: tuple[tuple[float, int, bytes], ...] = ()

    def content(self):
        """Return the bytes of the file."""
        content = _WRITERS.get(self.form, _lines)(self.rows, self.dialect)
        for place, n_cut, inserted in self.damage:
            at = int(place * len(content))
            content = content[:at] + inserted + content[at + n_cut :]
        return content

    def to_json(self):
        """Return everything as text, of which `from_json` makes it again."""
        damage = [(place, n_cut, inserted.hex()) for place, n_cut, inserted in self.damage]
        kept = {**self.__dict__, "damage": damage}
        return json.dumps(kept, sort_keys=True)


def from_json(text):
    """Return what `Input.to_json` wrote."""
    kept = json.loads(text)
    damage = tuple((place, n_cut, bytes.fromhex(put)) for place, n_cut, put in kept["damage"])
    return Input(**{**kept, "rows": tuple(map(tuple, kept["rows"])), "damage": damage})


def _csv(rows, dialect):
    text = StringIO()
    quoting = csv.QUOTE_ALL if dialect.get("quoted") else csv.QUOTE_MINIMAL
    writer = csv.writer(
        *(text,),
        delimiter=dialect.get("delimiter", ","),
        lineterminator=dialect.get("newline", "\n"),
        quoting=quoting,
    )
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return text.getvalue().encode(dialect.get("encoding", "utf-8"), errors="replace")


def _as_value(cell):
    """Return the number that a cell holds, or else its text."""
    if cell is not None and re.fullmatch(r"-?\d{1,15}", cell):
        return int(cell)
    if cell is not None and re.fullmatch(r"-?\d{1,15}\.\d{1,15}", cell):
        return float(cell)
    return cell or None


def _columns(rows, dialect):
    """Return titles and columns; what is too short is filled up, and titles are made distinct."""
    titles = list(rows[0]) if rows else []
    width = max(map(len, rows), default=0)
    titles += ["more"] * (width - len(titles))
    below = [tuple(row) + (None,) * (width - len(row)) for row in rows[1:]]
    read = _as_value if dialect.get("typed") else lambda cell: cell
    return titles, [[read(row[at]) for row in below] for at in range(width)]


def _arrow(column):
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {int}:
        return pa.array(column, pa.int64())
    if kinds <= {int, float}:
        return pa.array(column, pa.float64())
    return pa.array([None if value is None else _whole(str(value)) for value in column])


def _whole(text):
    """Return text as UTF-8 can hold it."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _parquet(rows, dialect):
    titles, columns = _columns(rows, dialect)
    names = [_whole("" if title is None else title) for title in titles]
    file = BytesIO()
    pq.write_table(pa.table([_arrow(column) for column in columns], names=names), file)
    return file.getvalue()


def _json_lines(rows, dialect):
    titles, columns = _columns(rows, dialect)
    lines = [
        json.dumps(
            {
                str(title): [value] if dialect.get("nested") == at else value
                for at, (title, value) in enumerate(zip(titles, values, strict=True))
                if value is not None or not dialect.get("sparse")
            },
            ensure_ascii=not dialect.get("typed"),
        )
        for values in zip(*columns, strict=True)
    ]
    return _whole("\n".join(lines)).encode()


def _xlsx(rows, dialect):
    cells = []
    for row in rows:
        written = []
        for cell in row:
            value = _as_value(cell) if dialect.get("typed") else cell
            if value is None:
                written.append("<c/>")
            elif isinstance(value, str):
                text = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd]", "?", value)
                text = text.replace("&", "&amp;").replace("<", "&lt;")
                written.append(f'<c t="inlineStr"><is><t>{text}</t></is></c>')
            else:
                written.append(f"<c><v>{value}</v></c>")
        cells.append(f"<row>{''.join(written)}</row>")
    return workbook("".join(cells))


def _lines(rows, dialect):
    text = "\n".join("".join(word or "" for word in row) for row in rows)
    return text.encode(dialect.get("encoding", "utf-8"), errors="replace")


_WRITERS = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet, "xlsx": _xlsx}


def words_of(text):
    """Return the lines of a text, each cut into numbers, words and marks."""
    return tuple(
        tuple(re.findall(r"\d+|[^\W\d]+|\s+|.", line)) for line in text.rstrip("\n").split("\n")
    )


def seeds(rng, count):
    """Make files that are as they should be, of every kind in turn; and exports of surveys."""
    made = [_KINDS[number % len(_KINDS)](rng) for number in range(count)]
    return [*made, *map(_of_export, sorted(EXPORTS.glob("*.csv")))]


def _some(rng, least=3, most=5):
    return rng.sample(NAMES, rng.randint(least, most))


def _table(rng, reader, rows, **options):
    form = rng.choice(TABLES if reader != "scan_rankings" else ("csv", "parquet"))
    if reader == "read_preferences":
        form = rng.choice(("csv", "parquet"))
    texts = tuple(tuple(None if cell is None else str(cell) for cell in row) for row in rows)
    dialect = {"typed": rng.random() < 0.5, "delimiter": rng.choice(",;\t")}
    return Input(reader, form, texts, options, dialect)


def _permuted(rng, items):
    return rng.sample(items, len(items))


def _orderings(rng):
    items = _some(rng)
    title = rng.choice(["place {}", "{}", "Rank {}", "choice {}"])
    rows = [[title.format(place + 1) for place in range(len(items))]]
    rows += [_permuted(rng, items) for _ in range(rng.randint(3, 8))]
    reader = rng.choice(["read", "read_rankings", "scan_rankings"])
    if rng.random() < 0.5:
        for row in rows[1:]:
            n_listed = rng.randint(1, len(row))
            row[n_listed:] = [None] * (len(row) - n_listed)
        return _table(rng, reader, rows, unranked=rng.choice(["below", "anywhere"]))
    return _table(rng, reader, rows)


def _ranks(rng):
    items = _some(rng)
    rows = [[*items]]
    rows += [_permuted(rng, range(1, len(items) + 1)) for _ in range(rng.randint(3, 8))]
    options = {}
    if rng.random() < 0.4:
        options["ties"] = "allow"
        rows[-1] = [max(1, rank - 1) for rank in rows[-1]]
    if rng.random() < 0.4:
        options["unranked"] = rng.choice(["below", "anywhere"])
        rows[-1][rng.randrange(len(items))] = None
    if rng.random() < 0.3:
        rows = [
            [*row, rng.randint(1, 9) if number else "weight"] for number, row in enumerate(rows)
        ]
    if rng.random() < 0.3:
        rows = [[f"person {number}" if number else "name", *row] for number, row in enumerate(rows)]
    return _table(rng, rng.choice(["read", "read_rankings", "scan_rankings"]), rows, **options)


def _long(rng):
    items = _some(rng)
    rows = [["voter", "item", "rank"]]
    for person in range(rng.randint(2, 4)):
        ranks = _permuted(rng, range(1, len(items) + 1))
        rows += [[f"v{person}", item, rank] for item, rank in zip(items, ranks, strict=True)]
    return _table(rng, rng.choice(["read", "read_rankings"]), rows)


def _lists(rng):
    items = rng.sample(["tea", "coffee", "milk", "cocoa", "juice"], rng.randint(3, 5))
    mark = rng.choice([" > ", ";", ", "])
    rows = [["when", "Rank the drinks"]]
    rows += [[f"{day}.", mark.join(_permuted(rng, items))] for day in range(1, rng.randint(4, 8))]
    return _table(rng, rng.choice(["read", "read_rankings"]), rows)


def _pairs(rng):
    items = _some(rng)
    rows = [["voter", "winner", "loser"]]
    for person in range(rng.randint(2, 4)):
        order = _permuted(rng, items)
        rows += [[f"v{person}", *order[at : at + 2]] for at in range(len(order) - 1)]
    options = {"cycles": "keep"} if rng.random() < 0.4 else {}
    return _table(rng, rng.choice(["read", "read_preferences"]), rows, **options)


def _battles(rng):
    items = _some(rng)
    rows = [["model_a", "model_b", "winner", "judge", "weight"]]
    for _ in range(rng.randint(4, 9)):
        one, two = rng.sample(items, 2)
        outcome = rng.choice(["model_a", "model_b", "tie", "both_bad", one])
        rows.append([one, two, outcome, f"j{rng.randint(1, 3)}", rng.randint(1, 3)])
    kept = rng.choice([3, 4, 5])
    return _table(rng, rng.choice(["read", "read_battles"]), [row[:kept] for row in rows])


def _scores(rng):
    items = _some(rng)
    rows = [["task", *items]]
    rows += [
        [f"t{task}", *(round(rng.random(), rng.choice([1, 3])) for _ in items)]
        for task in range(rng.randint(3, 7))
    ]
    if rng.random() < 0.4:
        rows[-1][rng.randint(1, len(items))] = rng.choice([None, "-", "NA"])
    if rng.random() < 0.3:
        long = [
            [row[0], item, score]
            for row in rows[1:]
            for item, score in zip(items, row[1:], strict=True)
        ]
        rows = [["task", "model", "score"], *long]
    reader = rng.choice(["read", "read_scores"])
    return _table(rng, reader, rows, better=rng.choice(["higher", "lower"]))


def _preflib(rng):
    items = [name for name in _some(rng) if name.isprintable()]
    kind = rng.choice(["soc", "soi", "toc", "toi"])
    bodies, total = set(), 0
    lines = []
    for _ in range(rng.randint(2, 6)):
        order = [str(one) for one in _permuted(rng, range(1, len(items) + 1))]
        if kind.startswith("t"):
            order = ["{" + ",".join(sorted(order[:2])) + "}", *order[2:]]
        if kind.endswith("i"):
            order = order[: rng.randint(1, len(order))]
        body = ",".join(order)
        if body not in bodies and len(items) > 1:
            bodies.add(body)
            voters = rng.randint(1, 9)
            total += voters
            lines.append(f"{voters}: {body}")
    head = [
        f"# DATA TYPE: {kind}",
        f"# NUMBER ALTERNATIVES: {len(items)}",
        f"# NUMBER VOTERS: {total}",
        f"# NUMBER UNIQUE ORDERS: {len(lines)}",
        *(f"# ALTERNATIVE NAME {number}: {name}" for number, name in enumerate(items, start=1)),
    ]
    options = {"unranked": "below"} if kind.endswith("i") else {}
    return Input("read_rankings", "preflib", words_of("\n".join([*head, *lines])), options)


def _blt(rng):
    items = [name for name in _some(rng) if '"' not in name]
    lines = [f"{len(items)} 1"]
    if rng.random() < 0.3:
        lines.append(f"-{rng.randint(1, len(items))}")
    for _ in range(rng.randint(2, 6)):
        order = [str(one) for one in _permuted(rng, range(1, len(items) + 1))]
        listed = order[: rng.randint(1, len(order))]
        lines.append(f"{rng.randint(1, 20)} {' '.join(listed)} 0")
    lines += ["0", *(f'"{name}"' for name in items), '"An election"']
    return Input("read_rankings", "blt", words_of("\n".join(lines)), {"unranked": "below"})


def _sushi(rng):
    n_items = rng.randint(3, 6)
    lines = [f"{n_items} 1"]
    for _ in range(rng.randint(2, 6)):
        order = [str(one) for one in _permuted(rng, range(n_items))]
        listed = order[: rng.randint(1, n_items)]
        lines.append(f"0 {len(listed)} {' '.join(listed)}")
    return Input("read_rankings", "sushi", words_of("\n".join(lines)), {"unranked": "anywhere"})


def _cast_votes(rng):
    items = [name for name in _some(rng) if name != "7"]
    rows = [["Precinct", *(f"Choice {place + 1}" for place in range(3))]]
    words = ["skipped", "overvote", "undervote", "Write-in", items[0]]
    for _ in range(rng.randint(4, 8)):
        order = [*_permuted(rng, items)[:2], rng.choice(words)]
        rows.append([rng.choice("AB"), *_permuted(rng, order)])
    return _table(rng, rng.choice(["read", "read_rankings"]), rows, unranked="anywhere")


def _scottish(rng):
    items = [f"Person {letter}" for letter in "ABCDE"[: rng.randint(3, 5)]]
    rows = [[len(items), 2]]
    for _ in range(rng.randint(3, 6)):
        order = _permuted(rng, range(1, len(items) + 1))
        rows.append([rng.randint(1, 30), *order[: rng.randint(1, len(order))]])
    rows += [[f"Candidate {number}", name] for number, name in enumerate(items, start=1)]
    texts = tuple(tuple(map(str, row)) for row in rows)
    return Input("read_rankings", "csv", texts, {"unranked": "below"})


def _pasted(rng):
    items = [name for name in _some(rng) if not set(name) & set(":,;=~><\t\n\r#")]
    items = items if len(items) > 1 else ["tea", "milk", "juice"]
    lines = []
    named = rng.random() < 0.5
    for number in range(rng.randint(2, 6)):
        order = _permuted(rng, items)
        text = "".join(
            name + (rng.choice([" > ", " > ", " = ", ">", " ~ "]) if name != order[-1] else "")
            for name in order
        )
        text = text if ">" in text else text.replace(" = ", " > ").replace(" ~ ", " > ")
        lines.append(f"{rng.choice(['Anna', 'Bob', '3'])}{number}: {text}" if named else text)
    kind = rng.choice(["lines", "csv"])
    return Input("read", kind, words_of("\n".join(lines)), {"unranked": "below"})


def _tier_lists(rng):
    items = [name for name in _some(rng) if not set(name) & set(":,;\t\n\r#")]
    items = items if len(items) > 2 else ["tea", "milk", "juice"]
    lines = []
    for _ in range(rng.randint(1, 3)):
        order = _permuted(rng, items)
        lines += [f"S: {order[0]}, {order[1]}", f"A: {', '.join(order[2:])}", ""]
    return Input("read", "lines", words_of("\n".join(lines)), {"unranked": "below"})


def _grades(rng):
    items = _some(rng)
    words = rng.choice([["S", "A", "B", "C"], ["agree", "neutral", "disagree"], ["A+", "A-", "F"]])
    rows = [["voter", *items]]
    rows += [
        [f"v{row}", *(rng.choice([*words, *words, ""]) for _ in items)]
        for row in range(rng.randint(2, 7))
    ]
    how = rng.choice([{"better": "higher"}, {"order": ",".join(words)}, {}])
    return _table(rng, "read", rows, **how)


_KINDS = (
    *(_orderings, _ranks, _long, _lists, _pairs, _battles, _scores),
    *(_preflib, _blt, _sushi, _scottish, _cast_votes, _pasted, _tier_lists, _grades),
)


def _of_export(path):
    content = path.read_bytes()
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode("cp1252")
    first = next((line for line in text.splitlines() if line), "")
    delimiter = max(",;\t", key=first.count)
    rows = tuple(map(tuple, csv.reader(StringIO(text, newline=""), delimiter=delimiter)))
    return Input("read", "csv", rows, {}, {"delimiter": delimiter})
