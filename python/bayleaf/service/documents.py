"""A document as the ledger keeps it: what the views read of it, and by what it is known again.

What is kept are the columns that the model reads, not their counted terms: learning, forgetting, replaying
and retuning then go through `Model` alone, for any view, and what is forgotten is what was learned, whatever
copy is shown. The price is the room that the texts take.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from bayleaf.model import Model
from bayleaf.model_views import WHOLE, columns_of
from bayleaf.service.refusals import Invalid
from bayleaf.text.mail import MAIL_COLUMNS, mail_row

Columns: TypeAlias = str | dict[str, Any]

# What transport leaves as it is: not the hosts on the way, the encodings, and the flags about headers.
LASTING = ("subject", "from_name", "from_domain", "links", "body")
COMPRESSED_FROM = 200
LONGEST_HEAD = 65_536

_MESSAGE_ID = re.compile(rb"\s*(<[^<>\s]{3,250}>)")
_FROM = re.compile(rb"[^\n]*?([\w.+=-]+@[\w-]+(?:\.[\w-]+)*)")


class Document(NamedTuple):
    """What a model reads, and the names under which it is found again."""

    columns: Columns
    identity: bytes
    alias: str = ""
    subject: str = ""

    def packed(self, compressed: bool = True) -> bytes:
        """The columns as the database holds them."""
        data = msgspec.json.encode(self.columns)
        return zlib.compress(data, 1) if compressed and len(data) >= COMPRESSED_FROM else data


def unpacked(data: bytes) -> Columns:
    """The columns that `packed` wrote; JSON begins with a quote or a brace, zlib with 0x78."""
    columns: Columns = json.loads(zlib.decompress(data) if data[:1] == b"x" else data)
    return columns


class Reader:
    """Turns what clients send into documents of one model."""

    def __init__(self, model: Model, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")  # a copy of it need not look for the algorithm
        self.names = [] if model.views[0][0] == WHOLE else columns_of(model.views)
        self.is_text = not self.names
        self.is_mail = bool(self.names) and set(self.names) <= set(MAIL_COLUMNS)

    def text(self, text: str | bytes, subject: str = "") -> Document:
        """A text, or a raw mail if the model looks at the columns of mail."""
        if self.is_mail:
            return self.mail(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        if self.names:
            raise Invalid(
                f"This model looks at the columns {self.names}. Give them as a row: {self._example()}."
            )
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
        check_text(shown, "The text")
        return Document(shown, self._identity([_plain(shown)]), "", subject)

    def mail(self, raw: bytes) -> Document:
        """A raw mail; models of one text read its subject and its body."""
        head = _head_of(raw)
        lower = head.lower()
        return self.read_mail(
            mail_row(raw),
            _found(_MESSAGE_ID, b"message-id:", head, lower),
            _found(_FROM, b"from:", head, lower).lower(),
            raw,
        )

    def read_mail(self, parsed: Mapping[str, str], alias: str, sender: str, raw: bytes = b"") -> Document:
        """A mail that is read already; one without lasting texts is known by its bytes."""
        lasting = [unicodedata.normalize("NFC", parsed[name]) for name in LASTING]  # spaces are one already
        if not any(lasting):
            lasting = [hashlib.sha256(raw).hexdigest()]
        columns: Columns = {name: parsed[name] for name in self.names} if self.names else _one_text(parsed)
        return Document(columns, self._identity(lasting), alias, sender)

    def row(self, row: Mapping[str, Any], subject: str = "") -> Document:
        """A row of named columns."""
        if not self.names:
            raise Invalid('This model looks at one text. Give it as "text".')
        missing = [name for name in self.names if name not in row]
        if missing:
            raise Invalid(f"The row lacks the column {missing[0]!r}. The columns are {self.names}.")
        columns = {name: row[name] for name in self.names}
        for name, value in columns.items():
            if isinstance(value, str):
                check_text(value, f"The column {name!r}")
            elif value is not None and not isinstance(value, bool | int | float):
                raise Invalid(f"The column {name!r} holds {value!r}; a cell is text, a number, or null.")
        return Document(columns, self._identity([json.dumps(columns, sort_keys=True)]), "", subject)

    def _example(self) -> str:
        return json.dumps({"row": dict.fromkeys(self.names[:2], "…")}, ensure_ascii=False)

    def _identity(self, parts: Sequence[str]) -> bytes:
        """A keyed hash: who reads the audit log cannot try out texts."""
        keyed = self._keyed.copy()
        keyed.update("\0".join(parts).encode("utf-8", "replace"))
        return keyed.digest()[:20]


def together(documents: Sequence[Columns]) -> Any:
    """Columns of several documents as a model takes them."""
    if isinstance(documents[0], str):
        return list(documents)
    return {name: [row[name] for row in documents] for name in documents[0]}  # type: ignore[index]


def check_text(text: str, what: str) -> None:
    """Refuse halves of surrogate pairs: no UTF-8 can hold them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(
            f"{what} has half of a surrogate pair at position {error.start}, which is no character."
        ) from None


def _plain(text: str) -> str:
    """Text without what transport changes: line ends, spaces, the form of its accents."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _one_text(parsed: Mapping[str, str]) -> str:
    return f"{parsed['subject']}\n{parsed['body']}" if parsed["subject"] else parsed["body"]


def _head_of(raw: bytes) -> bytes:
    """The lines before the first empty one."""
    end = raw.find(b"\n\n", 0, LONGEST_HEAD)
    head = raw[: end if end >= 0 else LONGEST_HEAD]
    end = head.find(b"\r\n\r\n") if b"\r" in head else -1
    return head[:end] if end >= 0 else head


def _found(pattern: re.Pattern[bytes], header: bytes, head: bytes, lower: bytes) -> str:
    """What the pattern finds at the beginning of a header, if the header is there."""
    start = lower.find(b"\n" + header)
    if start < 0 and not lower.startswith(header):
        return ""
    found = pattern.match(head, start + 1 + len(header) if start >= 0 else len(header))
    return found[1].decode("ascii", "replace") if found else ""
