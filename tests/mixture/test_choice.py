"""Groups have the model that describes the answers best, unless one is named."""

import pytest

import tierwise as tw

TIERS = tw.Tiers([list("ab"), list("cd"), list("ef")])


@pytest.fixture(scope="module")
def inverted():
    return tw.ClusteredMallows(TIERS, 0.7, "inversions").sample(300, rng=3)


def test_one_population_is_not_split_by_a_distance_of_others(inverted):
    by_kendall = tw.fit_mixture(inverted, [1, 2], distance="kendall", starts=5, folds=None, rng=1)
    by_choice = tw.fit_mixture(inverted, [1, 2], starts=5, folds=None, rng=1)
    assert by_kendall.n_groups == 2
    assert by_choice.n_groups == 1
    assert by_choice.chosen_by
    assert by_choice.chosen_by.split()[0] in by_choice.summary()


def test_a_choice_is_passed_on(inverted):
    choice = tw.choose(inverted, family="mallows", distance="hamming", rng=1)
    found = tw.fit_mixture(inverted, 1, choice=choice, starts=5, rng=1)
    assert found.distance == "hamming"


def test_opposed_halves_choose_by_their_groups():
    first = tw.ClusteredMallows(TIERS, 1.0, "inversions").sample(150, rng=1)
    second = tw.ClusteredMallows(tw.Tiers(list(TIERS)[::-1]), 1.0, "inversions").sample(150, rng=2)
    answers = tw.Rankings.concat([first, second])
    found = tw.fit_mixture(answers, 2, starts=5, rng=1)
    assert "of two groups" in found.chosen_by
    assert {str(group.tiers) for group in found.groups} == {
        str(TIERS),
        str(tw.Tiers(list(TIERS)[::-1])),
    }
