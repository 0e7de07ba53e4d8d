"""How long people wait for the first page of ``tierwise serve``, with nothing compiled."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

_SECONDS_BETWEEN_LOOKS = 0.1
_LONGEST = 120.0


def seconds_until_page(file: Path, reading: dict[str, str], *, chosen_after: float) -> float:
    """Start a server, give it a file, and return how long the page of it takes from then on.

    Parameters
    ----------
    file
        The file.
    reading
        What is answered where the server asks how to read it.
    chosen_after
        How many seconds after the start of the server the file is there.
    """
    import httpx

    with TemporaryDirectory() as cache:
        server = subprocess.Popen(
            [sys.executable, "-m", "tierwise", "serve", "--port", "0", "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONUNBUFFERED": "1"},
        )
        try:
            if server.stdout is None:
                raise RuntimeError("the server has no output")
            address = server.stdout.readline().split()[-1]
            here = address.partition("/?")[0]
            sleep(chosen_after)
            with httpx.Client(base_url=here, timeout=_LONGEST, headers={"origin": here}) as client:
                client.get(address)
                start = perf_counter()
                given = client.post("/data", files={"file": (file.name, file.read_bytes())})
                understood = given.headers["location"]
                client.get(understood, params=reading)
                begun = client.post(f"{understood}/jobs", params=reading, data={"seed": "1"})
                job = begun.headers["location"]
                while "hx-refresh" not in client.get(f"{job}/progress").headers:
                    sleep(_SECONDS_BETWEEN_LOOKS)
                seconds = perf_counter() - start
                if "failed" in client.get("/").text:
                    raise RuntimeError("the analysis failed")
                return seconds
        finally:
            server.terminate()
            server.wait()
