"""The authors' published debates, played through our program."""

import json
from collections import Counter

import pytest

from evals.benchmarks.pope import Pope, PopeC
from evals.evaluate import evaluate
from evals.published import read_published_debates, turns_of
from programs import InputError, make_program

RESOLVED = """===== Debate Round-1 =====
----- Affirmative side -----
Question1: Yes
Question2: Because of the board.
----- Negative side -----
Question1: No
Question2: It is a surfboard.
----- say yes side probe1 -----
Question1: black
Question2: Middle
Question3: sky
Question4: snow
Question5: nothing
Question6: a tree
===== Debate Round-2 =====
----- say no side probe1 -----
Question1: Yes
Question2: Surfboard
Question3: It has fins.
----- say yes side probe2 -----
Question1: Yes
Question2: a surfboard.
Question3: I see the fins.


===== Debate Done! =====
----- Debate Topic -----Is there a snowboard in the image?
----- Debate Answer -----Yes"""


def test_a_debate_becomes_the_turns_of_our_program():
    turns = turns_of(RESOLVED, "Is there a snowboard in the image?")
    assert [(turn.role, turn.stage, turn.round) for turn in turns] == [
        ("debater_a", "open", 0),
        ("debater_b", "open", 0),
        ("debater_a", "describe", 1),
        ("debater_b", "reconsider", 2),
        ("debater_a", "reconsider", 3),
    ]
    assert turns[2].output == {
        "color": "black", "region": "center", "above": "sky", "below": "snow", "right": "nothing", "left": "a tree",
    }  # fmt: skip
    assert [turn.output.get("answer") for turn in turns] == ["yes", "no", None, "no", "no"]
    assert all(turn.input_hash is None for turn in turns)


def test_a_section_that_holds_an_error_is_a_failed_turn():
    opening, *_ = turns_of(
        RESOLVED.replace("Question1: Yes\nQuestion2: Because of the board.", "error"),
        "Is there a snowboard in the image?",
    )
    assert opening.failure.kind == "provider error"


def test_a_debate_of_another_question_is_refused(tmp_path):
    row = {
        "question_id": 1,
        "question": "Is there a cup in the image?",
        "image_path": "a.jpg",
        "discussion_process": RESOLVED,
    }
    (tmp_path / "d.jsonl").write_text(json.dumps(row))
    (tmp_path / "coco_pope_random.json").write_text(
        json.dumps({"question_id": 1, "image": "a.jpg", "text": "Is there a dog in the image?", "label": "yes"})
    )
    cases = Pope().load([tmp_path / "coco_pope_random.json"], recorded=True)
    with pytest.raises(InputError, match=r"d\.jsonl.*about 'Is there a cup.*asks 'Is there a dog"):
        read_published_debates(tmp_path / "d.jsonl", cases)


@pytest.fixture(scope="module")
def replayed(shared_data, tmp_path_factory):
    """The 3,000 debates, replayed from a file without the published answers."""
    source = shared_data / "pope/pope_random_gemini_multi.jsonl"
    stripped = tmp_path_factory.mktemp("published") / "debates.jsonl"
    answers = {}
    with stripped.open("w") as file:
        for line in source.read_text().splitlines():
            row = json.loads(line)
            answers[f"coco/random/{row['question_id']}"] = row.pop("answer")
            row["discussion_process"] = row["discussion_process"].split("===== Debate Done!")[0]
            file.write(json.dumps(row) + "\n")
    cases = Pope().load([shared_data / "pope/coco_pope_random.json"], recorded=True)
    out = tmp_path_factory.mktemp("runs") / "run"
    done = evaluate(
        make_program("visual-debate"), Pope(), cases, out, replay=stripped, scoring="compat", concurrency=64
    )
    return done, answers, stripped


def test_every_complete_debate_gets_the_authors_answer(replayed):
    done, answers, _ = replayed
    records = list(done.run.records())
    assert len(records) == 3000 and done.usage.calls == 0
    answered = [record for record in records if record.status == "ok"]
    assert all(record.answer == answers[record.case_id].lower() for record in answered)
    failed = sorted(int(record.case_id.rsplit("/", 1)[1]) for record in records if record.status != "ok")
    known = [329, 1394, 1560, 1578, 2117, 2809, 2812, 2814]
    assert [number for number in failed if answers[f"coco/random/{number}"] != "error"] == known
    assert len(failed) == 24 + len(known)
    (incomplete,) = (record for record in answered if record.failed_turns)
    assert incomplete.case_id == "coco/random/2189"


def test_how_the_debates_ended_is_counted(replayed):
    done, _, _ = replayed
    assert done.outcomes == {"consensus": 2694, "yes side persuaded": 257, "no side persuaded": 14, "judge": 2}


def test_compatible_accuracy_is_the_papers(replayed):
    done, _, _ = replayed
    assert 0.8746 <= done.score.metrics["accuracy"] <= 0.8754


def test_creativity_over_the_replay_is_the_papers(replayed, shared_data, tmp_path):
    cases = PopeC().load([shared_data / "pope/coco_pope_random_revised.json"], recorded=True)
    done = evaluate(make_program("visual-debate"), PopeC(), cases, tmp_path / "c", replay=replayed[2])
    assert done.score.metrics["creativity_ratio"] == 9 / 13
    assert done.score.metrics["creativity_ratio_final"] == 5 / 13


def test_a_replay_of_the_replay_is_the_same(replayed, shared_data, tmp_path):
    done, _, _ = replayed
    cases = Pope().load([shared_data / "pope/coco_pope_random.json"], recorded=True)[:200]
    again = evaluate(make_program("visual-debate"), Pope(), cases, tmp_path / "again", replay=done.run.folder)
    ours = {record.case_id: (record.answer, record.outcome) for record in again.run.records()}
    theirs = {record.case_id: (record.answer, record.outcome) for record in done.run.records()}
    assert len(ours) == 200 and all(theirs[case_id] == result for case_id, result in ours.items())


def test_a_program_that_asks_for_more_than_was_recorded_is_refused(replayed, shared_data, tmp_path):
    from programs import RecordingError

    cases = Pope().load([shared_data / "pope/coco_pope_random.json"], recorded=True)[:20]
    with pytest.raises(RecordingError, match="the recording holds no judge/judge"):
        evaluate(make_program("visual-debate", {"rounds": 0}), Pope(), cases, tmp_path / "r", replay=replayed[2])


def test_outcomes_add_up(replayed):
    done, _, _ = replayed
    counted = Counter(record.outcome for record in done.run.records() if record.status == "ok")
    assert sum(counted.values()) == 3000 - 32
