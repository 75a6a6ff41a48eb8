"""A raw e-mail as columns: sender, subject, route, parts, links and visible text.

The core reads ordinary mail, the standard library all other (`other_mail`), with the same result where both
can. No mail is refused: what cannot be parsed is read as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bayleaf._core import read_mail
from bayleaf.text.mail_html import link_domains, unescaped, visible_text
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

_DOMAIN = re.compile(r"@([\w-]+(?:\.[\w-]+)*)")
_MANY_RECIPIENTS = 5


def mail_columns(messages: Sequence[str | bytes]) -> dict[str, list[str]]:
    """Read raw e-mails into the columns of `MAIL_COLUMNS`, one text per mail and column."""
    if isinstance(messages, str | bytes):
        raise TypeError("`messages` is a sequence of e-mails, got a single one. Put it in a list.")
    rows = [mail_row(message) for message in messages]
    return {name: [row[name] for row in rows] for name in MAIL_COLUMNS}


def _sound(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no UTF-8 can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def mail_row(message: str | bytes) -> dict[str, str]:
    """Read one raw e-mail into the columns of `MAIL_COLUMNS`."""
    raw = _bytes(message)
    found = read_mail(raw)
    if found is None:
        from bayleaf.text import other_mail

        return _row(*other_mail.read(raw))
    columns, left = found
    row = dict(zip(MAIL_COLUMNS, columns, strict=True))
    if left is not None:
        _read_rest(row, *left)
    return row


def _read_rest(
    row: dict[str, str], headers: list[tuple[str, str]], flags: list[str], texts: list[tuple[str, bool]]
) -> None:
    """Read what the core has left: headers with encoded words, texts with rare character references."""
    if headers:
        plain = {name: value if "=?" not in value else _decoded(value) for name, value in headers}
        row.update(zip(MAIL_COLUMNS, _headed(plain, flags), strict=False))
    if texts:
        read = (_one_spaced(unescaped(text)) if references else text for text, references in texts)
        row["body"] = " ".join(filter(None, read))


def _one_spaced(text: str) -> str:
    return " ".join(text.split())


def _decoded(header: str) -> str:
    from bayleaf.text import other_mail

    return other_mail.one_line(header)


def _bytes(message: str | bytes) -> bytes:
    if not isinstance(message, str | bytes):
        raise TypeError(f"An e-mail is str or bytes, got {type(message).__name__}.")
    if isinstance(message, str):
        text = message if "\n" in message or "\r" in message else restored(message)
        return text.encode("utf-8", "surrogatepass")
    if b"\n" in message or b"\r" in message:
        return message
    return restored(message.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _row(
    headers: dict[str, str], flags: Sequence[str], received: str, types: str, texts: Sequence[str]
) -> dict[str, str]:
    subject, name, domain, told = _headed(headers, flags)
    row = {
        "subject": subject,
        "from_name": name,
        "from_domain": domain,
        "flags": told,
        "received": received,
        "types": types,
        "links": " ".join(domain for text in texts for domain in link_domains(text)),
        "body": " ".join(filter(None, (_one_spaced(_seen(text)) for text in texts))),
    }
    return {name: _sound(text) for name, text in row.items()}


def _headed(headers: dict[str, str], flags: Sequence[str]) -> tuple[str, str, str, str]:
    """The columns that are made of headers."""
    sender = headers.get("from", "")
    told = " ".join(dict.fromkeys([*_header_flags(headers), *flags]))
    made = headers.get("subject", ""), _shown_name(sender), _domain(sender), told
    return (_sound(made[0]), _sound(made[1]), _sound(made[2]), _sound(made[3]))


def _seen(text: str) -> str:
    try:
        return visible_text(text)
    except Exception:  # A filter has to answer for broken mail too.
        return text


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


def _differ(first: str, second: str) -> bool:
    """Whether both are known and neither is part of the other, as `mail.example.org` is of `example.org`."""
    return bool(first and second) and not (first.endswith(second) or second.endswith(first))
