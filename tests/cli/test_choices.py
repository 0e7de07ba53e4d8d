"""The words that options take are those that the library takes: neither list has one more."""

from typing import get_args

import pytest

from tierwise._util.types import Cycles, Ties, Unranked, WeightsAre
from tierwise.cli.main import shell
from tierwise.consensus.find import METHODS
from tierwise.data.battles import DrawnAs, Position
from tierwise.data.score_table import ItemsIn
from tierwise.distances import DistanceName
from tierwise.files.cast_votes import Overvotes, Repeats
from tierwise.files.cells import Decimal
from tierwise.files.options import Better, Broken, TableLayout
from tierwise.files.source import Format
from tierwise.files.spellings import Spellings
from tierwise.fitting.fit import ConcentrationChoice
from tierwise.fitting.solve import LikelihoodKind
from tierwise.leaderboards.leaderboard import Uncertainty as UncertaintyOfBoard
from tierwise.leaderboards.result import Published
from tierwise.mixture.fit import Criterion as CriterionOfGroups
from tierwise.mixture.fit import Noise
from tierwise.model.priors import NAMED_PRIORS
from tierwise.planning.asking import Ask
from tierwise.planning.claims import Settle
from tierwise.planning.questions import AskNext
from tierwise.posterior.samplers import PosteriorConcentration, PosteriorMethod, ThetaUpdate
from tierwise.reporting.analysis import Uncertainty
from tierwise.searching.compared import FamilyChoice
from tierwise.searching.evaluate import Criterion
from tierwise.searching.search import SearchMethod
from tierwise.searching.size_space import Moves
from tierwise.web.choices import WISHES

COMMANDS = shell("fit").options
# What the library takes, by the option, and by command and option where commands differ.
WORDS = {
    "better": get_args(Better),
    "broken": get_args(Broken),
    "concentration": get_args(ConcentrationChoice),
    "cycles": get_args(Cycles),
    "decimal": get_args(Decimal),
    "distance": ("auto", *get_args(DistanceName)),
    "drawn": get_args(DrawnAs),
    "empty": ("error", "skip"),
    "family": get_args(FamilyChoice),
    "format": get_args(Format),
    "items_in": get_args(ItemsIn),
    "layout": ("auto", *get_args(TableLayout)),
    "likelihood": get_args(LikelihoodKind),
    "moves": get_args(Moves),
    "noise": get_args(Noise),
    "overvotes": get_args(Overvotes),
    "position": get_args(Position),
    "prior_sizes": NAMED_PRIORS,
    "repeats": get_args(Repeats),
    "settle": get_args(Settle),
    "spellings": get_args(Spellings),
    "theta_update": get_args(ThetaUpdate),
    "tier_signs": ("numbers", "letters"),
    "tiers": get_args(Published),
    "ties": get_args(Ties),
    "unranked": get_args(Unranked),
    "weights_are": get_args(WeightsAre),
    ("fit", "method"): METHODS,
    ("leaderboard", "concentration"): get_args(PosteriorConcentration),
    ("leaderboard", "uncertainty"): get_args(UncertaintyOfBoard),
    ("mixture", "criterion"): get_args(CriterionOfGroups),
    ("next", "ask"): get_args(AskNext),
    ("plan", "ask"): get_args(Ask),
    ("plan", "distance"): get_args(DistanceName),
    ("posterior", "concentration"): get_args(PosteriorConcentration),
    ("posterior", "method"): get_args(PosteriorMethod),
    ("report", "uncertainty"): ("auto", *get_args(Uncertainty)),
    ("search", "criterion"): get_args(Criterion),
    ("search", "method"): get_args(SearchMethod),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_options_take_the_words_of_the_library(command):
    for name, option in COMMANDS[command].items():
        if option.choices:
            words = WORDS.get((command, name)) or WORDS[name]
            assert set(option.choices) == set(words), f"{command} {option.name}"


def test_the_web_page_offers_the_words_of_the_library():
    for name, (_, words) in WISHES.items():
        known = WORDS.get(("report", name)) or WORDS[name]
        assert set(words) - {""} == set(known), name
