"""What is taken away from the page: files that bayleaf and other tools read, with the same labels."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

from cli_process import done
from teaching_process import rows_of, session, teaching, write_jsonl


def test_bayleaf_train_on_the_export_gives_the_bytes_of_the_model(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "export") as page:
        session(page, 50)
        (tmp_path / "labels.tsv").write_bytes(page.reply("export", {"format": "tsv"}).body)
        (tmp_path / "model.bayleaf").write_bytes(page.reply("export", {"format": "model"}).body)
    done("train", "labels.tsv", "-o", "plain.bayleaf", cwd=tmp_path)
    done("train", "labels.tsv", "-o", "like.bayleaf", "--like", "model.bayleaf", cwd=tmp_path)
    wanted = (tmp_path / "model.bayleaf").read_bytes()
    assert (tmp_path / "like.bayleaf").read_bytes() == wanted
    assert (tmp_path / "plain.bayleaf").read_bytes() == wanted


def test_texts_with_tabs_quotes_and_lines_come_back_from_every_format(tmp_path: Path) -> None:
    hard = [
        'a "quoted" one',
        "two\nlines",
        "tab\there",
        "comma, semicolon;",
        "  spaces  ",
        "ünï ç ☂",
        "label",
    ]
    with teaching(write_jsonl(tmp_path / "hard.jsonl", hard), folder=tmp_path / "hard") as page:
        shown = page.page("next", {"order": "random"})["next"]
        while shown is not None:
            shown = page.label(shown, "odd" if len(shown["text"]) % 2 else "even", order="random")
        rows = {row["text"]: row["label"] for row in rows_of(page)}
        assert set(rows) == set(hard)
        for name in ("tsv", "prodigy", "doccano", "label-studio", "parquet"):
            verbatim = rows if name != "tsv" else {re.sub(r"\s", " ", text): rows[text] for text in rows}
            assert _read_back(name, page.reply("export", {"format": name}).body) == verbatim, name
        (tmp_path / "labels.tsv").write_bytes(page.reply("export", {"format": "tsv"}).body)
        (tmp_path / "labels.jsonl").write_bytes(page.reply("export", {"format": "jsonl"}).body)
        (tmp_path / "model.bayleaf").write_bytes(page.reply("export", {"format": "model"}).body)
        assert page.reply("export", {"format": "xml"}).status == 422
    for name in ("labels.tsv", "labels.jsonl"):
        done("train", name, "-o", "again.bayleaf", "--like", "model.bayleaf", cwd=tmp_path)
        assert (tmp_path / "again.bayleaf").read_bytes() == (tmp_path / "model.bayleaf").read_bytes()


def _read_back(name: str, data: bytes) -> dict[str, str]:
    if name == "tsv":
        first, *lines = data.decode().splitlines()
        assert first == "label\ttext"
        return {text: label for label, text in (line.split("\t") for line in lines)}
    if name == "parquet":
        import pyarrow.parquet as pq

        found = pq.read_table(io.BytesIO(data)).to_pylist()
        return {row["text"]: row["label"] for row in found}
    if name == "label-studio":
        tasks = json.loads(data)
        return {
            each["data"]["text"]: each["annotations"][0]["result"][0]["value"]["choices"][0] for each in tasks
        }
    found = [json.loads(line) for line in data.splitlines()]
    return {each["text"]: each["accept" if name == "prodigy" else "label"][0] for each in found}
