"""One message a process: `update`, `forget` and `relabel` of a mail or a few lines, written behind the model.

What is not the plain case, or must be refused, is left to the ordinary command, which reads and writes the
whole model, and with it the changes that were written here.
"""

from __future__ import annotations

import os
import stat
import sys

from bayleaf.class_names import by_name
from bayleaf.cli import one_message, verdicts, wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from bayleaf.quick import QuickModel

    Part = tuple[bool, int, list[list[str]]]

FLAGS = {"-q": "quiet", "--quiet": "quiet", "--no-wait": "no_wait"}
VALUES = {
    "update": {"--label": "new", "--format": "format"},
    "forget": {"--label": "old", "--format": "format"},
    "relabel": {"--from": "old", "--to": "new", "--format": "format"},
}
MOST_FILES = 20


def run(command: str, arguments: Sequence[str]) -> int | None:
    """The exit code of a command with these arguments; None if the ordinary command has to run."""
    options = one_message.taken(arguments, FLAGS, VALUES[command])
    if options is None or len(options.names) < 2 or not one_message.streams_are_open():
        return None
    if "format" not in options and all(map(_is_named_mail, options.names[1:])):
        options["format"] = "eml"
    if not _is_plain(options, command):
        return None
    data = b""
    try:
        if options.names[1] == "-":
            data, whole = one_message.read_input(patient=True)
            documents = _documents(data, options) if whole else None
        else:
            documents = _files(options.names[1:])
        done = documents and _changed(options, documents, data)
    except (Exception, SystemExit):  # whatever is wrong, the ordinary command says it
        done = None
    if not done:
        one_message.give_back(data)
        return None
    sys.stdout.write(f"{done}\n")
    sys.stdout.flush()
    return 0


def _is_plain(options: one_message.Options, command: str) -> bool:
    """Whether a call names a model that can be written to, a label, and mails or standard input."""
    names, kind = options.names, options.get("format", "lines")
    labeled = all(options.get(name) for name in VALUES[command].values() if name != "format")
    if not labeled or kind not in ("lines", "eml"):
        return False
    found = os.stat(names[0])
    writable = stat.S_ISREG(found.st_mode) and found.st_mode & 0o222 and os.access(names[0], os.W_OK)
    if not writable:
        return False
    if names[1:] == ["-"]:
        return True
    return kind == "eml" and len(names) <= MOST_FILES and all(map(_is_mail, names[1:]))


def _is_named_mail(name: str) -> bool:
    """Whether a file is a mail by its name, or by the Maildir that it is in."""
    if name == "-":
        return False
    from bayleaf.raw_mail import in_maildir

    return name.lower().endswith(".eml") or in_maildir(name) is not None


def _is_mail(name: str) -> bool:
    return os.path.isfile(name) and os.path.getsize(name) <= one_message.MOST_BYTES


def _files(names: Sequence[str]) -> list[bytes]:
    documents = []
    for name in names:
        with open(name, "rb") as file:
            documents.append(file.read())
    return documents


def _documents(data: bytes, options: one_message.Options) -> list[bytes] | None:
    """The mail on standard input, or its lines; a blank one is a document too, and takes the whole model."""
    if options.get("format") == "eml":
        return [data]
    lines = one_message.lines_of(data) or []
    return [line.encode("utf-8") for line in lines] if all(map(str.strip, lines)) else None


def _changed(options: one_message.Options, documents: list[bytes], data: bytes) -> str | None:
    """What was changed; None if nothing was, because that takes the whole model."""
    from bayleaf.cli.locking import locked

    path, remarks = options.names[0], not options.get("quiet")
    if not all(document.strip(b"\r\n") for document in documents):
        return None
    if os.stat(path).st_nlink > 1:  # written behind the model, a change would be seen under its other names
        return None
    with locked(path, not options.get("no_wait"), _remark if remarks else lambda _: None):
        model = one_message.opened(path)
        if model.columns[0] and (options.get("format") != "eml" or not one_message.is_mail(model)):
            return None
        classes = {name: model.classes.index(label) for name, label in by_name(model.classes).items()}
        rows = [_read(model, document, options) for document in documents]
        texts = [list(column) for column in zip(*rows, strict=True)]
        wanted = [(added, options.get(name)) for added, name in ((False, "old"), (True, "new"))]
        parts = [(added, classes[label], texts) for added, label in wanted if label]
        before = _facts(model)
        drift = model.drift + _fingerprint(model, parts)
        if not _uninterrupted(lambda: model.change(parts, drift)):
            return None
        return _told(options, model, before, drift, data)


def _told(
    options: one_message.Options, model: QuickModel, before: dict[str, int], drift: int, data: bytes
) -> str:
    judged = model.settings.get("judgement") or {}
    path, level = options.names[0], judged.get("level")
    stale = bool(level and drift)
    if not options.get("quiet"):
        name = "standard input" if options.names[1] == "-" else options.names[1]
        more = f" and {len(options.names) - 2} more" if len(options.names) > 2 else ""
        kind = options.get("format", "lines")
        _remark(one_message.reading(f"{name}{more}", kind, data))
        if stale:
            _remark(wording.stale(path, _stranger(model, judged)))
    weighed = wording.tuned(level, stale)
    return wording.changed(path, before, _facts(model), weighed, os.path.getsize(path))


def _stranger(model: QuickModel, judged: dict[str, Any]) -> object:
    """A class that the evidence was weighed without."""
    known = [label for label, _ in judged["documents"]]
    new = (label for label in model.classes if label not in known)
    return None if judged["level"] == "temperature" else next(new, None)


def _remark(text: str) -> None:
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:  # a change is not undone because nobody reads remarks
        pass


def _uninterrupted(change: Callable[[], bool]) -> bool:
    """Whether a change was made. If so, Ctrl-C must no longer say that none was."""
    # Python's own module imports `enum`, for names that are not needed here.
    import _signal as signal  # type: ignore[import-not-found]

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    changed = False
    try:
        changed = change()
    finally:
        if not changed:
            signal.signal(signal.SIGINT, before)
    return changed


def _read(model: QuickModel, document: bytes, options: one_message.Options) -> list[str]:
    """What each view reads of a document."""
    if options.get("format") == "eml":
        return one_message.read_by(model, verdicts.without_separator(document))
    return [document.decode("utf-8")] * len(model.columns)


def _facts(model: QuickModel) -> dict[str, int]:
    return {
        "documents": sum(model.documents),
        "classes": len(model.classes),
        "terms": model.terms,
        "occurrences": model.occurrences,
    }


def _fingerprint(model: QuickModel, parts: list[Part]) -> int:
    """By how much a change moves the number for what was learned since tuning; as `columns.fingerprint`."""
    if model.settings.get("judgement") is None:
        return 0
    total = 0
    for added, place, texts in parts:
        label = model.classes[place]
        for row in zip(*texts, strict=True):
            total += _digest([label, *row]) if added else -_digest([label, *row])
    return total


def _digest(row: list[Any]) -> int:
    from _blake2 import blake2b

    found = blake2b(digest_size=8)
    for value in row:
        part = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else repr(value).encode()
        found.update(len(part).to_bytes(8, "little") + part)
    return int.from_bytes(found.digest(), "little")
