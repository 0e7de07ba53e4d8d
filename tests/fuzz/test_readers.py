"""Readers meet anything: they give rankings or say what is wrong, and do nothing else.

Short runs are part of the tests; ``python -m tests.fuzz.run`` runs for as long as one likes.
"""

import inspect
import random
from io import BytesIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tierwise
from tests.fuzz.mutations import TAKES
from tests.fuzz.run import fuzz
from tests.strategies import rankings
from tierwise import InputError, Rankings, read_rankings, write_rankings
from tierwise.data.read import scan_rankings

FORMATS = ("csv", "parquet", "preflib", "sushi")
SUFFIX_OF = {"csv": "csv", "parquet": "parquet", "preflib": "toi"}

# What means something to one of the formats, and what never should.
WORDS = [
    "a",
    "b",
    "c",
    "weight",
    "count",
    "assessor",
    "item",
    "rank",
    "id",
    "PAR1",
    "é",
    "寿",
    "🍣",
]
NUMBERS = ["1", "2", "3", "0", "-1", "1.5", "nan", "NA", "1e9", "99999999999999999999"]
MARKS = [",", ";", ":", "#", "{", "}", '"', "'"]
LINES = ["10 1", "0 2 1 3", "1: 1,2", "2: {1,2}", "# NUMBER ALTERNATIVES: 2", "# NUMBER VOTERS: 3"]
SPACES = ["", " ", "\t", "\n", "\r", "\r\n", "\0", "\ufeff", "\u2028", "place 1", "place 2"]
PIECES = [*WORDS, *NUMBERS, *MARKS, *[line + "\n" for line in LINES], *SPACES]
pieces = st.sampled_from(PIECES)
texts = st.lists(pieces, max_size=40).map(lambda parts: "".join(parts).encode())
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(pieces, min_size=width, max_size=width).map(",".join), min_size=1, max_size=6
    ).map(lambda rows: "\n".join(rows).encode())
)
SAID = {
    "format": FORMATS,
    "layout": ["orderings", "ranks", "long"],
    "unranked": ["below", "anywhere"],
    "ties": ["error", "allow"],
    "items": [("a", "b"), ("a", "b", "c"), (1, 2, 3)],
    "weights": ["weight", "a"],
    "assessor": ["assessor", "id"],
}
options = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values) for name, values in SAID.items()}
)


@st.composite
def damaged_files(draw):
    """A file as tierwise writes it, of which some bytes are changed, lost or put in."""
    answers = draw(rankings(with_ties=False))
    file_format = draw(st.sampled_from(list(SUFFIX_OF)))
    path = draw(st.just(FOLDER)) / f"whole.{SUFFIX_OF[file_format]}"
    write_rankings(answers, path)
    content = bytearray(path.read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        change = draw(st.sampled_from(["set", "cut", "insert", "end"]))
        if change == "set" and content:
            content[place] = draw(st.integers(0, 255))
        elif change == "cut":
            del content[place : place + draw(st.integers(1, 8))]
        elif change == "insert":
            content[place:place] = draw(st.binary(min_size=1, max_size=4))
        else:
            del content[place:]
    return bytes(content), {"format": file_format, "unranked": answers.unranked}


@pytest.fixture(autouse=True, scope="module")
def _folder(tmp_path_factory):
    global FOLDER  # noqa: PLW0603 - hypothesis draws outside of tests
    FOLDER = tmp_path_factory.mktemp("fuzz")


def read(content, said):
    """Read in every way there is, and check whatever comes out."""
    try:
        answers = read_rankings(BytesIO(content), **said)
    except InputError:
        return
    check(answers)
    scannable = {key: value for key, value in said.items() if key != "item"}
    try:
        chunks = list(scan_rankings(BytesIO(content), chunk_rows=2, **scannable))
    except InputError:
        return
    for chunk in chunks:
        check(chunk)
    assert sum(len(chunk) for chunk in chunks) <= len(answers)


def check(answers):
    """Check what every collection of rankings must be like."""
    assert isinstance(answers, Rankings)
    assert len(set(answers.items)) == len(answers.items) >= 2
    assert answers.places.shape == (len(answers), len(answers.items))
    assert answers.places.min() >= -1
    assert answers.places.max() < len(answers.items)
    assert (answers.places >= 0).any(axis=1).all()
    assert np.isfinite(answers.weights).all()
    assert (answers.weights >= 0).all()
    assert answers.n_rankings > 0
    assert (answers.unranked is None) == (answers.places.min() >= 0)
    repr(answers)


@pytest.mark.parametrize(
    "content",
    [
        b'"\x00\n"\n',  # a name that goes on in the next line
        b"\x0b,\n",  # a line that is none
        b"a,b,weight\n1,2,9223372036854775807\n",  # a weight that is no 64-bit integer
        b"place 1,place 2,weight\na,b,1e308\nb,a,1e308\n",
        b",4,2\n4,2,4,3,1\n5,3,1,4,2\nitem",  # ballots, but for the number of candidates
        b"4,2,\n31,2,1,\n22,1,2,3,4,\n14,4,1,\n9,3,\nCandidate 1",
        b"Q1_1,Q1_2\nDrinks - Tea\nImportId,ImportId\n1,2\n",  # a name is missing
    ],
)
def test_what_was_found_before(content):
    read(content, {})


lenient = {"suppress_health_check": list(HealthCheck)}


@given(content=st.one_of(texts, tables), said=options)
@settings(max_examples=200, **lenient)
def test_any_text(content, said):
    read(content, said)


@given(damaged=damaged_files())
@settings(max_examples=150, **lenient)
def test_damaged_files(damaged):
    read(*damaged)


@pytest.mark.parametrize("reader", [name for name in TAKES if name != "read"])
def test_options_that_are_tried_exist(reader):
    function = getattr(tierwise.data.read, reader, None) or getattr(tierwise, reader)
    assert set(TAKES[reader]) <= set(inspect.signature(function).parameters)


def test_files_that_differ_from_sound_ones_in_a_field():
    findings = fuzz(100, seed=1)
    assert findings.failures == []
    assert findings.outcomes["accepted"] > 30


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_files_that_differ_from_sound_ones_in_a_field_for_long():
    seed = random.SystemRandom().randrange(2**63)
    findings = fuzz(5000, seed)
    assert findings.failures == [], f"seed {seed}"
    # What is refused at the door tests the door alone.
    assert findings.outcomes["accepted"] > 0.35 * findings.n_inputs, f"seed {seed}: {findings}"
