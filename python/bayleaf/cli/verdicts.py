"""The verdict on one mail: its exit code, and the header that tells it; `re` only for forged headers."""

from __future__ import annotations

SPAM, HAM, UNSURE, FAILED = range(4)
"""The exit codes of `classify -e`, which are those of bogofilter."""


def verdict(label: str, probability: float, spam: str, unsure: float | None) -> tuple[int, str]:
    """The exit code, and what it is called."""
    certain = probability if label == spam else 1 - probability
    if unsure is not None and certain < unsure:
        return UNSURE, "unsure"
    return (SPAM if label == spam else HAM), label


def without_forged(mail: bytes) -> bytes:
    """A mail without the headers that it came with and that only a filter may write."""
    if b"x-bayleaf" not in mail.lower():
        return mail
    import re

    return re.sub(rb"(?im)^X-Bayleaf[^:\n]*:[^\n]*\n(?:[ \t][^\n]*\n)*", b"", mail)


def without_separator(mail: bytes) -> bytes:
    """A mail without the line that an mbox begins with."""
    if not mail.startswith(b"From "):
        return mail
    from bayleaf.raw_mail import SEPARATOR

    match = SEPARATOR.match(mail)
    return mail[match.end() :] if match else mail


def text_of(mail: bytes) -> str:
    """The text of a mail, as training read it: as it is if it is plain UTF-8, else decoded."""
    if b"base64" in mail.lower() or b"begin " in mail:
        from bayleaf.raw_mail import readable

        mail = readable(mail)
    try:
        return mail.decode("utf-8")
    except UnicodeDecodeError:
        from bayleaf.raw_mail import as_text

        return as_text(mail).decode("utf-8", "replace")


def with_header(raw: bytes, told: str, probability: float) -> bytes:
    """The mail with what was found in its last header; such headers that it came with are taken out."""
    ending = b"\r\n" if b"\r\n" in raw[: raw.find(b"\n") + 1] else b"\n"
    head, gap, body = raw.partition(ending + ending)
    head = without_forged(head + ending).removesuffix(ending)
    label = "".join([each if " " <= each <= "~" and each != ";" else "_" for each in told])
    found = f"X-Bayleaf: {label}; spam={probability:.6f}".encode("ascii")
    return head + ending + found + (gap or ending + ending) + body
