"""Visible text and links of HTML.

Every step is linear in the length of the text, whatever the text: mail is written by adversaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

__all__ = ["link_domains", "unescaped", "visible_text"]

_LOOKS_LIKE_HTML = re.compile(
    r"<(?:!doctype|html|head|body|table|div|span|font|center|br|p|a|b|img|h[1-6])\b[^<>]*>", re.I
)
# Within words spammers put comments and inline tags, to hide the word from filters: these leave no gap.
_INLINE = re.compile(r"</?(?:a|b|big|em|font|i|s|small|span|strong|sub|sup|tt|u)\b[^<>]*>|<![^<>]*>", re.I)
_UNSEEN = [
    (re.compile(r"<!--"), re.compile(r"-->"), ""),
    (re.compile(r"<script\b", re.I), re.compile(r"</script[^<>]*>", re.I), " "),
    (re.compile(r"<style\b", re.I), re.compile(r"</style[^<>]*>", re.I), " "),
]
_TAG = re.compile(r"<[a-z/!?][^<>]*>", re.I)
_SHOWN_ATTRIBUTE = re.compile(r"\b(?:alt|title)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.I)
# More digits than any character has, and than Python makes a number of.
_LONG_REFERENCE = re.compile(r"&#(?=x?[0-9a-f]{13})", re.I)
_LINK = re.compile(r"://([^\s/?#\"'<>\\]+)")


def visible_text(text: str) -> str:
    """The text without its HTML, if it is HTML; tags inside a word leave no gap, others do."""
    if not _LOOKS_LIKE_HTML.search(text):
        return text
    for opening, closing, gap in _UNSEEN:
        text = _cut(text, opening, closing, gap)
    return unescaped(_TAG.sub(_shown, _INLINE.sub("", text)))


def unescaped(text: str) -> str:
    """Character references read; a number that is no character's stays as it is written."""
    return unescape(_LONG_REFERENCE.sub("&amp;#", text))


def link_domains(text: str) -> Iterator[str]:
    """The domains of the links in a text, HTML or not, in lower case; without user names and ports."""
    for found in _LINK.finditer(text):
        domain = found[1].rpartition("@")[2].partition(":")[0].strip(".,;)(").lower()
        if domain:
            yield domain


def _cut(text: str, opening: re.Pattern[str], closing: re.Pattern[str], gap: str) -> str:
    """The text without what is between the marks; one that is never closed stays."""
    kept, position = [], 0
    while start := opening.search(text, position):
        end = closing.search(text, start.end())
        if end is None:
            break
        kept.append(text[position : start.start()])
        position = end.end()
    return gap.join([*kept, text[position:]])


def _shown(tag: re.Match[str]) -> str:
    if "=" not in tag[0]:
        return " "
    shown = [double or single for double, single in _SHOWN_ATTRIBUTE.findall(tag[0])]
    return f" {' '.join(shown)} " if shown else " "
