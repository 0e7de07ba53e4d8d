"""Readers meet files that are right but for one field: they give answers or say what is wrong.

``python -m tests.fuzz.run --inputs 1000000`` runs for long; ``--corpus FOLDER`` keeps what was
found and goes on from there. What a reader has not said before is kept and changed further.
"""

import argparse
import re
import signal
import sys
import time
import traceback
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np

import tierwise as tw
from tests.fuzz.inputs import from_json, seeds
from tests.fuzz.mutations import mutated
from tierwise.data.read import scan_rankings

SEEDS = 220
SECONDS = 20
_MOST_KEPT = 20_000


class Hang(Exception):
    """A reader took longer than any file of this size should."""


@dataclass
class Findings:
    """What came of the inputs."""

    outcomes: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    slowest: float = 0.0

    @property
    def n_inputs(self):
        return self.outcomes.total()

    def __str__(self):
        share = {name: f"{count / self.n_inputs:.1%}" for name, count in self.outcomes.items()}
        message = ", ".join(f"{name} {self.outcomes[name]:,} ({share[name]})" for name in share)
        return f"{self.n_inputs:,} inputs: {message}; slowest {self.slowest:.1f} s"


@contextmanager
def within(seconds):
    """Raise where it takes longer, where the system can see to it.

    Time of the processor counts: machines may be busy.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def hang(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, hang)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read(given):
    """Read an input as it says."""
    options = dict(given.options)
    if "format" not in options and given.form != "csv":
        options["format"] = given.form
    file = BytesIO(given.content())
    if given.reader == "scan_rankings":
        return list(scan_rankings(file, chunk_rows=2, **options))
    if given.reader == "read_scores":
        return tw.read_scores(file, options.pop("better", "higher"), **options)
    return getattr(tw, given.reader)(file, **options)


def check(answers):
    """Check what answers must be like, and use them."""
    if isinstance(answers, list):
        for chunk in answers:
            check(chunk)
        return
    assert len(set(answers.items)) == len(answers.items) >= 2
    repr(answers)
    if isinstance(answers, tw.Rankings):
        assert answers.places.shape == (len(answers), len(answers.items))
        assert -1 <= answers.places.min() <= answers.places.max() < len(answers.items)
        assert (answers.places >= 0).any(axis=1).all()
        assert np.isfinite(answers.weights).all()
        assert (answers.weights >= 0).all()
        assert answers.n_rankings > 0
        assert (answers.unranked is None) == (answers.places.min() >= 0)
        assert len(answers.to_orderings()) == len(answers)
        answers.fingerprint()
        str(tw.describe(answers))
        repr(answers.people)
        answers.restrict(answers.items[:2])
        if answers.reading is not None:
            answers.reading.sentences()
            answers.reading.to_dict()
    elif isinstance(answers, tw.Battles):
        assert np.isfinite(answers.wins).all()
        assert (answers.wins >= 0).all()
        answers.fingerprint()
    else:
        answers.fingerprint()
        str(tw.describe(answers))


def outcome(given):
    """Read, check and use an input; return what came of it, and what is new about that."""
    try:
        with within(SECONDS):
            answers = read(given)
            check(answers)
    except tw.TierwiseError as error:
        said = re.sub(r"'[^']*'|\"[^\"]*\"|\d[\d,.]*", "_", error.problem)
        return "refused", (given.reader, said[:120])
    except Hang:
        return "hangs", (given.reader, given.form)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is to be named
        frames = traceback.extract_tb(error.__traceback__)
        where = [frame for frame in frames if "tierwise" in frame.filename or frame is frames[-1]][
            -1
        ]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return "exceptions", (type(error).__name__, place, str(error)[:100])
    return "accepted", (given.reader, given.form, *_seen(answers))


def _seen(answers):
    if isinstance(answers, list):
        return "chunks", len(answers) > 1
    if not isinstance(answers, tw.Rankings):
        return (type(answers).__name__,)
    remarks = () if answers.reading is None else answers.reading.remarks
    said = tuple(sorted({re.sub(r"'[^']*'|\d[\d,.]*", "_", str(remark)) for remark in remarks}))
    layout = "" if answers.reading is None else answers.reading.layout
    return layout, answers.unranked, bool((answers.weights != 1).any()), said[:2]


class Corpus:
    """Inputs that a reader had something new to say about, on disk where there is a folder."""

    def __init__(self, rng, folder=None):
        self.folder = folder
        self.accepted, self.others, self.known = [], [], set()
        for given in seeds(rng, SEEDS):
            kind, news = outcome(given)
            (self.accepted if kind == "accepted" else self.others).append(given)
            if kind in ("accepted", "refused"):
                self.known.add(news)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob("*.json")):
                self.keep(from_json(path.read_text(encoding="utf-8")), *path.stem.split("-")[:1])

    def choose(self, rng):
        """Return one, mostly of those that were accepted, and half of the time a sound one."""
        if self.others and rng.random() < 0.05:
            return rng.choice(self.others)
        return rng.choice(self.accepted[:SEEDS] if rng.random() < 0.5 else self.accepted)

    def keep(self, given, kind, news=None):
        """Keep an input if its outcome is new."""
        if news is not None:
            if news in self.known or len(self.known) > _MOST_KEPT:
                return
            self.known.add(news)
        (self.accepted if kind == "accepted" else self.others).append(given)
        if self.folder is not None and news is not None:
            text = given.to_json()
            name = f"{kind}-{sha256(text.encode()).hexdigest()[:16]}.json"
            (self.folder / name).write_text(text, encoding="utf-8")


def fuzz(n_inputs, seed, folder=None, tell=lambda _findings: None):
    """Try so many inputs."""
    rng = Random(seed)
    corpus, findings = Corpus(rng, folder), Findings()
    for number in range(n_inputs):
        given = mutated(corpus.choose(rng), corpus.accepted, rng)
        began = time.process_time()
        kind, news = outcome(given)
        findings.slowest = max(findings.slowest, time.process_time() - began)
        findings.outcomes[kind] += 1
        if kind in ("exceptions", "hangs") and news not in corpus.known:
            findings.failures.append((f"{kind}: {news}", given))
        corpus.keep(given, kind, news)
        if (number + 1) % 1000 == 0:
            tell(findings)
    return findings


def main():
    """Run for long, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path)
    chosen = parser.parse_args()

    def tell(findings):
        sys.stderr.write(f"\r{findings}")

    findings = fuzz(chosen.inputs, chosen.seed, chosen.corpus, tell)
    sys.stdout.write(f"\n{findings}\n")
    for said, given in findings.failures:
        sys.stdout.write(f"{said}\n  {given.to_json()}\n")
    sys.exit(bool(findings.failures))


if __name__ == "__main__":
    main()
