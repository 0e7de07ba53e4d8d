"""What is written is read back the same, whatever the names, ties, gaps and weights."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import rankings
from tierwise import InputError, Rankings, read_rankings, write_rankings


def there_and_back(answers, file_name, *, layout="orderings", **options):
    with TemporaryDirectory() as folder:
        path = Path(folder) / file_name
        write_rankings(answers, path, layout=layout)
        assert [file.name for file in Path(folder).iterdir()] == [file_name]
        if not file_name.endswith("i"):
            options |= {"layout": layout, "items": answers.items}
        return read_rankings(path, unranked=answers.unranked, **options)


@pytest.mark.thorough
@pytest.mark.parametrize("file_name", ["answers.csv", "answers.parquet"])
@given(answers=rankings(with_ties=False))
def test_orderings(file_name, answers):
    assert there_and_back(answers, file_name) == answers


@pytest.mark.thorough
@pytest.mark.parametrize("file_name", ["answers.csv", "answers.parquet"])
@pytest.mark.parametrize("layout", ["ranks", "long"])
@given(answers=rankings())
def test_ranks_and_long(file_name, layout, answers):
    if layout == "ranks" and "weight" in answers.items:
        return
    assert there_and_back(answers, file_name, layout=layout, ties="allow") == answers


@given(answers=rankings())
def test_preflib(answers):
    assert there_and_back(answers, "answers.toi") == answers


@given(
    answers=rankings(with_ties=False, incomplete=False), file_name=st.sampled_from(["csv", "pq"])
)
def test_orderings_are_recognised_without_help(answers, file_name):
    """Neither layout nor items are named; the items come in order of appearance."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"answers.{file_name}"
        write_rankings(answers, path)
        again = read_rankings(path, spellings="keep", missing="nothing")
    assert again.to_orderings() == answers.to_orderings()
    assert again.weights.tolist() == answers.weights.tolist()


def test_whole_numbers_stay_whole_numbers_in_parquet(tmp_path):
    answers = Rankings.from_orderings([[3, 1, 2], [1, 2, 3]])
    write_rankings(answers, tmp_path / "answers.parquet")
    assert read_rankings(tmp_path / "answers.parquet") == answers


def test_items_that_are_not_text_are_found_under_their_text(tmp_path):
    answers = Rankings.from_orderings([[3, 1, 2], [1, 2, 3]])
    write_rankings(answers, tmp_path / "answers.csv")
    assert read_rankings(tmp_path / "answers.csv").items == ("3", "1", "2")
    assert read_rankings(tmp_path / "answers.csv", items=(3, 1, 2)) == answers


def test_fractional_weights(tmp_path):
    answers = Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[0.1, 2 / 3])
    write_rankings(answers, tmp_path / "answers.csv")
    assert read_rankings(tmp_path / "answers.csv") == answers
    with pytest.raises(InputError, match="whole numbers"):
        write_rankings(answers, tmp_path / "answers.soc")


@pytest.mark.parametrize("name", ["", " a", "a "])
def test_names_that_would_not_survive_are_refused(tmp_path, name):
    answers = Rankings.from_orderings([[name, "b"]])
    with pytest.raises(InputError, match="cannot be written to a file"):
        write_rankings(answers, tmp_path / "answers.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a\nb", "a\0b", "\x1b[31ma", "a\u2028b", "a\u202eb", "\ud800"])
def test_names_with_control_characters_are_refused(name):
    with pytest.raises(InputError, match="control character") as message:
        Rankings.from_orderings([["c", "b"], [name, "b"]], unranked="below")
    assert "row 2" in str(message.value)
    assert str(message.value).isprintable()


def test_two_items_with_the_same_text_are_refused(tmp_path):
    with pytest.raises(InputError, match="same name"):
        write_rankings(Rankings.from_orderings([[1, "1"]]), tmp_path / "answers.csv")


def test_ties_need_another_layout(tmp_path):
    answers = Rankings.from_orderings([["a", ["b", "c"]]])
    with pytest.raises(InputError, match='layout="ranks"'):
        write_rankings(answers, tmp_path / "answers.csv")
    assert not list(tmp_path.iterdir())


def test_an_answer_without_items_is_refused(tmp_path):
    answers = Rankings.from_orderings([["a"], ["b", "a", "c"]], unranked="anywhere")
    with pytest.raises(InputError, match="row 1 lists no item"):
        write_rankings(answers.restrict(["b", "c"]), tmp_path / "answers.csv")


def test_formats_folders_and_layouts_that_do_not_exist(tmp_path):
    answers = Rankings.from_orderings([["a", "b"]])
    with pytest.raises(InputError, match=r"end it in \.csv"):
        write_rankings(answers, tmp_path / "answers.doc")
    with pytest.raises(InputError, match="does not exist"):
        write_rankings(answers, tmp_path / "nowhere" / "answers.csv")
    with pytest.raises(InputError, match="is a folder"):
        write_rankings(answers, tmp_path, format="csv")
    with pytest.raises(InputError, match="layout must be"):
        write_rankings(answers, tmp_path / "answers.csv", layout="wide")
    write_rankings(answers, tmp_path / "answers.doc", format="csv")
    assert read_rankings(tmp_path / "answers.doc") == answers


def test_an_item_called_weight(tmp_path):
    answers = Rankings.from_orderings([["weight", "b"]], weights=[2])
    with pytest.raises(InputError, match="rename"):
        write_rankings(answers, tmp_path / "answers.csv", layout="ranks")


def test_a_file_that_is_there_is_replaced_only_by_a_whole_one(tmp_path):
    path = tmp_path / "answers.csv"
    write_rankings(Rankings.from_orderings([["a", "b"]]), path)
    before = path.read_bytes()
    with pytest.raises(InputError):
        write_rankings(Rankings.from_orderings([["a", ["b", "c"]]]), path)
    assert path.read_bytes() == before
