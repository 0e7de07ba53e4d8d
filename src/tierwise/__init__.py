"""Learn tiers from rankings: an ordered partition of the items, and how sure that is.

Examples
--------
>>> import tierwise as tw
>>> tw.fit(tw.load_political_goals(), sizes=(2, 2)).tiers
Tiers('order ~ prices > say ~ speech')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tierwise._version import __version__ as __version__

if TYPE_CHECKING:
    from tierwise.agreeing import Agreement as Agreement
    from tierwise.agreeing import agreement as agreement
    from tierwise.bootstrapping import Bootstrap as Bootstrap
    from tierwise.bootstrapping import bootstrap as bootstrap
    from tierwise.checking import FitCheck as FitCheck
    from tierwise.checking import check_fit as check_fit
    from tierwise.counts import Counts as Counts
    from tierwise.datasets import load_apa1980 as load_apa1980
    from tierwise.datasets import load_f1 as load_f1
    from tierwise.datasets import load_political_goals as load_political_goals
    from tierwise.datasets import load_sushi as load_sushi
    from tierwise.datasets import load_word_association as load_word_association
    from tierwise.describing import Description as Description
    from tierwise.describing import describe as describe
    from tierwise.describing_pairs import PairsDescription as PairsDescription
    from tierwise.distances import Distance as Distance
    from tierwise.distances import get_distance as get_distance
    from tierwise.errors import InputError as InputError
    from tierwise.errors import TierwiseError as TierwiseError
    from tierwise.errors import TierwiseWarning as TierwiseWarning
    from tierwise.errors import TooLargeError as TooLargeError
    from tierwise.estimate import Estimate as Estimate
    from tierwise.fit_result import Fit as Fit
    from tierwise.fitting import fit as fit
    from tierwise.incomplete.imputing import Imputation as Imputation
    from tierwise.incomplete.imputing import impute as impute
    from tierwise.mixture import Mixture as Mixture
    from tierwise.mixture import MixtureDraws as MixtureDraws
    from tierwise.mixture import fit_mixture as fit_mixture
    from tierwise.mixture import sample_mixture as sample_mixture
    from tierwise.model import ClusteredMallows as ClusteredMallows
    from tierwise.partition import log_partition as log_partition
    from tierwise.partition import partition_function as partition_function
    from tierwise.posterior import Posterior as Posterior
    from tierwise.posterior import sample_posterior as sample_posterior
    from tierwise.preferences import Preferences as Preferences
    from tierwise.priors import Beta as Beta
    from tierwise.priors import Gamma as Gamma
    from tierwise.rankings import Rankings as Rankings
    from tierwise.readers import read_preferences as read_preferences
    from tierwise.readers import read_rankings as read_rankings
    from tierwise.reporting import report as report
    from tierwise.sizes import compositions as compositions
    from tierwise.streaming import RankingScan as RankingScan
    from tierwise.structure import Search as Search
    from tierwise.structure import merge_even_pairs as merge_even_pairs
    from tierwise.structure import search as search
    from tierwise.tasks import parallel as parallel
    from tierwise.tiers import Tiers as Tiers
    from tierwise.writers import write_rankings as write_rankings

# Names are looked up on first use: `import tierwise` does not wait for compilers and readers.
_HOME_OF = {
    "Agreement": "agreeing",
    "Beta": "priors",
    "Bootstrap": "bootstrapping",
    "ClusteredMallows": "model",
    "Counts": "counts",
    "Description": "describing",
    "Distance": "distances",
    "Estimate": "estimate",
    "Fit": "fit_result",
    "FitCheck": "checking",
    "Gamma": "priors",
    "Imputation": "incomplete.imputing",
    "InputError": "errors",
    "Mixture": "mixture",
    "MixtureDraws": "mixture",
    "PairsDescription": "describing_pairs",
    "Posterior": "posterior",
    "Preferences": "preferences",
    "RankingScan": "streaming",
    "Rankings": "rankings",
    "Search": "structure",
    "Tiers": "tiers",
    "TierwiseError": "errors",
    "TierwiseWarning": "errors",
    "TooLargeError": "errors",
    "agreement": "agreeing",
    "bootstrap": "bootstrapping",
    "check_fit": "checking",
    "compositions": "sizes",
    "describe": "describing",
    "fit": "fitting",
    "fit_mixture": "mixture",
    "get_distance": "distances",
    "impute": "incomplete.imputing",
    "load_apa1980": "datasets",
    "load_f1": "datasets",
    "load_political_goals": "datasets",
    "load_sushi": "datasets",
    "load_word_association": "datasets",
    "log_partition": "partition",
    "merge_even_pairs": "structure",
    "parallel": "tasks",
    "partition_function": "partition",
    "read_preferences": "readers",
    "read_rankings": "readers",
    "report": "reporting",
    "sample_mixture": "mixture",
    "sample_posterior": "posterior",
    "search": "structure",
    "write_rankings": "writers",
}

__all__ = ["__version__"]
__all__ += list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tierwise' has no attribute {name!r}")
    value = getattr(import_module(f"tierwise.{_HOME_OF[name]}"), name)
    # A function may have the name of its module; the function is what users want.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
