"""A tab of a real browser on the page, used by its keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from teaching_process import Teaching

TEXT = "(document.getElementById('document')?.textContent ?? '')"
NEXT = f"before => ![before, ''].includes({TEXT}) && !document.querySelector('#document[aria-busy]')"
KEYS = {"ham": "1", "spam": "2"}


class Tab:
    """A tab of a browser, used by its keyboard; whatever goes wrong in it is an error."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.wrong: list[str] = []
        self.fetched: set[str] = set()
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.wrong.extend([said.text] if said.type == "error" else []))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.fetched.add(request.url))
        self.url = url
        self.page.goto(url)
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_selector("#document")
        self.page.wait_for_function(NEXT, arg="")

    @property
    def text(self) -> str:
        found: str = self.page.evaluate(TEXT)
        return found

    @property
    def status(self) -> str:
        found: str = self.page.text_content("#status")
        return found

    def says(self, text: str) -> None:
        """Wait until the line of the status says something."""
        self.page.wait_for_function(
            "text => document.getElementById('status').textContent.includes(text)", arg=text
        )

    def press(self, key: str) -> None:
        """Press a key and wait for another document."""
        before = self.text
        self.page.keyboard.press(key)
        self.page.wait_for_function(NEXT, arg=before)

    def label(self, truth: dict[str, str], times: int = 1) -> None:
        for _ in range(times):
            self.press(KEYS[truth[self.text]])

    def view(self, name: str) -> None:
        self.page.goto(f"{self.url}#{name}")
        self.page.wait_for_selector("main h1")
        self.page.wait_for_load_state("networkidle")

    def close(self) -> None:
        self.context.close()
        assert self.wrong == []
        assert {url for url in self.fetched if not url.startswith((self.url, "blob:"))} == set()


@contextmanager
def opened(browser: Any, page: Teaching, **options: Any) -> Iterator[Tab]:
    tab = Tab(browser, page.url, **options)
    yield tab
    tab.close()
