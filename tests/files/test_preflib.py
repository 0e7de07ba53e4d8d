"""PrefLib files, judged by PrefLib's own reader."""

import re
import warnings
from io import StringIO

import pytest

from tests.data_paths import shared_data
from tierwise import InputError, read_rankings

HEADER = """# FILE NAME: small.{kind}
# DATA TYPE: {kind}
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: {voters}
# NUMBER UNIQUE ORDERS: {orders}
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: coffee: black
# ALTERNATIVE NAME 3: milk
"""


def read(body, kind="soc", voters=5, orders=2, **options):
    text = HEADER.format(kind=kind, voters=voters, orders=orders) + body
    return read_rankings(StringIO(text), **options)


def test_a_small_file():
    answers = read("3: 1,2,3\n2: 2,3,1\n")
    assert answers.items == ("tea", "coffee: black", "milk")
    assert answers.to_orderings() == [
        ["tea", "coffee: black", "milk"],
        ["coffee: black", "milk", "tea"],
    ]
    assert answers.weights.tolist() == [3, 2]


def test_ties_and_gaps():
    answers = read("3: {1, 2},3\n2: 3\n", kind="toi", unranked="below")
    assert answers.to_orderings() == [[["tea", "coffee: black"], "milk"], ["milk"]]


def test_incomplete_files_need_unranked():
    with pytest.raises(InputError, match=r"line 10 lists 1 of 3 items.*unranked"):
        read("3: 1,2,3\n2: 3\n", kind="soi")


def test_items_given_set_the_order():
    assert read("5: 1,2,3\n", orders=1, items=["milk", "tea", "coffee: black"]).items[0] == "milk"
    with pytest.raises(InputError, match="announces its own items"):
        read("5: 1,2,3\n", orders=1, items=["milk", "tea"])


@pytest.mark.parametrize(
    ("body", "changes", "message"),
    [
        ("3: 1,2,3\n3: 2,3,1\n", {}, "line 4 announces NUMBER VOTERS 5, but the body holds 6"),
        ("5: 1,2,3\n", {}, "line 5 announces NUMBER UNIQUE ORDERS 2, but the body holds 1"),
        ("3: 1,2,3\n2: 2,3,4\n", {}, "line 10: item 4 is not among the 3 items"),
        ("3: 1,2,3\n2: 2,3,2\n", {}, "line 10: item 2 is listed twice"),
        ("3: 1,2,3\n2: 2,3\n", {}, "line 10 lists 2 of 3 alternatives.*complete"),
        ("3: 1,2,3\n2: {2,3},1\n", {}, "line 10 holds a tie.*strict"),
        ("3: 1,2,3\n-2: 2,3,1\n", {}, "line 10: '-2: 2,3,1' is not a number of voters"),
        ("3: 1,2,3\n2: 2,{3,1\n", {}, "line 10: .* is not a number of voters"),
        ("3: 1,2,3\n2: 2,3,1\n", {"kind": "cat"}, "line 2: DATA TYPE is 'cat'"),
        ("", {}, "no rankings"),
        ("3: 1,2,3\n2: 2,3,1\n", {"voters": "many"}, "line 4: NUMBER VOTERS is 'many'"),
    ],
)
def test_headers_and_bodies_that_contradict_each_other(body, changes, message):
    with pytest.raises(InputError, match=message):
        read(body, **changes)


def test_a_header_without_its_alternatives():
    text = HEADER.format(kind="soc", voters=1, orders=1).replace("# ALTERNATIVE NAME 2", "# NOTE")
    with pytest.raises(InputError, match=r"line 3 announces 3 alternatives.*names 2.*NAME 2"):
        read_rankings(StringIO(text + "1: 1,2,3\n"))
    with pytest.raises(InputError, match="no header line '# NUMBER ALTERNATIVES"):
        read_rankings(StringIO("1: 1,2\n"), format="preflib")


