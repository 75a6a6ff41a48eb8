"""One message a process: `classify` of standard input, answered without NumPy, click, or loading the model.

Whatever is not the plain case is left to the ordinary command, with the input that was read given back: a
result never depends on which of the two has answered.
"""

from __future__ import annotations

import io
import os
import sys

from bayleaf.class_names import name_of
from bayleaf.cli import verdicts, wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from bayleaf.quick import QuickModel

    Found = tuple[bytes, list[str], int]
    """What is written, what is remarked, and the exit code."""

FLAGS = {
    "-p": "pass_through",
    "--pass-through": "pass_through",
    "-e": "exit_code",
    "--exit-code": "exit_code",
    "--proba": "proba",
    "--json": "json",
    "-q": "quiet",
    "--quiet": "quiet",
}
VALUES = {"--spam": "spam", "--unsure": "unsure", "--format": "format"}
MOST_BYTES = 1 << 20
MOST_LINES = 20
"""More documents are answered faster by a model that was loaded."""
SOON = 0.05
"""Seconds: who writes line by line is answered line by line, by the ordinary command."""


class Options(dict[str, "Any"]):
    """The arguments of a call, by name; `names` are those without a name."""

    names: list[str]


def taken(arguments: Sequence[str], flags: dict[str, str], values: dict[str, str]) -> Options | None:
    """The options and names of a call; None if there is anything that is not among these."""
    found = Options()
    found.names = []
    rest = list(arguments)
    while rest:
        each = rest.pop(0)
        name, equals, value = each.partition("=")
        if each in flags:
            found[flags[each]] = True
        elif name in values and (equals or rest):
            found[values[name]] = value if equals else rest.pop(0)
        elif each.startswith("-") and each != "-":
            if not _put_short(found, each, flags):
                return None
        else:
            found.names.append(each)
    return found


def _put_short(found: Options, together: str, flags: dict[str, str]) -> bool:
    """Short options that are written as one, such as -pe."""
    letters = [f"-{letter}" for letter in together[1:]]
    if together.startswith("--") or not all(letter in flags for letter in letters):
        return False
    found.update((flags[letter], True) for letter in letters)
    return True


def streams_are_open() -> bool:
    """Whether all standard streams are, and input is no terminal."""
    try:
        for number in range(3):
            os.fstat(number)
    except OSError:
        return False
    return os.name == "posix" and not os.isatty(0) and not os.isatty(1)


