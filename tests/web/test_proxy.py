"""Behind nginx, with the lines that the documentation has for it."""

import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import running
from tierwise.web.security import LOCAL_NAMES, Settings

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "serve.md"
CONFIGURATION = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    {location}
  }}
}}
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def proxied(tmp_path):
    """Serve below /tiers behind nginx; yield the settings, and the address of the proxy."""
    if NGINX is None:
        pytest.skip("needs nginx")
    (location,) = re.findall(r"location /tiers/ \{.*?\n\}", PAGE.read_text("utf-8"), re.DOTALL)
    folder = tmp_path / "kept"
    folder.mkdir()
    hosts = (*LOCAL_NAMES, "tiers.example.org")
    settings = Settings(folder=folder, hosts=hosts, base="/tiers")
    with running(settings) as here:
        port = free_port()
        location = location.replace("http://127.0.0.1:8765", here)
        assert here in location
        text = CONFIGURATION.format(folder=tmp_path, port=port, location=location)
        (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
        command = [NGINX, "-e", tmp_path / "error.log", "-c", tmp_path / "nginx.conf"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as proxy:
            try:
                yield settings, f"http://127.0.0.1:{port}"
            finally:
                proxy.terminate()


@pytest.mark.parametrize("name", ["tiers.example.org", "tiers.example.org:{port}"])
def test_the_way_in_behind_the_documented_proxy(proxied, name):
    settings, here = proxied
    host = name.format(port=here.rpartition(":")[2])
    headers = {"host": host, "origin": f"https://{host}"}
    with httpx.Client(base_url=here, timeout=60, headers=headers) as client:
        end = time.monotonic() + 60
        while True:
            try:
                entered = client.get(f"/tiers/?token={settings.token}")
                break
            except httpx.ConnectError:  # It has only just been started.
                assert time.monotonic() < end
                time.sleep(0.05)
        assert entered.status_code == 303
        # The client keeps cookies by the address that it asks, which is not the name of the host.
        cookie = entered.headers["set-cookie"].partition(";")[0]
        client.headers["cookie"] = cookie
        taken = client.post("/tiers/data", data={"text": "tea,milk\n1,2\n1,2\n"})
        assert taken.status_code == 303
        page = client.get(httpx.URL(taken.headers["location"]).path)
        assert "2 rankings of 2 items" in page.text
        assert client.get("/tiers/", headers={"host": "evil.example"}).status_code == 400
        too_large = {"file": ("a.csv", b"1" * (61 << 20))}
        assert client.post("/tiers/data", files=too_large).status_code == 413
