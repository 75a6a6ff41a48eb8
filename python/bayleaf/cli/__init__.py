"""The command line: `bayleaf train`, `bayleaf classify` and the others, one file per group of commands."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code: 0 done, 1 the run failed, 2 the call was wrong."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    code = _at_once(given) if arguments is None else None
    if code is None:
        from bayleaf.cli.app import run

        code = run(given)
    sys.exit(code)


def _at_once(arguments: list[str]) -> int | None:
    """The exit code of a command on one message, if that can do without the whole command line."""
    command = arguments[0] if arguments else ""
    try:
        if command == "classify":
            from bayleaf.cli import one_message

            return one_message.run(arguments[1:])
        if command in ("update", "forget", "relabel"):
            from bayleaf.cli import one_change

            return one_change.run(command, arguments[1:])
        return None
    except (KeyboardInterrupt, OSError) as error:
        from bayleaf.cli.app import failed

        return failed(error)
