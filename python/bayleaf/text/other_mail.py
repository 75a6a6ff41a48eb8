"""Mail that the core does not read, by the standard library: imported when such a mail comes."""

from __future__ import annotations

import email
import re
from collections.abc import Callable, Iterator
from email.header import Header, decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Any, TypeAlias, TypeVar

Part: TypeAlias = "Message[str, str]"
Read: TypeAlias = "tuple[dict[str, str], list[str], str, str, list[str]]"
T = TypeVar("T")

_HOST = re.compile(r"\b(?:from|by|helo)[\s=]+\[?([\w.-]+)", re.IGNORECASE)
_NETWORK = re.compile(r"\b(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}\b")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
# Charsets whose text is ASCII bytes, or never valid UTF-8 by accident; for all others UTF-8 is tried first.
_SHIFTING = re.compile(r"iso-2022|utf-?7|utf-?16|utf-?32|hz", re.IGNORECASE)
# The standard library takes time quadratic in the length of a header with encoded words: 2 s for 200 KB.
_LONGEST_DECODED = 10_000


# The same of parameters: 14 s for 64 KB of semicolons. No honest ones are longer than a line may be.
_LONGEST_PARAMETERS = 1_000
_WITH_PARAMETERS = frozenset({"content-type", "content-disposition"})


class _Mail(Message):
    """A mail, or a part of one, that looks for parameters only where a header has room for them."""

    def get(self, name: str, failobj: Any = None) -> Any:
        value = super().get(name, failobj)
        if name.lower() in _WITH_PARAMETERS and value is not failobj:
            return str(value)[:_LONGEST_PARAMETERS]
        return value


def read(raw: bytes) -> Read:
    """Headers by name, flags, hosts, types of parts and texts, of any mail."""
    mail = _attempt(lambda: email.message_from_bytes(raw, _Mail), None)
    whole = mail is not None
    # Without its parts, such as parts in parts in parts, a mail still has a head.
    head = mail or _attempt(lambda: BytesHeaderParser(_Mail).parsebytes(raw), _Mail())
    return _parsed(head, raw, whole)


def _parsed(mail: Part, raw: bytes, whole: bool) -> Read:
    """What can be read; broken mail makes the standard library raise a dozen kinds of errors, down to a
    RecursionError. A filter has to answer for it too, with all but the piece that is broken."""
    headers: dict[str, str] = _attempt(lambda: _headers(mail), {})
    texts = _attempt(lambda: list(_texts(mail)), None) if whole else None
    broken = texts is None
    texts = [_decoded(raw, "utf-8")] if texts is None else texts
    flags = [*_attempt(lambda: list(_part_flags(mail)), ["broken"]), *["broken"] * broken]
    received = " ".join(_attempt(lambda: list(_hosts(mail)), []))
    return headers, flags, received, " ".join(_attempt(lambda: list(_types(mail)), [])), texts


def _headers(part: Part) -> dict[str, str]:
    """The decoded value of each header by its name in lower case; of several, the first."""
    first: dict[str, str | Header] = {name.lower(): value for name, value in reversed(part.items())}
    return {name: one_line(value) for name, value in first.items()}


def one_line(value: str | Header) -> str:
    """A header without its line breaks, its encoded words read."""
    return " ".join(_words_decoded(value).split())


def _words_decoded(value: str | Header) -> str:
    """A header with its encoded words (`=?utf-8?q?...?=`) read; as a `Header` comes what is not ASCII."""
    if isinstance(value, Header):
        value = "".join(_decoded(piece, "") for piece, _ in decode_header(value))
    if "=?" not in value:
        return value
    head, rest = value[:_LONGEST_DECODED], value[_LONGEST_DECODED:]
    pieces: list[tuple[str | bytes, str | None]] = _attempt(lambda: decode_header(head), [(head, None)])
    texts = [piece if isinstance(piece, str) else _decoded(piece, charset or "") for piece, charset in pieces]
    return "".join(texts) + rest


def _part_flags(mail: Part) -> Iterator[str]:
    if mail.get_content_type() == "text/html":
        yield "html-only"
    if any(part.defects for part in mail.walk()):
        yield "broken"


def _hosts(mail: Part) -> Iterator[str]:
    for value in mail.get_all("Received", []):
        line = str(value).partition(";")[0]
        yield from (host.lower().strip(".") for host in _HOST.findall(line))
        yield from (f"net:{network}" for network in _NETWORK.findall(line))


def _types(mail: Part) -> Iterator[str]:
    for part in mail.walk():
        headers = _headers(part)
        yield part.get_content_type()
        if charset := _charset(headers.get("content-type", "")):
            yield f"charset:{charset}"
        if encoding := headers.get("content-transfer-encoding"):
            yield f"encoding:{encoding.split()[0].lower()}"
        name = _attempt(part.get_filename, None) if "name" in _described(headers) else None
        if name:
            yield "file:" + "_".join(_words_decoded(name).lower().split())


def _described(headers: dict[str, str]) -> str:
    return f"{headers.get('content-type')} {headers.get('content-disposition')}".lower()


def _charset(content_type: str) -> str:
    found = _CHARSET.search(content_type)
    return found[1].lower() if found else ""


def _texts(part: Part) -> Iterator[str]:
    """The texts of a mail as they were written: of alternatives the last, of attachments none."""
    if not part.is_multipart():
        if part.get_content_maintype() == "text" and part.get_content_disposition() != "attachment":
            yield _text(part)
        return
    inner = [list(_texts(child)) for child in part.get_payload() if isinstance(child, Message)]
    filled = [texts for texts in inner if any(text.strip() for text in texts)]
    chosen = filled[-1:] if part.get_content_subtype() == "alternative" else filled
    for texts in chosen:
        yield from texts


def _text(part: Part) -> str:
    payload = _attempt(lambda: part.get_payload(decode=True), None)
    if not isinstance(payload, bytes):
        payload = str(part.get_payload()).encode("utf-8", "surrogatepass")
    return _decoded(payload, _charset(str(part.get("Content-Type", ""))))


def _decoded(payload: bytes, charset: str) -> str:
    """Bytes as UTF-8 if they are that (hardly ever by accident), else as declared, else as Windows has it."""
    guesses = (charset, "utf-8") if _SHIFTING.match(charset) else ("utf-8", charset, "cp1252")
    for guess in filter(None, guesses):
        try:
            return payload.decode(guess)
        except (LookupError, ValueError):
            continue
    return payload.decode("latin-1")


def _attempt(read: Callable[[], T], otherwise: T) -> T:
    """What the standard library reads, or the other value where broken mail makes it raise."""
    try:
        return read()
    except Exception:
        return otherwise
