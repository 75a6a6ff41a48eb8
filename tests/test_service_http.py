"""The service over HTTP, as a process: ask, teach, forget, look, and be told what is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from prometheus_client.parser import text_string_to_metric_families

from bayleaf import Model, words
from bayleaf.service.verifying import verify
from cli_process import messages
from service_process import Running, running

ROWS = messages()


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "spam.bayleaf"
    Model([words()]).learn([text for _, text in ROWS[:300]], [label for label, _ in ROWS[:300]]).save(path)
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, model_file: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("service")
    with running(folder, "--model", f"spam={model_file}") as found:
        yield found
        found.stop()
    assert all(each.sound for each in verify(folder))


def test_one_and_many_texts_get_the_answers_of_the_model(service: Running) -> None:
    texts = [text for _, text in ROWS[300:340]]
    file = service.get("/models/spam/file")
    model = Model.from_bytes(file.body)
    found = service.post("/models/spam/classify", {"texts": texts, "probabilities": True}).json["answers"]
    assert [each["label"] for each in found] == model.predict(texts).tolist()
    assert [list(each["probabilities"].values()) for each in found] == model.posterior(texts).tolist()
    assert len({each["id"] for each in found}) == len(texts)
    assert {str(each["version"]) for each in found} == {file.headers["bayleaf-version"]}
    alone = service.ask(texts[0])
    assert (alone["label"], alone["probability"]) == (found[0]["label"], found[0]["probability"])


def test_a_stream_of_lines_gets_a_line_for_each_and_a_bad_line_does_not_end_it(service: Running) -> None:
    lines = [json.dumps({"text": text, "id": f"n{i}"}) for i, (_, text) in enumerate(ROWS[:200])]
    lines.insert(50, '{"text": 3}')
    lines.insert(60, "")
    body = "\n".join(lines).encode()
    reply = service.request("POST", "/models/spam/classify", body, {"Content-Type": "application/x-ndjson"})
    answers = [json.loads(line) for line in reply.body.splitlines()]
    assert len(answers) == 201
    assert answers[50]["status"] == 422
    assert [each["id"] for each in answers if "id" in each] == [f"n{i}" for i in range(200)]


def test_ask_now_teach_later_by_id_and_the_answer_is_scored(service: Running) -> None:
    before = service.get("/models/spam").json["progressive"]["asked"]
    service.ask("lunch tomorrow with Tamsin at the quay", id="mine")
    learned = service.post("/models/spam/learn", {"id": "mine", "label": "ham"}).json
    assert learned["answers"][0]["outcome"] == "learned"
    again = service.post("/models/spam/learn", {"id": "mine", "label": "ham"}).json
    assert again["answers"][0]["outcome"] == "already"
    conflict = service.post("/models/spam/learn", {"id": "mine", "label": "spam"})
    assert conflict.status == 409
    assert "/correct" in conflict.json["detail"]
    corrected = service.post("/models/spam/correct", {"id": "mine", "label": "spam"}).json["answers"][0]
    assert (corrected["outcome"], corrected["before"], corrected["label"]) == ("corrected", "ham", "spam")
    progressive = service.get("/models/spam").json["progressive"]
    assert progressive["asked"] == before + 1
    assert 0 <= progressive["accuracy"] <= 1
    history = service.get("/models/spam/history?search=tamsin%20AT").json["questions"]
    assert [(each["id"], each["taught"]) for each in history] == [("mine", "spam")]
    forgotten = service.post("/models/spam/forget", {"id": "mine"}).json["answers"][0]
    assert (forgotten["outcome"], forgotten["before"]) == ("forgotten", "spam")
    assert service.post("/models/spam/forget", {"id": "mine"}).status == 404
    assert service.post("/models/spam/learn", {"id": "unheard", "label": "ham"}).status == 404


def test_learning_counts_at_once_and_forgetting_restores_the_file(service: Running) -> None:
    before = service.get("/models/spam/file")
    probability = service.ask("zyzzyva quokka")["probability"]
    service.post("/models/spam/learn", {"texts": ["zyzzyva", "quokka quokka"], "label": "ham"})
    assert service.ask("zyzzyva quokka")["probability"] > probability
    erased = service.post("/models/spam/forget", {"texts": ["zyzzyva", "quokka  quokka"], "erase": True}).json
    assert erased["receipt"]["before"] != erased["receipt"]["after"]
    assert len(erased["receipt"]["documents"]) == 2
    assert "Backups" in erased["receipt"]["remark"]
    after = service.get("/models/spam/file")
    assert after.body == before.body
    assert after.headers["bayleaf-version"] == str(erased["version"])
    assert service.post("/models/spam/verify", {}).json["sound"]


def test_an_explanation_adds_up(service: Running) -> None:
    found = service.post("/models/spam/explain", {"text": "Claim your free prize now", "most": 2}).json
    total = found["prior"] + found["more"] + sum(each["log_odds"] for each in found["terms"])
    assert total == pytest.approx(found["log_odds"], abs=1e-9)
    assert len(found["terms"]) == 2
    other = service.post("/models/spam/explain", {"text": "Claim", "label": "ham"}).json
    assert other["label"] == "ham"
    assert service.post("/models/spam/explain", {"text": "Claim", "label": "eggs"}).status == 422


def test_the_labels_of_one_person_and_the_ledger_can_be_had_and_taken_out(service: Running) -> None:
    texts = [f"mallory says {i}" for i in range(30)]
    service.post("/models/spam/learn", {"texts": texts, "label": "ham", "by": "mallory"})
    lines = service.get("/models/spam/ledger").body.splitlines()
    assert sum(json.loads(line)["by"] == "mallory" for line in lines) == 30
    assert len(service.post("/models/spam/forget", {"by": "mallory"}).json["answers"]) == 30
    newest = service.get("/models/spam/versions?limit=30").json["versions"]
    assert {each["operation"] for each in newest} == {"forget"}
    about = {"text": "about Ann", "label": "ham", "subject": "customer 17"}
    service.post("/models/spam/learn", about)
    gone = service.post("/models/spam/forget", {"subject": "customer 17", "erase": True}).json
    assert len(gone["receipt"]["documents"]) == 1


def test_a_repeated_key_gets_the_first_answer_and_another_body_is_refused(service: Running) -> None:
    body = {"text": "only once, please", "label": "ham"}
    first = service.post("/models/spam/learn", body, Idempotency_Key="k1")
    service.post("/models/spam/forget", {"text": "only once, please"})
    again = service.post("/models/spam/learn", body, Idempotency_Key="k1")
    assert first.body == again.body
    other = service.post("/models/spam/learn", {**body, "label": "spam"}, Idempotency_Key="k1")
    assert other.status == 422
    assert "another request" in other.json["detail"]


def test_users_have_their_own_answers(service: Running) -> None:
    shared = service.ask("nimbus cumulus")
    for text in ("nimbus", "cumulus"):
        service.post("/models/spam/learn", {"text": text, "label": "spam", "user": "joe"})
    assert service.ask("nimbus cumulus", user="joe")["probability"] != shared["probability"]
    assert service.ask("nimbus cumulus")["probability"] == shared["probability"]


def test_a_model_is_retuned_in_the_background_and_switched(service: Running) -> None:
    service.post("/models", {"name": "tuned"})
    texts, labels = [text for _, text in ROWS[:200]], [label for label, _ in ROWS[:200]]
    service.post("/models/tuned/learn", {"texts": texts, "labels": labels})
    assert service.post("/models/tuned/retune", {}).status == 202
    while (state := service.get("/models/tuned").json)["retuning"] == "running":
        time.sleep(0.05)
    assert (state["retuning"], state["tuned"], state["stale"]) == ("done, on 200 documents", True, False)
    assert service.post("/models/tuned/verify", {}).json["sound"]


def test_the_open_inference_protocol_answers(service: Running) -> None:
    assert service.get("/v2/health/live").json == {"live": True}
    assert service.get("/v2/health/ready").status == 200
    assert service.get("/v2/models/spam/ready").json["ready"]
    assert service.get("/v2/models/spam").json["inputs"][0]["datatype"] == "BYTES"
    tensor = {"name": "text", "shape": [2], "datatype": "BYTES", "data": ["free prize", "see you"]}
    found = service.post("/v2/models/spam/infer", {"id": "7", "inputs": [tensor]}).json
    assert (found["id"], found["model_name"]) == ("7", "spam")
    assert [each["name"] for each in found["outputs"]] == ["label", "probability"]
    assert len(found["outputs"][0]["data"]) == 2


def test_the_description_is_openapi_and_the_real_answers_fit_it(service: Running) -> None:
    described = service.get("/openapi.json").json
    validate(described)
    asked = [
        ("post", "/models/{name}/classify", {"text": "free", "probabilities": True}),
        ("post", "/models/{name}/explain", {"text": "free"}),
        ("post", "/models/{name}/learn", {"text": "described", "label": "ham"}),
        ("post", "/models/{name}/correct", {"text": "described", "label": "spam"}),
        ("post", "/models/{name}/forget", {"text": "described", "erase": True}),
        ("get", "/models", None),
        ("get", "/models/{name}", None),
        ("get", "/models/{name}/history", None),
        ("get", "/models/{name}/versions", None),
        ("post", "/models/{name}/verify", {}),
        ("get", "/health/ready", None),
        ("post", "/models/{name}/classify", {"txt": 1}),
    ]
    for method, path, body in asked:
        real = path.replace("{name}", "spam")
        reply = service.get(real) if method == "get" else service.post(real, body)
        responses = described["paths"][path][method]["responses"]
        kind = reply.headers["content-type"]
        schema = responses.get(str(reply.status), responses["default"])["content"][kind]["schema"]
        whole = {**schema, "components": described["components"]}
        Draft202012Validator(whole).validate(reply.json)


def test_the_metrics_are_what_prometheus_reads(service: Running) -> None:
    service.ask("count me")
    text = service.get("/metrics").body.decode()
    found = {family.name: family for family in text_string_to_metric_families(text)}
    assert {"bayleaf_requests", "bayleaf_documents", "bayleaf_version", "bayleaf_class_share"} <= set(found)
    assert {sample.labels["label"] for sample in found["bayleaf_documents"].samples} >= {"ham", "spam"}


def test_health_and_start_page(service: Running) -> None:
    assert service.get("/health/live").json["status"] == "live"
    assert service.get("/health/ready").json["status"] == "ready"
    assert "spam" in service.get("/").json["models"]


def test_what_was_taught_is_there_after_sigterm_and_the_ids_too(tmp_path: Path, model_file: Path) -> None:
    with running(tmp_path / "f", "--model", f"spam={model_file}") as first:
        first.ask("the harbour at dawn", id="kept")
        taught = first.post("/models/spam/learn", {"text": "a boat", "label": "ham"}).json
        assert first.stop() == ""
        assert first.process.returncode == 0
    with running(tmp_path / "f") as second:
        assert second.get("/models/spam").json["version"] == taught["version"]
        assert second.post("/models/spam/learn", {"id": "kept", "label": "ham"}).status == 200


def test_numbers_as_classes_and_rows_as_documents(tmp_path: Path) -> None:
    from bayleaf import category, normal

    Model({"sender": category(), "hour": normal()}).learn(
        {"sender": ["a", "b", "a", "b"], "hour": [1, 2, 3, 4]}, [1, 2, 1, 2]
    ).save(tmp_path / "table.bayleaf")
    with running(tmp_path / "f", "--model", f"t={tmp_path / 'table.bayleaf'}") as found:
        row = {"sender": "a", "hour": 2}
        assert found.post("/models/t/classify", {"row": row}).json["answers"][0]["label"] == 1
        assert found.post("/models/t/learn", {"row": row, "label": "2"}).json["answers"][0]["label"] == 2
        assert found.post("/models/t/classify", {"text": "x"}).status == 422
        assert found.post("/models/t/learn", {"row": {"sender": "a", "hour": "x"}, "label": 1}).status == 422
        assert found.get("/models/t").json["columns"] == ["sender", "hour"]
