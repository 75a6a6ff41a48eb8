"""L7: the model file is the same bytes always, whole or not at all, and no file can do harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from bayleaf import Model, ModelFileError, bytes_, chars, storage, words
from bayleaf.text.counts import TextTally
from bayleaf.text.normalization import FunctionNeeded

GOLDEN = Path(__file__).parent / "golden"
TEXTS = ["Win a prize, win!", "see you at noon", "café at noon? Ναί, 日本語", "", "a prize"]
LABELS = ["spam", "ham", "ham", "ham", "spam"]
PATHS = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
QUESTIONS = ["win a prize at noon", "", "café", "never seen"]


def small() -> Model:
    """The model of the golden file."""
    views = [
        words(2, stop_words=["you"]),
        chars(2, 3, event="bernoulli"),
        bytes_(3, tf="normalized", alpha=0.5),
    ]
    model = Model(views, alpha=0.25, priors={"ham": 0.75, "spam": 0.25}, unseen="smooth")
    return model.learn(TEXTS, LABELS)


def write_golden() -> None:
    # In the folder tests: python -c "import test_storage; test_storage.write_golden()". A new format gets new
    # files; those of a released format never change.
    model = small()
    model.save(GOLDEN / "format2.bayleaf")
    answers = {
        "classes": model.classes,
        "log_joint": model.log_joint(QUESTIONS).tolist(),
        "terms": model.counts().term_names,
    }
    (GOLDEN / "format2.json").write_text(json.dumps(answers, indent=1) + "\n")


DATA = small().to_bytes()
HEAD = int.from_bytes(DATA[:8], "little")


@pytest.mark.parametrize("name", ["format1", "format2"])
def test_files_of_every_format_stay_readable_and_give_the_same_numbers(name: str) -> None:
    model = Model.load(GOLDEN / f"{name}.bayleaf")
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    assert model.classes == expected["classes"]
    assert model.log_joint(QUESTIONS) == pytest.approx(np.array(expected["log_joint"]), rel=1e-12)
    assert model.counts().term_names == expected["terms"]
    assert (model.n_documents, model.alpha, model.unseen) == (5, 0.25, "smooth")


def test_what_is_written_today_is_the_golden_file_to_the_last_byte() -> None:
    assert (GOLDEN / "format2.bayleaf").read_bytes() == DATA


def test_a_file_is_read_by_safetensors() -> None:
    arrays = load(DATA)
    settings, views = storage.unpack(DATA, "the bytes")
    assert len(settings["views"]) == len(views)
    for i, own in enumerate(views):
        for name, array in own.items():
            assert np.array_equal(arrays[f"{i}.{name}"], array)


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        program = f"import test_storage as t; t.small().save({str(tmp_path / seed)!r})"
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": PATHS}
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
        assert (tmp_path / seed).read_bytes() == DATA


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "mail.bayleaf"
    small().save(file)
    program = f"""
import resource, signal
from bayleaf import Model
model = Model.load({str(file)!r})
model.learn([" ".join(map(str, range(100_000)))], ["ham"])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    model.save({str(file)!r})
except OSError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "refused"
    assert file.read_bytes() == DATA
    assert [path.name for path in tmp_path.iterdir()] == ["mail.bayleaf"]


def test_saving_over_a_file_keeps_its_permissions_and_the_link_to_it(tmp_path: Path) -> None:
    file, link = tmp_path / "model", tmp_path / "link"
    small().save(file)
    file.chmod(0o640)
    link.symlink_to(file)
    small().learn(["more"], ["ham"]).save(link)
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert Model.load(link).n_documents == 6


def refused(data: bytes) -> str:
    """What is said about bytes that are no model."""
    with pytest.raises(ModelFileError) as caught:
        Model.from_bytes(data)
    message = str(caught.value)
    assert message.startswith("the bytes ")
    assert message.endswith(".")
    return message


def test_to_load_copy_and_save_a_model_makes_no_table_of_its_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TextTally, "_own", property(lambda _: pytest.fail("a table was made")))
    Model.from_bytes(DATA).copy().save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == DATA


def test_what_was_loaded_is_saved_without_a_copy(tmp_path: Path) -> None:
    model = Model.from_bytes(Model([words()]).learn([" ".join(map(str, range(50_000)))], ["a"]).to_bytes())
    tracemalloc.start()
    model.save(tmp_path / "large")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (tmp_path / "large").stat().st_size / 2


def test_a_file_that_was_cut_anywhere_is_refused() -> None:
    for length in range(len(DATA)):
        refused(DATA[:length])
    refused(DATA + b"x")


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_a_file_with_a_changed_byte_is_refused_or_means_the_same(flip: int) -> None:
    same = 0
    for at in range(len(DATA)):
        damaged = bytearray(DATA)
        damaged[at] ^= flip
        try:
            model = Model.from_bytes(bytes(damaged))
        except ModelFileError:
            continue
        assert model.to_bytes() == DATA, at
        same += 1
    assert same < 16  # of thousands: white space behind the header


