"""The SPAMD protocol, as spamc and the mail servers speak it, answered from one model.

The core has the connections (`src/spamd`) and answers ordinary CHECK by itself; all other requests come here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Iterator

from bayleaf._core import SpamdServer
from bayleaf.service import spam_report
from bayleaf.service.changes import Done, Forget, Who
from bayleaf.service.documents import Document
from bayleaf.service.metrics import BUCKETS
from bayleaf.service.peers import user_of
from bayleaf.service.questions import Kept
from bayleaf.service.refusals import Conflict, Refusal
from bayleaf.service.served import Answer, NotBuilt, Served
from bayleaf.service.service import Service
from bayleaf.service.spam_report import Verdict
from bayleaf.service.spamd_request import (
    LATER,
    PERMISSION,
    PROTOCOL,
    SOFTWARE,
    UNAVAILABLE,
    USAGE,
    Request,
    SpamdError,
    Version,
)
from bayleaf.text.mail import MAIL_COLUMNS

logger = logging.getLogger("bayleaf.service")

LARGE = 65_536
OK = "SPAMD/1.1 0 EX_OK\r\n"
LONGEST_SECONDS = 1e9


class Spamd:
    """Answers SPAMD from one model of a service."""

    def __init__(self, service: Service, allow_tell: bool) -> None:
        self._service, self._allow_tell = service, allow_tell
        self._settings = service.store.settings.spamd
        self._at_work: set[asyncio.Task[None]] = set()
        limits = service.store.settings.limits
        self._server = SpamdServer(
            headers=int(limits.headers),
            body=int(self._settings.body),
            seconds=min(limits.seconds, LONGEST_SECONDS),
            too_slow=f"The request was not complete after {limits.seconds:g} s",
            connections=int(limits.connections),
            threshold=round(self._settings.threshold, 1),
            personal=self._settings.users == "personal",
            uid=os.getuid(),
            questions=int(service.store.settings.storage.questions),
            bounds=BUCKETS,
        )
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._server.fileno(), self._take)
        service.store.questions.elsewhere = self._answered
        service.catch_up = self._count

    def listen(self, listener: socket.socket) -> None:
        """Answer on a socket that is bound."""
        is_unix = listener.family == socket.AF_UNIX
        self._server.listen(listener.detach(), is_unix)

    async def close(self) -> None:
        """Finish what is at work."""
        self._server.close()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=5)
        self._loop.remove_reader(self._server.fileno())
        await asyncio.to_thread(self._server.stop)
        self._count()

    # What the core hands over

    def _take(self) -> None:
        """Answer what the core has left to us."""
        if self._server.failed:
            logger.critical("The thread of the SPAMD connections has failed; the service stops.")
            self._loop.remove_reader(self._server.fileno())
            os.kill(os.getpid(), signal.SIGTERM)
            return
        for number, method, version, headers, body, uid, took in self._server.handed():
            peer = None if uid is None else user_of(uid)
            request = Request(method, Version(*version), dict(headers), body, peer)
            began = time.perf_counter() - took
            try:
                request.inflate(self._settings.body)
            except SpamdError as error:
                self._server.answer(number, self._refused(error, began))
                continue
            reply = self._reply_at_once(request, began)
            if reply is not None:
                self._server.answer(number, reply)
                continue
            task = self._loop.create_task(self._work(number, request, began))
            self._at_work.add(task)
            task.add_done_callback(self._at_work.discard)

    async def _work(self, number: int, request: Request, began: float) -> None:
        self._server.answer(number, await self._reply(request, began))

    def _answered(self, most: int) -> Iterator[tuple[int, Kept]]:
        """Questions that the core has answered by itself."""
        kept = self._server.questions(most)
        if not kept:
            return
        served = self._service.store.model(self._settings.model)
        for columns, alias, sender, label, probabilities, version, at in kept:
            row = dict(zip(MAIL_COLUMNS, columns, strict=True))
            found = served.reader.read_mail(row, alias, sender)
            answer = (label, dict(probabilities), version, at)
            yield served.number, (found.columns, found.identity, alias, sender, "", *answer)

    def _count(self) -> None:
        """Count what the core has answered by itself."""
        requests, before, last = self._server.tally()
        for method, code, counts, seconds in requests:
            self._service.metrics.requests("spamd", method, str(code), counts, seconds)
        if before or last:
            record = self._service.record(self._service.store.model(self._settings.model))
            for label, count in before:
                record.answered_before(label, count)
            for label in last:
                record.answered(label)

    def _refused(self, error: SpamdError, began: float, method: str = "unknown") -> bytes:
        self._service.metrics.request("spamd", method, str(error.code), time.perf_counter() - began)
        # One line without an empty one behind it: with that, spamc takes it for an answer.
        return f"SPAMD/1.0 {error.code} {error}\r\n".encode("utf-8", "replace")

    def _failed(self, error: Exception, request: Request, began: float) -> bytes:
        if isinstance(error, SpamdError):
            return self._refused(error, began, request.method)
        if isinstance(error, Refusal):
            code = LATER if error.status in (429, 503, 507) else UNAVAILABLE
            return self._refused(SpamdError(code, error.detail), began, request.method)
        logger.error("SPAMD %s failed", request.method, exc_info=error)
        failed = SpamdError(SOFTWARE, "The service has failed at this mail.")
        return self._refused(failed, began, request.method)

    def _counted(self, answer: bytes, request: Request, began: float) -> bytes:
        self._service.metrics.request("spamd", request.method, "0", time.perf_counter() - began)
        return answer

    def _reply_at_once(self, request: Request, began: float) -> bytes | None:
        """The reply to what takes microseconds; a task for it would take as long. None for all else."""
        if request.method != "CHECK" or len(request.body) > LARGE:
            return None
        try:
            return self._counted(self._answer_at_once(request), request, began)
        except NotBuilt:
            return None
        except Exception as error:
            return self._failed(error, request, began)

    async def _reply(self, request: Request, began: float) -> bytes:
        try:
            return self._counted(await self._answer(request), request, began)
        except Exception as error:
            return self._failed(error, request, began)

    # Answering

    def _answer_at_once(self, request: Request) -> bytes:
        served = self._service.store.model(self._settings.model)
        user, _ = self._user(request)
        document = served.reader.mail(request.body)
        try:
            found = self._service.ask_at_once(served, document, user)
        except Conflict:
            return self._shown(request, self._unknown)
        if served.name not in self._service.store.settings.autolearn:
            served.stand(document, self._settings.spam)
            self._server.answer_by(served.standing)
        return self._shown(request, self._verdict(*found))

    async def _answer(self, request: Request) -> bytes:
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
        peer = request.peer
        if peer is not None and not peer.may_speak_for_others(self._settings.trusted):
            if name not in ("", peer.name):
                said = f"User: is {name}, but you are {peer.name}. See spamd.trusted in bayleaf.toml."
                raise SpamdError(PERMISSION, said)
            name = peer.name
        by = name or (peer.name if peer is not None else "spamd")
        return (name if self._settings.users == "personal" else ""), by

    async def _judged(self, served: Served, request: Request, document: Document) -> Verdict:
        user, _ = self._user(request)
        try:
            ((id, answer),) = await self._service.ask(served, [document], [None], user)
        except Conflict:
            return self._unknown
        verdict = self._verdict(id, answer)
        if request.method == "CHECK" or len(answer.probabilities) < 2:
            return verdict
        if self._settings.spam not in answer.probabilities:
            return verdict
        found, _ = await self._service.store.explain(served, document, self._settings.spam, user)
        return verdict._replace(reasons=found.terms())

    @property
    def _unknown(self) -> Verdict:
        """While nothing is learned: mail must flow."""
        return Verdict(0.0, round(self._settings.threshold, 1), 0.5)

    def _verdict(self, id: str, answer: Answer) -> Verdict:
        score = spam_report.score_of(answer, self._settings.spam)
        probability = answer.probabilities.get(self._settings.spam, 0.0)
        return Verdict(score, round(self._settings.threshold, 1), probability, (), id)

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
                raise SpamdError(PROTOCOL, f"Bad header line: Message-class: {ascii(kind[:40])[1:-1]}")
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
