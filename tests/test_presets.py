"""Presets are ordinary views with a name."""

import pytest

from bayleaf import Model, bytes_
from bayleaf.model_views import PRESETS, dna, messages, preset
from bayleaf.text.mail import MAIL_COLUMNS, mail_columns


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_prints_the_views_it_consists_of(name: str) -> None:
    chosen = preset(name)
    views = list(chosen.values()) if isinstance(chosen, dict) else chosen
    assert all(repr(view).startswith((view.kind + "(",)) for view in views)
    assert Model(chosen).views == Model(preset(name)).views


def test_the_preset_for_mail_looks_at_every_column_of_a_mail() -> None:
    assert set(preset("mail")) == set(MAIL_COLUMNS)
    mails = [
        b"From: a@win.example\nSubject: Win!\n\nwin 5 $",
        b"From: bob@c.example\nSubject: Noon\n\nat noon?",
    ]
    model = Model(preset("mail")).learn(mail_columns(mails), ["spam", "ham"])
    assert model.predict(mail_columns([mails[0]])).tolist() == ["spam"]


def test_messages_keep_punctuation_and_addresses_and_tell_numbers_by_their_length() -> None:
    (view,) = messages()
    assert view.tokens("Call 0800123! www.win.example") == [
        "call", "0000000", "!", "www.win.example", "call 0000000", "0000000 !", "! www.win.example",
    ]  # fmt: skip


def test_languages_are_told_apart_by_their_letters() -> None:
    model = Model(preset("language")).learn(["the cat and the dog", "le chat et le chien"], ["en", "fr"])
    assert model.predict(["the chair", "le chef"]).tolist() == ["en", "fr"]


def test_bases_are_the_same_in_any_case_and_in_rna() -> None:
    model = Model(preset("dna")).learn(["ACGTTGCAACGT", "GGGCCCGGGCCC"], ["a", "b"])
    written = ["ACGTTGCAACGT", "acgttgcaacgt", "AcgUUgcaACGU"]
    joints = model.log_joint(written)
    assert (joints == joints[0]).all()
    other = Model.from_bytes(model.to_bytes())
    assert (other.log_joint(written) == joints).all()
    assert str(other.explain(written[1]).terms()) == str(model.explain(written[0]).terms())


def test_a_protein_keeps_its_selenocysteine() -> None:
    (view,) = dna()
    assert view.tokens("MKUlLEQVA") == ["MKULLEQV", "KULLEQVA"]
    assert view.tokens("acguacgu") == ["ACGTACGT"]


def test_bytes_without_an_alphabet_are_as_they_are() -> None:
    assert bytes_(4).tokens("acgU") == ["acgU"]
    assert "alphabet" not in bytes_(4).to_dict()
    with pytest.raises(ValueError, match="'dna'"):
        bytes_(4, alphabet="rna")  # type: ignore[arg-type]


def test_an_unknown_preset_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(ValueError, match=r"no preset 'sms'.*'text', 'messages', 'mail', 'language', 'dna'"):
        preset("sms")
