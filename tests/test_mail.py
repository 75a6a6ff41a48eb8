"""Raw e-mail as columns."""

import base64
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.text.mail import MAIL_COLUMNS, mail_columns

PLAIN = b"""\
From ann@a.example  Thu Aug 22 16:37:34 2002
Return-Path: <bounce@bulk.example>
Received: from relay.b.example (HELO home) ([203.0.113.9]) by mx.c.example with SMTP; Thu, 22 Aug 2002
Received: from localhost [127.0.0.1]
\tby relay.b.example; Thu, 22 Aug 2002 09:33:08 -0600
From: "Ann Lee" <ann@a.example>
Reply-To: win@prize.example
To: bob@c.example
Date: Thu, 22 Aug 2002 09:33:07 -0600
Subject: Lunch
 on Friday
Message-Id: <1@mail.a.example>

Shall we?  See http://menu.example:8080/today.
"""

PARTS = b"""\
From: =?utf-8?q?Ren=C3=A9?= <rene@r.example>
To: a@x.example, b@x.example, c@x.example, d@x.example, e@x.example
Subject: =?iso-8859-1?b?R3L832Vu?= 2 =?bogus?x?y?=
Date: Fri, 23 Aug 2002 10:00:00 +0000
Message-Id: <2@r.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="out"

--out
Content-Type: multipart/alternative; boundary=in

--in
Content-Type: text/plain

plain words
--in
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<html><p>caf=C3=A9</p> <a href=3D"https://user@shop.example/x">buy</a>=
ing<script>var x</script></html>
--in--
--out
Content-Type: text/plain; charset=koi8-r
Content-Transfer-Encoding: base64

8NLJ18XU
--out
Content-Type: application/pdf; name="Big Bill.pdf"
Content-Disposition: attachment; filename="Big Bill.pdf"
Content-Transfer-Encoding: base64

JVBERg==
--out--
"""


def read(message: str | bytes) -> dict[str, str]:
    return {name: values[0] for name, values in mail_columns([message]).items()}


def html(body: str) -> str:
    return read(f"Content-Type: text/html\n\n{body}")["body"]


def test_a_plain_mail_is_read_into_its_columns() -> None:
    assert read(PLAIN) == {
        "subject": "Lunch on Friday",
        "from_name": "Ann Lee",
        "from_domain": "a.example",
        "flags": "reply-to-differs return-path-differs",
        "received": "relay.b.example home mx.c.example net:203.0.113 localhost relay.b.example net:127.0.0",
        "types": "text/plain",
        "links": "menu.example",
        "body": "Shall we? See http://menu.example:8080/today.",
    }


def test_parts_are_decoded_and_attachments_are_named_only() -> None:
    assert read(PARTS) == {
        "subject": "Grüßen 2 =?bogus?x?y?=",
        "from_name": "René",
        "from_domain": "r.example",
        "flags": "many-recipients",
        "received": "",
        "types": "multipart/mixed multipart/alternative text/plain "
        "text/html charset:utf-8 encoding:quoted-printable "
        "text/plain charset:koi8-r encoding:base64 application/pdf encoding:base64 file:big_bill.pdf",
        "links": "shop.example",
        "body": "café buying Привет",
    }


def test_each_mail_gets_one_text_in_every_column() -> None:
    columns = mail_columns([PLAIN, PARTS, b""])
    assert columns.keys() == MAIL_COLUMNS.keys()
    assert {len(values) for values in columns.values()} == {3}


def test_every_column_is_in_the_docs_with_its_meaning() -> None:
    page = (Path(__file__).parents[1] / "docs" / "text.md").read_text("utf-8")
    for name, meaning in MAIL_COLUMNS.items():
        assert f"| `{name}` | {meaning} |" in page


def test_a_mail_on_its_own_is_refused_before_its_letters_are_taken_for_mails() -> None:
    with pytest.raises(TypeError, match="Put it in a list"):
        mail_columns(cast(Any, PLAIN))


def test_what_is_not_a_mail_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="str or bytes, got int"):
        mail_columns(cast(Any, [3]))


broken = st.one_of(
    st.binary(),
    st.builds(
        lambda mail, cut, length, junk: mail[:cut] + junk + mail[cut + length :],
        st.sampled_from([PLAIN, PARTS]),
        st.integers(0, len(PARTS)),
        st.integers(0, 200),
        st.one_of(
            st.binary(max_size=20),
            st.sampled_from([b"\n\n", b"--in", b"=?utf-7?b?2AA=?=", b"charset=rot13 "]),
        ),
    ),
)


@given(broken)
def test_no_mail_is_so_broken_that_it_cannot_be_read(message: bytes) -> None:
    for value in read(message).values():
        assert value.encode("utf-8").decode("utf-8") == value


@given(st.text(st.characters()))
def test_any_string_can_be_read_as_a_mail(message: str) -> None:
    for value in read(message).values():
        assert value.encode("utf-8").decode("utf-8") == value


