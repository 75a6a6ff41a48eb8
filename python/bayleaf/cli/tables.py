"""`export` and `import`: counts as tables, to be summed with SQL; and weights for other programs."""

from __future__ import annotations

import codecs
import csv
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import click

from bayleaf.cli import options

if TYPE_CHECKING:
    from bayleaf.model import Model

CHUNK = 1 << 16
_PARQUET = (".parquet", ".pq")
_WEIGHTS = (".json", ".onnx")


@click.command("export")
@click.argument("model_file", metavar="MODEL")
@click.option(
    "-o",
    "--output",
    metavar="TABLE",
    default="-",
    help="A file ending in .parquet, .csv, .json or .onnx; without it, CSV to standard output.",
)
def export_command(model_file: str, output: str) -> None:
    """Write the counts of a model as a table, or its weights as JSON or ONNX.

    A row is view, term, class and the integers documents, occurrences, shares_whole, shares_high and
    shares_low; a row without a term is the class itself with its documents. Tables can be summed with SQL,
    grouped by view, term and class, and read back with 'import'.

    A .json or .onnx file holds what answers instead: the weights of all views, those that were earned among
    them, for programs that do not run bayleaf.

    \b
    Examples:
      bayleaf export spam.bayleaf -o spam.parquet
      bayleaf export spam.bayleaf -o spam.onnx
    """
    from bayleaf.cli.models import check_target, check_text, load, replacing
    from bayleaf.exchange import rows

    to_file = output != "-"
    if to_file and not output.endswith((*_PARQUET, ".csv", *_WEIGHTS)):
        raise click.UsageError(
            f"A table is a .parquet or .csv file, weights are .json or .onnx, got {output!r}."
        )
    model = load(model_file)
    if output.endswith(_WEIGHTS):
        check_target(output, model_file)
        _write_weights(model, output)
        return
    check_text(model, model_file, "export")
    if not to_file:
        _write_csv(rows(model), sys.stdout)
        return
    check_target(output, model_file)
    write = _write_parquet if output.endswith(_PARQUET) else _write_csv_file
    with replacing(output) as file:
        write(rows(model), file)


def _write_weights(model: Model, output: str) -> None:
    from bayleaf import export
    from bayleaf.cli.models import replacing

    try:
        data = export.to_onnx(model) if output.endswith(".onnx") else export.to_json(model).encode()
    except (ImportError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    with replacing(output) as file:
        file.write(data)


def _write_csv_file(table: Iterable[tuple[Any, ...]], file: IO[bytes]) -> None:
    _write_csv(table, codecs.getwriter("utf-8")(file))


def _write_csv(table: Iterable[tuple[Any, ...]], file: Any) -> None:
    from bayleaf.exchange import COLUMNS

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(table)


def _write_parquet(table: Iterator[tuple[Any, ...]], file: IO[bytes]) -> None:
    from bayleaf.exchange import COLUMNS

    arrow, parquet = _arrow()
    kinds = [arrow.int32(), arrow.string(), arrow.string(), *[arrow.int64()] * 5]
    schema = arrow.schema(list(zip(COLUMNS, kinds, strict=True)))
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while chunk := list(islice(table, CHUNK)):
            columns = [
                arrow.array(column, kind)
                for column, kind in zip(zip(*chunk, strict=True), kinds, strict=True)
            ]
            writer.write_batch(arrow.record_batch(columns, schema=schema))


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise click.ClickException(
            'Parquet needs pyarrow: pip install "bayleaf[data]". CSV works without.'
        ) from None
    return pyarrow, pyarrow.parquet


@click.command("import")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The file to write.")
@click.option(
    "--like",
    metavar="MODEL",
    help="Take views and settings from this model; or describe them as for 'train'.",
)
@options.looking
@options.judging
def import_command(tables: tuple[str, ...], output: str, like: str | None, **given: Any) -> None:
    """Make a model of tables of counts.

    TABLE is what 'export' wrote, or a sum of such tables made elsewhere: .parquet, or CSV ('-' is CSV on
    standard input). Several tables are added up. A table does not say how its terms were made: --like names a
    model that does.

    \b
    Examples:
      bayleaf import spam.parquet -o copy.bayleaf --like spam.bayleaf
      bayleaf import monday.csv tuesday.csv -o week.bayleaf --plain
    """
    from bayleaf.cli.models import check_target, load, save, told
    from bayleaf.cli.reading import size
    from bayleaf.cli.views import new_model
    from bayleaf.exchange import Cells, from_cells, summed

    check_target(output, *tables, *([like] if like else []))
    pattern = load(like) if like else new_model(None, given)
    cells: Cells = {}
    for table in tables:
        try:
            summed(_rows(table), cells)
        except (ValueError, TypeError) as error:
            raise click.ClickException(f"{table} is not a table of counts: {error}") from None
    model: Model = from_cells(cells, pattern)
    written = save(model, output)
    told(f"{output}: {model.n_documents:,} documents, {len(model.classes)} classes, {size(written)}.", output)


def _rows(path: str) -> Iterator[tuple[Any, ...]]:
    from bayleaf.exchange import COLUMNS

    if path.endswith(_PARQUET):
        yield from _parquet_rows(path)
        return
    try:
        with _opened(path) as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise ValueError(
                    f"it has no column {missing[0]!r}; its columns must be {', '.join(COLUMNS)}."
                )
            for row in reader:
                yield tuple(row[name] for name in COLUMNS)
    except OSError as error:
        raise click.ClickException(f"{path} could not be opened: {error.strerror or error}.") from None


def _opened(path: str) -> Any:
    if path == "-":
        return open(sys.stdin.fileno(), encoding="utf-8", newline="", closefd=False)
    return open(path, encoding="utf-8", newline="")


def _parquet_rows(path: str) -> Iterator[tuple[Any, ...]]:
    from bayleaf.exchange import COLUMNS

    arrow, parquet = _arrow()
    try:
        with parquet.ParquetFile(path) as file:
            missing = [name for name in COLUMNS if name not in file.schema_arrow.names]
            if missing:
                raise ValueError(
                    f"it has no column {missing[0]!r}; its columns must be {', '.join(COLUMNS)}."
                )
            for batch in file.iter_batches(CHUNK, columns=list(COLUMNS)):
                yield from zip(*(batch.column(name).to_pylist() for name in COLUMNS), strict=True)
    except FileNotFoundError:
        raise click.ClickException(f"{path} does not exist.") from None
    except (arrow.ArrowException, OSError) as error:
        raise click.ClickException(f"{path} could not be read: {error}") from None
