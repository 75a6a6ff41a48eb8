"""Mail whose line breaks were replaced by spaces, as corpora of one document per line have it."""

from __future__ import annotations

import re

__all__ = ["restored"]

_ONCE = "from|to|subject|date|message-id|reply-to|return-path|mime-version|content-type"
_OFTEN = (
    "received|cc|bcc|sender|references|in-reply-to|delivered-to|delivery-date|precedence|errors-to|importance"
    "|status|lines|organization|user-agent|mailing-list|(?:x|list|content|thread|resent)-[a-z-]+"
)
_ONLY_ONCE = frozenset(_ONCE.split("|"))
_NAME = re.compile(rf"(?:^| )({_ONCE}|{_OFTEN}):(?= |$)", re.IGNORECASE)
_BOUNDARY = re.compile(r"boundary=\"?([^\s\";]+)", re.IGNORECASE)
_CONTENT_TYPE = re.compile(r" *[\w.+-]+/[\w.+-]+(?:; *[\w-]+=(?:\"[^\"]*\"|[^\s;]+))*;?")
_DATE = re.compile(
    r"(?: *\w{3},)? *\d\d? \w{3} \d{2,4} \d\d?:\d\d(?::\d\d)?(?: [+-]\d{4})?(?: \(?[A-Z]{1,4}\)?)?"
)
_VALUES = {"content-type": _CONTENT_TYPE, "date": _DATE}
_FIRST_WORD = re.compile(r" *\S*")
_LONGEST_HEADER = 2000
_DEEPEST = 5


def restored(text: str, depth: int = 0) -> str:
    """The mail with the line breaks that part headers, body and attachments, as far as they can be told."""
    starts = _headers(text)
    if not starts or depth > _DEEPEST:
        return text
    lines = [text[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
    name, _, rest = lines.pop().partition(":")
    value = _VALUES.get(name.lower(), _FIRST_WORD).match(rest)
    length = value.end() if value else 0
    head = "\n".join([*lines, f"{name}:{rest[:length]}"])
    return f"{head}\n\n{_parts(head, rest[length:].lstrip(), depth)}"


def _headers(text: str) -> list[int]:
    """Where each header starts, up to one that is too far off or comes a second time: that is the body."""
    starts: list[int] = []
    seen: set[str] = set()
    for found in _NAME.finditer(text):
        name = found[1].lower()
        far = starts and found.start() - starts[-1] > _LONGEST_HEADER
        again = name in seen and name in _ONLY_ONCE
        if far or again or not (starts or _opens(text, found.start())):
            break
        starts.append(found.start())
        seen.add(name)
    return starts


def _opens(text: str, position: int) -> bool:
    """Whether nothing is before the first header but a mailbox's own line ("From ann@a.example Mon ...")."""
    before = text[:position].strip()
    return not before or (before.startswith("From ") and len(before) < 200)


def _parts(head: str, body: str, depth: int) -> str:
    boundary = _BOUNDARY.search(head)
    if not boundary:
        return body
    mark = f"--{boundary[1]}"
    preamble, *parts = body.split(mark)
    opened = [part if part.startswith("--") else "\n" + restored(part.strip(), depth + 1) for part in parts]
    return f"\n{mark}".join([preamble, *opened])
