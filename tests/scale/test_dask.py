"""A Dask cluster of several processes, some of which die while they work."""

import os
import signal

import pytest

import tierwise as tw
from tests.scale.files import random_rankings, write_parts
from tierwise import InputError, Rankings
from tierwise._util.tasks import parallel, stream_tasks

distributed = pytest.importorskip("dask.distributed", reason="needs tierwise[dask]")

# What Dask says about itself and its dead workers is not what is tested here.
pytestmark = pytest.mark.filterwarnings("default:::distributed", "default:::tornado")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as running:
        yield running


class Killer:
    """Kills a worker as soon as so many steps are done; a progress hook."""

    def __init__(self, cluster, after=2):
        self.cluster = cluster
        self.after = after
        self.killed = None

    def __call__(self, _description, done, total):
        if done >= self.after and self.killed is None:
            assert done < total, "nothing is left to be done: the death would prove nothing"
            self.killed = next(iter(self.cluster.workers.values())).pid
            # Windows has no SIGKILL: there, SIGTERM ends a process at once.
            os.kill(self.killed, getattr(signal, "SIGKILL", signal.SIGTERM))


@pytest.fixture
def killer(cluster):
    return Killer(cluster)


@pytest.mark.slow
def test_counting_survives_the_death_of_a_worker(cluster, killer, tmp_path):
    write_parts(tmp_path, random_rankings(60_000, 8, seed=1), 24)
    scan = Rankings.scan(tmp_path)
    expected = scan.counts()
    with parallel("dask", address=cluster.scheduler_address):
        counts = scan.counts(progress=killer)
    assert killer.killed
    assert counts == expected


@pytest.mark.slow
def test_bootstrap_survives_the_death_of_a_worker(cluster, killer):
    rankings = random_rankings(200, 6, seed=2)
    options = {"replicates": 300, "rng": 1}
    fitted = tw.fit(rankings, (2, 2, 2), rng=1)
    expected = tw.bootstrap(rankings, fitted, **options)
    with parallel("dask", address=cluster.scheduler_address):
        found = tw.bootstrap(rankings, fitted, progress=killer, **options)
    assert killer.killed
    assert found.thetas.tolist() == expected.thetas.tolist()


@pytest.mark.slow
def test_search_survives_the_death_of_a_worker(cluster, killer):
    rankings = random_rankings(100, 10, seed=3)
    expected = tw.search(rankings, rng=1, distance="kendall", criterion="likelihood")
    with parallel("dask", address=cluster.scheduler_address):
        found = tw.search(
            rankings, rng=1, progress=killer, distance="kendall", criterion="likelihood"
        )
    assert killer.killed
    assert found.table.equals(expected.table)


@pytest.mark.slow
def test_chains_on_a_cluster(cluster):
    rankings = random_rankings(100, 6, seed=4)
    options = {"sizes": (2, 2, 2), "sampler": tw.Sampler(method="mcmc"), "draws": 1000, "rng": 1}
    with parallel("dask", address=cluster.scheduler_address):
        found = tw.sample_posterior(rankings, **options)
    expected = tw.sample_posterior(rankings, **options)
    assert found.theta_interval() == expected.theta_interval()


def test_the_connection_that_is_there_is_used(cluster, tmp_path):
    write_parts(tmp_path, random_rankings(100, 4, seed=5), 2)
    scan = Rankings.scan(tmp_path)
    with distributed.Client(cluster), parallel("dask"):
        counts = scan.counts()
    assert counts == scan.counts()


@pytest.mark.slow
def test_clusters_that_are_not_there():
    with pytest.raises(InputError, match="there is no Dask cluster"), parallel("dask"):
        pass
    with (
        pytest.raises(InputError, match="no Dask cluster answers at nowhere"),
        parallel("dask", address="nowhere:1"),
    ):
        pass


def test_workers_are_handed_nothing_that_is_put_onto_one_of_them(tmp_path, monkeypatch):
    # joblib puts arguments above this size onto a single worker, where they can be lost.
    write_parts(tmp_path, random_rankings(100, 4, seed=1), 2)
    scan = Rankings.scan(tmp_path)
    handed = []
    sizeof = pytest.importorskip("dask.sizeof").sizeof

    def keep(function, tasks, **options):
        handed.extend(argument for task in tasks for argument in task)
        return stream_tasks(function, tasks, **options)

    monkeypatch.setattr("tierwise.data.scan.stream_tasks", keep)
    scan.counts()
    scan.blocks((2, 2))
    scan.distinct()
    assert handed
    assert max(map(sizeof, handed)) <= 1000
