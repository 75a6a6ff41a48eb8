"""What is in a page of HTML, for tests of pages that the package writes."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser


class Outline(HTMLParser):
    """Which elements a page has, whether all are closed, and what it would fetch or run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.foreign: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.foreign += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href") or name[:2] == "on"]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
