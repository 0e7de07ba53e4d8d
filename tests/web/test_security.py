"""Hostile requests: refused or served, nothing leaks, and memory stays bounded."""

import asyncio
import re
import socket
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import httpx
import pytest

from tests.web.conftest import client_of, running
from tests.workbooks import workbook
from tierwise import InputError, TierwiseWarning
from tierwise.web.app import shown_name
from tierwise.web.jobs import Store
from tierwise.web.security import POLICY, Limits, Settings, host_name


@pytest.fixture
def settings(tmp_path):
    return Settings(folder=tmp_path)


@pytest.fixture
def client(settings):
    with client_of(settings) as started:
        yield started


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """Somebody who asks a server that keeps nothing of what these tests send."""
    with client_of(Settings(folder=tmp_path_factory.mktemp("kept"))) as started:
        yield started


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8765", "", "[::2]"]
)
def test_other_names_of_the_host_are_refused(refusing, host):
    assert refusing.get("/", headers={"host": host}).status_code == 400


def test_names_of_hosts():
    assert host_name("a:1:2") == "a:1"
    with pytest.raises(AssertionError):
        assert host_name("localhost:80@evil.example") == "localhost"


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """The settings and the address of a server that nobody was let into yet."""
    settings = Settings(folder=tmp_path_factory.mktemp("closed"))
    with running(settings) as here:
        yield settings, here


@pytest.mark.parametrize("path", ["/", "/data/0", "/jobs/0", "/jobs/0/page", "/nothing"])
def test_without_the_token_nothing_is_shown(closed, path):
    settings, here = closed
    with httpx.Client(base_url=here, timeout=120) as client:
        answer = client.get(path)
        assert answer.status_code == 403
        assert settings.token not in answer.text
        assert settings.session not in answer.text
        assert client.get("/?token=wrong").status_code == 403
        assert client.post("/data", data={"text": "a,b\n1,2"}).status_code == 403
        name = f"tierwise-{client.base_url.port}"
        assert client.get("/", headers={"cookie": f"{name}=wrong"}).status_code == 403


def test_cookie_is_for_this_site_only_and_out_of_reach_of_scripts(closed):
    settings, here = closed
    answer = httpx.get(f"{here}/?token={settings.token}", timeout=120)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert answer.headers["location"] == "/"
    assert settings.token.lower() not in cookie


def test_token_does_not_lead_to_other_hosts(closed):
    settings, here = closed
    answer = httpx.get(f"{here}//evil.example?token={settings.token}", timeout=120)
    assert answer.headers["location"] == "/evil.example"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:9999", "", "file://"]
)
def test_forms_of_other_pages_are_refused(refusing, origin):
    answer = refusing.post("/data", data={"text": "a,b\n1,2\n"}, headers={"origin": origin})
    assert answer.status_code == 403


def test_who_is_refused_while_still_sending_sees_the_answer(settings):
    body = b"text=" + b"a" * 100_000
    with running(settings) as here:
        port = int(here.rpartition(":")[2])
        head = (
            f"POST /data HTTP/1.1\r\nHost: evil.example:{port}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", port), timeout=120) as sending:
            sending.sendall(head.encode())
            for start in range(0, len(body), 10_000):
                time.sleep(0.02)
                sending.sendall(body[start : start + 10_000])
            assert sending.recv(64).startswith(b"HTTP/1.1 400")


def test_forms_without_an_origin_are_refused(settings):
    with client_of(settings) as client:
        del client.headers["origin"]
        assert client.post("/data", data={"text": "a,b\n1,2\n"}).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(refusing, method):
    assert refusing.request(method, "/").status_code == 405


