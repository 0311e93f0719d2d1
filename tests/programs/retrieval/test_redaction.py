"""What others say of a failure is told on without keys and passwords."""

import pytest

from programs.retrieval.redaction import without_secrets


def test_secrets_of_every_origin_are_blotted_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "from-environment")
    text = "key from-environment, known wonderland\n at https://u:pw@host/x, Authorization: Bearer abc.def-1"
    assert without_secrets(text, "wonderland", None, "") == (
        "key [secret], known [secret] at https://[secret]@host/x, Authorization: Bearer [secret]"
    )


def test_short_values_and_ordinary_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "at")
    monkeypatch.setenv("KEYBOARD", "qwertz-layout")
    assert without_secrets("at home with a qwertz-layout") == "at home with a qwertz-layout"


def test_a_long_text_is_cut() -> None:
    assert len(without_secrets("x" * 9999)) == 500
