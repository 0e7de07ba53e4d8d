"""``tierwise posterior`` from the shell's side."""

import json

import pytest
from typer.testing import CliRunner

from tierwise.cli.main import app
from tierwise.posterior.result import Posterior

TABLE = """place1,place2,place3,place4,count
order,prices,say,speech,40
prices,order,say,speech,35
order,say,prices,speech,10
say,speech,order,prices,8
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "goals.csv"
    path.write_text(TABLE)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(app, ["posterior", *arguments], catch_exceptions=False)


def test_people_get_a_table(table):
    result = run(table, "--sizes", "2,2", "--seed", "1", "--draws", "100")
    assert result.exit_code == 0
    assert "order ~ prices > say ~ speech" in result.stdout
    assert "probability that its rank is among those of each tier" in result.stdout


def test_programs_get_json(table):
    named = ("--distance", "kendall", "--prior-sizes", "uniform")
    result = run(table, "--seed", "1", "--draws", "100", *named, "--json")
    found = json.loads(result.stdout)
    assert found["tiers"] == [["order"], ["prices"], ["say"], ["speech"]]
    assert found["method"] == "exact"
    assert found["sizes"] is None
    assert found["n_rankings"] == 93


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_options_reach_the_sampler(table, tmp_path):
    saved = tmp_path / "draws.nc"
    run(
        table, "--sizes", "2,2", "--distance", "hamming", "--method", "mcmc", "--chains", "2",
        "--draws", "30", "--warmup", "10", "--thin", "2", "--theta-update", "exchange",
        "--seed", "3", "--save", str(saved), "--checkpoint", str(tmp_path / "run"), "--quiet",
    )  # fmt: skip
    facts = Posterior.load(saved).to_dict()
    assert (facts["distance"], facts["method"]) == ("hamming", "mcmc")
    assert (facts["chains"], facts["draws"], facts["warmup"], facts["thin"]) == (2, 30, 10, 2)
    assert facts["theta_update"] == "exchange"
    assert facts["provenance"]["seed"] == 3
    assert (tmp_path / "run" / "chain-2.npz").exists()
    penalised = json.loads(
        run(table, "--prior-sizes", "penalised", "--draws", "5", "--json").stdout
    )
    assert penalised["prior_sizes"] == "penalised"
