"""A raw mail: where it is kept; as text, charsets honored, base64 decoded, attachments left out; no NumPy."""

from __future__ import annotations

import base64
import os
import re

# A line that only begins with "From " is ordinary text; a separator has the time of delivery in it.
SEPARATOR = re.compile(rb"^From [^\n]*\d\d?:\d\d[^\n]*(?:\n|\Z)", re.MULTILINE)
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
HEADER = re.compile(rb"(?:From [^\n]*\n)?[!-9;-~]+:[ \t\r\n]")
BASE64 = re.compile(rb"^content-transfer-encoding:[ \t]*base64[ \t]*\r?\n", re.IGNORECASE | re.MULTILINE)
CONTENT_TYPE = re.compile(rb"^content-type:\s*([\w.+/-]+)", re.IGNORECASE | re.MULTILINE)
UUENCODED = re.compile(rb"^(begin [0-7]{3} [^\n]+)\n(?:[!-`]{1,61}\r?\n)+`?\r?\n?end\r?$", re.MULTILINE)
BLANK = re.compile(rb"\n\r?\n")
NOT_BASE64 = bytes(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
LONGEST_HEAD = 1 << 13
CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)


def is_maildir(folder: str) -> bool:
    """Whether a folder holds mail as Maildir does, in `cur` and `new`."""
    return all(os.path.isdir(os.path.join(folder, part)) for part in ("cur", "new"))


def in_maildir(path: str) -> str | None:
    """The Maildir that a file is a mail of."""
    folder, part = os.path.split(os.path.dirname(os.path.abspath(path)))
    return folder if part in ("cur", "new", "tmp") and is_maildir(folder) else None


def as_text(mail: bytes) -> bytes:
    """A raw mail as UTF-8: as it is if it is that, else by the charset it names, else as Windows has it.

    A mail is never refused for its bytes: whoever sent it may have meant them to be.
    """
    named = CHARSET.search(mail)
    for encoding in ("utf-8", named[1].decode("ascii", "replace") if named else "cp1252", "cp1252"):
        try:
            text = mail.decode(encoding)
        except (LookupError, ValueError):
            continue
        if encoding == "utf-8":
            return mail
        if text.isascii() or "\n" in text:  # not UTF-16, which mails name for a part at most
            return text.encode("utf-8", "replace")
    return mail.decode("latin-1").encode("utf-8")


def readable(mail: bytes) -> bytes:
    """A raw mail with its base64 texts decoded and its attachments left out: blobs are not words.

    Where a part begins and ends is looked for nearby: no mail makes that take long.
    """
    pieces, done = [], 0
    for match in BASE64.finditer(mail):
        if match.start() < done:
            continue
        blank = BLANK.search(mail, match.end() - 1, match.end() + LONGEST_HEAD)
        if blank is None:
            continue
        border = mail.find(b"\n--", blank.end() - 1)
        end = len(mail) if border < 0 else border + 1
        head = mail[max(done, match.start() - LONGEST_HEAD) : blank.end()].rsplit(b"\n--", 1)[-1]
        pieces += [mail[done : blank.end()], _decoded_text(head, mail[blank.end() : end])]
        done = end
    return UUENCODED.sub(rb"\1\n", b"".join([*pieces, mail[done:]]))


def _decoded_text(head: bytes, body: bytes) -> bytes:
    """The text of a part in base64; nothing of one that is not text."""
    kind = CONTENT_TYPE.search(head)
    if kind and not kind[1].lower().startswith(b"text/"):
        return b""
    letters = body.translate(None, NOT_BASE64)
    text = base64.b64decode(letters + b"=" * (-len(letters) % 4))
    charset = CHARSET.search(head)
    return as_text((charset[0] if charset else b"") + b"\n" + text) + b"\n"
