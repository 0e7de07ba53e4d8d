"""Plans: what they count is right, and what they say follows from it."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest

import tierwise as tw
from tierwise.planning.plan import Plan, outcome_of, short_chains

pytestmark = pytest.mark.thorough

TIERS = tw.Tiers([["a"], ["b", "c"], ["d"]])
MODEL = tw.ClusteredLuce(TIERS, (9.0, 3.0, 1.0))


@pytest.fixture(scope="module")
def plan():
    return tw.plan(MODEL, answers=(10, 40, 160), sets=12, rng=1)


def made(found, n_answers=(10, 100, 1000)):
    """Make a plan by hand; only what is found matters."""
    table = np.array(found, dtype=np.float64)
    zero = np.zeros_like(table)
    provenance = tw.fit(tw.load_political_goals(), (2, 2)).provenance
    return Plan(
        *(TIERS, "rankings", n_answers, table, table, zero, zero, zero, None, 0.95, 0.8),
        provenance,
    )


def test_more_answers_find_more(plan):
    assert plan.n_answers == (10, 40, 160)
    separated = plan.separated.mean(axis=1)
    assert separated[0] < separated[-1]
    widths = plan.rank_width.mean(axis=1)
    assert widths[0] > widths[-1]
    assert ((plan.wrong >= 0) & (plan.wrong <= 1)).all()


def test_what_is_separated_between_tiers_adds_up(plan):
    """Of the five pairs that differ, two are between the first tiers, two between the last."""
    between = plan.between_tiers
    total = 2 * between[..., 0, 1] + 2 * between[..., 1, 2] + between[..., 0, 2]
    np.testing.assert_allclose(total / 5, plan.separated)
    np.testing.assert_array_equal(plan.success((2, 1)), between[..., 0, 1])


def test_outcomes_by_their_definition():
    board = tw.leaderboard(MODEL.sample(40, rng=5), family="luce", rng=2)
    outcome = outcome_of(board, TIERS)
    rows = board.rows
    truth = {item: tier for tier, items in enumerate(TIERS) for item in items}
    separated, differing, tied, same, wrong = 0, 0, 0, 0, 0
    for one, row in enumerate(rows):
        for other, below in enumerate(rows):
            sure = board.above_probabilities[one, other] >= 0.95
            if truth[row.item] < truth[below.item]:
                differing += 1
                separated += sure
            elif one != other:
                wrong += sure
            if one < other and truth[row.item] == truth[below.item]:
                same += 1
                tied += row.tier == below.tier
    assert outcome.separated == pytest.approx(separated / differing)
    assert outcome.tied == pytest.approx(tied / same)
    assert outcome.wrong == pytest.approx(wrong / 6)
    assert outcome.found == (board.tiers == TIERS)
    assert outcome.rank_width == np.mean([row.rank_high - row.rank_low for row in rows])


def test_the_number_needed_is_where_the_power_is_reached():
    plan = made([[0, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
    needed = plan.needed(0.7)
    # Halfway between 40% and 100%, and between 100 and 1,000 answers on the scale of logarithms.
    assert needed.n_answers == round(100 * 10**0.5)
    assert needed.low <= needed.n_answers <= needed.high
    assert plan.needed(0.4).n_answers == 100


def test_a_power_that_is_not_reached_is_said():
    plan = made([[0, 0], [0, 0], [1, 0]])
    assert plan.needed().n_answers is None
    assert "more than 1,000 are needed" in plan.sentence()


def test_a_power_that_is_reached_at_once():
    assert made([[1, 1], [1, 1], [1, 1]]).needed().n_answers == 10


def test_numbers_are_doubled_until_the_power_is_reached():
    plan = tw.plan(tw.ClusteredLuce(TIERS, (1e4, 1e2, 1.0)), sets=4, rng=1)
    assert plan.n_answers[0] == 25
    assert plan.found[-1].mean() >= 0.8
    assert all(later == 2 * one for one, later in pairwise(plan.n_answers))


def test_a_fit_and_a_posterior_are_truths():
    data = MODEL.sample(60, rng=1)
    fit = tw.search(data, family="luce").best
    assert tw.plan(fit, answers=(20,), sets=2, rng=1).tiers == fit.tiers
    posterior = tw.sample_posterior(data, family="luce", draws=100, rng=1)
    pilot = tw.plan(posterior, "pairs", answers=(60,), sets=3, rng=1)
    assert pilot.tiers is None
    with pytest.raises(tw.InputError, match="each set has its own tiers"):
        pilot.needed(of=(1, 2))


def test_mallows_models_are_planned_with_their_distance():
    model = tw.ClusteredMallows(TIERS, 1.5, "inversions")
    assert tw.plan(model, "top", size=2, answers=(200,), sets=3, rng=1).separated.mean() > 0.5


def test_the_same_seed_gives_the_same_plan():
    one, again = (tw.plan(MODEL, answers=(10, 40), sets=3, rng=1) for _ in range(2))
    for name in ("found", "separated", "tied", "wrong", "rank_width"):
        np.testing.assert_array_equal(getattr(again, name), getattr(one, name))


def test_plans_are_shown_and_kept(plan):
    assert "simulated set" in plan.summary()
    assert json.loads(json.dumps(plan.to_dict(), allow_nan=False))["sets"] == 12
    assert len(plan.to_frame()) == 3
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert repr(plan).startswith("Plan('With rankings of all items")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"power": 1.0}, "power"),
        ({"certainty": 0.2}, "certainty"),
        ({"sets": 1}, "sets"),
        ({"answers": ()}, "no numbers"),
        ({"ask": "top"}, "number of items"),
    ],
)
def test_plans_that_make_no_sense_are_refused(options, words):
    with pytest.raises(tw.InputError, match=words):
        tw.plan(MODEL, **options)


def test_a_truth_must_be_a_model():
    with pytest.raises(tw.InputError, match="truth must be a model"):
        tw.plan(TIERS)


@pytest.mark.parametrize("goal", ["all", (1, 1), (0, 1), (1, 2, 3)])
def test_goals_must_be_known(plan, goal):
    with pytest.raises(tw.InputError, match="numbers of two tiers"):
        plan.success(goal)


def _brute_force(model, ask, size, n_answers, n_sets, rng):
    """Draw, hide, analyse and count, set by set, with loops and what users would call."""
    worth_of = dict(
        zip(
            model.tiers.items,
            np.repeat(model.worths, [len(one) for one in model.tiers]),
            strict=True,
        )
    )
    found, separated = [], []
    for _ in range(n_sets):
        rows = []
        for _ in range(n_answers):
            left = list(worth_of)
            if ask in ("subsets", "pairs"):
                left = rng.choice(left, size=size, replace=False).tolist()
            row = []
            while left:
                worths = np.array([worth_of[item] for item in left])
                row.append(left.pop(int(rng.choice(len(left), p=worths / worths.sum()))))
            rows.append(row)
        if ask == "pairs":
            data = tw.Battles.from_rows([(one, other, one) for one, other in rows])
        else:
            kinds = {
                "complete": {},
                "subsets": {"unranked": "anywhere"},
                "top": {"unranked": "below"},
            }
            rows = [row[:size] if ask == "top" else row for row in rows]
            data = tw.Rankings.from_orderings(rows, items=tuple(worth_of), **kinds[ask])
        with short_chains():
            board = tw.leaderboard(data, family="luce", rng=int(rng.integers(1e9)), progress="off")
        above = {
            (one.item, other.item): board.above_probabilities[i, j] >= 0.95
            for i, one in enumerate(board.rows)
            for j, other in enumerate(board.rows)
        }
        tier_of = {row.item: row.tier for row in board.rows}
        differ = [
            (one, other)
            for one in worth_of
            for other in worth_of
            if worth_of[one] > worth_of[other]
        ]
        separated.append(np.mean([above[pair] for pair in differ]))
        found.append(
            all(
                (tier_of[one] < tier_of[other]) == (worth_of[one] > worth_of[other])
                for one in worth_of
                for other in worth_of
            )
        )
    return np.array(found, dtype=float), np.array(separated)


def _cells():
    """Cells of power tables chosen at random, once."""
    rng = np.random.default_rng(36)
    for ask in ("complete", "top", "subsets", "pairs"):
        sizes = [(1, 2), (1, 1, 2), (2, 2), (1, 2, 2)][rng.integers(4)]
        ratio = float(rng.uniform(1.6, 3.5))
        size = {"complete": None, "top": 2, "subsets": 3, "pairs": 2}[ask]
        number = int(rng.integers(15, 80)) * (3 if ask == "pairs" else 1)
        yield ask, size, sizes, round(ratio, 2), number


@pytest.mark.slow
@pytest.mark.parametrize(("ask", "size", "sizes", "ratio", "number"), list(_cells()))
def test_plans_agree_with_brute_force(ask, size, sizes, ratio, number):
    """Power of cells chosen at random, beside sets that are drawn and analysed one by one."""
    names = iter("abcdefgh")
    tiers = tw.Tiers([[next(names) for _ in range(one)] for one in sizes])
    model = tw.ClusteredLuce(tiers, [ratio ** (len(sizes) - tier) for tier in range(len(sizes))])
    n_sets = 60
    own = None if ask == "pairs" else size
    plan = tw.plan(model, ask, size=own, answers=[number], sets=n_sets, rng=1)
    brute = _brute_force(model, ask, size, number, n_sets, np.random.default_rng(2))
    for ours, theirs in zip((plan.found[0], plan.separated[0]), brute, strict=True):
        error = np.sqrt((ours.var() + theirs.var()) / n_sets + 1 / n_sets**2)
        assert abs(ours.mean() - theirs.mean()) < 3 * error
