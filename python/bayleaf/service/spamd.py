"""The SPAMD protocol, as spamc and the mail servers speak it: one request a connection."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import time
import zlib
from dataclasses import dataclass, field
from typing import NamedTuple

from bayleaf.service import spam_report
from bayleaf.service.changes import Done, Forget, Who
from bayleaf.service.documents import Document
from bayleaf.service.refusals import Conflict, Refusal
from bayleaf.service.served import Served
from bayleaf.service.service import Service
from bayleaf.service.spam_report import Verdict

logger = logging.getLogger("bayleaf.service")

USAGE, DATA, UNAVAILABLE, SOFTWARE, IO, LATER, PROTOCOL = 64, 65, 69, 70, 74, 75, 76
"""Codes of sysexits.h."""

ASKING = ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "HEADERS", "PROCESS")
LONGEST_LINE = 8_192
LARGE = 65_536
LINGER_SECONDS = 1.0
_REQUEST = re.compile(rb"([A-Z_]+)(?: SPAMC/(\d)\.(\d))?\s*")
OK = "SPAMD/1.1 0 EX_OK\r\n"


class SpamdError(Exception):
    """A request that is refused with a code of sysexits.h."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Version(NamedTuple):
    """What the client speaks."""

    major: int
    minor: int


@dataclass
class Request:
    """One request."""

    method: str
    version: Version
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def names(self, header: str) -> list[str]:
        """The words of a header such as `Set: local,remote`."""
        return [word.strip().lower() for word in self.headers.get(header, "").split(",") if word.strip()]


class Spamd:
    """Answers SPAMD from one model of a service."""

    def __init__(self, service: Service, allow_tell: bool) -> None:
        self._service, self._allow_tell = service, allow_tell
        self._settings = service.store.settings.spamd
        self._limits = service.store.settings.limits
        self._servers: list[asyncio.Server] = []
        self._clients: set[asyncio.Task[None]] = set()

    async def listen(self, listener: socket.socket) -> None:
        """Answer on a socket that is bound."""
        start = asyncio.start_unix_server if listener.family == socket.AF_UNIX else asyncio.start_server
        self._servers.append(await start(self._client, sock=listener, limit=LONGEST_LINE))

    async def close(self) -> None:
        """Finish what is at work."""
        for server in self._servers:
            server.close()
        if self._clients:
            await asyncio.wait(self._clients, timeout=5)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            writer.write(await self._reply(reader))
            await writer.drain()
            await _lingered(reader, writer)
        except OSError:
            pass  # the client went away
        finally:
            self._clients.discard(task)
            writer.close()

    async def _reply(self, reader: asyncio.StreamReader) -> bytes:
        began = time.perf_counter()
        method, status = "unknown", "0"
        try:
            if len(self._clients) > self._limits.connections:
                raise SpamdError(LATER, "Too many connections. Try again later.")
            async with asyncio.timeout(self._limits.seconds):
                request = await self._read(reader)
            method = request.method
            answer = await self._answer(request)
        except (SpamdError, Refusal, TimeoutError, asyncio.IncompleteReadError) as error:
            code, said = _said(error, self._limits.seconds)
            status = str(code)
            # One line without an empty one behind it: with that, spamc takes it for an answer.
            answer = f"SPAMD/1.0 {code} {said}\r\n".encode("utf-8", "replace")
        except Exception:
            logger.exception("SPAMD %s failed", method)
            answer, status = f"SPAMD/1.0 {SOFTWARE} The service has failed at this mail.\r\n".encode(), "70"
        self._service.metrics.request("spamd", method, status, time.perf_counter() - began)
        return answer

    # Reading

    async def _read(self, reader: asyncio.StreamReader) -> Request:
        line = await _line(reader)
        found = _REQUEST.fullmatch(line)
        if not found or found[1].decode() not in (*ASKING, "PING", "SKIP", "TELL"):
            raise SpamdError(
                PROTOCOL, f"Bad header line: {line[:60].decode('ascii', 'backslashreplace').strip()}"
            )
        version = Version(int(found[2] or 1), int(found[3] or 0))
        request = Request(found[1].decode(), version)
        if request.method == "SKIP":
            return request
        await self._read_headers(reader, request)
        if request.method != "PING":
            request.body = await self._read_body(reader, request)
        return request

    async def _read_headers(self, reader: asyncio.StreamReader, request: Request) -> None:
        for _ in range(self._limits.headers + 1):
            line = await _line(reader)
            if not line.strip():
                return
            name, colon, value = line.decode("utf-8", "replace").partition(":")
            if not colon:
                raise SpamdError(PROTOCOL, f"Bad header line: {ascii(name.strip())[1:61]}")
            request.headers[name.strip().lower()] = value.strip()
        raise SpamdError(PROTOCOL, f"Bad header line: more than {self._limits.headers} of them")

    async def _read_body(self, reader: asyncio.StreamReader, request: Request) -> bytes:
        most = self._settings.body
        length = request.headers.get("content-length")
        if length is None:
            body = await _to_the_end(reader, most + 1)
        elif not (length.isascii() and length.isdecimal() and len(length) < 16):
            raise SpamdError(PROTOCOL, f"Bad header line: Content-length: {ascii(length)[1:41]}")
        elif int(length) > most:
            raise SpamdError(DATA, f"The mail has more than {most} bytes.")
        else:
            body = await reader.readexactly(int(length))
        if request.headers.get("compress", "").lower() == "zlib":
            body = _inflated(body, most + 1)
        if len(body) > most:
            raise SpamdError(DATA, f"The mail has more than {most} bytes.")
        return body

    # Answering

    async def _answer(self, request: Request) -> bytes:
        if request.method == "PING":
            return b"SPAMD/1.5 0 PONG\r\n"
        if request.method == "SKIP":
            return b""
        served = self._service.store.model(self._settings.model)
        if len(request.body) > LARGE:
            document = await asyncio.to_thread(served.reader.mail, request.body)
        else:
            document = served.reader.mail(request.body)
        if request.method == "TELL":
            return await self._tell(served, request, document)
        return self._shown(request, await self._judged(served, request, document))

    def _user(self, request: Request) -> tuple[str, str]:
        """Whose counts are meant, and who it was: with shared counts, the user is only recorded."""
        name = request.headers.get("user", "")[:200]
        if name and not name.isprintable():
            raise SpamdError(USAGE, "Bad header line: User: with unprintable characters")
        return (name if self._settings.users == "personal" else ""), (name or "spamd")

    async def _judged(self, served: Served, request: Request, document: Document) -> Verdict:
        user, _ = self._user(request)
        threshold = round(self._settings.threshold, 1)
        try:
            ((id, answer),) = await self._service.ask(served, [document], [None], user)
        except Conflict:  # nothing is learned yet, and mail must flow
            return Verdict(0.0, threshold, 0.5)
        score = spam_report.score_of(answer, self._settings.spam)
        probability = answer.probabilities.get(self._settings.spam, 0.0)
        if request.method == "CHECK" or len(answer.probabilities) < 2:
            return Verdict(score, threshold, probability, (), id)
        if self._settings.spam not in answer.probabilities:
            return Verdict(score, threshold, probability, (), id)
        found, _ = await self._service.store.explain(served, document, self._settings.spam, user)
        return Verdict(score, threshold, probability, found.terms(), id)

    def _shown(self, request: Request, verdict: Verdict) -> bytes:
        body = self._body(request, verdict)
        if body is None:
            return f"{OK}{verdict.line}\r\n\r\n".encode()
        # Exim (SPAMC/1.2) reads `Spam:` first and alone.
        length = f"Content-length: {len(body)}\r\n" if request.version >= (1, 3) else ""
        return f"{OK}{length}{verdict.line}\r\n\r\n".encode() + body

    @staticmethod
    def _body(request: Request, verdict: Verdict) -> bytes | None:
        if request.method == "CHECK":
            return None
        if request.method == "SYMBOLS":
            return ",".join(verdict.symbols()).encode()
        if request.method == "REPORT" or (request.method == "REPORT_IFSPAM" and verdict.is_spam):
            return verdict.report().encode()
        if request.method == "REPORT_IFSPAM":
            return b""
        whole = spam_report.with_headers(request.body, verdict.headers())
        return spam_report.head_of(whole) if request.method == "HEADERS" else whole

    async def _tell(self, served: Served, request: Request, document: Document) -> bytes:
        if not self._allow_tell:
            raise SpamdError(
                UNAVAILABLE, "TELL commands are not enabled, start the service with --allow-tell."
            )
        user, by = self._user(request)
        who = Who(served.number, by, user)
        if "local" in request.names("set"):
            kind = request.headers.get("message-class", "").lower()
            labels = {"spam": self._settings.spam, "ham": self._settings.ham}
            if kind not in labels:
                raise SpamdError(PROTOCOL, f"Bad header line: Message-class: {ascii(kind)[1:41]}")
            label = served.fitting_label(labels[kind])
            done = await self._service.learn(served, who, [(document, label)])
            return _did("DidSet", done, ("learned", "corrected"))
        if "local" in request.names("remove"):
            done = await self._service.forget(served, Forget(who, [document], strict=False))
            return _did("DidRemove", done, ("forgotten",))
        raise SpamdError(PROTOCOL, "Bad header line: TELL needs Set: local or Remove: local")


