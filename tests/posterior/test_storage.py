"""Posteriors as files."""

import json
import warnings
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

from tests.posterior.small import SIZES, small_rankings
from tierwise import InputError, Rankings
from tierwise.posterior.result import Posterior
from tierwise.posterior.run import sample_posterior
from tierwise.posterior.storage import save


@pytest.fixture(scope="module")
def posterior():
    return sample_posterior(small_rankings(), SIZES, draws=50, rng=1)


def test_what_is_saved_is_loaded(posterior, tmp_path):
    path = tmp_path / "posterior.nc"
    posterior.save(path)
    again = Posterior.load(path)
    assert again.data["posterior"].equals(posterior.data["posterior"])
    assert again.to_dict() == posterior.to_dict()
    assert repr(again) == repr(posterior)
    assert again.items == (0, 1, 2, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["posterior.nc"]


def test_names_of_items_survive(tmp_path):
    rankings = Rankings.from_orderings([["tuna", "寿司", "x y"], ["寿司", "tuna", "x y"]])
    posterior = sample_posterior(rankings, family="mallows", draws=20, rng=1)
    posterior.save(tmp_path / "posterior.nc")
    again = Posterior.load(tmp_path / "posterior.nc")
    assert again.items == ("tuna", "寿司", "x y")
    assert again.data["posterior"]["item"].to_numpy().tolist() == ["tuna", "寿司", "x y"]
    assert again.sizes_probabilities() == posterior.sizes_probabilities()


def test_saving_replaces_what_was_there(posterior, tmp_path):
    path = tmp_path / "posterior.nc"
    path.write_text("old")
    posterior.save(path)
    posterior.save(path)
    assert len(Posterior.load(path)) == 200


def test_arviz_reads_the_data(posterior):
    import arviz_stats

    summary = arviz_stats.summary(posterior.data, var_names=["theta"], round_to="none")
    assert float(summary.loc["theta", "mean"]) == pytest.approx(posterior.thetas.mean())
    assert set(posterior.data["posterior"]["tier"].dims) == {"chain", "draw", "item"}


def test_the_arviz_that_is_installed_takes_the_draws(posterior):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz", reason="ArviZ itself is not installed")
    draws = posterior.to_arviz()
    assert float(draws.posterior["theta"].mean()) == pytest.approx(posterior.thetas.mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        summary = arviz.summary(draws, var_names=["theta", "tier"])
        assert "theta" in summary.index
        assert len(summary) == 1 + len(posterior.items)
        for plot in (getattr(arviz, name, None) for name in ("plot_trace", "plot_rank")):
            if plot is not None:
                plot(draws, var_names=["theta"])


def test_draws_are_a_tree_unless_an_old_arviz_is_installed(posterior, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.0.0")
    assert posterior.to_arviz() is posterior.data

    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    assert posterior.to_arviz() is posterior.data


@pytest.mark.parametrize("place", [0.02, 0.3, 0.6, 0.9, 0.9999])
def test_a_changed_byte_is_told(posterior, tmp_path, place):
    path = tmp_path / "posterior.nc"
    posterior.save(path)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 0x10
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"posterior.nc is damaged"):
        Posterior.load(path)


def test_other_tools_read_the_file(posterior, tmp_path):
    from xarray import open_datatree

    posterior.save(tmp_path / "posterior.nc")
    with open_datatree(tmp_path / "posterior.nc", engine="h5netcdf") as opened:
        assert opened["posterior"]["theta"].shape == (4, 50)


@pytest.mark.parametrize("fact", ["items", "sizes", "method", "n_rankings", "provenance"])
def test_wrong_descriptions_are_refused(posterior, tmp_path, fact):
    path = tmp_path / "posterior.nc"
    data = posterior.data.copy()
    data.attrs["tierwise"] = json.dumps(json.loads(data.attrs["tierwise"]) | {fact: {1: 2} and "x"})
    if fact == "method":
        data.attrs["tierwise"] = data.attrs["tierwise"].replace('"method": "x"', '"method": 3')
    save(data, path)
    with pytest.raises(InputError, match=fact):
        Posterior.load(path)


def test_what_a_later_version_knows_besides_is_ignored(posterior, tmp_path):
    path = tmp_path / "posterior.nc"
    data = posterior.data.copy()
    facts = json.loads(data.attrs["tierwise"])
    facts["provenance"]["machine"] = "m"
    data.attrs["tierwise"] = json.dumps(facts | {"later": 1})
    save(data, path)
    again = Posterior.load(path)
    assert again.provenance == posterior.provenance
    json.dumps(again.to_dict(), allow_nan=False)


@pytest.mark.parametrize("length", [0, 100, 3000])
def test_damaged_file_is_refused(posterior, tmp_path, length):
    path = tmp_path / "posterior.nc"
    posterior.save(path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError, match=r"posterior.nc is damaged"):
        Posterior.load(path)


def test_file_with_parts_missing_is_refused(posterior, tmp_path):
    path = tmp_path / "posterior.nc"
    data = posterior.data.copy()
    del data["posterior"]["theta"]
    save(data, path)
    with pytest.raises(InputError, match="parts of the posterior are missing"):
        Posterior.load(path)


def test_other_netcdf_file_is_refused(tmp_path):
    from xarray import Dataset, DataTree

    path = tmp_path / "other.nc"
    DataTree(Dataset({"x": ("y", np.arange(3))})).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match="holds no posterior"):
        Posterior.load(path)


def test_newer_format_is_refused(posterior, tmp_path, monkeypatch):
    from tierwise.posterior import storage

    path = tmp_path / "posterior.nc"
    monkeypatch.setattr(storage, "FORMAT", 7)
    posterior.save(path)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"newer version of tierwise \(format 7"):
        Posterior.load(path)


def test_missing_file_and_folder_are_named(posterior, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Posterior.load(tmp_path / "nothing.nc")
    with pytest.raises(InputError, match="does not exist: create it"):
        posterior.save(tmp_path / "nowhere" / "posterior.nc")
    with pytest.raises(InputError, match="is a folder"):
        posterior.save(tmp_path)
