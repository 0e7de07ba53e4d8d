"""What pages need is compiled while people choose a file; if that is not done, the page says so."""

from dataclasses import asdict

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


def test_a_server_compiles_for_pages_of_every_kind_until_an_analysis_starts(tmp_path, compiling):
    settings = Settings(folder=tmp_path)
    with tasks_in_this_process(settings, "understand"), client_of(settings) as client:
        assert compiling.uses == [tuple(uses_of_command("report"))]
        here = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
        assert client.get(here).status_code == 200
        assert compiling.n_ends == 0
        job = client.post(f"{here}/jobs", data={}).headers["location"]
        client.post(f"{job}/cancel")
        assert compiling.n_ends > 0
    assert len(compiling.uses) == 1


def test_a_server_that_ends_does_not_go_on_compiling(tmp_path, compiling):
    with client_of(Settings(folder=tmp_path)):
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
