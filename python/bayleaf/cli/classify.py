"""`bayleaf classify`: documents in, an answer for each out, as they come."""

from __future__ import annotations

import contextlib
import sys
from typing import IO, TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.answers import Answers, Style
from bayleaf.cli.reading import Reading
from bayleaf.cli.wording import nothing_known

if TYPE_CHECKING:
    from bayleaf.corpus import Batch, Corpus
    from bayleaf.model import Model

SAMPLE = 100


@click.command("classify")
@click.argument("model_file", metavar="MODEL")
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option("--proba", is_flag=True, help="Add the probability of each class: spam=0.98.")
@click.option("--log-odds", is_flag=True, help="Add the log odds of the answer against the next class.")
@click.option(
    "--score",
    metavar="CLASS",
    help="Add the log odds of CLASS against the others: signed, all digits, to rank by.",
)
@click.option("--explain", is_flag=True, help="Add the terms that decided, with their log odds.")
@click.option(
    "--unsure",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Answer 'unsure' where the best class has a probability below P.",
)
@click.option(
    "--keep-text/--no-text", default=None, help="Write the text too; JSON has it unless told otherwise."
)
@click.option(
    "--prefix", metavar="TEXT", help="With --json: put TEXT before the names of answers, such as predicted."
)
@click.option(
    "-p", "--pass-through", is_flag=True, help="Write the one mail on standard input with X-Bayleaf headers."
)
@click.option(
    "-e", "--exit-code", is_flag=True, help="Exit with the verdict: 0 spam, 1 not, 2 unsure, 3 an error."
)
@click.option(
    "--spam", metavar="CLASS", default="spam", show_default=True, help="The class that -p and -e call spam."
)
@options.reading
@options.as_json
def classify_command(
    model_file: str,
    inputs: tuple[str, ...],
    as_json: bool,
    pass_through: bool,
    exit_code: bool,
    spam: str,
    **given: Any,
) -> None:
    """Answer with the class of each document.

    INPUT is files, folders or patterns, or standard input, where each line is answered as it comes. A line of
    output has the answer, what options add, and the input's other columns (a label, an id, a path), separated
    by tabs; a tab or line break inside one of them is written as a space. With --json, documents of JSON
    lines and Parquet come back as they were, with the answer behind them. A document that --on-error skip
    leaves out is an empty line.

    \b
    Examples:
      echo "claim your free prize" | bayleaf classify spam.bayleaf
      bayleaf classify spam.bayleaf messages.tsv --proba --unsure 0.9
    """
    from bayleaf.cli.models import load, of_columns

    reading = Reading.taken(given)
    style = Style(as_json=as_json, **given)
    if pass_through or exit_code:
        from bayleaf.cli.delivery import deliver

        deliver(model_file, inputs, reading, style.unsure, spam, pass_through, exit_code)
        return
    model = load(model_file, reading.threads)
    if style.explain and of_columns(model):
        raise click.ClickException(
            f"{model_file} looks at columns; 'bayleaf explain' explains a row of them."
        )
    _classify(model, model_file, inputs or ("-",), reading, style)


def _classify(model: Model, model_file: str, names: tuple[str, ...], reading: Reading, style: Style) -> None:
    piped = "-" in names
    if piped:
        _widen_pipe()
    corpus = _opened(model, names, reading, style, piped)
    if corpus is None:
        return
    answers = Answers(model, style, corpus.columns)
    if style.as_json and answers.prefix and style.prefix is None:
        reading.remark(f"The documents have keys of these names: answers begin with {answers.prefix!r}.")
    out: IO[bytes] = sys.stdout.buffer
    first = True
    for batch in reading.batches(corpus):
        if first and len(batch):
            first = False
            _check_known_terms(model, model_file, batch, reading)
        out.write(_for(out, b"".join(answers.lines(batch))))
        if piped:
            out.flush()
    out.flush()


def _opened(
    model: Model, names: tuple[str, ...], reading: Reading, style: Style, piped: bool
) -> Corpus | None:
    """What is to be answered; None of an empty standard input: no questions, no answers, no mistake."""
    from bayleaf.cli.models import opened
    from bayleaf.corpus.formats import EmptyInputError

    others, places = not (style.as_json and style.keep_text is not False), reading.on_error == "skip"
    try:
        return opened(reading, names, model, labeled=False, interactive=piped, others=others, places=places)
    except EmptyInputError:
        if names != ("-",):
            raise
        return None


def _for(out: IO[bytes], lines: bytes) -> bytes:
    """The lines as they are for a pipe or a file; for a terminal, without what would change it."""
    if not out.isatty():
        return lines
    from bayleaf.cli.show import visible

    texts = lines.decode("utf-8", "replace").split("\n")
    return "\n".join("\t".join(map(visible, text.split("\t"))) for text in texts).encode()


def _check_known_terms(model: Model, model_file: str, batch: Batch, reading: Reading) -> None:
    """Say so if the first documents hold nothing that the model knows: another language, or format."""
    from bayleaf.cli.models import of_columns

    if reading.quiet or of_columns(model) or model.unseen != "ignore":
        return
    from bayleaf.corpus.batches import strings

    texts = [text for text in strings(batch.texts)[:SAMPLE] if text.strip()]
    if texts and (model.log_joint(texts) == model.log_joint([""])).all():
        reading.remark(nothing_known(model_file, len(texts)))


def _widen_pipe() -> None:
    """Let more lines wait in the pipe: 64 KiB at a time cost a third more than 1 MiB."""
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import fcntl

        fcntl.fcntl(sys.stdin.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)