@given(st.binary(max_size=200), st.sampled_from([b"", DATA[:8], DATA[: 8 + HEAD]]))
def test_arbitrary_bytes_are_refused(data: bytes, before: bytes) -> None:
    refused(before + data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a bayleaf model"),
        (b"PK\3\4 a zip archive", "not a bayleaf model"),
        (save({"weight": np.zeros(3)}), "not a bayleaf model"),
        (save({"weight": np.zeros(3)}, {"format": "pt"}), "not a bayleaf model"),
        ((1 << 63).to_bytes(8, "little") + b"{}", "not a bayleaf model"),
        ((1 << 62).to_bytes(8, "little") + DATA[8:], "not a bayleaf model"),
        ((100_000).to_bytes(8, "little") + b"[" * 100_000, "not a bayleaf model"),
        (save({}, {"bayleaf": "[" * 100_000}), "damaged"),
        (save({}, {"bayleaf": "{}"}), "'format' is missing"),
        (save({}, {"bayleaf": "7"}), "damaged"),
        (save({}, {"bayleaf": '{"format": 1}'}), "'checksum' is missing"),
        (save({}, {"bayleaf": '{"format": 99}'}), r"has format 99; this version reads formats 1 and 2\. "),
        (save({}, {"bayleaf": '{"format": "1"}'}), "has format '1'"),
        (save({}, {"bayleaf": '{"format": [1]}'}), r"has format \[1\]"),
    ],
)  # fmt: skip
def test_foreign_files_and_other_versions_are_named(data: bytes, said: str) -> None:
    with pytest.raises(ModelFileError, match=said):
        Model.from_bytes(data)


def test_the_message_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "old.bayleaf"
    file.write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match=r"old\.bayleaf is not a bayleaf model"):
        Model.load(file)
    with pytest.raises(ModelFileError, match="is a folder, not a model"):
        Model.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="absent"):
        Model.load(tmp_path / "absent")


