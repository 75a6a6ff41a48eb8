"""A raw e-mail as columns: sender, subject, route, parts, links and visible text.

The core reads ordinary mail, the standard library all other, with the same result where both can. No mail is
refused: what cannot be parsed is read as plain text.
"""

from __future__ import annotations

import email
import re
from collections.abc import Callable, Iterator, Sequence
from email.header import Header, decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Any, TypeAlias, TypeVar

from bayleaf._core import read_mail
from bayleaf.text.mail_html import link_domains, visible_text
from bayleaf.text.mail_one_line import restored

__all__ = ["MAIL_COLUMNS", "mail_columns"]

MAIL_COLUMNS: dict[str, str] = {
    "subject": "the subject, decoded",
    "from_name": "the sender's name as shown to the reader",
    "from_domain": "the domain of the sender's address",
    "flags": "what is odd or telling about the headers, one word each",
    "received": "the hosts and networks that handed the mail on, newest first",
    "types": "content type, charset and encoding of each part; names of attachments",
    "links": "the domains that links and pictures point to",
    "body": "the text a reader would see: decoded, HTML stripped, of alternatives the last",
}
"""The columns that `mail_columns` makes, and what is in each."""

Part: TypeAlias = "Message[str, str]"
T = TypeVar("T")

_DOMAIN = re.compile(r"@([\w-]+(?:\.[\w-]+)*)")
_HOST = re.compile(r"\b(?:from|by|helo)[\s=]+\[?([\w.-]+)", re.IGNORECASE)
_NETWORK = re.compile(r"\b(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}\b")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
# Charsets whose text is ASCII bytes, or never valid UTF-8 by accident; for all others UTF-8 is tried first.
_SHIFTING = re.compile(r"iso-2022|utf-?7|utf-?16|utf-?32|hz", re.IGNORECASE)
_MANY_RECIPIENTS = 5
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


def mail_columns(messages: Sequence[str | bytes]) -> dict[str, list[str]]:
    """Read raw e-mails into the columns of `MAIL_COLUMNS`, one text per mail and column."""
    if isinstance(messages, str | bytes):
        raise TypeError("`messages` is a sequence of e-mails, got a single one. Put it in a list.")
    rows = [_columns(message) for message in messages]
    return {name: [_sound(row[name]) for row in rows] for name in MAIL_COLUMNS}


def _sound(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no UTF-8 can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _columns(message: str | bytes) -> dict[str, str]:
    raw = _bytes(message)
    found = read_mail(raw)
    if found is None:
        return _read_otherwise(raw)
    headers, received, types, html_only, texts = found
    plain = {name: value if "=?" not in value else _one_line(value) for name, value in headers}
    return _row(plain, ["html-only"] * html_only, received, types, texts)


def _read_otherwise(raw: bytes) -> dict[str, str]:
    """What the standard library reads, of any mail."""
    mail = _attempt(lambda: email.message_from_bytes(raw, _Mail), None)
    whole = mail is not None
    # Without its parts, such as parts in parts in parts, a mail still has a head.
    head = mail or _attempt(lambda: BytesHeaderParser(_Mail).parsebytes(raw), _Mail())
    return _parsed(head, raw, whole)


def _bytes(message: str | bytes) -> bytes:
    if not isinstance(message, str | bytes):
        raise TypeError(f"An e-mail is str or bytes, got {type(message).__name__}.")
    if isinstance(message, str):
        text = message if "\n" in message or "\r" in message else restored(message)
        return text.encode("utf-8", "surrogatepass")
    if b"\n" in message or b"\r" in message:
        return message
    return restored(message.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _parsed(mail: Part, raw: bytes, whole: bool) -> dict[str, str]:
    """What can be read; broken mail makes the standard library raise a dozen kinds of errors, down to a
    RecursionError. A filter has to answer for it too, with all but the piece that is broken."""
    headers: dict[str, str] = _attempt(lambda: _headers(mail), {})
    texts = _attempt(lambda: list(_texts(mail)), None) if whole else None
    broken = texts is None
    texts = [_decoded(raw, "utf-8")] if texts is None else texts
    flags = [*_attempt(lambda: list(_part_flags(mail)), ["broken"]), *["broken"] * broken]
    received = " ".join(_attempt(lambda: list(_hosts(mail)), []))
    return _row(headers, flags, received, " ".join(_attempt(lambda: list(_types(mail)), [])), texts)


def _row(
    headers: dict[str, str], flags: Sequence[str], received: str, types: str, texts: Sequence[str]
) -> dict[str, str]:
    sender = headers.get("from", "")
    return {
        "subject": headers.get("subject", ""),
        "from_name": _shown_name(sender),
        "from_domain": _domain(sender),
        "flags": " ".join(dict.fromkeys([*_header_flags(headers), *flags])),
        "received": received,
        "types": types,
        "links": " ".join(domain for text in texts for domain in link_domains(text)),
        "body": " ".join(filter(None, (" ".join(_seen(text).split()) for text in texts))),
    }


def _seen(text: str) -> str:
    return _attempt(lambda: visible_text(text), text)


def _headers(part: Part) -> dict[str, str]:
    """The decoded value of each header by its name in lower case; of several, the first."""
    first: dict[str, str | Header] = {name.lower(): value for name, value in reversed(part.items())}
    return {name: _one_line(value) for name, value in first.items()}


def _one_line(value: str | Header) -> str:
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


def _shown_name(sender: str) -> str:
    name, bracket, _ = sender.partition("<")
    if not bracket:
        name = sender.partition("(")[2].rpartition(")")[0]
    return name.strip("\"' ")


def _domain(address: str) -> str:
    found = _DOMAIN.search(address)
    return found[1].lower() if found else ""


def _header_flags(headers: dict[str, str]) -> Iterator[str]:
    sender = _domain(headers.get("from", ""))
    for name in ("reply-to", "return-path", "message-id"):
        if _differ(sender, _domain(headers.get(name, ""))):
            yield f"{name}-differs"
    yield from (f"no-{name}" for name in ("subject", "date", "message-id", "to") if not headers.get(name))
    if f"{headers.get('to')} {headers.get('cc')}".count("@") >= _MANY_RECIPIENTS:
        yield "many-recipients"
    if "list-id" in headers or "list-unsubscribe" in headers:
        yield "list"
    if headers.get("subject", "").isupper():
        yield "capitals"


def _part_flags(mail: Part) -> Iterator[str]:
    if mail.get_content_type() == "text/html":
        yield "html-only"
    if any(part.defects for part in mail.walk()):
        yield "broken"


def _differ(first: str, second: str) -> bool:
    """Whether both are known and neither is part of the other, as `mail.example.org` is of `example.org`."""
    return bool(first and second) and not (first.endswith(second) or second.endswith(first))


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
