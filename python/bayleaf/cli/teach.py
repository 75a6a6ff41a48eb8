"""`bayleaf teach`: label documents in the browser; the model learns with every key."""

from __future__ import annotations

import os
import re
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayleaf.cli import options
from bayleaf.cli.reading import Reading, counted
from bayleaf.cli.serve import check_installed, loop_factory

if TYPE_CHECKING:
    from bayleaf.corpus import Corpus
    from bayleaf.service.page.importing import Import
    from bayleaf.service.served import Served
    from bayleaf.service.store import Store

PORT = 8080
SWITCH_SECONDS = 0.0005
"""Who presses a key waits no longer for the threads that read the corpus and weigh the evidence."""


@click.command("teach")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--classes", metavar="A,B,...", help="Classes to begin with; others can be typed later.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port of the page; 8080, or one that is free.")
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
@click.option("--folder", metavar="FOLDER", help="Where the labels are kept; NAME.teach by default.")
@click.option("--ignore-labels", is_flag=True, help="Read the texts only, whatever labels are there.")
@click.option("--check", is_flag=True, help="Read everything, say what is there, and exit.")
@options.reading
def teach_command(inputs: tuple[str, ...], **given: Any) -> None:
    """Label documents in the browser, with one key each; the model learns at once.

    INPUT is what 'train' reads: texts without labels, or with some. Every label is kept in FOLDER before the
    next document is shown; the same command goes on where you stopped, and 'bayleaf serve FOLDER' serves the
    same page to several people. The page is on this machine only and needs no network.

    \b
    Examples:
      bayleaf teach messages.tsv --ignore-labels --classes ham,spam --check
      bayleaf teach messages.tsv --folder labels --check
    """
    check_installed()
    os.umask(0o077)
    from bayleaf.service.store import Store

    reading = Reading.taken(given)
    labeled = False if given["ignore_labels"] or (not reading.label and _flat(inputs)) else None
    folder = Path(given["folder"] or f"{_name(inputs)}.teach")
    with ExitStack() as stack:
        corpus = reading.open(inputs, labeled)
        store = Store(folder)
        stack.callback(store.close)
        importing, served = _prepared(store, corpus, inputs)
        stack.callback(importing.stop)
        _announce(store, served, given["classes"])
        if importing.needed:
            importing.start()
        if given["check"]:
            _check(importing, served, folder)
        else:
            _run(store, folder, given)


teach_command.params = [each for each in teach_command.params if each.name != "threads"]
"""Reading is all that is done here: how many threads count is up to the service."""


def _name(inputs: tuple[str, ...]) -> str:
    """The name of the first input, as a model can have it."""
    base = os.path.basename(os.path.abspath(inputs[0])) if inputs[0] != "-" else "stdin"
    stem = base.split(".")[0] or base.strip(".")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:64] or "texts"


def _flat(inputs: tuple[str, ...]) -> bool:
    """Whether the inputs are folders of files, whose own name is no label."""
    return all(os.path.isdir(name) and not any(each.is_dir() for each in os.scandir(name)) for name in inputs)


def _prepared(store: Store, corpus: Corpus, inputs: tuple[str, ...]) -> tuple[Import, Served]:
    """The model, made when the first texts are seen, and the import that waits to be started."""
    from bayleaf.model import Model
    from bayleaf.service.page.importing import Import
    from bayleaf.service.page.pool import CorpusPool, path_of
    from bayleaf.tuning import default_views

    source = "\n".join(os.path.abspath(name) if name != "-" else name for name in inputs)
    importing = Import(store, corpus, source)
    if len(store.served) > 1:
        raise click.ClickException(
            f"{store.folder} has several models. Teach them by 'bayleaf serve' instead."
        )
    served = next(iter(store.served.values()), None)
    if served is None:
        served = store.add_model(_name(inputs), Model(default_views(importing.first_texts(), "auto")))
    importing.into(served, CorpusPool(path_of(store.folder, served.name), served))
    return importing, served


def _announce(store: Store, served: Served, classes: str | None) -> None:
    """Give the classes their keys, in the order in which they are named."""
    from bayleaf.service.page.classes import Announced
    from bayleaf.service.refusals import Refusal

    announced = Announced(store, served)
    try:
        for name in filter(None, (name.strip() for name in (classes or "").split(","))):
            announced.add(served.fitting_label(name))
    except Refusal as refusal:
        raise click.UsageError(f"--classes: {refusal.detail}") from None


def _check(importing: Import, served: Served, folder: Path) -> None:
    if importing.needed:
        importing.join()
    for source in importing.pool.sources():
        if source.problem:
            raise click.ClickException(source.problem)
        click.echo(f"{folder}: {counted(source.rows, 'document')} to teach from.")
    labels = ", ".join(f"{count} {label}" for label, count in served.shared.class_documents.items())
    click.echo(f"{served.name}: {labels or 'nothing learned yet'}")


def _run(store: Store, folder: Path, given: dict[str, Any]) -> None:
    import asyncio
    import logging

    from bayleaf.service.server import Addresses, serve
    from bayleaf.service.service import Service

    sys.setswitchinterval(SWITCH_SECONDS)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    address = ("127.0.0.1", _free_port() if given["port"] is None else given["port"])

    def ready(places: list[str]) -> None:
        page = places[0].split()[-1]
        click.echo(f"The page is at {page} and the labels are kept in {folder}. Ctrl-C ends it.")
        click.echo("Ready.")
        sys.stdout.flush()
        if not given["no_browser"]:
            _open(page)

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(Service(store), Addresses(http=address), False, ready))


def _open(page: str) -> None:
    """Open a browser without waiting for it."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()


def _free_port() -> int:
    """The usual port, or any that is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            return 0
    return PORT