def header(change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with another header, as safetensors reads it."""
    content = json.loads(DATA[8 : 8 + HEAD])
    change(content)
    text = json.dumps(content).encode()
    return len(text).to_bytes(8, "little") + text + DATA[8 + HEAD :]


@pytest.mark.parametrize("name", ["0.term", "0.words", "1.shares_part", "2.class_ends"])
@pytest.mark.parametrize(
    "change",
    [
        {"data_offsets": [0, 1 << 60]},
        {"data_offsets": [-8, 8]},
        {"data_offsets": [8, 0]},
        {"data_offsets": [0, 8]},
        {"dtype": "F32"},
        {"dtype": "U128"},
        {"dtype": 8},
        {"shape": [1 << 62]},
        {"shape": [1 << 32, 1 << 32]},
        {"shape": [-1]},
        {"shape": []},
        {"shape": "many"},
    ],
    ids=str,
)
def test_arrays_that_lie_about_themselves_are_refused(name: str, change: dict[str, Any]) -> None:
    refused(header(lambda content: content[name].update(change)))


def altered(change: Callable[[dict[str, Any], list[storage.Arrays]], None]) -> bytes:
    """A well-made file, with its checksum, of a model that cannot be."""
    settings, arrays = storage.unpack(DATA, "the bytes")
    settings = json.loads(json.dumps(settings))
    arrays = [{name: array.copy() for name, array in own.items()} for own in arrays]
    change(settings, arrays)
    return storage.pack(settings, arrays)


WRONG: list[Any] = [
    None,
    True,
    -1,
    1e300,
    "",
    "\ud800",
    "x" * 1000,
    [],
    [[]],
    {},
    {"a": 1},
    [None],
    10**30,
    [1, 2, 3],
]


@pytest.mark.parametrize("key", ["views", "classes", "closed", "documents", "alpha", "priors", "unseen"])
def test_settings_of_a_wrong_kind_are_refused(key: str) -> None:
    right = storage.unpack(DATA, "the bytes")[0]
    harmless: dict[str, list[Any]] = {"closed": [True], "alpha": [1e300, 10**30], "priors": [{"a": 1}]}
    for value in [each for each in WRONG if each not in harmless.get(key, [])]:
        assert right[key] != value
        refused(altered(lambda settings, _, value=value: settings.update({key: value})))  # type: ignore[misc]
    refused(altered(lambda settings, _: settings.pop(key)))


@pytest.mark.parametrize(
    "key", ["kind", "event", "tf", "alpha", "shortest", "longest", "lower", "marks", "min_length",
            "max_length", "max_token_bytes", "normalization"]
)  # fmt: skip
def test_settings_of_a_view_of_a_wrong_kind_are_refused(key: str) -> None:
    harmless: dict[str, list[Any]] = {
        "alpha": [None, 1e300, 10**30],
        "max_length": [None],
        "lower": [True],
        "marks": [True],
        "normalization": [{}],
    }
    for value in [each for each in WRONG if each not in harmless.get(key, [])]:
        refused(altered(lambda settings, _, value=value: settings["views"][0][1].update({key: value})))  # type: ignore[misc]


def test_classes_that_cannot_be_told_apart_are_refused() -> None:
    for classes in (
        ["ham", "ham"],
        ["ham"],
        ["ham", None],
        ["ham", ["spam"]],
        ["ham", "spam", "eggs"],
        [0, False],
    ):
        refused(altered(lambda settings, _, classes=classes: settings.update(classes=classes)))  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted(storage.unpack(DATA, "the bytes")[1][0]))
def test_arrays_that_no_tally_can_have_written_are_refused(name: str) -> None:
    def most(_: Any, arrays: list[storage.Arrays]) -> None:
        arrays[0][name] = np.full(len(arrays[0][name]), 2**64 - 1, np.uint64)

    def longer(_: Any, arrays: list[storage.Arrays]) -> None:
        arrays[0][name] = np.append(arrays[0][name], arrays[0][name][-1:])

    def shorter(_: Any, arrays: list[storage.Arrays]) -> None:
        arrays[0][name] = arrays[0][name][:-1]

    # Of a share, what stands behind the point can be anything.
    changes = [longer, shorter] if name == "shares_part" else [longer, shorter, most]
    for change in [*changes, lambda _, arrays: arrays[0].pop(name)]:
        refused(altered(change))


@given(st.data())
def test_arrays_with_other_numbers_are_refused_or_are_a_model(data: st.DataObject) -> None:
    names = sorted(storage.unpack(DATA, "the bytes")[1][0])
    name, value = data.draw(st.sampled_from(names)), data.draw(st.integers(0, 2**64 - 1) | st.integers(0, 9))

    def change(_: Any, arrays: list[storage.Arrays]) -> None:
        array = arrays[0][name].astype(np.uint64)
        array[data.draw(st.integers(0, len(array) - 1))] = value
        arrays[0][name] = array

    changed = altered(change)
    try:
        model = Model.from_bytes(changed)
    except ModelFileError:
        return
    # A word that nothing counts is not written again.
    again = model.to_bytes()
    assert Model.from_bytes(again).to_bytes() == again
    assert np.isfinite(model.log_joint(QUESTIONS)).all()
    model.explain(QUESTIONS[0])


def test_no_file_takes_gigabytes_or_minutes() -> None:
    """The hostile files once more, in a process that may have 1 GB and 20 seconds of processor time."""
    program = """
import resource, sys
import test_storage as t
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
huge = [
    (1 << 40).to_bytes(8, "little") + t.DATA[8:],
    t.save({}, {"bayleaf": "[" * 10_000_000}),
    t.save({}, {"bayleaf": '{"format": ' + "9" * 4000 + "}"}),
    t.altered(lambda s, a: s["views"][2][1].update(longest=1 << 40)),
    t.altered(lambda s, a: s["views"][0][1].update(max_token_bytes=1 << 40)),
    t.altered(lambda s, a: s.update(classes=["x"] * 1_000_000)),
    t.altered(lambda s, a: s.update(documents=[1 << 40, 1])),
    t.altered(lambda s, a: a[0].update(class_documents=t.np.array([2**63, 2], t.np.uint64))),
    t.altered(lambda s, a: a[0].update(word_ends=a[0]["word_ends"] + t.np.uint64(1 << 60))),
    t.header(lambda h: h["0.term"].update(data_offsets=[0, 1 << 50], shape=[1 << 50])),
]
refused = 0
for data in huge:
    try:
        t.Model.from_bytes(data).log_joint(t.QUESTIONS)
    except t.ModelFileError:
        refused += 1
print(refused)
"""
    environment = {**os.environ, "PYTHONPATH": PATHS, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment
    )
    # A word may be long; all else is refused.
    assert (done.stdout.strip(), done.returncode) == ("9", 0), done.stderr[-2000:]


def test_a_model_with_a_function_of_yours_needs_it_again(tmp_path: Path) -> None:
    file = tmp_path / "model"
    Model([words(normalizer=str.upper)]).learn(["a b"], [0]).save(file)
    with pytest.raises(
        ValueError, match=r"the function 'str\.upper'|the function .*upper.*Pass the same function"
    ):
        Model.load(file)
    model = Model.load(file, normalizer=str.upper)
    assert model.counts().term_names == ["A", "B"]
    assert model.learn(["b c"], [1]).counts().term_names == ["A", "B", "C"]


def test_an_error_that_speaks_of_functions_is_the_files_fault_unless_it_asks_for_one() -> None:
    with (
        pytest.raises(ModelFileError, match=r"a file is damaged: no such function"),
        storage.reading("a file"),
    ):
        raise ValueError("no such function")
    data = Model([words(normalizer=str.upper)]).learn(["a b"], [0]).to_bytes()
    with pytest.raises(FunctionNeeded, match="Pass the same function"):
        Model.from_bytes(data)
