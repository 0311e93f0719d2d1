"""The notebook view of a transcript."""

from html.parser import HTMLParser
from typing import Any

from programs.transcript import Attempt, Failure, Transcript, Turn

ATTACK = '</div><script>alert(1)</script><img src=x onerror="alert(2)">'


class _Page(HTMLParser):
    """The tags and the text of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def _turn(**more: Any) -> Turn:
    values: dict[str, Any] = {"role": "debater_a", "stage": "open", "inputs": {}, "output": {"answer": "yes"}} | more
    return Turn(**values)


def test_it_says_who_spoke_what_was_said_and_what_it_cost() -> None:
    attempt = Attempt(latency_s=1.5, prompt_tokens=1200, completion_tokens=7, cost_usd=0.25)
    said = {"answer": "no", "reason": "It is a broom.", "color": "brown"}
    page = _Page(Transcript([_turn(round=3, output=said, attempts=(attempt,), model="m")])._repr_html_())
    for text in ("Debater A", "round 3, open", "no", "It is a broom.", "Color:", "brown", "m · 1 call"):
        assert text in page.text
    assert page.text.count("1 call · 1,200 + 7 tokens · $0.25 · 1.50 s") == 2
    assert page.open == []


def test_everything_is_escaped() -> None:
    turn = _turn(
        role=ATTACK, stage=ATTACK, branch=ATTACK, model=ATTACK,
        inputs={"told": {ATTACK: ATTACK}, "said": [{"a": ATTACK}], ATTACK: ATTACK},
        output={"answer": ATTACK, "reason": ATTACK, ATTACK: ATTACK},
    )  # fmt: skip
    failed = _turn(output=None, failure=Failure(kind="unparsed", reason=ATTACK, raw=ATTACK))
    page = _Page(Transcript([turn, failed])._repr_html_())
    assert set(page.tags) <= {"div", "b", "span", "br", "details", "summary", "code"}
    assert page.open == []
    assert page.text.count("<script>alert(1)</script>") == 15


def test_a_failure_is_shown_with_what_came_back() -> None:
    failure = Failure(kind="timeout", reason="too slow", raw="ye")
    page = _Page(Transcript([_turn(output=None, failure=failure)])._repr_html_())
    assert "Failed (timeout): too slow" in page.text
    assert "ye" in page.text


def test_question_and_picture_are_not_repeated() -> None:
    inputs = {"question": "Is there a cup?", "image": "sha256:00", "own_answer": {"answer": "yes"}}
    page = _Page(Transcript([_turn(inputs=inputs)])._repr_html_())
    assert "cup" not in page.text and "sha256" not in page.text
    assert "answer: yes" in page.text


def test_no_turns() -> None:
    assert "No turns." in _Page(Transcript()._repr_html_()).text