def test_alternatives_of_the_same_name_are_told_apart():
    text = HEADER.format(kind="soc", voters=1, orders=1).replace("milk", "tea") + "1: 1,2,3\n"
    assert read_rankings(StringIO(text)).items == ("tea (1)", "coffee: black", "tea (3)")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Ó Dálaigh".encode().decode("latin-1"), "Ó Dálaigh"),  # with a control character
        ("Łódź".encode().decode("latin-1").encode().decode("latin-1"), "Łódź"),
        ("O\u2019Neill".encode().decode("cp1252"), "O\u2019Neill"),
        ("ca\u0086e", "ca\\x86e"),
    ],
)
def test_letters_that_were_encoded_twice_are_repaired_and_said(written, read):
    text = HEADER.format(kind="soc", voters=1, orders=1).replace("milk", written) + "1: 1,2,3\n"
    rankings = read_rankings(StringIO(text))
    assert rankings.items == ("tea", "coffee: black", read)
    [remark] = rankings.reading.remarks
    assert remark.startswith("1 name holds characters that were encoded twice")


def test_letters_that_were_encoded_once_stay():
    text = HEADER.format(kind="soc", voters=1, orders=1).replace("milk", "Ó Dálaigh") + "1: 1,2,3\n"
    rankings = read_rankings(StringIO(text))
    assert rankings.items[2] == "Ó Dálaigh"
    assert rankings.reading is None


@pytest.mark.parametrize("most_bytes", [100_000, pytest.param(10**9, marks=pytest.mark.slow)])
def test_every_file_is_read_as_preflib_reads_it(most_bytes):
    instances = pytest.importorskip("preflibtools.instances")
    paths = sorted(shared_data("preflib").glob("*.[st]o[ci]"))
    assert paths
    for path in (path for path in paths if path.stat().st_size < most_bytes):
        ours = read_rankings(path, unranked="anywhere")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = instances.OrdinalInstance()
            theirs.parse_file(str(path))
        stated = re.search(r"NUMBER VOTERS: (\d+)", path.read_text(encoding="utf-8"))
        assert ours.n_rankings == theirs.num_voters == int(stated[1])
        names = [theirs.alternatives_name[number] for number in sorted(theirs.alternatives_name)]
        assert list(ours.items) == names
        number_of = {name: number for number, name in enumerate(names, start=1)}
        found = {}
        for row, weight in zip(ours.to_orderings(), ours.weights.tolist(), strict=True):
            order = tuple(
                tuple(sorted(number_of[item] for item in entry))
                if isinstance(entry, list)
                else (number_of[entry],)
                for entry in row
            )
            found[order] = found.get(order, 0) + weight
        expected = {
            tuple(tuple(sorted(group)) for group in order): count
            for order, count in theirs.multiplicity.items()
        }
        assert found == expected, path.name


OLD = "3\n1,tea\n2,coffee, black\n3,milk\n5,5,2\n3,1,{2,3}\n2,2,3,1\n"


def test_headers_from_before_2022(tmp_path):
    (tmp_path / "old.toc").write_text(OLD)
    answers = read_rankings(tmp_path / "old.toc")
    assert answers.items == ("tea", "coffee, black", "milk")
    assert answers.to_orderings() == [
        ["tea", ["coffee, black", "milk"]],
        ["coffee, black", "milk", "tea"],
    ]
    assert answers.weights.tolist() == [3, 2]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("5,5,2", "5,9,2", "line 5 announces NUMBER VOTERS 9, but the body holds 5"),
        ("5,5,2", "5,5", "line 5: '5,5' is not the numbers of voters"),
        ("2,coffee", "coffee", "line 3: 'coffee, black' is not the number and the name"),
        ("2,2,3,1", "2,2,3,1,x", "line 7: .* is not a number of voters"),
        ("3\n1,tea", "4\n1,tea", "line 6: .* is not the numbers of voters"),
    ],
)
def test_what_is_wrong_in_old_headers_is_named(tmp_path, right, wrong, said):
    (tmp_path / "old.toc").write_text(OLD.replace(right, wrong, 1))
    with pytest.raises(InputError, match=said):
        read_rankings(tmp_path / "old.toc")
