"""What pages need is compiled while people choose a file; if that is not done, the page says so."""

from dataclasses import asdict
from time import monotonic, sleep

import pytest

from tests.web.conftest import client_of, tasks_in_this_process
from tierwise._compiling.beforehand import uses_of_command
from tierwise.web import jobs, tasks
from tierwise.web.app import step_in_words
from tierwise.web.security import Limits, Settings


class Compiling:
    """Stands for processes that compile."""

    def __init__(self):
        self.uses = []
        self.processes = ["a process"]
        self.n_ends = 0

    def __call__(self, *uses):
        self.uses.append(uses)
        return self

    def end(self):
        self.n_ends += 1


@pytest.fixture
def compiling(monkeypatch):
    found = Compiling()
    monkeypatch.setattr(jobs, "compile_beside", found)
    return found


def wait_until_it_compiles(compiling):
    end = monotonic() + 30
    while not compiling.uses and monotonic() < end:
        sleep(0.01)


def start_an_analysis(client):
    here = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
    assert client.get(here).status_code == 200
    job = client.post(f"{here}/jobs", data={}).headers["location"]
    client.post(f"{job}/cancel")


def test_a_server_compiles_for_pages_until_an_analysis_starts(tmp_path, monkeypatch, compiling):
    monkeypatch.setattr(jobs, "_SECONDS_OF_LOADING", 0.0)
    settings = Settings(folder=tmp_path)
    with tasks_in_this_process(settings, "understand"), client_of(settings) as client:
        wait_until_it_compiles(compiling)
        (uses,) = compiling.uses
        assert {"report: battles", "report: rankings, with gaps"} <= set(uses)
        assert set(uses) < set(uses_of_command("report"))
        assert compiling.n_ends == 0
        start_an_analysis(client)
        assert compiling.n_ends > 0
    assert len(compiling.uses) == 1


def test_a_server_does_not_begin_to_compile_beside_an_analysis(tmp_path, monkeypatch, compiling):
    monkeypatch.setattr(jobs, "_SECONDS_OF_LOADING", 0.5)
    settings = Settings(folder=tmp_path)
    with tasks_in_this_process(settings, "understand"), client_of(settings) as client:
        start_an_analysis(client)
        sleep(1.0)
    assert compiling.uses == []


def test_a_server_that_ends_does_not_go_on_compiling(tmp_path, monkeypatch, compiling):
    monkeypatch.setattr(jobs, "_SECONDS_OF_LOADING", 0.0)
    with client_of(Settings(folder=tmp_path)):
        wait_until_it_compiles(compiling)
        assert compiling.n_ends == 0
    assert compiling.n_ends == 1


@pytest.mark.parametrize("missing", [True, False])
def test_the_page_says_that_kernels_are_compiled(tmp_path, monkeypatch, compiling, missing):
    compiling.processes = ["a process"] if missing else []
    monkeypatch.setattr(tasks, "compile_beside", compiling)
    file = tmp_path / "upload"
    file.write_text("a,b\n1,2\n2,1\n", encoding="utf-8")
    steps = []

    def tell(step, done, total):
        steps.append(step)
        if step.startswith("Finding"):
            raise KeyboardInterrupt

    task = {"upload": str(file), "name": "x.csv", "reading": {}, "wishes": {}, "folder": "."}
    with pytest.raises(KeyboardInterrupt):
        tasks.analyse_file({**task, "limits": asdict(Limits())}, tell)
    assert compiling.uses == [("report: rankings, complete, very few items",)]
    said = step_in_words(steps[-1])
    assert ("compiling, once" in said) == missing
    assert said.startswith("Finding the tiers")
