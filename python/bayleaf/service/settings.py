"""The configuration file of a service: written with comments on first start, read at every start."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast

from bayleaf import atomic

FILE = "bayleaf.toml"

TEMPLATE = """\
# The settings of this bayleaf service, read when it starts. The values below are the defaults.

[limits]
body = 1_048_576        # bytes of one request; more is answered with 413
documents = 1_000       # documents of one request (an NDJSON stream may have any number); more: 413
requests = 512          # requests at work at once; more are answered with 429 and Retry-After
connections = 2_048     # open connections; more are closed at once
seconds = 30            # to send a request completely; slower: 408
headers = 256           # header lines of a request

[storage]
snapshot_changes = 10_000  # learned and forgotten documents after which the counts are written anew
questions = 10_000      # answered questions that are kept, for the history and for teaching by id later
question_texts = true   # whether the texts of questions are kept; without them, teaching needs the text again
personal_models = 16    # users whose model (shared and own counts together) is kept in memory

[spamd]
model = "spam"          # the model that answers SPAMD
spam = "spam"           # its class for unwanted mail
ham = "ham"             # its class for wanted mail
threshold = 2.2         # log odds from which mail is spam; 2.2 is 9 to 1, 4.6 is 99 to 1
users = "shared"        # "shared": all learn together; "personal": shared counts plus the user's own
body = 5_242_880        # bytes of one mail
trusted = ""            # users of this machine who may name others on the Unix socket, such as "vmail exim"

[sockets]
mode = 0o600            # who may open the Unix sockets; with 0o666 everyone on this machine

# Learning from its own sure answers is off. To turn it on for a model, give the probability that is sure
# enough; it never overrules a person, and `{"source": "auto"}` to /forget takes all of it back:
# [autolearn]
# spam = 0.999
"""


@dataclass(frozen=True)
class Limits:
    """What one client may ask for."""

    body: int = 1_048_576
    documents: int = 1_000
    requests: int = 512
    connections: int = 2_048
    seconds: float = 30
    headers: int = 256


@dataclass(frozen=True)
class Storage:
    """What is kept, and how often it is written anew."""

    snapshot_changes: int = 10_000
    questions: int = 10_000
    question_texts: bool = True
    personal_models: int = 16


@dataclass(frozen=True)
class Spamd:
    """How the SPAMD protocol maps to a model."""

    model: str = "spam"
    spam: str = "spam"
    ham: str = "ham"
    threshold: float = 2.2
    users: Literal["shared", "personal"] = "shared"
    body: int = 5_242_880
    trusted: str = ""


@dataclass(frozen=True)
class Sockets:
    """Who may open the Unix sockets."""

    mode: int = 0o600


@dataclass(frozen=True)
class Settings:
    """Everything that the configuration file says."""

    limits: Limits = field(default_factory=Limits)
    storage: Storage = field(default_factory=Storage)
    spamd: Spamd = field(default_factory=Spamd)
    sockets: Sockets = field(default_factory=Sockets)
    autolearn: Mapping[str, float] = field(default_factory=dict)


def read(folder: Path) -> Settings:
    """The settings of a folder; a file with comments is written if there is none."""
    path = folder / FILE
    if not path.exists():
        atomic.write(path, TEMPLATE.encode())
        path.chmod(0o600)
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}.") from None
    unknown = sorted(set(given) - {each.name for each in fields(Settings)})
    if unknown:
        raise ValueError(f"{path} has a table [{unknown[0]}], which means nothing. See {path}'s comments.")
    return Settings(
        limits=_table(Limits, given, "limits", path),
        storage=_table(Storage, given, "storage", path),
        spamd=_table(Spamd, given, "spamd", path),
        sockets=_table(Sockets, given, "sockets", path),
        autolearn=_autolearn(given.get("autolearn", {}), path),
    )


def _table(kind: Any, given: dict[str, Any], name: str, path: Path) -> Any:
    """One table of the file, each value of the type of its default."""
    values = given.get(name, {})
    known = {each.name: each.default for each in fields(kind)}
    for key, value in values.items():
        if key not in known:
            raise ValueError(f"{path}: [{name}] has no setting {key!r}. It has {', '.join(known)}.")
        check_value(f"{path}: {name}.{key}", value, known[key])
    made = kind(**values)
    if not 0 <= getattr(made, "mode", 0) <= 0o777:
        raise ValueError(f"{path}: sockets.mode is a file mode such as 0o600, got {made.mode!r}.")
    if getattr(made, "users", "shared") not in ("shared", "personal"):
        raise ValueError(f'{path}: spamd.users is "shared" or "personal", got {made.users!r}.')
    return made


def check_value(place: str, value: object, default: object) -> None:
    """Refuse a value of another type than the default, and numbers below 0."""
    number = isinstance(default, int | float) and not isinstance(default, bool)
    fits = isinstance(value, int | float) if number else isinstance(value, type(default))
    if not fits or (number and isinstance(value, bool)):
        raise ValueError(f"{place} must be like {default!r}, got {value!r}.")
    if number and "threshold" not in place and cast(float, value) < 0:
        raise ValueError(f"{place} must not be negative, got {value!r}.")


def _autolearn(given: object, path: Path) -> dict[str, float]:
    if not isinstance(given, dict):
        raise ValueError(f"{path}: autolearn is a table of models and probabilities, got {given!r}.")
    for name, value in given.items():
        if not isinstance(value, float) or not 0.5 < value <= 1:
            raise ValueError(
                f"{path}: autolearn.{name} is the probability that is sure enough, above 0.5, got {value!r}."
            )
    return given
