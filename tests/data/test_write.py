"""Distinct answers with ties and gaps: saved, loaded, merged."""

import numpy as np
import pytest

import tierwise as tw

ANSWERS = [["a", ["b", "c"]], ["c", "a"], ["a", ["b", "c"]], ["b"]]


def gapped(answers=ANSWERS):
    return tw.Rankings.from_orderings(answers, items="abcd", unranked="anywhere")


def counted(rankings):
    orderings = rankings.to_orderings()
    return sorted((repr(one), float(w)) for one, w in zip(orderings, rankings.weights, strict=True))


def test_what_is_saved_comes_back(tmp_path):
    path = tmp_path / "answers.npz"
    gapped().save(path)
    loaded = tw.Rankings.load(path)
    assert (loaded.items, loaded.unranked, loaded.n_rankings) == (tuple("abcd"), "anywhere", 4)
    assert counted(loaded) == counted(tw.Rankings.merge([gapped()]))
    below = tw.Rankings.from_orderings([["a"], ["b", "a", "c"]], unranked="below")
    below.save(path)
    assert tw.Rankings.load(path).unranked == "below"
    with pytest.raises(tw.InputError, match=r"end in \.npz"):
        below.save(tmp_path / "answers.csv")


def test_damage_is_noticed(tmp_path):
    path = tmp_path / "answers.npz"
    gapped().save(path)
    with np.load(path) as saved:
        parts = dict(saved)
    parts["weights"] = parts["weights"] + 1
    np.savez(path, **parts)
    with pytest.raises(tw.InputError, match="its checksum does not match"):
        tw.Rankings.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(tw.InputError, match="not a file of rankings"):
        tw.Rankings.load(path)
    with pytest.raises(tw.InputError, match="there is no file"):
        tw.Rankings.load(tmp_path / "none.npz")


def test_an_update_says_what_all_answers_say(tmp_path):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(40, 4)).round(1) + np.array([1.0, 1.0, 0.0, 0.0])
    scores[:, 1:][rng.random((40, 3)) < 0.2] = np.nan
    tw.Rankings.from_scores(scores[:30], "higher", "abcd").save(tmp_path / "old.npz")
    today = tw.Rankings.from_scores(scores[30:], "higher", "abcd")
    merged = tw.Rankings.merge([tw.Rankings.load(tmp_path / "old.npz"), today])
    everything = tw.Rankings.from_scores(scores, "higher", "abcd")
    assert merged.n_rankings == everything.n_rankings == 40
    assert counted(merged) == counted(tw.Rankings.merge([everything]))
    fits = [tw.fit(one, (2, 2), "inversions", rng=1) for one in (merged, everything)]
    assert fits[0].log_likelihood == pytest.approx(fits[1].log_likelihood)
    assert fits[0].tiers == fits[1].tiers


def test_a_new_item_was_not_shown_before():
    old = tw.Rankings.from_orderings([["a", "b"], ["b", "a"]])
    new = tw.Rankings.from_orderings([["c", "a", "b"]])
    merged = tw.Rankings.merge([old, new])
    assert merged.unranked == "anywhere"
    assert merged.to_orderings() == [["a", "b"], ["b", "a"], ["c", "a", "b"]]
    with pytest.raises(tw.InputError, match="only some of the collections"):
        tw.Rankings.merge(
            [tw.Rankings.from_orderings([["a"], ["b", "a", "d"]], unranked="below"), new]
        )
    with pytest.raises(tw.InputError, match="nothing to join"):
        tw.Rankings.merge([])
    with pytest.raises(tw.InputError, match="must be Rankings"):
        tw.Rankings.merge([1])