@given(broken.filter(bytes.isascii))
def test_bytes_and_string_are_the_same_mail(message: bytes) -> None:
    assert read(message) == read(message.decode("ascii"))


@pytest.mark.parametrize("mail", [PLAIN, PARTS])
def test_either_kind_of_line_break_gives_the_same_columns(mail: bytes) -> None:
    assert read(mail.replace(b"\n", b"\r\n")) == read(mail)


def test_parts_within_parts_beyond_reason_are_read_as_plain_text() -> None:
    levels = range(3000)
    nested = "".join(f'Content-Type: multipart/mixed; boundary="b{i}"\n\n--b{i}\n' for i in levels)
    columns = read(nested + "\nfind me")
    assert "broken" in columns["flags"]
    assert "find me" in columns["body"]


def test_text_that_is_no_mail_is_all_body() -> None:
    assert read("Shall we meet? Note: bring cake.")["body"] == "Shall we meet? Note: bring cake."


@pytest.mark.parametrize(
    ("flag", "header"),
    [
        ("reply-to-differs", "Reply-To: a@other.example"),
        ("return-path-differs", "Return-Path: <a@other.example>"),
        ("message-id-differs", "Message-Id: <1@other.example>"),
        ("many-recipients", "Cc: a@x.example, b@x.example, c@x.example, d@x.example"),
        ("list", "List-Id: <friends.example>"),
        ("capitals", "Subject: BUY NOW"),
        ("html-only", "Content-Type: text/html"),
        ("broken", "Content-Type: multipart/mixed"),
        ("no-subject", "Subject:"),
        ("no-date", "Date:"),
        ("no-to", "To:"),
        ("no-message-id", "Message-Id:"),
    ],
)
def test_a_flag_is_raised_by_the_header_that_it_tells_of(flag: str, header: str) -> None:
    usual = {
        "from": "From: a@a.example",
        "to": "To: b@b.example",
        "subject": "Subject: Hi",
        "date": "Date: Thu, 22 Aug 2002 09:33:07 -0600",
        "message-id": "Message-Id: <1@mail.a.example>",
    }
    changed = usual | {header.partition(":")[0].lower(): header}
    assert read("\n".join(usual.values()) + "\n\nhi")["flags"] == ""
    assert read("\n".join(changed.values()) + "\n\nhi")["flags"] == flag


@pytest.mark.parametrize(
    ("markup", "seen"),
    [
        ("<h1>one</h1>two<p>three<br>four", "one two three four"),
        ("<p>V<!-- x -->ia<b>gr</b>a", "Viagra"),
        ("<p>a<style>b {c}</style>d<SCRIPT>e<f</SCRIPT >g", "a d g"),
        ("<p>fish &amp; chips &eacute;&#233; &bogus;", "fish & chips éé &bogus;"),
        ('<p><img src="x.gif" alt="free offer">now', "free offer now"),
        ("<p>1 < 2 and <3", "1 < 2 and <3"),
        ("<p>open <!-- never closed", "open <!-- never closed"),
    ],
)
def test_of_html_remains_what_a_reader_sees(markup: str, seen: str) -> None:
    assert html(markup) == seen


def test_text_with_angle_brackets_is_not_html() -> None:
    assert html("if a < b > c then <ann@a.example>") == "if a < b > c then <ann@a.example>"


@pytest.mark.parametrize(
    ("charset", "written", "declared"),
    [
        ("utf-8", "naïve", "iso-8859-1"),
        ("iso-8859-1", "naïve", "utf-8"),
        ("cp1252", "“naïve”", "no-such-charset"),
        ("iso-2022-jp", "日本", "iso-2022-jp"),
        ("gb2312", "中文", "gb2312"),
    ],
)
def test_text_is_decoded_in_spite_of_a_wrong_charset(charset: str, written: str, declared: str) -> None:
    head = f"Content-Type: text/plain; charset={declared}\n\n".encode()
    assert read(head + written.encode(charset))["body"] == written


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
def test_a_header_that_is_not_ascii_is_read(charset: str) -> None:
    assert read("Subject: Grüße\n\n".encode(charset))["subject"] == "Grüße"


def test_broken_base64_keeps_what_can_be_read() -> None:
    body = base64.b64encode(b"hello there").decode()
    assert read(f"Content-Transfer-Encoding: base64\n\n{body}!")["body"] == "hello there"


@pytest.mark.parametrize("mail", [PLAIN, PARTS])
def test_a_mail_put_on_one_line_gives_the_same_columns(mail: bytes) -> None:
    flat = b" ".join(mail.replace(b"</a>=\n", b"</a>").split(b"\n"))
    assert read(flat) == read(mail)


def test_headers_quoted_in_the_body_of_a_mail_on_one_line_stay_in_the_body() -> None:
    columns = read(
        "From: a@a.example Subject: Hi Content-Type: text/plain You wrote: From: b@b.example Subject: Ho"
    )
    assert columns["subject"] == "Hi"
    assert columns["body"] == "You wrote: From: b@b.example Subject: Ho"
