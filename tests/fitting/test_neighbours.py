"""How probable it is that neighbouring tiers are ranked in order, against brute force."""

import json
from itertools import pairwise, permutations

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tierwise.errors import InputError
from tierwise.fitting.neighbours import neighbour_agreement
from tierwise.fitting.summary import names_of_tiers, tiers_in_words

# Strict orders and inversions have closed forms; the others are drawn.
KINDS = [
    ((2, 2, 1), "inversions", "single", 0.5),
    ((2, 2, 1), "kendall", "single", 0.4),
    ((2, 2, 1), "hamming", "single", 0.8),
    ((2, 1, 2), "inversions", "tier", (0.8, 0.4)),
    ((2, 2, 1), "kendall", "tier", (0.5, 0.3)),
    ((1, 2, 2), "kendall", "place", (0.9, 0.3)),
    ((1, 1, 1, 1, 1), "kendall", "place", (1.0, 0.6, 0.4, 0.2)),
    ((1, 1, 1, 1, 1), "kendall", "tier", (1.0, 0.6, 0.4, 0.8)),
]


def model_of(sizes, distance, concentration, theta):
    return tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, "abcde"), theta, distance, concentration)


def probabilities_in_order(model):
    """The same from all orderings: an item of each tier above one of the next."""
    rows = [list(row) for row in permutations("abcde")]
    shares = np.exp(model.log_prob(tw.Rankings.from_orderings(rows)))
    tiers = list(model.tiers)
    return [
        np.mean(
            [
                shares @ [row.index(one) < row.index(other) for row in rows]
                for one in better
                for other in worse
            ]
        )
        for better, worse in pairwise(tiers)
    ]


@pytest.mark.parametrize(("sizes", "distance", "concentration", "theta"), KINDS)
def test_probabilities_are_those_of_all_orderings(sizes, distance, concentration, theta):
    rankings = model_of(sizes, distance, concentration, theta).sample(400, rng=1)
    fit = tw.fit(rankings, sizes, distance, concentration=concentration, rng=1)
    found = neighbour_agreement(fit)
    fitted = model_of(sizes, distance, concentration, fit.theta)
    assert fit.tiers == fitted.tiers
    exact = found[0].exact
    assert exact == (distance == "inversions" or (concentration == "tier" and max(sizes) == 1))
    for one, expected in zip(found, probabilities_in_order(fitted), strict=True):
        # 20,000 draws have a standard error of at most 0.0036.
        assert one.probability == pytest.approx(expected, abs=1e-10 if exact else 0.015)
        low, high = one.interval
        assert 0.5 <= low <= one.probability <= high < 1.0
    for number, one in enumerate(found):
        assert one.observed == fit.agreement_by_tier.by_pair[number, number + 1]
        assert one.name == f"tier {number + 1} above tier {number + 2}"


def theta_moved(fit, part, step):
    thetas = np.array(fit.thetas)
    thetas[part] += step
    return tuple(thetas) if fit.concentration != "single" else float(thetas[0])


@pytest.mark.parametrize(("sizes", "distance", "concentration", "theta"), KINDS)
def test_standard_errors_are_those_of_the_delta_method(sizes, distance, concentration, theta):
    rankings = model_of(sizes, distance, concentration, theta).sample(2000, rng=2)
    fit = tw.fit(rankings, sizes, distance, concentration=concentration, rng=1)
    n_thetas = len(fit.thetas)
    gradient = np.array(
        [
            np.subtract(
                *(
                    probabilities_in_order(
                        model_of(sizes, distance, concentration, theta_moved(fit, part, step))
                    )
                    for step in (1e-4, -1e-4)
                )
            )
            / 2e-4
            for part in range(n_thetas)
        ]
    )
    if concentration == "single":
        covariance = np.array([[fit.theta_estimate.standard_error**2]])
    else:
        information = 2000 * fit.model().part_moments().covariances
        covariance = np.linalg.inv(information)
    for number, one in enumerate(neighbour_agreement(fit)):
        slope = gradient[:, number]
        error = np.sqrt(slope @ covariance @ slope)
        value = one.probability
        reach = 1.959964 * error / (value * (1 - value))
        odds = np.log(value / (1 - value)) + np.array([-reach, reach])
        expected = 1 / (1 + np.exp(-odds))
        tolerance = 1e-6 if one.exact else 0.08 * (expected[1] - expected[0])
        assert one.interval == pytest.approx(expected, abs=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.95, pytest.param(0.8, marks=pytest.mark.slow)])