class GivenBack(io.RawIOBase):
    """Standard input, with what was read of it before the rest."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def readable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """That of standard input."""
        return 0

    def readinto(self, target: Any) -> int:
        """What was read before, or what comes."""
        data = self._data[: len(target)]
        self._data = self._data[len(data) :]
        data = data or os.read(0, len(target))
        target[: len(data)] = data
        return len(data)


def give_back(data: bytes) -> None:
    """Let the ordinary command read what was read here."""
    if data:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(GivenBack(data)), encoding="utf-8")


def read_input(patient: bool) -> tuple[bytes, bool]:
    """What standard input has to say, and whether that is all; unless patient, only if it comes at once."""
    from select import select

    pieces: list[bytes] = []
    size = 0
    while size <= MOST_BYTES:
        if not patient and pieces and not select([0], [], [], SOON)[0]:
            break
        piece = os.read(0, 1 << 16)
        if not piece:
            return b"".join(pieces), True
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces), False


def run(arguments: Sequence[str]) -> int | None:
    """The exit code of `classify` with these arguments; None if the ordinary command has to run."""
    options = taken(arguments, FLAGS, VALUES)
    if options is None or len(options.names) not in (1, 2) or options.names[1:] not in ([], ["-"]):
        return None
    if not streams_are_open() or options.get("format", "lines") not in ("lines", "eml"):
        return None
    unsure = options.get("unsure")
    try:
        options["unsure"] = None if unsure is None else float(unsure)
        model = opened(options.names[0])
    except Exception:  # whatever is wrong, the ordinary command says it
        return None
    if unsure is not None and not 0 <= options["unsure"] <= 1:
        return None
    return answered(model, options)


def opened(path: str) -> QuickModel:
    """The model in a file."""
    from bayleaf.quick import QuickModel

    return QuickModel(path)


def answered(model: QuickModel, options: Options) -> int | None:
    """Answer what standard input has; None, and nothing is lost, if that takes the ordinary command."""
    filtering = bool(options.get("pass_through") or options.get("exit_code"))
    kind = "eml" if filtering or options.get("format") == "eml" else "lines"
    if model.columns[0] and not is_mail(model):
        return None
    data, whole = read_input(patient=kind == "eml")
    found: Found | None = None
    try:
        if whole:
            found = delivered(model, data, options) if filtering else listed(model, data, kind, options)
    except Exception:  # said by the ordinary command
        found = None
    if found is None:
        give_back(data)
        return None
    output, remarks, code = found
    sys.stderr.write("".join(f"{remark}\n" for remark in remarks if not options.get("quiet")))
    sys.stderr.flush()
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    return code


def is_mail(model: QuickModel) -> bool:
    """Whether the model looks at the columns of a mail."""
    from bayleaf.text.mail import MAIL_COLUMNS

    return set(model.columns) <= set(MAIL_COLUMNS)


def read_by(model: QuickModel, mail: bytes) -> list[str]:
    """What each view reads of a mail."""
    if not model.columns[0]:
        return [verdicts.text_of(mail)] * len(model.columns)
    from bayleaf.text.mail import mail_columns

    columns = mail_columns([mail])
    return [columns[name][0] for name in model.columns]


def delivered(model: QuickModel, raw: bytes, options: Options) -> Found | None:
    """The verdict on a mail."""
    from bayleaf._core import powers

    classes, spam = [name_of(name) for name in model.classes], options.get("spam", "spam")
    if not raw.strip() or spam not in classes:
        return None
    mail = verdicts.without_forged(verdicts.without_separator(raw))
    posterior = model.log_posterior(read_by(model, mail))
    label = classes[posterior.index(max(posterior))]
    probability = powers([posterior[classes.index(spam)]])[0]
    code, told = verdicts.verdict(label, probability, spam, options["unsure"])
    said = b"" if options.get("quiet") and options.get("exit_code") else _line(told, probability)
    output = verdicts.with_header(raw, told, probability) if options.get("pass_through") else said
    return output, [], code if options.get("exit_code") else 0


def _line(told: str, probability: float) -> bytes:
    return f"{wording.verdict_line(told, probability)}\n".encode("utf-8", "replace")


def listed(model: QuickModel, data: bytes, kind: str, options: Options) -> Found | None:
    """A line for each document."""
    if not data:
        return b"", [], 0
    remarks = [] if options.get("quiet") else [reading("standard input", kind, data)]
    if kind == "eml":
        if not data.strip(b"\r\n"):
            return None
        mail = verdicts.without_separator(data)
        rows, texts = [read_by(model, mail)], [verdicts.text_of(mail)]
    else:
        lines = lines_of(data)
        if lines is None or model.columns[0]:
            return None
        texts = lines
        rows = [[text] * len(model.columns) for text in texts]
    joints = [model.log_joint(row) for row in rows]
    if model.settings["unseen"] == "ignore" and not options.get("quiet") and not model.columns[0]:
        nothing = model.log_joint([""] * len(model.columns))
        told = [joint for text, joint in zip(texts, joints, strict=True) if text.strip()]
        if told and all(joint == nothing for joint in told):
            remarks.append(wording.nothing_known(options.names[0], len(told)))
    each = zip(texts, joints, strict=True)
    return b"".join([_answer(model, text, joint, options) for text, joint in each]), remarks, 0


def lines_of(data: bytes) -> list[str] | None:
    """The lines of a few plain texts; None of none, of many, and of what is not plain text."""
    if not data.strip(b"\r\n") or b"\0" in data or data.startswith((b"PAR1", b"\xef\xbb\xbf")):
        return None
    lines = data.removesuffix(b"\n").split(b"\n")
    if len(lines) > MOST_LINES:
        return None
    return [line.removesuffix(b"\r").decode("utf-8") for line in lines]


def reading(name: str, kind: str, data: bytes) -> str:
    """What standard input is taken for, and what it looks like besides."""
    found = kind
    if kind == "lines" and _may_be_other(data):
        from bayleaf.first_lines import SAMPLE, looks_like

        found = looks_like(data[:SAMPLE])
    return wording.reading(name, kind) + wording.hint(kind, found)


def _may_be_other(data: bytes) -> bool:
    """Whether it takes regular expressions, which are slow to import, to see that these are only lines."""
    first = data.split(b"\n", 1)[0]
    cells = first.replace(b";", b",").replace(b"|", b",").split(b",")
    return (
        data.startswith((b">", b"@", b"__label__", b"From "))
        or data.lstrip()[:1] == b"{"
        or b"\t" in data
        or len(cells) > 3
        or sum(b" " not in cell.strip() for cell in cells) > 1
    )


def _answer(model: QuickModel, text: str, joint: list[float], options: Options) -> bytes:
    """The answer to one document as a line."""
    from bayleaf import _core

    names = [_field(name_of(name)) for name in model.classes]
    if not (options.get("json") or options.get("proba") or options["unsure"] is not None):
        return names[joint.index(max(joint))] + b"\n"
    logs = _core.log_posterior_of_one(joint)
    posterior, best = _core.powers(logs), logs.index(max(logs))
    unsure = options["unsure"] is not None and posterior[best] < options["unsure"]
    if options.get("json"):
        return _json_line(model, text, "unsure" if unsure else model.classes[best], posterior, best, options)
    shares = [name + b"=%.6g" % each for name, each in zip(names, posterior, strict=True)]
    fields = [b"unsure" if unsure else names[best], *(shares if options.get("proba") else [])]
    return b"\t".join(fields) + b"\n"


def _field(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(bytes.maketrans(b"\t\n\r", b"   "))


def _json_line(
    model: QuickModel, text: str, predicted: Any, posterior: list[float], best: int, options: Options
) -> bytes:
    parts = [("text", text), ("predicted", predicted), ("probability", posterior[best])]
    line = ", ".join([f"{_json(name)}: {_json(value)}" for name, value in parts])
    if options.get("proba"):
        shares = [f"{_json(str(k))}: {_json(p)}" for k, p in zip(model.classes, posterior, strict=True)]
        line += f', "probabilities": {{{", ".join(shares)}}}'
    return f"{{{line}}}\n".encode("utf-8", "replace")


def _json(value: Any) -> str:
    from _json import encode_basestring

    if isinstance(value, str):
        return encode_basestring(value)
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
