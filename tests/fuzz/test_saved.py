"""Saved results meet anything: they are loaded, or refused, and take no more memory than is right.

Files are changed in one place and given a checksum that fits again, so what is behind it is met.
"""

import io
import json
import tracemalloc
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

import tierwise as tw
from tierwise._util.provenance import digest

RANKINGS = tw.Rankings.from_orderings(
    [["a", ["b", "c"]], ["c", "a"], ["b", "a", "c"]], weights=[1, 2.5, 3], unranked="anywhere"
)
COMPLETE = tw.Rankings.from_orderings([["a", "b", "c"], ["c", "a", "b"]])

ODD_ARRAYS = [
    np.array(3),
    np.array([], dtype=np.int32),
    np.zeros((2, 3)),
    np.zeros((4, 3), dtype=np.int32),
    np.zeros((3, 2), dtype=np.int64),
    np.full((3, 3), 7, dtype=np.int32),
    np.full((3, 3), -5, dtype=np.int32),
    np.full(3, np.nan),
    np.full(3, np.inf),
    np.full(3, -1.0),
    np.array(["a", "b", "c"]),
    np.array("text"),
    np.array([1 + 2j, 0, 0]),
    np.array([True, False, True]),
    np.array(["2020-01-01"] * 3, dtype="M8[D]"),
    np.full((3, 3, 3, 3), -1),
    np.full((3, 3, 3, 3), np.nan),
]
ODD_TEXTS = [
    "",
    "{",
    "null",
    "3",
    "[]",
    '[["a"], null]',
    '[["a", "a", "b"], null]',
    '[["a", "b", "c"], "aside"]',
    '[["a", "b", "c"], null]',
    '["a", "b", ["c"]]',
    '{"a": 1, "b": 2, "c": 3}',
    "-1",
    "NaN",
    "[" * 100_000,
]


def saved(kind, folder):
    """Save something; return the path, the arrays in it, and how to load it."""
    path = folder / "saved.npz"
    if kind == "rankings":
        RANKINGS.save(path)
    else:
        tw.Counts.of(COMPLETE).save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return path, arrays, tw.Rankings.load if kind == "rankings" else tw.Counts.load


def write(path, arrays, kind):
    """Write arrays with a checksum that fits, as far as there is one for them."""
    try:
        parts = (str(arrays["items"]), arrays["patterns"], arrays["weights"])
    except KeyError:
        names = tuple(f"str {item}" for item in "abc")
        texts = str(arrays["items"]), str(arrays["n_rankings"])
        parts = (*texts, digest("counts", names, arrays["joint"])) if kind == "counts" else ()
    np.savez_compressed(path, **arrays | {"checksum": digest(*parts)})


@pytest.mark.parametrize("kind", ["rankings", "counts"])
def test_arrays_and_texts_that_were_exchanged(kind, tmp_path):
    path, arrays, load = saved(kind, tmp_path)
    assert load(path)
    for name in arrays:
        for odd in [*ODD_ARRAYS, *map(np.array, ODD_TEXTS)]:
            try:
                write(path, arrays | {name: odd}, kind)
            except (ValueError, TypeError, np.exceptions.ComplexWarning):
                continue  # numbers of such a kind have no checksum
            try:
                found = load(path)
            except tw.TierwiseError:
                continue
            # What is accepted can be used.
            assert len(found.items) == 3
            assert found.fingerprint()


@pytest.mark.parametrize("kind", ["rankings", "counts"])
def test_bytes_that_were_changed(kind, tmp_path):
    path, _, load = saved(kind, tmp_path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(400):
        content = bytearray(whole)
        for place in rng.integers(len(content), size=rng.integers(1, 4)):
            content[place] = rng.integers(256)
        path.write_bytes(bytes(content[: rng.integers(1, 3 * len(content))]))
        try:
            load(path)
        except tw.TierwiseError:
            continue


@pytest.mark.parametrize("kind", ["rankings", "counts"])
def test_archives_that_are_not_arrays(kind, tmp_path):
    path, _, load = saved(kind, tmp_path)
    for name in ("items.npy", "patterns.npy", "joint.npy", "other"):
        for content in (b"", b"\x93NUMPY", b"\x93NUMPY\x09\x09", b"PK", bytes(1000)):
            with ZipFile(path, "w", ZIP_STORED) as archive:
                archive.writestr(name, content)
            with pytest.raises(tw.InputError, match=r"saved\.npz is not a file of"):
                load(path)
    with pytest.raises(tw.InputError, match="there is no file"):
        load(tmp_path / "none.npz")


def with_header(shape, dtype):
    """The beginning of an array that is much longer than what follows."""
    content = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, header)
    return content.getvalue()


