"""Columns, lines, changes and flips of a leaderboard, against brute force on small cases."""

import json
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.optimize import minimize

import tierwise as tw
from tierwise.leaderboards.changes import Standing, changes_between
from tierwise.leaderboards.flips import flips_of
from tierwise.leaderboards.line import line_of
from tierwise.leaderboards.result import _rounded
from tierwise.model.ranks import cut_shares, rank_shares, rank_spans, simultaneous_ranks


@pytest.fixture(scope="module")
def goals_board():
    return tw.leaderboard(tw.load_political_goals(), rng=1)


def random_draws(seed, n_draws=60, n_items=5):
    rng = np.random.default_rng(seed)
    raw = rng.integers(1, 4, size=(n_draws, n_items)) + np.arange(n_items) // 2
    return np.array([np.unique(row, return_inverse=True)[1] + 1 for row in raw])


def ranks_by_definition(row):
    better = [sum(other < one for other in row) for one in row]
    worse = [sum(other > one for other in row) for one in row]
    return [(1 + more, len(row) - less) for more, less in zip(better, worse, strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_spans_of_ranks_are_those_of_the_definition(seed):
    draws = random_draws(seed)
    found = rank_spans(draws)
    for row, spans in zip(draws.tolist(), found.tolist(), strict=True):
        assert [tuple(span) for span in spans] == ranks_by_definition(row)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("seed", range(3))
def test_rank_sets_hold_together_in_the_share_of_draws_they_say(seed, level):
    draws = random_draws(seed)
    sets = simultaneous_ranks(draws, level)
    spans = rank_spans(draws)
    inside = (spans[:, :, 0] >= sets[:, 0]) & (spans[:, :, 1] <= sets[:, 1])
    assert inside.all(axis=1).mean() >= level
    everything = simultaneous_ranks(draws, 0.999)
    assert (sets[:, 0] >= everything[:, 0]).all()
    assert (sets[:, 1] <= everything[:, 1]).all()


def test_rank_sets_leave_out_what_is_rare():
    draws = np.array([[1, 2, 3]] * 96 + [[3, 2, 1]] * 4)
    assert simultaneous_ranks(draws, 0.95).tolist() == [[1, 1], [2, 2], [3, 3]]
    assert simultaneous_ranks(draws, 0.97).tolist() == [[1, 3], [2, 2], [1, 3]]


def strict_orders(row):
    """All orders of items that agree with tiers, which are equally probable."""
    n_items = len(row)
    return [
        order
        for order in permutations(range(n_items))
        if all(row[one] <= row[other] for one, other in combinations(order, 2))
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_line_shares_places_as_drawing_lots_does(seed, k):
    draws = random_draws(seed, n_draws=20)
    inside = np.zeros(draws.shape[1])
    cut = 0
    for row in draws.tolist():
        orders = strict_orders(row)
        for order in orders:
            inside[list(order[:k])] += 1 / len(orders)
        cut += sorted(row)[k - 1] != sorted(row)[k]
    tiers = np.sort(draws[0])
    line = line_of(k, "abcde", tiers.tolist(), rank_shares(draws), cut_shares(draws), 0.9)
    assert line.probabilities == pytest.approx(inside / len(draws))
    assert line.lots_probability == pytest.approx(1 - cut / len(draws))
    assert len(line.inside) + line.places == k
    assert (line.places == 0) == (not line.lots)
    assert set(line.inside) | set(line.lots) | set(line.outside) == set("abcde")
    assert set(line.surely_inside) == {
        item
        for item, share in zip("abcde", inside / len(draws), strict=True)
        if share >= 0.9 - 1e-9
    }


def test_a_line_must_be_between_items(goals_board):
    with pytest.raises(tw.InputError, match="less than the number of items, 4; got 4"):
        goals_board.line(4)
    line = goals_board.line(1)
    assert line.lots == ("order", "prices")
    assert "would draw lots for 1 place" in line.summary()
    assert json.loads(json.dumps(line.to_dict()))["places"] == 1


def standing(draws, tiers):
    above = np.array([[(draws[:, a] < draws[:, b]).mean() for b in range(3)] for a in range(3)])
    return Standing(("a", "b", "c"), tiers, above)


def test_changes_have_the_probability_that_independent_draws_give_them():
    rng = np.random.default_rng(1)
    before, now = rng.integers(1, 3, (30, 3)), rng.integers(1, 4, (40, 3))
    changes = changes_between(standing(now, (1, 2, 2)), standing(before, (2, 1, 1)), 0.95)
    better = np.zeros((3, 3))
    for old, new in product(before, now):
        sign_of_old, sign_of_new = (np.sign(row - row[:, None]) for row in (old, new))
        better += sign_of_new > sign_of_old
    better /= len(before) * len(now)
    a, b, c = changes.rows
    assert (a.item, a.steps, a.tier_before, a.tier_now) == ("a", 1, 2, 1)
    assert a.probability == pytest.approx(better[0].max())
    assert (b.steps, c.steps) == (-1, -1)
    assert b.probability == pytest.approx(better[:, 1].max())
    assert changes.n_unchanged == 0


def test_changes_are_more_than_chance_where_both_leaderboards_are_sure(tmp_path):
    order = [("x", "y", "x"), ("y", "z", "y"), ("x", "z", "x")]
    other = [("x", "y", "y"), ("y", "z", "y"), ("x", "z", "x"), ("x", "w", "x")]
    before = tw.leaderboard(tw.Battles.from_rows(order * 40), rng=1)
    now = tw.leaderboard(tw.Battles.from_rows(other * 40), rng=1)
    before.to_json(tmp_path / "before.json")
    changes = now.changes(tmp_path / "before.json")
    assert {row.item: row.more_than_chance for row in changes.rows} == {"x": True, "y": True}
    assert (changes.new, changes.gone) == (("w",), ())
    assert "New: w." in changes.summary()
    by_object = now.changes(before)
    assert [row.item for row in by_object.rows] == [row.item for row in changes.rows]
    assert json.loads(json.dumps(changes.to_dict()))["new"] == ["w"]


@pytest.mark.parametrize(
    ("text", "says"),
    [("[1]", "not a leaderboard"), ("{", "not JSON"), (None, "does not exist")],
)
def test_an_earlier_leaderboard_that_cannot_be_read_is_named(tmp_path, text, says, goals_board):
    path = tmp_path / "before.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(tw.InputError, match=says):
        goals_board.changes(path)


def naive_strengths(wins):
    """Bradley-Terry strengths with half a comparison with an item of strength 0."""

    def loss(logs):
        total = 0.0
        for one, other in product(range(len(wins)), repeat=2):
            if one != other:
                total += wins[one, other] * np.log1p(np.exp(logs[other] - logs[one]))
        return total + 0.25 * (np.log1p(np.exp(-logs)) + np.log1p(np.exp(logs))).sum()

    return minimize(loss, np.zeros(len(wins)), tol=1e-12).x


def fewest_by_trying(wins, *, only_of_leader):
    """Fewest votes that change who is strongest, by trying all ways to turn votes round."""
    leader = int(naive_strengths(wins).argmax())
    pairs = [
        (one, other)
        for one, other in permutations(range(len(wins)), 2)
        if wins[one, other] > 0 and (one == leader or not only_of_leader)
    ]
    for votes in range(1, 7):
        for amounts in product(range(votes + 1), repeat=len(pairs)):
            if sum(amounts) != votes or any(
                amount > wins[pair] for amount, pair in zip(amounts, pairs, strict=True)
            ):
                continue
            if only_of_leader and np.count_nonzero(amounts) > 1:
                continue
            turned = wins.copy()
            for amount, (one, other) in zip(amounts, pairs, strict=True):
                turned[one, other] -= amount
                turned[other, one] += amount
            logs = naive_strengths(turned)
            if logs.max() > logs[leader] + 1e-6:
                return votes
    return None


BALANCED = np.array([[0.0, 4, 5], [2, 0, 3], [1, 3, 0]])
UNBALANCED = np.array([[0.0, 6, 1], [2, 0, 5], [0, 2, 0]])


@pytest.mark.parametrize("wins", [BALANCED, UNBALANCED], ids=["balanced", "unbalanced"])
def test_the_first_place_changes_by_as_few_votes_as_trying_all_finds(wins):
    found = flips_of("abc", wins, np.zeros((3, 3)), (1, 1, 1), "luce").first
    assert found.item == "a"
    assert found.votes == fewest_by_trying(wins, only_of_leader=True)
    among_all = fewest_by_trying(wins, only_of_leader=False)
    if wins is BALANCED:
        assert found.exact
        assert found.votes == among_all
    else:
        assert not found.exact
        assert found.votes >= among_all


def test_votes_with_third_items_put_another_first_where_two_met_seldom():
    wins = np.array([[0.0, 0, 9], [0, 0, 7], [1, 2, 0]])
    found = flips_of("abc", wins, np.zeros((3, 3)), (1, 1, 1), "luce").first
    assert (found.item, found.other, found.between_two) == ("a", "b", False)
    assert not found.exact or found.votes == 1
    assert found.votes >= fewest_by_trying(wins, only_of_leader=False)
    # So many votes do put b first: for a against c, or for c against b.
    assert any(
        naive_strengths(
            wins
            + one * np.array([[0, 0, -1.0], [0, 0, 0], [1, 0, 0]])
            + (found.votes - one) * np.array([[0, 0, 0], [0, 0, 1.0], [0, -1, 0]])
        ).argmax()
        == 1
        for one in range(found.votes + 1)
        if found.votes - one <= 2
    )


@pytest.mark.parametrize("family", ["mallows", "luce"])
def test_so_many_votes_do_change_a_tier(family):
    truth = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d"]]), (4.0, 1.5, 0.5))
    rng, rows = np.random.default_rng(3), []
    for order in truth.sample(60, rng=rng).to_orderings():
        one, other = sorted(rng.choice(4, size=2, replace=False))
        rows.append((order[one], order[other], order[one]))
    battles = tw.Battles.from_rows(rows)
    board = tw.leaderboard(battles, family=family, rng=1)
    flip = board.flips().tier
    assert flip is not None
    place = {item: number for number, item in enumerate(battles.items)}
    pair = place[flip.item], place[flip.other]

    def tiers_after(votes):
        turned = battles.decided.copy()
        turned[pair] -= votes
        turned[pair[::-1]] += votes
        changed = tw.Battles(battles.items, turned, battles.drawn)
        return tw.search(changed, family=family, rng=1).best.tiers

    assert tiers_after(flip.votes) != tiers_after(0)
    assert flip.exact == (flip.votes == 1)


def test_flips_are_of_battles(goals_board):
    with pytest.raises(tw.InputError, match="only battles"):
        goals_board.flips()


def test_columns_that_people_know():
    battles = tw.Battles.from_rows(
        [("x", "y", "x")] * 50 + [("y", "z", "y")] * 50 + [("x", "z", "tie")] * 3
    )
    board = tw.leaderboard(battles, rng=1)
    columns = board.columns()
    by_item = dict(
        zip(columns["item"], zip(columns["battles"], columns["wins"], strict=True), strict=True)
    )
    assert by_item == {"x": (53, 51.5), "y": (100, 50.0), "z": (53, 1.5)}
    sure = board.above_probabilities >= board.certainty
    for place, row in enumerate(board.rows):
        assert row.upper_rank == 1 + sure[:, place].sum()
        assert row.rank_set[0] <= row.rank_low
        assert row.rank_high <= row.rank_set[1]
        undecided = {
            other.item
            for number, other in enumerate(board.rows)
            if number != place and not sure[place, number] and not sure[number, place]
        }
        assert set(row.tied_with) == undecided
    assert board.rank_probabilities.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")  # few draws, of many boards
def test_rank_sets_hold_together_for_the_truth():
    """Rankings are simulated from true tiers; at most one set in twenty may miss."""
    truth = tw.Tiers([["a"], ["b", "c"], ["d", "e"], ["f"]])
    model = tw.ClusteredLuce(truth, (4.0, 2.0, 1.0, 0.5))
    spans = dict(zip(truth.items, ranks_by_definition(truth.label_array(truth.items)), strict=True))
    held, n_sets = 0, 60
    for seed in range(n_sets):
        answers = model.sample(40, rng=seed)
        board = tw.leaderboard(answers, family="luce", draws=250, workers=1, rng=seed)
        held += all(
            row.rank_set[0] <= spans[row.item][0] and spans[row.item][1] <= row.rank_set[1]
            for row in board.rows
        )
    assert held >= 0.95 * n_sets


def test_fractions_of_answers_are_one_column():
    weighted = tw.Rankings.from_orderings(
        [["a", "b"], ["c", "a"]], weights=[0.5, 1.0], unranked="anywhere"
    )
    frame = tw.leaderboard(weighted, rng=1).to_frame(backend="pyarrow")
    assert str(frame["answers"].type) == "double"


def test_no_number_is_minus_zero():
    # Strengths are centred, so an interval may end just below 0.
    assert str(_rounded(-1e-14)) == "0.0"
