"""Find turns of phrase that readers stumble over: ``python tools/plain_words.py``.

The list is short on purpose: these came back most often. CONTRIBUTING.md has more, with what to say
instead. Exit code 1 and one line per place where there are any.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("*.md", "src/*.py", "src/*.html", "studies/*.py", "benchmarks/*.py")
NOUNS = "names?|items?|chance|ranks?|answers?|places?|scores?|parts?|columns?|numbers?|rows?|tiers?"
# What is said, and what to say instead.
PHRASES = {
    rf"(?<!there )\b(?:is|are|was|were) no (?:{NOUNS})\b": "is not a ...",
    r"\ba (?:row|column|line|file) an? (?!few)[a-z]+\b": "one ... per ...",
    r"\banew\b": "again",
    r"\btold apart\b": "distinguished, or separated",
    r"\blets? expect\b": "predicts, or implies",
    r"\bthe probability (?:of \w+ )?to be\b": "the probability of being",
    r"\bparted\b": "separated, or one theta per tier",
    r"\btold (?:from|by|in)\b": "distinguished from, or see ...",
    r"\b(?:if|unless|where) (?:that|it|nothing|more) (?:is|was) said\b": "if given",
    r"\b(?:each|every) two\b": "each pair of",
    r"\bof one's own\b": "your own, or the user's own",
    r"\bthemself\b": "themselves",
    r"\bsurely differ": "are clearly different",
    r"\bweights of a survey\b": "survey weights",
}


def places() -> list[str]:
    """Return the places where one of the phrases stands."""
    listed = subprocess.run(
        ["git", "ls-files", *PATHS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = []
    for name in listed.stdout.splitlines():
        if name in ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md"):
            continue
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            for phrase, instead in PHRASES.items():
                match = re.search(phrase, line, re.IGNORECASE)
                if match:
                    found.append(f"{name}:{number}: {match.group()!r}: say {instead}")
    return found


if __name__ == "__main__":
    there = places()
    print("\n".join(there) if there else "Plain words throughout.")
    sys.exit(bool(there))