def _did(header: str, done: Done | bytes, outcomes: tuple[str, ...]) -> bytes:
    """What was done; without the header, clients say that it was so already."""
    changed = isinstance(done, Done) and done.results[0].outcome in outcomes
    return f"{OK}{f'{header}: local' if changed else ''}{chr(13) + chr(10) if changed else ''}\r\n".encode()


def _said(error: Exception, seconds: float) -> tuple[int, str]:
    if isinstance(error, SpamdError):
        return error.code, str(error)
    if isinstance(error, Refusal):
        return (LATER if error.status in (429, 503, 507) else UNAVAILABLE), error.detail
    if isinstance(error, asyncio.IncompleteReadError):
        got = len(error.partial)
        return PROTOCOL, f"Content length mismatch: expected {error.expected} bytes, got {got} bytes"
    return IO, f"The request was not complete after {seconds:g} s"


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:
        raise SpamdError(PROTOCOL, f"Bad header line: longer than {LONGEST_LINE} bytes") from None


async def _to_the_end(reader: asyncio.StreamReader, most: int) -> bytes:
    parts, size = [], 0
    while size < most and (part := await reader.read(LARGE)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _inflated(body: bytes, most: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(body, most)
    except zlib.error:
        raise SpamdError(DATA, "The mail is not compressed with zlib, as its Compress header says.") from None


async def _lingered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read what the client still sends: to close with data unread would take the answer back."""
    if writer.can_write_eof():
        writer.write_eof()
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while await reader.read(LARGE):
                pass
    except TimeoutError:
        return
