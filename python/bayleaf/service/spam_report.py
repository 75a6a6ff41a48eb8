"""What mail software reads: scores with one decimal, X-Spam headers, and a report of the reasons."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from bayleaf.service.served import Answer

LARGEST = 999.9
REASONS = 20
SYMBOLS = 5
DETAILS = "Content analysis details:   ({score:.1f} points, {threshold:.1f} required)"
RULES = " pts rule name              description"
DASHES = "---- ---------------------- ----------------------------------------"
STEPS = (0, 5, 20, 40, 50, 60, 80, 95, 99)
_ODD = re.compile(r"[^A-Z0-9]+")


class Verdict(NamedTuple):
    """The score of a mail and its reasons: terms with their counts and log odds for spam."""

    score: float
    threshold: float
    probability: float
    reasons: Sequence[tuple[str, int, float]] = ()
    id: str = ""

    @property
    def is_spam(self) -> bool:
        """Whether the score, as it is shown, reaches the threshold."""
        return self.score >= self.threshold

    @property
    def line(self) -> str:
        """The header `Spam:` of an answer, its spaces and decimals exactly as clients parse them."""
        return f"Spam: {self.is_spam} ; {self.score:.1f} / {self.threshold:.1f}"

    def symbols(self) -> list[str]:
        """Names without spaces: one for the probability, and the strongest terms."""
        percent = 100 * self.probability
        step = max(step for step in STEPS if step <= percent or step == 0)
        terms = (_ODD.sub("_", term.upper()).strip("_")[:40] for term, _, _ in self.reasons[:SYMBOLS])
        return [f"BAYLEAF_{step:02d}", *dict.fromkeys(f"TERM_{term}" for term in terms if term)]

    def report(self) -> str:
        """The table that front ends parse."""
        lines = [DETAILS.format(score=self.score, threshold=self.threshold), "", RULES, DASHES]
        for term, count, odds in self.reasons[:REASONS]:
            times = f" ({count} times)" if count > 1 else ""
            lines.append(f"{odds:4.1f} {'BAYLEAF_TERM':<22} {_ascii(term)[:200]}{times}")
        return "\n".join(lines) + "\n"

    def headers(self) -> list[str]:
        """The header lines that are added to a mail."""
        tests = ",".join(self.symbols())
        word = "Yes" if self.is_spam else "No"
        lines = ["X-Spam-Flag: YES"] if self.is_spam else []
        lines += [
            f"X-Spam-Status: {word}, score={self.score:.1f} required={self.threshold:.1f} tests={tests} "
            "autolearn=no",
            f"X-Spam-Level: {'*' * max(0, min(int(self.score), 50))}".rstrip(),
        ]
        if self.reasons:
            listed = "; ".join(f"{_ascii(term)[:40]} {odds:+.1f}" for term, _, odds in self.reasons[:SYMBOLS])
            lines.append(f"X-Bayleaf-Reasons: {listed}")
        if self.id:
            lines.append(f"X-Bayleaf-Id: {self.id}")
        return lines


def score_of(answer: Answer, spam: str) -> float:
    """The log odds of spam against all other classes, with one decimal, within what clients can parse."""
    if len(answer.probabilities) < 2 or spam not in answer.probabilities:
        return 0.0
    own = answer.probabilities[spam]
    others = sum(p for label, p in answer.probabilities.items() if label != spam)
    if own <= 0 or others <= 0:
        return LARGEST if own > 0 else -LARGEST
    return clamped(math.log(own) - math.log(others))


def clamped(score: float) -> float:
    """A score with one decimal, from -999.9 to 999.9."""
    return round(max(-LARGEST, min(LARGEST, score)), 1) + 0.0


def with_headers(message: bytes, lines: Sequence[str]) -> bytes:
    """The message, byte for byte, behind the added header lines, which end as its own do."""
    start = message.find(b"\n") + 1 if message.startswith(b"From ") else 0
    end = b"\r\n" if message[start : message.find(b"\n", start) + 1].endswith(b"\r\n") else b"\n"
    added = b"".join(line.encode("ascii", "backslashreplace") + end for line in lines)
    return message[:start] + added + message[start:]


def head_of(message: bytes) -> bytes:
    """The headers of a message and the empty line behind them."""
    found = re.search(rb"\r?\n\r?\n", message)
    return message[: found.end()] if found else message


def _ascii(text: str) -> str:
    return " ".join(text.encode("ascii", "backslashreplace").decode().split())
