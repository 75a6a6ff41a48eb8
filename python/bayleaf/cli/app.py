"""The command group: lazy loading, error messages and exit codes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable
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
    "stream": "stream",
    "study": "study",
    "teach": "teach",
    "serve": "serve",
    "verify": "verify",
    "demo": "demo",
    "paper": "paper",
}
COMPLETION = "_BAYLEAF_COMPLETE"
FILES = ("MODEL", "MODEL...", "INPUT", "INPUT...", "[INPUT...]", "FILE", "TABLE", "TABLE...", "REPORT")
"""The arguments and options that a shell completes with the names of files."""


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
        for param in command.params:
            if param.metavar in FILES and param.type is click.STRING:
                param.type = click.Path(readable=False)
        if not any(param.name == "quiet" for param in command.params):
            command.params.append(
                click.Option(["-q", "--quiet"], is_flag=True, expose_value=False, help="No remarks.")
            )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant, or say which one may be."""
        if args and args[0] not in MODULES and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], MODULES, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from bayleaf import __version__

        click.echo(f"bayleaf {__version__}")
        ctx.exit()


def _print_manual(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from bayleaf import __version__
        from bayleaf.cli.manual import page

        assert isinstance(ctx.command, click.Group)
        click.echo(page(ctx.command, ctx, __version__), nl=False)
        ctx.exit()


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the run failed, 2 the call was wrong, 130 interrupted.",
)
@click.option(
    "--man",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_manual,
    help="Print the manual page: bayleaf --man > bayleaf.1.",
)
@click.option(
    "-V",
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
    _open_closed_streams()
    code = _ended(_meant(arguments))
    with contextlib.suppress(BrokenPipeError):
        try:
            sys.stdout.flush()
        except OSError:  # said already; Python would try once more at exit, and complain in its own words
            _hush()
    return code


def _meant(arguments: list[str]) -> list[str]:
    """`bayleaf` and `bayleaf help` are questions, not mistakes."""
    if arguments[:1] == ["help"]:
        arguments = arguments[1:]
        return [*arguments, "--help"]
    return arguments or ["--help"]


def _open_closed_streams() -> None:
    """Open what was closed, so that no file gets the number of a standard stream, and using it is an error.

    Nothing is lost with the remarks of standard error; input that is not there and output that nobody gets
    are said to be so.
    """
    how = ((0, os.O_WRONLY, "stdin", "r"), (1, os.O_RDONLY, "stdout", "w"), (2, os.O_WRONLY, "stderr", "w"))
    for number, flags, name, mode in how:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _ended(arguments: list[str]) -> int:
    return _guarded(lambda: _invoked(arguments))


def _guarded(work: Callable[[], int]) -> int:
    try:
        return work()
    except BrokenPipeError:
        return _hush()
    except click.UsageError as error:
        return _refuse(error)
    except click.ClickException as error:
        _say(error.format_message())
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted. No model was changed.")
        return 128 + signal.SIGINT
    except Exception as error:
        if os.environ.get("BAYLEAF_TRACEBACK"):
            raise
        return _say(_sentence(error))


def failed(error: BaseException) -> int:
    """The exit code of a command that ends with this error, which is said."""

    def again() -> int:
        raise error

    code = _guarded(again)
    with contextlib.suppress(OSError):
        _hush()
    return code


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
    # As a verdict of `classify -e` 2 is "unsure", so a wrong call must be something else.
    judging = re.search(r" classify .*(?<= )(-[a-z]*e|--exit-code)\b", f" {' '.join(sys.argv[1:])}")
    return 3 if judging else 2


def _say(message: str) -> int:
    with contextlib.suppress(OSError):
        click.echo(f"bayleaf: {message}", err=True)
    return 1


def _warn(message: str) -> None:
    _say(message)


def _sentence(error: Exception) -> str:
    from bayleaf.cli.reading import as_options
    from bayleaf.corpus import CorpusError
    from bayleaf.storage import ModelFileError

    if isinstance(error, CorpusError):
        return as_options(str(error))
    if isinstance(error, ModelFileError | ValueError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        about = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return f"{about}{error.strerror}."
    if isinstance(error, MemoryError):
        return "The memory is full."
    return f"{type(error).__name__}: {error} (set BAYLEAF_TRACEBACK=1 to see where)"