def test_every_answer_has_a_strict_policy(refusing):
    for path in ("/", "/nothing", "/static/web.js", "/data/0"):
        headers = refusing.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert "unsafe" not in POLICY
    assert "<script>" not in refusing.get("/").text
    assert "style=" not in refusing.get("/").text


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/jobs/..%2f..%2fetc/files/passwd",
        "/data/../../etc/passwd",
        "/jobs/%00",
    ],
)
def test_paths_lead_nowhere(refusing, path):
    answer = refusing.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../../etc/cron.d/evil", "evil"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/absolute/survey.csv", "survey.csv"),
        ("..", "file"),
        ("", "file"),
        ("a\x00b\u202ecsv.exe", "abcsv.exe"),
        ("x" * 300 + ".csv", "x" * 70 + ".csv"),
    ],
)
def test_names_of_files_are_shown_and_never_paths(client, settings, name, shown):
    assert shown_name(name) == shown
    before = {path.name for path in settings.folder.parent.iterdir()}
    files = {"file": (name or "x", b"a,b\n1,2\n2,1\n")}
    answer = client.post("/data", files=files)
    assert answer.status_code == 303
    assert {path.name for path in settings.folder.parent.iterdir()} == before
    (folder,) = settings.folder.iterdir()
    assert folder.name in answer.headers["location"]
    assert sorted(path.name for path in folder.iterdir()) == ["upload", "upload.json"]


def test_names_with_markup_stay_text(client):
    name = "<script>alert(1)</script>"
    csv = f'{name},"""><img src=x onerror=alert(1)>",milk\n1,2,3\n3,2,1\n'.encode()
    taken = client.post("/data", files={"file": ("<b>bold<b>.csv", csv)})
    page = client.get(taken.headers["location"]).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>bold" not in page


def test_what_is_not_known_is_refused(client):
    taken = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
    assert client.get(f"{taken}?unranked=sideways").status_code == 400
    assert client.post(f"{taken}/jobs", data={"sizes": "many"}).status_code == 400
    assert client.post(f"{taken}/jobs", data={"distance": "<b>"}).status_code == 400
    assert client.post("/data", data={}).status_code == 400


