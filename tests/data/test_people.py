"""What is known of people travels with their answers."""

from io import StringIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tierwise as tw
from tierwise import InputError, Rankings, read_rankings
from tierwise.data.people import tidy_people

TABLE = (
    "Tea,Coffee,Milk,Region,Age,Zip\n1,2,3,north,34,01067\n2,1,3,south,NA,10115\n3,1,2,,51,80331\n"
)
PEOPLE = {
    "Region": ["north", "south", None],
    "Age": [34, None, 51],
    "Zip": ["01067", "10115", "80331"],
}


def columns(rankings):
    return None if rankings.people is None else rankings.people.to_pydict()


def test_readers_keep_what_is_no_ranking(tmp_path):
    assert columns(read_rankings(StringIO(TABLE))) == PEOPLE
    arrow = pa.table(
        {
            "Tea": [1, 2, 3],
            "Coffee": [2, 1, 1],
            "Milk": [3, 3, 2],
            **PEOPLE,
        }
    )
    pq.write_table(arrow, tmp_path / "people.parquet")
    assert columns(read_rankings(tmp_path / "people.parquet")) == PEOPLE
    for frame in (arrow, arrow.to_pandas(), pl.from_arrow(arrow)):
        found = columns(read_rankings(frame))
        assert found["Region"] == PEOPLE["Region"]
        assert found["Age"] == PEOPLE["Age"]


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["999", "1.5"], [999.0, 1.5]),
        (["2,5", "3"], [2.5, 3.0]),
        # A thousand and two hundred, or little more than one: not for us to say.
        (["999", "1,200"], ["999", "1,200"]),
        (["1,234.5", "2,000.5"], [1234.5, 2000.5]),
        (["007", "010"], ["007", "010"]),
    ],
)
def test_numbers_are_told_from_text(cells, read):
    assert tidy_people(pa.table({"income": cells})).to_pydict() == {"income": read}


def test_the_column_of_weights_is_none_of_it_but_who_it_is():
    text = "id,weight,a,b\n7,2,1,2\n8,1,2,1\n"
    assert columns(read_rankings(StringIO(text))) == {"id": [7, 8]}
    assert columns(read_rankings(StringIO("a,b\n1,2\n2,1\n"))) is None


def test_orderings_and_long_tables():
    places = "Sex,place 1,place 2\nf,a,b\nm,b,a\n"
    assert columns(read_rankings(StringIO(places))) == {"Sex": ["f", "m"]}
    long = "person,item,rank,age,when\nAnn,a,1,34,1\nBob,b,1,51,1\nAnn,b,2,34,2\nBob,a,2,51,2\n"
    # What differs within an answer is not known of a person.
    found = read_rankings(StringIO(long), item="item", rank="rank", assessor="person")
    assert columns(found) == {"person": ["Ann", "Bob"], "age": [34, 51]}


def test_rows_that_are_set_aside_take_their_people_along():
    text = "a,b,sex\n1,2,f\n,,m\n2,1,f\n"
    assert columns(read_rankings(StringIO(text), empty="skip")) == {"sex": ["f", "f"]}


def test_subset_restrict_and_concat_keep_them():
    rankings = read_rankings(StringIO(TABLE))
    assert columns(rankings.subset([2, 0])) == {
        name: [values[2], values[0]] for name, values in PEOPLE.items()
    }
    assert columns(rankings.restrict(["Tea", "Milk"])) == PEOPLE
    other = rankings.restrict(rankings.items).with_people(pa.table({"Age": ["old", "young", None]}))
    joined = columns(Rankings.concat([rankings, other]))
    assert joined["Age"] == ["34", None, "51", "old", "young", None]
    assert joined["Region"] == [*PEOPLE["Region"], None, None, None]
    assert columns(rankings.with_people(None)) is None
    assert columns(Rankings.concat([rankings.with_people(None)] * 2)) is None


def test_fingerprints_and_equality_do_not_depend_on_them():
    rankings = read_rankings(StringIO(TABLE))
    alone = rankings.with_people(None)
    assert rankings.fingerprint() == alone.fingerprint()
    assert rankings == alone


