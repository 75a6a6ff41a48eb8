"""The command line: `bayleaf train`, `bayleaf classify` and the others, one file per group of commands."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code: 0 done, 1 the run failed, 2 the call was wrong."""
    from bayleaf.cli.app import run

    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))