def test_intervals_cover(level):
    model = model_of((2, 1, 2), "inversions", "tier", (0.8, 0.4))
    truth = np.array(probabilities_in_order(model))
    covered = []
    for seed in range(200):
        fit = tw.fit(
            model.sample(150, seed), (2, 1, 2), "inversions", concentration="tier", level=level
        )
        if fit.tiers == model.tiers:
            ends = np.array([one.interval for one in neighbour_agreement(fit)])
            covered.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    assert len(covered) > 190
    assert level - 0.04 <= np.mean(covered) <= level + 0.03


def divided_fit():
    """Three hundred people who agree about four sweets and are divided about the fifth."""
    tastes = tw.Tiers([["liquorice"], ["caramel", "nougat"], ["mint", "jelly"]])
    people = tw.ClusteredMallows(tastes, (0.1, 1.2), "inversions", concentration="tier")
    return tw.fit(people.sample(300, rng=1), (1, 2, 2), "inversions", concentration="tier")


def test_what_people_are_divided_about_comes_last_and_apart():
    fit = divided_fit()
    first, last = neighbour_agreement(fit)
    assert first.name == "tier 1 above tier 2"
    assert first.above.items == ("caramel", "nougat")
    assert last.name == "divided: liquorice"
    assert last.below is None
    assert last.above.items == ("liquorice",)
    # Against all items below it, which is what its theta is about.
    model = fit.model()
    expected = 1 - model.part_moments().means[0] / 4
    assert last.probability == pytest.approx(expected)
    assert last.observed == pytest.approx(fit.agreement_by_tier.against_worse[0])
    assert 0.5 <= last.interval[0] < 0.56
    plain = json.loads(json.dumps([one.to_dict() for one in (first, last)], allow_nan=False))
    assert plain[1]["divided"]
    assert plain[1]["below"] is None
    assert names_of_tiers(fit) == ("liquorice", "tier 1", "tier 2")
    words = "caramel ~ nougat > mint ~ jelly; people are divided about liquorice"
    assert tiers_in_words(fit) == words


@pytest.mark.parametrize(
    ("distance", "concentration"),
    [("kendall", "single"), ("kendall", "place"), ("inversions", "tier"), ("inversions", "single")],
)
def test_perfect_agreement_is_known_from_below(distance, concentration):
    agreeing = tw.Rankings.from_orderings([list("abcd")] * 6)
    fit = tw.fit(agreeing, (1, 2, 1), distance, concentration=concentration, rng=1)
    for one in neighbour_agreement(fit):
        assert one.probability == pytest.approx(1.0)
        assert 0.5 < one.interval[0] < 0.95
        assert one.interval[1] == pytest.approx(1.0)


def test_what_the_answers_do_not_tell_is_left_open():
    rankings = model_of((1,) * 5, "kendall", "place", (1.2, 0.8, 0.4, 0.2)).sample(200, rng=1)
    listed = [row[:2] for row in rankings.to_orderings()]
    top = tw.Rankings.from_orderings(listed, items="abcde", unranked="below")
    fit = tw.fit(top, (1,) * 5, concentration="place", rng=1)
    last = neighbour_agreement(fit)[-1]
    assert last.interval == (0.5, 1.0)


def test_one_tier_and_other_things_are_refused():
    goals = tw.load_political_goals()
    with pytest.raises(InputError, match="no neighbours"):
        neighbour_agreement(tw.fit(goals, (4,)))
    with pytest.raises(InputError, match="needs a Fit"):
        neighbour_agreement(goals)


def test_sea_urchin_is_a_coin_toss():
    sushi = tw.load_sushi(shared_data("sushi"))
    fit = tw.fit(sushi, (1, 1, 5, 2, 1), "inversions", concentration="tier", rng=1)
    *agreed, last = neighbour_agreement(fit)
    assert last.name == "divided: sea urchin"
    assert last.probability == pytest.approx(0.5, abs=1e-6)
    assert last.interval[1] < 0.51
    assert agreed[0].above.items == ("fatty tuna",)
    assert all(one.interval[0] > 0.6 for one in agreed)