# Older versions of Starlette leave the file of an upload that ends early to the garbage collector.
@pytest.mark.filterwarnings("ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("let_in", "status"), [(True, 413), (False, 403)])
def test_large_uploads_are_refused_while_they_arrive(tmp_path, let_in, status):
    limits = Limits(upload_bytes=1 << 20)
    settings = Settings(folder=tmp_path, limits=limits)
    sent = 0

    def endless():
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        while sent < 1 << 31:
            sent += 1 << 16
            yield b"1" * (1 << 16)

    with client_of(settings, let_in=let_in) as client:
        kind = {"content-type": "multipart/form-data; boundary=x"}
        try:
            answer = client.post("/data", content=endless(), headers=kind)
            assert answer.status_code == status
        except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            pass  # The server hung up, which is an answer, too.
        # Beyond what stands in the buffers of the system, nothing was taken.
        assert sent < 1 << 26
        assert list(tmp_path.iterdir()) == []


def test_announced_lengths_and_long_texts_are_refused(tmp_path):
    limits = Limits(upload_bytes=10_000, form_bytes=1000)
    with client_of(Settings(folder=tmp_path, limits=limits)) as client:
        answer = client.post("/data", files={"file": ("a.csv", b"1" * 100_000)})
        assert answer.status_code == 413
        assert "more than this server accepts" in answer.text
        for _ in range(20):
            # Over the same connection, which must not be closed without a word.
            assert client.post("/data", data={"text": "x" * 5000}).status_code in (400, 413)
            answer = client.post("/data", files={"file": ("a.csv", b"1" * 100_000)})
            assert answer.status_code == 413
        assert client.post("/jobs/0/own", content=b"tier=1&" * 1000).status_code in (404, 413)
    assert list(tmp_path.iterdir()) == []


def test_an_upload_that_is_somewhat_too_large_is_answered(tmp_path):
    """Not reset while it is sent: with the limits that there are, and one that is not announced."""
    content = b"1" * (54 << 20)
    with client_of(Settings(folder=tmp_path)) as client:
        form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        kind = {"content-type": "multipart/form-data; boundary=x"}
        for sent in (
            {"files": {"file": ("a.csv", content)}},
            {"content": iter([form, content]), "headers": kind},
        ):
            answer = client.post("/data", **sent)
            assert answer.status_code == 413
            assert "more than this server accepts (50 MB)" in answer.text
        assert client.get("/").status_code == 200
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
@pytest.mark.parametrize(
    "given",
    [
        {"files": {"file": ("a.csv", b"a,b\n1,2\n")}},
        {"data": {"text": "a,b\n1,2\n"}},
        {"data": {"example": "goals"}},
    ],
    ids=["a file", "text", "an example"],
)
def test_a_full_disk_leaves_nothing_behind(client, settings, monkeypatch, given):
    monkeypatch.setattr(Store, "file_of", lambda *_: Path("/dev/full"))
    answer = client.post("/data", **given)
    assert answer.status_code in (400, 507)
    assert re.search("disk is full|stopped without a result", answer.text)
    assert list(settings.folder.iterdir()) == []
    monkeypatch.undo()
    assert client.post("/data", **given).status_code == 303


def test_jobs_that_cannot_be_stored_are_refused(client, settings, monkeypatch):
    taken = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
    monkeypatch.setattr("tierwise.web.jobs.whole_file", _never)
    answer = client.post(f"{taken}/jobs", data={})
    assert answer.status_code == 507
    assert "disk is full" in answer.text
    assert "waiting" not in client.get("/").text


@contextmanager
def _never(_path):
    raise InputError("cannot be written: No space left on device")
    yield


def test_slow_uploads_end(tmp_path):
    settings = Settings(folder=tmp_path, limits=Limits(upload_seconds=0.5))
    with running(settings) as here:
        port = int(here.rpartition(":")[2])
        head = (
            f"POST /data HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {here}\r\n"
            f"Cookie: tierwise-{port}={settings.session}\r\nContent-Length: 5000\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
        )
        with socket.create_connection(("127.0.0.1", port), timeout=120) as slow:
            slow.sendall(head.encode())
            assert slow.recv(64).startswith(b"HTTP/1.1 408")
        assert httpx.get(f"{here}/static/web.css").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"GET /static/web.css HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n",
    ],
    ids=["nothing", "headers without an end", "the rest of what is answered already"],
)
def test_connections_without_a_request_end(tmp_path, sent):
    settings = Settings(folder=tmp_path, limits=Limits(request_seconds=0.5))
    with running(settings) as here:
        port = int(here.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
            slow.sendall(sent)
            ended = False
            while not ended:
                # A letter now and then does not keep a connection open, whatever it belongs to.
                try:
                    slow.settimeout(0.1)
                    ended = slow.recv(1 << 16) == b""
                except TimeoutError:
                    slow.settimeout(60)
                    with suppress(ConnectionError):
                        slow.sendall(b"a" if sent else b"")
                except ConnectionError:
                    ended = True
        assert httpx.get(f"{here}/static/web.css").status_code == 200


@pytest.mark.slow
def test_connections_that_wait_for_an_answer_do_not_end(tmp_path, monkeypatch):
    understand = Store.understand

    async def slowly(*arguments):
        await asyncio.sleep(5)
        return await understand(*arguments)

    monkeypatch.setattr(Store, "understand", slowly)
    limits = Limits(request_seconds=3)
    with client_of(Settings(folder=tmp_path, limits=limits)) as client:
        # Each on a connection of its own, which has no time to grow old before it says something.
        client.headers["connection"] = "close"
        taken = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
        assert "2 rankings of 2 items" in client.get(taken).text


def bomb(path, n_bytes):
    with ZipFile(path, "w", ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml", "<Types/>")
        with packed.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(n_bytes >> 20):
                sheet.write(b" " * (1 << 20))
    return path.read_bytes()


def test_zip_bombs_are_refused_before_they_are_opened(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    settings = Settings(folder=folder, limits=Limits(unpacked_bytes=10 << 20))
    packed = bomb(tmp_path / "bomb.xlsx", 64 << 20)
    assert len(packed) < 1 << 20
    with client_of(settings) as client:
        taken = client.post("/data", files={"file": ("bomb.xlsx", packed)})
        page = client.get(taken.headers["location"]).text
    assert "64 MB when unpacked" in page


def test_cells_of_any_length_are_refused(client):
    pytest.importorskip("python_calamine", reason="needs python-calamine")
    text = "x" * (20 << 20)
    packed = workbook(f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>')
    assert len(packed) < 1 << 16
    taken = client.post("/data", files={"file": ("long.xlsx", packed)})
    page = client.get(taken.headers["location"])
    assert page.status_code == 200
    assert "a cell holds more than" in page.text


def test_parquet_of_many_equal_cells_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(pa.array([0] * 3_000_000, pa.int32()), ["a"])
    pq.write_table(pa.table({"a": column, "b": column}), tmp_path / "much.parquet")
    content = (tmp_path / "much.parquet").read_bytes()
    assert len(content) < 1 << 20
    folder = tmp_path / "kept"
    folder.mkdir()
    limits = Limits(unpacked_bytes=5 << 20)
    with client_of(Settings(folder=folder, limits=limits)) as client:
        taken = client.post("/data", files={"file": ("much.parquet", content)})
        assert "when unpacked" in client.get(taken.headers["location"]).text


def test_a_reader_that_takes_too_much_memory_ends_alone(tmp_path):
    limits = Limits(memory_bytes=40 << 20)
    with client_of(Settings(folder=tmp_path, limits=limits)) as client:
        taken = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
        assert "cannot be read yet" in client.get(taken).text
        assert client.get("/").status_code == 200


def test_limits_of_rows_and_items(tmp_path):
    limits = Limits(rows=2, items=3)
    with client_of(Settings(folder=tmp_path, limits=limits)) as client:
        for text in ("a,b\n1,2\n2,1\n1,2\n", "a,b,c,d\n1,2,3,4\n2,1,3,4\n"):
            taken = client.post("/data", data={"text": text}).headers["location"]
            assert "and this server accepts at most 2 and 3" in client.get(taken).text


def test_many_requests_at_once_are_answered(tmp_path):
    with client_of(Settings(folder=tmp_path)) as client:

        def ask(number):
            if number % 4 == 0:
                return client.post("/data", data={"text": f"a,b\n{number},2\n"}).status_code
            return client.get(("/", "/nothing", "/static/web.js")[number % 3]).status_code

        with ThreadPoolExecutor(100) as threads:
            answers = list(threads.map(ask, range(200)))
    assert set(answers) <= {200, 303, 404}
    assert answers.count(303) == 50


def test_old_files_make_room(tmp_path):
    with client_of(Settings(folder=tmp_path, limits=Limits(kept=3))) as client:
        places = []
        for number in range(5):
            places.append(client.post("/data", data={"text": f"a{number},b\n1,2\n"}))
            time.sleep(0.02)  # as fine as the clock of any system
        assert len(list(tmp_path.iterdir())) == 3
        assert client.get(places[0].headers["location"]).status_code == 404


def test_damaged_records_are_passed_over(tmp_path):
    with client_of(Settings(folder=tmp_path)) as client:
        taken = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
        jobs = [client.post(f"{taken}/jobs", data={}).headers["location"] for _ in range(3)]
    damaged = [tmp_path / job.rpartition("/")[2] / "job.json" for job in jobs[:2]]
    damaged[0].write_bytes(damaged[0].read_bytes()[:40])
    damaged[1].write_text("[1, 2]")
    with pytest.warns(TierwiseWarning, match=r"job\.json is damaged and was skipped"):
        Store(tmp_path, Limits())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)
        with client_of(Settings(folder=tmp_path)) as client:
            page = client.get("/").text
    assert [job in page for job in jobs] == [False, False, True]


def test_two_who_delete_at_once(tmp_path):
    with client_of(Settings(folder=tmp_path)) as client, ThreadPoolExecutor(8) as threads:
        for _ in range(3):
            taken = client.post("/data", data={"example": "races"}).headers["location"]
            job = client.post(f"{taken}/jobs", data={}).headers["location"]
            time.sleep(0.3)
            answers = list(threads.map(client.post, [f"{job}/delete"] * 8))
            assert {answer.status_code for answer in answers} <= {303, 404}
            assert client.get(job).status_code == 404
