"""The command group: lazy loading, error messages and exit codes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from importlib import import_module

import click

MODULES = {
    "train": "train",
    "classify": "classify",
    "evaluate": "evaluate",
    "explain": "explain",
    "inspect": "inspect",
    "update": "change",
    "forget": "change",
    "relabel": "change",
    "merge": "change",
    "retune": "change",
    "prune": "change",
    "export": "tables",
    "import": "tables",
    "tokens": "tokens",
    "study": "study",
    "serve": "serve",
    "verify": "verify",
    "demo": "demo",
    "paper": "paper",
}
COMPLETION = "_BAYLEAF_COMPLETE"


class Commands(click.Group):
    """The commands by name; the file of one is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """The names in the order in which they are used."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        """The command of this name."""
        if name not in MODULES:
            return None
        module = import_module(f"bayleaf.cli.{MODULES[name]}")
        command: click.Command = getattr(module, f"{name}_command")
        return command


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from bayleaf import __version__

        click.echo(f"bayleaf {__version__}")
        ctx.exit()


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the run failed, 2 the call was wrong, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
def bayleaf() -> None:
    """Naive Bayes for text: train on the files you have, classify a stream, see why, correct it."""


def run(arguments: list[str]) -> int:
    """Run one command; gives its exit code, and writes what went wrong as a sentence."""
    if COMPLETION in os.environ:
        bayleaf.main(arguments, prog_name="bayleaf", complete_var=COMPLETION)
    warnings.showwarning = lambda message, *_: _warn(str(message))
    try:
        return _invoked(arguments)
    except BrokenPipeError:
        return _hush()
    except click.UsageError as error:
        return _refuse(error)
    except click.ClickException as error:
        return _say(error.format_message())
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted. No model was changed.")
        return 128 + signal.SIGINT
    except Exception as error:
        if os.environ.get("BAYLEAF_TRACEBACK"):
            raise
        return _say(_sentence(error))


def _invoked(arguments: list[str]) -> int:
    try:
        with bayleaf.make_context("bayleaf", arguments) as context:
            bayleaf.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    return 0


def _hush() -> int:
    """Whoever reads our output may stop reading, as `head` does: nothing went wrong."""
    # Python flushes standard output once more at exit, and would complain then.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _refuse(error: click.UsageError) -> int:
    command = error.ctx.command_path if error.ctx else "bayleaf"
    _say(error.format_message())
    click.echo(f"See '{command} --help'.", err=True)
    return 2


def _say(message: str) -> int:
    with contextlib.suppress(OSError):
        click.echo(f"bayleaf: {message}", err=True)
    return 1


def _warn(message: str) -> None:
    _say(message)


def _sentence(error: Exception) -> str:
    from bayleaf.corpus import CorpusError
    from bayleaf.storage import ModelFileError

    if isinstance(error, CorpusError | ModelFileError | ValueError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        about = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return f"{about}{error.strerror}."
    if isinstance(error, MemoryError):
        return "The memory is full."
    return f"{type(error).__name__}: {error} (set BAYLEAF_TRACEBACK=1 to see where)"