def test_people_given_as_data_frames():
    rankings = Rankings.from_orderings([["a", "b"], ["b", "a"]])
    for frame in (pd.DataFrame({"age": [1, 2]}), pl.DataFrame({"age": [1, 2]})):
        assert columns(rankings.with_people(frame)) == {"age": [1, 2]}
    with pytest.raises(InputError, match="not a data frame"):
        rankings.with_people([1, 2])


def test_kish():
    rows = [["a", "b"]] * 4
    assert Rankings.from_orderings(rows).effective_size == 4
    assert Rankings.from_orderings(rows, weights=[10, 1, 1, 1]).effective_size == 13
    half = Rankings.from_orderings(rows, weights=[0.5, 0.5, 1.5, 1.5])
    assert half.effective_size == pytest.approx(16 / 5)


def test_bootstrap_of_clusters():
    """Everybody in a school says the same, so the schools vary, not the people."""
    rows = [["a", "b", "c"]] * 30 + [["b", "a", "c"]] * 30 + [["a", "b", "c"]] * 30
    known = pa.table({"school": ["x"] * 30 + ["y"] * 30 + ["z"] * 30})
    rankings = Rankings.from_orderings(rows).with_people(known)
    fit = tw.fit(rankings, (1, 1, 1))
    plain = tw.bootstrap(rankings, fit, replicates=200, rng=1)
    schools = tw.bootstrap(rankings, fit, replicates=200, cluster="school", rng=1)
    first = rankings.items.index("a")
    # Of three schools drawn, two or more are y with probability 7/27.
    share = (schools.labels[:, first] == 2).mean()
    assert share == pytest.approx(7 / 27, abs=4 * np.sqrt(7 / 27 * 20 / 27 / 200))
    assert (plain.labels[:, first] == 2).mean() < 0.1
    assert "drawing 3 clusters by 'school'" in schools.summary()
    assert schools.to_dict()["resampled"].startswith("3 clusters")
    assert plain.resampled == "answers"
    with pytest.raises(InputError, match="nonparametric bootstrap of rankings"):
        tw.bootstrap(rankings, fit, cluster="school", kind="parametric")
    with pytest.raises(InputError, match="no column 'town'"):
        tw.bootstrap(rankings, fit, cluster="town")
    alone = rankings.with_people(pa.table({"school": ["x"] * 90}))
    with pytest.raises(InputError, match="one cluster of 'school'"):
        tw.bootstrap(alone, fit, cluster="school")


def test_bootstrap_of_weighted_people_says_so():
    rankings = Rankings.from_orderings(
        [["a", "b"], ["b", "a"], ["a", "b"]], weights=[0.5, 1.0, 1.5]
    )
    fit = tw.fit(rankings, (1, 1))
    again = tw.bootstrap(rankings, fit, replicates=10, rng=1)
    assert (
        "people with their weights: 3 answers with survey weights (as 2.6 of equal weight, Kish)"
        in again.summary(200)
    )


def test_mixtures_relate_groups_to_columns():
    one = tw.ClusteredMallows(tw.Tiers([["a"], ["b"], ["c"]]), theta=2.0)
    other = tw.ClusteredMallows(tw.Tiers([["c"], ["b"], ["a"]]), theta=2.0)
    rankings = Rankings.concat([one.sample(60, rng=1), other.sample(40, rng=2)])
    known = rankings.with_people(pa.table({"side": ["x"] * 60 + ["y"] * 30 + [None] * 10}))
    found = tw.fit_mixture(known, 2, sizes=(1, 1, 1), starts=5, rng=1, distance="kendall")
    table = found.to_frame("side", backend="pyarrow").to_pydict()
    assert table["value"] == ["x", "y", None]
    assert table["rankings"] == [60, 30, 10]
    assert abs(table["group 1"][0] - table["group 1"][1]) > 0.7
    with pytest.raises(InputError, match="no column 'sex': the columns about people are 'side'"):
        found.to_frame("sex")
