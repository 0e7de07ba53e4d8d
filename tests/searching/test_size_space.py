import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference_structure as naive
from tierwise import InputError
from tierwise.searching.size_space import SizeSpace
from tierwise.tiers import adjacent_shifts, neighbours

spaces = st.builds(
    SizeSpace,
    st.just(8),
    st.sampled_from([None, 5, 6]),
    st.sampled_from([(), (1,), (1, 1), (2,)]),
    st.sampled_from([(), (1,), (2, 1)]),
)


def allowed(space):
    """The size vectors of a space, from all there are."""
    return {
        sizes
        for sizes in naive.all_sizes(space.n_items)
        if space.n_tiers in (None, len(sizes))
        and len(sizes) >= len(space.top) + len(space.bottom)
        and sizes[: len(space.top)] == space.top
        and (not space.bottom or sizes[-len(space.bottom) :] == space.bottom)
    }


@given(spaces)
def test_a_space_holds_what_is_allowed_and_nothing_else(space):
    listed = list(space)
    assert len(listed) == space.n_sizes == len(set(listed))
    assert set(listed) == allowed(space)
    assert {sizes for sizes in naive.all_sizes(8) if sizes in space} == allowed(space)


@given(spaces, st.sampled_from(naive.all_sizes(8)))
def test_the_nearest_is_allowed_and_what_is_allowed_stays(space, sizes):
    assert space.nearest(sizes) in space
    if sizes in space:
        assert space.nearest(sizes) == sizes


@given(spaces, st.sampled_from(["adjacent", "split-merge-shift"]))
def test_neighbours_stay_inside(space, moves):
    near = adjacent_shifts if moves == "adjacent" else neighbours
    for sizes in list(space)[:10]:
        found = space.neighbours(sizes, moves)
        assert set(found) <= allowed(space)
        if not (space.top or space.bottom or space.n_tiers):
            assert found == near(sizes)


@given(spaces)
def test_leaps_join_or_take_apart_three_or_more(space):
    for sizes in list(space)[:10]:
        for leap in space.leaps(sizes):
            assert leap in allowed(space)
            assert abs(len(leap) - len(sizes)) >= 2
    assert set(SizeSpace(5).leaps((1, 1, 1, 2))) == {(3, 2), (1, 4), (5,)}
    assert SizeSpace(5).leaps((2, 3)) == [(2, 1, 1, 1)]


@pytest.mark.parametrize("n_tiers", [None, 4])
def test_moves_reach_everything(n_tiers):
    space = SizeSpace(7, n_tiers)
    reached = todo = {next(iter(space))}
    while todo:
        todo = {near for sizes in todo for near in space.neighbours(sizes, "split-merge-shift")}
        todo -= reached
        reached |= todo
    assert reached == set(space)


def test_top_and_bottom_that_leave_nothing_open():
    space = SizeSpace(4, top=(1, 1), bottom=(2,))
    assert list(space) == [(1, 1, 2)]
    assert space.neighbours((1, 1, 2), "split-merge-shift") == []
    assert space.nearest((4,)) == (1, 1, 2)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"n_tiers": 0}, "1 to 5 tiers"),
        ({"n_tiers": 6}, "1 to 5 tiers"),
        ({"top": (3,), "bottom": (3,)}, "hold 6 items"),
        ({"top": (1,), "n_tiers": 1}, "2 to 5 tiers"),
        ({"top": (0,)}, "at least one item"),
        ({"bottom": (1.5,)}, "whole numbers"),
    ],
)
def test_what_cannot_be_is_refused(arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        SizeSpace(5, **arguments)


def test_large_spaces_are_counted_but_not_listed():
    assert SizeSpace(101).n_sizes == 2**100


def test_of_many_tiers_few_are_joined_at_once():
    few, many = SizeSpace(12).leaps((1,) * 12), SizeSpace(13).leaps((1,) * 13)
    assert (12,) in few
    assert len(few) == sum(12 - joined + 1 for joined in range(3, 13))
    assert {13 - len(sizes) + 1 for sizes in many} == {3, 4}
