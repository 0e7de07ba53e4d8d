"""Values that were found by independent prototypes, on real data."""

from math import log

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.inversions.test_real_data import mteb_scores
from tierwise.answers.races import races_of
from tierwise.luce.search import Limits, TierSearch, search_tiers
from tierwise.luce.worths import best_worths, log_evidence

TEN_TIERS = (
    "GTR-XXL ~ ST5-XXL > MPNet ~ SGPT-5.8B-msmarco ~ GTR-Large ~ GTR-XL ~ ST5-XL > Contriever ~ "
    "MiniLM-L6 ~ MiniLM-L12 ~ MPNet-multilingual ~ SGPT-2.7B-msmarco ~ SGPT-BLOOM-7.1B-msmarco ~ "
    "ST5-Large > SGPT-5.8B-nli ~ SGPT-1.3B-msmarco ~ GTR-Base ~ ST5-Base > coCondenser-msmarco ~ "
    "MiniLM-L12-multilingual > SimCSE-BERT-sup ~ SGPT-125M-msmarco > SimCSE-BERT-unsup ~ LaBSE ~ "
    "SGPT-125M-nli > Glove ~ Komninos > BERT ~ SPECTER > LASER2"
)
TEN_WORTHS = [3.23, 2.31, 1.67, 1.24, 0.79, 0.41, 0.19, 0.09, 0.04, 0.02]


def uniform(_sizes):
    return 0.0


def strict_in_order(races):
    """The worths of all items, in decreasing order."""
    found = best_worths(races, np.arange(races.n_items))
    return best_worths(races, np.argsort(np.argsort(-found.logs)))


def test_text_embedding_models():
    models, scores = mteb_scores()
    noise = 1e-9 * np.random.default_rng(1).normal(size=scores.shape)
    rankings = tw.Rankings.from_order_array(np.argsort(-(scores + noise), axis=1), models)
    races = races_of(rankings)
    tiers = tw.Tiers([tier.split(" ~ ") for tier in TEN_TIERS.split(" > ")])
    found = best_worths(races, tiers.label_array(models))
    worths = np.exp(found.logs)
    # The prototype's worths sum to their number.
    assert 10 * worths / worths.sum() == pytest.approx(TEN_WORTHS, abs=0.0051)
    assert found.log_evidence == pytest.approx(-3482.9, abs=0.05)
    sampled = log_evidence(races, found, np.random.default_rng(1))
    assert sampled == pytest.approx(found.log_evidence, abs=0.05)
    search = TierSearch(races, uniform)
    best = search_tiers(search)[0]
    assert best.score >= search.evaluate(tiers.label_array(models)).score
    tier_of = dict(zip(models, best.labels.tolist(), strict=True))
    assert tier_of["GTR-Large"] < tier_of["GTR-Base"]


def test_political_goals():
    races = races_of(tw.load_political_goals())
    strict = strict_in_order(races)
    assert strict.log_evidence == pytest.approx(-6435.5, abs=0.05)
    assert search_tiers(TierSearch(races, uniform))[0].sizes == (1, 1, 1, 1)


def test_sushi():
    races = races_of(tw.load_sushi(shared_data("sushi")))
    best = search_tiers(TierSearch(races, uniform))[0]
    assert best.worths.n_tiers == 9
    assert best.worths.log_evidence == pytest.approx(-71234.7, abs=0.05)


# Neighbours joined from 129 tiers on, by a prototype: log-likelihood by number of tiers, where they
# are so few that it matters more than how many ways there are to arrange them.
ARENA = {30: -1_114_944, 20: -1_115_140, 10: -1_116_025}
FIRST = ["chatgpt-4o-latest", "gemini-1.5-pro-exp-0801", "gpt-4o-2024-05-13"]


def test_the_strengths_of_the_arena():
    battles = tw.read_battles(shared_data("arena") / "battles.csv")
    races = races_of(battles)
    strict = strict_in_order(races)
    assert strict.log_likelihood == pytest.approx(-1_114_861, abs=1)
    order = np.argsort(strict.labels)[:3]
    assert [battles.items[item] for item in order] == FIRST
    strengths = 400 / log(10) * strict.logs[:3]
    assert -np.diff(strengths) == pytest.approx([1516.6 - 1499.9, 1499.9 - 1487.3], abs=0.2)


@pytest.mark.slow
def test_tiers_of_the_arena():
    battles = tw.read_battles(shared_data("arena") / "battles.csv")
    races = races_of(battles)
    best = search_tiers(TierSearch(races, uniform))[0]
    assert best.worths.n_tiers <= 45
    assert best.worths.log_likelihood > -1_114_861 - 150
    order = np.argsort(best.labels, kind="stable")[:3]
    assert [battles.items[item] for item in order] == FIRST
    assert best.labels[order].tolist() == [0, 1, 2]
    for n_tiers, log_likelihood in ARENA.items():
        limits = Limits(fewest=n_tiers, most=n_tiers)
        found = search_tiers(TierSearch(races, uniform, limits))
        limited = next(one for one in found if limits.allow(one.worths))
        assert limited.worths.n_tiers == n_tiers
        # The evidence is what is maximised, so the likelihood may be a little less.
        assert limited.worths.log_likelihood > log_likelihood - 5


@pytest.mark.slow
def test_what_the_tutorial_says_about_the_arena():
    battles = tw.read_battles(shared_data("arena") / "battles.csv")
    choice = tw.choose(battles, rng=1)
    best = choice.fit
    assert best.family == "luce"
    assert len(best.tiers) == 35
    assert best.log_likelihood == pytest.approx(-1_114_914, abs=1)
    no_tiers = next(one for one in best.references if one.name == "no tiers")
    assert no_tiers.log_likelihood == pytest.approx(-1_157_729, abs=1)
    assert [best.tiers[model] for model in FIRST] == [1, 2, 3]
    assert np.round(best.strengths[:5]).tolist() == [203, 186, 175, 158, 147]
    assert best.next_tier_probabilities[0] == pytest.approx(0.523, abs=0.0005)
    assert len(tw.search(battles, family="luce", margin=0.52, rng=1).best.tiers) == 21


def test_what_the_tutorial_says_about_text_embedding_models():
    models, scores = mteb_scores()
    rankings = tw.Rankings.from_scores(scores, "higher", list(models))
    found = tw.search(rankings, family="luce", rng=1).best
    one_theta = tw.search(rankings, "inversions", rng=1)
    assert len(found.tiers) == 8
    assert [found.tiers[name] for name in ("GTR-Large", "GTR-Base", "LASER2")] == [1, 2, 8]
    assert found.sizes[:2] == (7, 11)
    strengths = np.round(found.strengths)
    assert strengths[0] - strengths[1] == 91
    assert strengths[0] - strengths[-1] == 823
    assert one_theta.best.tiers["GTR-Large"] == one_theta.best.tiers["GTR-Base"]
