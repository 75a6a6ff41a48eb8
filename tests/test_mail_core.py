"""Ordinary mail is read by the core, with what the standard library reads of it."""

import base64
import quopri

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayleaf._core import read_mail
from bayleaf.text import other_mail
from bayleaf.text.mail import _row, mail_row


def by_the_library(mail: bytes) -> dict[str, str]:
    return _row(*other_mail.read(mail))


NAMES = st.sampled_from(
    [
        "Subject",
        "from",
        "TO",
        "Cc",
        "Date",
        "Message-ID",
        "Reply-To",
        "Return-Path",
        "Received",
        "X-Odd",
        "List-Id",
        "Content-Type",
        "Content-Disposition",
        "Content-Transfer-Encoding",
    ]
)
VALUES = st.sampled_from(
    [
        "",
        " ",
        "a@b.example",
        'Ann "A" <ann@mail.b.example>',
        "<1@c.example>",
        "=?utf-8?q?caf=C3=A9?= x",
        "from a.example ([192.0.2.7]) by [mx.b.example] helo=c; Mon 1.2.3.4",
        "from\n by=\tx.example. 1.2.3.4",
        "from a1.2.3.4 by 10.20.30.400 1234.1.1.1.1 from. byte by",
        "WIN NOW",
        "a\n\tb\n  c",
        "text",
        "text/html",
        "text/plain; charset=utf-8",
        'text/plain; charset="ISO-8859-1"',
        "TEXT/HTML; charset = 'windows-1252'",
        "text/plain; charset=koi8-r; name=a b.txt",
        "text/plain; charset=utf-7",
        'image/png; name="a;b.png"',
        "multipart/mixed; boundary=b",
        'multipart/alternative;\n boundary="b"',
        "multipart/mixed",
        "attachment",
        'attachment; filename="A  Bill.pdf"',
        "attachment; filename=",
        "inline; filename=<x>",
        "attachment; filename*=utf-8''x",
        "7bit",
        "8BIT",
        "base64",
        "quoted-printable",
        "base64 ",
        "uuencode",
    ]
)
HEADERS = st.lists(st.builds(lambda name, value: f"{name}: {value}\n".encode(), NAMES, VALUES), max_size=6)
WRITTEN = st.sampled_from(
    [
        b"",
        b"Hello\n",
        b"<p>See http://x.example/a</p>\n",
        "café €".encode(),
        b"caf\xe9 \x80\x81",
        b"\x80 euro",
        base64.encodebytes("Grüße".encode()),
        base64.encodebytes(b"ab"),
        base64.b64encode(b"abcd"),
        b"YWI",
        b"a=b=",
        quopri.encodestring("Grüße = x\n".encode()),
        b"=\n=3D==3=G\r\n=C3",
        b"--b\n\none\n--b\n\ntwo\n--b--\n",
        b"pre\n--b  \nContent-Type: text/html\n\n<b>one</b>\n\n--b--\t\nafter\n",
        b"--b\n--b--\n",
        b"--b--\n",
        b" \x1c\n",
        b"--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\nin\n--c--\n--b\n\nout\n--b--",
        b"--b\n\nopen\n",
    ]
)
HTML = st.sampled_from(
    [
        "<p>",
        "<B>",
        "</b >",
        "<",
        ">",
        "<!--",
        "-->",
        "<!x>",
        "<script ",
        "</SCRIPT",
        "<style>",
        "</style x>",
        "/a",
        "=",
        "<a href='http://u@X.example:8/y'>\n    ",
        "<img alt=",
        "title = 'a\"b'",
        '"q\'"',
        "alt",
        "://",
        "x.example.",
        "é",
        "ı",
        "\u2003",
        "&nbsp;",
        "&nbsp",
        "&#149;",
        "&#10;",
        "&#8482;",
        "&#129;",
        "&#55296;",
        "&#0000065;",
        "&#65",
        "&amp;",
        "&#39;",
        "&#160;",
        "&eacute",
        "&",
        "&lt;b&gt;",
        "&#xD800;\n    ",
        "\x1c",
        "word",
        "_",
        "<bé>",
        "<?",
        "<br/>",
        "<h1>",
        "<H7>",
        "<!DOCTYPE>",
        "K",
        "1",
    ]
)
MARKED = st.lists(HTML, max_size=25).map(lambda pieces: "".join(pieces).encode())
MAILS = st.builds(
    lambda start, headers, gap, body: start + b"".join(headers) + gap + body,
    st.sampled_from([b"", b"", b"From ann Thu Aug 22 2002\n", b" odd\n", b": odd\n", b"odd\n"]),
    HEADERS,
    st.sampled_from([b"\n", b"\n", b"\n", b"", b" \n"]),
    WRITTEN | MARKED,
)


@given(MAILS, st.booleans())
@example(
    b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQ==\n", False
)
def test_the_core_reads_what_the_standard_library_reads(mail: bytes, windows: bool) -> None:
    raw = mail.replace(b"\n", b"\r\n") if windows else mail
    if read_mail(raw) is not None:
        assert mail_row(raw) == by_the_library(raw)


@given(MAILS, st.integers(0, 2_000))
def test_mail_that_was_cut_is_read_alike(mail: bytes, length: int) -> None:
    raw = mail[:length] + b"\n"  # without a line end it would be a mail in one line
    if read_mail(raw) is not None:
        assert mail_row(raw) == by_the_library(raw)


@given(MARKED, st.booleans())
def test_visible_text_and_links_are_those_of_the_standard_library(body: bytes, is_html: bool) -> None:
    raw = b"Subject: x\nContent-Type: text/html; charset=utf-8\n\n" * is_html + body
    if read_mail(raw) is not None:
        assert mail_row(raw) == by_the_library(raw)


@given(st.binary(max_size=300), MAILS, st.integers(0, 400))
def test_any_bytes_within_a_mail_are_read_alike_or_left_alone(noise: bytes, mail: bytes, place: int) -> None:
    raw = mail[:place] + noise + mail[place:]
    if read_mail(raw) is not None:
        assert mail_row(raw) == by_the_library(raw)


@pytest.mark.parametrize(
    "mail",
    [
        b"From: a@b.example\nSubject: Lunch\n\nAt noon?\n",
        b"Subject: =?utf-8?q?caf=C3=A9?=\nContent-Type: text/html\n\n<p>Coffee</p>\n",
        b"Content-Type: multipart/alternative; boundary=b\n\n"
        b"--b\n\na\n--b\nContent-Type: text/html\n\nb\n--b--\n",
        b"Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-8\n\nR3LDvMOfZQ==\n",
        b'Content-Type: multipart/mixed; boundary="b"\n\n--b\n\na\n--b\nContent-Disposition: attachment; '
        b'filename="a.pdf"\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n',
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\na\n--b\n\nwas cut he",
    ],
)
def test_mail_as_most_of_it_is_needs_no_other_reader(mail: bytes) -> None:
    assert read_mail(mail) is not None
    assert mail_row(mail) == by_the_library(mail)
