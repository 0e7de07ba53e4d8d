"""Find tiers in rankings, battles and scores, and say how sure they are.

Examples
--------
>>> import tierwise as tw
>>> tw.fit(tw.load_political_goals(), sizes=(2, 2)).tiers
Tiers('order ~ prices > say ~ speech')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tierwise import plots as plots
    from tierwise._util.provenance import cite as cite
    from tierwise._util.tasks import parallel as parallel
    from tierwise._util.types import Estimate as Estimate
    from tierwise.checking.check import check_fit as check_fit
    from tierwise.checking.result import FitCheck as FitCheck
    from tierwise.comparing.compare import compare as compare
    from tierwise.comparing.result import Comparison as Comparison
    from tierwise.data.battles import Battles as Battles
    from tierwise.data.best_worst import read_best_worst as read_best_worst
    from tierwise.data.best_worst import sample_best_worst as sample_best_worst
    from tierwise.data.counts import Counts as Counts
    from tierwise.data.datasets import load_apa1980 as load_apa1980
    from tierwise.data.datasets import load_f1 as load_f1
    from tierwise.data.datasets import load_llmfao as load_llmfao
    from tierwise.data.datasets import load_political_goals as load_political_goals
    from tierwise.data.datasets import load_sushi as load_sushi
    from tierwise.data.datasets import load_word_association as load_word_association
    from tierwise.data.describe import describe as describe
    from tierwise.data.description import Description as Description
    from tierwise.data.description_of_pairs import BattlesDescription as BattlesDescription
    from tierwise.data.description_of_pairs import PairsDescription as PairsDescription
    from tierwise.data.preferences import Preferences as Preferences
    from tierwise.data.rankings import Rankings as Rankings
    from tierwise.data.read import read as read
    from tierwise.data.read import read_preferences as read_preferences
    from tierwise.data.read import read_rankings as read_rankings
    from tierwise.data.read_battles import read_battles as read_battles
    from tierwise.data.scan import RankingScan as RankingScan
    from tierwise.data.scores import read_scores as read_scores
    from tierwise.data.write import write_rankings as write_rankings
    from tierwise.distances import Distance as Distance
    from tierwise.distances import get_distance as get_distance
    from tierwise.errors import InputError as InputError
    from tierwise.errors import TierwiseError as TierwiseError
    from tierwise.errors import TierwiseWarning as TierwiseWarning
    from tierwise.errors import TooLargeError as TooLargeError
    from tierwise.fitting.bootstrap import bootstrap as bootstrap
    from tierwise.fitting.fit import fit as fit
    from tierwise.fitting.impute import Imputation as Imputation
    from tierwise.fitting.impute import impute as impute
    from tierwise.fitting.resampled import Bootstrap as Bootstrap
    from tierwise.fitting.result import Agreement as Agreement
    from tierwise.fitting.result import Fit as Fit
    from tierwise.fitting.result import agreement as agreement
    from tierwise.groups.compare import GroupComparison as GroupComparison
    from tierwise.groups.compare import compare_groups as compare_groups
    from tierwise.groups.tree import GroupTree as GroupTree
    from tierwise.groups.tree import group_tree as group_tree
    from tierwise.leaderboards.leaderboard import leaderboard as leaderboard
    from tierwise.leaderboards.result import Leaderboard as Leaderboard
    from tierwise.mixture.draws import MixtureDraws as MixtureDraws
    from tierwise.mixture.draws import sample_mixture as sample_mixture
    from tierwise.mixture.fit import fit_mixture as fit_mixture
    from tierwise.mixture.result import Mixture as Mixture
    from tierwise.model.clustered_luce import ClusteredLuce as ClusteredLuce
    from tierwise.model.clustered_mallows import ClusteredMallows as ClusteredMallows
    from tierwise.model.priors import Beta as Beta
    from tierwise.model.priors import Gamma as Gamma
    from tierwise.model.priors import Priors as Priors
    from tierwise.partition.choose import log_partition as log_partition
    from tierwise.partition.choose import partition_function as partition_function
    from tierwise.planning.plan import Plan as Plan
    from tierwise.planning.plan import plan as plan
    from tierwise.planning.questions import Questions as Questions
    from tierwise.planning.questions import next_questions as next_questions
    from tierwise.planning.stopping import Enough as Enough
    from tierwise.planning.stopping import enough as enough
    from tierwise.posterior.moves import Exchange as Exchange
    from tierwise.posterior.result import Posterior as Posterior
    from tierwise.posterior.run import sample_posterior as sample_posterior
    from tierwise.posterior.samplers import Sampler as Sampler
    from tierwise.reporting.report import report as report
    from tierwise.searching.choice import Choice as Choice
    from tierwise.searching.choice import choose as choose
    from tierwise.searching.merging import merge_even_pairs as merge_even_pairs
    from tierwise.searching.result import Search as Search
    from tierwise.searching.search import search as search
    from tierwise.searching.strategies import Genetic as Genetic
    from tierwise.searching.strategies import Greedy as Greedy
    from tierwise.searching.strategies import Tabu as Tabu
    from tierwise.tiers import Tiers as Tiers
    from tierwise.tiers import compositions as compositions

__version__ = "0.3.0"

# Names are looked up on first use: `import tierwise` does not wait for compilers and readers.
_HOME_OF = {
    "Agreement": "fitting.result",
    "Battles": "data.battles",
    "Beta": "model.priors",
    "Bootstrap": "fitting.resampled",
    "Choice": "searching.choice",
    "ClusteredLuce": "model.clustered_luce",
    "ClusteredMallows": "model.clustered_mallows",
    "Comparison": "comparing.result",
    "Counts": "data.counts",
    "BattlesDescription": "data.description_of_pairs",
    "Description": "data.description",
    "Distance": "distances",
    "Enough": "planning.stopping",
    "Estimate": "_util.types",
    "Exchange": "posterior.moves",
    "Fit": "fitting.result",
    "FitCheck": "checking.result",
    "Gamma": "model.priors",
    "Genetic": "searching.strategies",
    "Greedy": "searching.strategies",
    "GroupComparison": "groups.compare",
    "GroupTree": "groups.tree",
    "Imputation": "fitting.impute",
    "InputError": "errors",
    "Leaderboard": "leaderboards.result",
    "Mixture": "mixture.result",
    "MixtureDraws": "mixture.draws",
    "PairsDescription": "data.description_of_pairs",
    "Plan": "planning.plan",
    "Posterior": "posterior.result",
    "Preferences": "data.preferences",
    "Priors": "model.priors",
    "Questions": "planning.questions",
    "RankingScan": "data.scan",
    "Rankings": "data.rankings",
    "Sampler": "posterior.samplers",
    "Search": "searching.result",
    "Tabu": "searching.strategies",
    "Tiers": "tiers",
    "TierwiseError": "errors",
    "TierwiseWarning": "errors",
    "TooLargeError": "errors",
    "agreement": "fitting.result",
    "bootstrap": "fitting.bootstrap",
    "check_fit": "checking.check",
    "choose": "searching.choice",
    "compare": "comparing.compare",
    "compare_groups": "groups.compare",
    "compositions": "tiers",
    "describe": "data.describe",
    "enough": "planning.stopping",
    "fit": "fitting.fit",
    "fit_mixture": "mixture.fit",
    "get_distance": "distances",
    "group_tree": "groups.tree",
    "impute": "fitting.impute",
    "leaderboard": "leaderboards.leaderboard",
    "load_apa1980": "data.datasets",
    "load_f1": "data.datasets",
    "load_llmfao": "data.datasets",
    "load_political_goals": "data.datasets",
    "load_sushi": "data.datasets",
    "load_word_association": "data.datasets",
    "log_partition": "partition.choose",
    "merge_even_pairs": "searching.merging",
    "next_questions": "planning.questions",
    "parallel": "_util.tasks",
    "partition_function": "partition.choose",
    "plan": "planning.plan",
    "read": "data.read",
    "read_battles": "data.read_battles",
    "read_best_worst": "data.best_worst",
    "read_preferences": "data.read",
    "read_rankings": "data.read",
    "read_scores": "data.scores",
    "cite": "_util.provenance",
    "report": "reporting.report",
    "sample_best_worst": "data.best_worst",
    "sample_mixture": "mixture.draws",
    "sample_posterior": "posterior.run",
    "search": "searching.search",
    "write_rankings": "data.write",
}

__all__ = ["__version__", "plots"]
__all__ += list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name == "plots":
        return import_module("tierwise.plots")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tierwise' has no attribute {name!r}")
    value = getattr(import_module(f"tierwise.{_HOME_OF[name]}"), name)
    # A function may have the name of its module; the function is what users want.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
