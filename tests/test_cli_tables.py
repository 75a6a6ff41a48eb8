"""Models of tables, made in Python, are served from files by the same commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bayleaf
from bayleaf.table.views import category, flag, normal
from cli_process import bayleaf as run
from cli_process import done, refused

ROWS = [
    ("mail", "win a prize", 1.5, "red", True),
    ("note", "see you", 7.0, "blue", False),
    ("mail", "prize for you", 2.0, "red", True),
    ("note", "at noon", 6.0, "red", False),
]
FILE = "label,text,size,color,new\n" + "".join(f"{a},{b},{c},{d},{e}\n" for a, b, c, d, e in ROWS)


def table(rows: list[tuple[str, str, float, str, bool]]) -> dict[str, list[object]]:
    names = ("label", "text", "size", "color", "new")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    views = {"text": bayleaf.words(), "size": normal(), "color": category(), "new": flag()}
    X = table(ROWS)
    bayleaf.Model(views).learn(X, X["label"]).save(tmp_path / "m")
    (tmp_path / "rows.csv").write_text(FILE)
    return tmp_path


def test_columns_of_a_file_are_read_as_the_views_need_them(folder: Path) -> None:
    model, X = bayleaf.Model.load(folder / "m"), table(ROWS)
    out = [
        json.loads(line)
        for line in done("classify", "-q", "m", "rows.csv", "--json", cwd=folder).splitlines()
    ]
    assert [row["predicted"] for row in out] == list(model.predict(X))
    assert [row["probability"] for row in out] == pytest.approx(model.posterior(X).max(axis=1).tolist())
    assert json.loads(done("evaluate", "-q", "m", "rows.csv", "--json", cwd=folder))["documents"] == 4


def test_rows_are_learned_and_forgotten_from_a_file(folder: Path) -> None:
    before = (folder / "m").read_bytes()
    done("update", "-q", "m", "rows.csv", cwd=folder)
    X = table(ROWS + ROWS)
    model = bayleaf.Model(dict(bayleaf.Model.from_bytes(before).views)).learn(X, X["label"])
    assert (folder / "m").read_bytes() == model.to_bytes()
    done("forget", "-q", "m", "rows.csv", cwd=folder)
    assert (folder / "m").read_bytes() == before


def test_a_row_is_explained_and_the_model_inspected(folder: Path) -> None:
    row = {"text": "win", "size": 2.0, "color": "red", "new": True}
    said = json.loads(done("explain", "m", json.dumps(row), "--json", cwd=folder))
    assert said["label"] == "mail"
    assert sum(part["log_odds"] for part in said["parts"]) + said["prior"] == pytest.approx(said["log_odds"])
    shown = done("inspect", "m", cwd=folder)
    assert "size: normal()" in shown
    assert "color: category()" in shown


def test_what_is_for_text_only_is_refused_by_name(folder: Path) -> None:
    assert "looks at columns" in refused(1, "explain", "m", "win", cwd=folder)
    assert "export is for counts of text only" in refused(1, "export", "m", cwd=folder)
    assert "prune is for counts of text only" in refused(1, "prune", "m", "--min-count", "2", cwd=folder)
    assert "must hold numbers" in refused(
        1, "classify", "m", "-", stdin=FILE.replace("7.0", "seven"), cwd=folder
    )
    assert "no column 'color'" in refused(
        1, "classify", "m", "-", "--format", "csv", stdin="text,size,new\na,1,1\n", cwd=folder
    )


@pytest.mark.parametrize("number", [1, 2])
def test_the_format_of_a_file_is_that_in_which_it_was_written(number: int) -> None:
    path = Path(__file__).parent / "golden" / f"format{number}.bayleaf"
    assert json.loads(done("inspect", path, "--json"))["format"] == number
    assert f"format {number}" in done("inspect", path)


def test_mistakes_are_shown_and_explained_for_tables_and_mail_as_well(tmp_path: Path) -> None:
    rows = [("x", 1, "p"), ("y", 2, "q"), ("x", 3, "p"), ("y", 1, "q"), ("x", 2, "q")]
    columns = {"a": [a for a, _, _ in rows], "b": [b for _, b, _ in rows]}
    bayleaf.Model({"a": category(), "b": normal()}).learn(columns, [label for *_, label in rows]).save(
        tmp_path / "t.bl"
    )
    (tmp_path / "t.csv").write_text("a,b,label\n" + "".join(f"{a},{b},{label}\n" for a, b, label in rows))
    found = json.loads(
        done("evaluate", tmp_path / "t.bl", tmp_path / "t.csv", "--worst", "3", "--json", "-q")
    )
    assert [each["row"] for each in found["mistakes"]] == [{"a": "x", "b": 1.0}]
    shown = done("evaluate", "t.bl", "t.csv", "-q", cwd=tmp_path)
    assert "line 2: p, taken for q" in shown
    assert "a=x" in shown
    for label, text in (("ham", "see you at noon"), ("spam", "a free prize")):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for number in range(3):
            (tmp_path / "mail" / label / f"{number}.eml").write_text(f"Subject: {text}\n\n{text}\n")
    done("train", "-q", "--preset", "mail", "--tuning", "none", tmp_path / "mail", "-o", tmp_path / "m.bl")
    (tmp_path / "mail" / "ham" / "0.eml").write_text("Subject: a free prize\n\na free prize\n")
    report = tmp_path / "r.html"
    shown = done("evaluate", "m.bl", "mail", "-q", "--html", report, cwd=tmp_path)
    assert "0.eml: ham, taken for spam" in shown
    assert "free prize" in report.read_text("utf-8")


def test_a_file_that_is_named_where_a_text_belongs_is_remarked_on(tmp_path: Path) -> None:
    bayleaf.Model().learn(["great film", "scsi disk"], ["good", "bad"]).save(tmp_path / "m")
    (tmp_path / "post.txt").write_text("scsi disk\n")
    ran = run("explain", "m", "post.txt", cwd=tmp_path)
    assert ran.returncode == 0
    assert "use '< post.txt'" in ran.stderr
    assert "name of a file" not in run("explain", "m", "scsi disk", cwd=tmp_path).stderr