@pytest.mark.parametrize("kind", ["rankings", "counts"])
@pytest.mark.parametrize("shape", [(300_000_000, 3), (80_000_000, 3), (130,) * 4, (3, 3, 10**8, 3)])
def test_headers_decide_before_memory_is_taken(kind, shape, tmp_path, monkeypatch):
    monkeypatch.setenv("TIERWISE_MEMORY", "100MB")
    path, arrays, load = saved(kind, tmp_path)
    name = "patterns" if kind == "rankings" else "joint"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for other in arrays.keys() - {name}:
            content = io.BytesIO()
            np.save(content, arrays[other])
            archive.writestr(f"{other}.npy", content.getvalue())
        with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
            file.write(with_header(shape, "<i4"))
            for _ in range(4):  # more than may be taken
                file.write(bytes(10_000_000))
    load_with_little_memory(load, path)


def load_with_little_memory(load, path, most=20e6):
    tracemalloc.start()
    with pytest.raises(tw.TierwiseError):
        load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < most


@pytest.fixture(scope="module")
def results():
    rankings = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), 1.0).sample(20, rng=1)
    posterior = tw.sample_posterior(rankings, draws=20, chains=2, rng=1)
    mixture = tw.sample_mixture(
        rankings, 2, draws=10, sampler=tw.Sampler(warmup=5), chains=2, starts=1, rng=1
    )
    return {"posterior": posterior, "mixture": mixture}


def seal(path):
    """Put the checksum that fits behind a changed file."""
    content = path.read_bytes().partition(b"\ntierwise sha256 ")[0]
    path.write_bytes(content + b"\ntierwise sha256 " + sha256(content).hexdigest().encode())


def odd_datasets(stored):
    """Arrays that might stand in the place of one that is stored."""
    values = stored[()]
    whole = np.atleast_1d(values)
    yield np.zeros(0)
    yield np.array(1.0)
    yield whole[..., :1]
    yield np.concatenate([whole, whole])
    yield whole[None]
    yield whole.ravel()
    yield np.full(whole.shape, -1.0)
    yield np.full(whole.shape, np.nan)
    yield np.full(whole.shape, 10**9)
    yield np.full(whole.shape, b"x")
    yield np.zeros(whole.shape, dtype=[("a", "i4"), ("b", "f8")])


@pytest.mark.parametrize("kind", ["posterior", "mixture"])
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")  # few draws
@pytest.mark.filterwarnings("ignore::xarray.coding.common.SerializationWarning")
def test_draws_that_were_exchanged(kind, step, results, tmp_path):
    import h5py

    result, path = results[kind], tmp_path / "draws.nc"
    result.save(path)
    original = path.read_bytes()
    names = []
    with h5py.File(path) as file:
        file.visititems(lambda name, one: names.append(name) if hasattr(one, "shape") else None)
    n_refused = 0
    for place, name in enumerate(names):
        # Each name meets some of them, and each of them some names.
        for number in range(place % step, 11, step):
            path.unlink()  # a new file: readers may still hold the one that they refused
            path.write_bytes(original)
            with h5py.File(path, "r+") as file:
                odd = list(odd_datasets(file[name]))[number]
                attributes = dict(file[name].attrs)
                del file[name]
                made = file.create_dataset(name, data=odd)
                for key, value in attributes.items():
                    if key in ("CLASS", "NAME", "_FillValue"):
                        made.attrs[key] = value
            seal(path)
            n_refused += _is_refused_or_usable(type(result), path)
    assert n_refused > len(names)


def _is_refused_or_usable(kind, path):
    try:
        found = kind.load(path)
    except tw.TierwiseError:
        return True
    found.summary()
    json.dumps(found.to_dict(), allow_nan=False)
    return False


@pytest.mark.parametrize("kind", ["posterior", "mixture"])
def test_draws_that_are_not_there(kind, results, tmp_path):
    """A file of some kilobytes whose arrays are said to hold gigabytes."""
    import h5py

    result, path = results[kind], tmp_path / "draws.nc"
    for name, layout in {
        "posterior/tier": {},
        "posterior/theta": {"compression": "gzip", "chunks": (1_000_000,)},
        "posterior/draw": {},
        "sample_stats/more": {"fillvalue": 1.0},
    }.items():
        result.save(path)
        with h5py.File(path, "r+") as file:
            if name in file:
                del file[name]
            file.create_dataset(name, shape=(200_000_000,), dtype="f8", **layout)
        seal(path)
        assert path.stat().st_size < 10e6
        load_with_little_memory(type(result).load, path)


@pytest.mark.parametrize("kind", ["posterior", "mixture"])
def test_descriptions_that_were_exchanged(kind, results, tmp_path):
    import h5py

    result, path = results[kind], tmp_path / "draws.nc"
    result.save(path)
    original = path.read_bytes()
    for text in [*ODD_TEXTS[:-1], '{"items": ["a"]}']:
        path.unlink()  # a new file: readers may still hold the one that they refused
        path.write_bytes(original)
        with h5py.File(path, "r+") as file:
            file.attrs["tierwise"] = text
        seal(path)
        with pytest.raises(tw.InputError, match=Path(path).name):
            type(result).load(path)
