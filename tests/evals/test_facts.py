"""The generated world: names occur once, passages say what is asked for, and questions have their laws."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.facts import CLUSTERS, Cluster, FactQuestion, questions, world
from evals.qa import contained

SEEDS = st.integers(0, 3)
"""As many worlds as are kept."""


def states(text: str, said: str) -> bool:
    return contained(text, [said]) == 1.0


def _asked(seed: int, index: int) -> tuple[Cluster, list[FactQuestion]]:
    cluster = world(seed)[index]
    return cluster, questions(cluster, random.Random(seed))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32))
def test_every_title_is_a_name_of_its_own(seed: int) -> None:
    entities = [entity for cluster in world(seed) for entity in cluster.entities]
    assert len(entities) == len({entity.title for entity in entities}) == 11 * CLUSTERS
    for entity in entities:
        assert entity.text.count(". ") == 2 and entity.text.endswith(".")
        assert entity.title.removeprefix("River ") in entity.text


def test_a_seed_names_its_world_and_another_seed_another_one() -> None:
    assert world(3) == world(3)
    world.cache_clear()
    first = world(3)
    world.cache_clear()
    assert first == world(3)
    assert not {cluster.people[0].title for cluster in world(3)} & {cluster.people[0].title for cluster in world(4)}


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(0, CLUSTERS - 1))
def test_kinds_are_mixed_five_three_two(seed: int, index: int) -> None:
    _, asked = _asked(seed, index)
    assert Counter(question.kind for question in asked) == {"one-hop": 5, "two-hop": 3, "yes-no": 2}
    assert [question.number for question in asked] == list(range(1, 11))
    assert len({question.text for question in asked}) == 10
    assert sorted(q.answers[0] for q in asked if q.kind == "yes-no") == ["no", "yes"]


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, CLUSTERS - 1))
def test_answers_stand_in_the_last_supporting_passage_and_nowhere_before(seed: int, index: int) -> None:
    cluster, asked = _asked(seed, index)
    for question in asked:
        assert all(states(entity.text, said) for entity, said in question.evidence)
        assert all(entity in cluster.entities for entity, _ in question.evidence)
        if question.kind == "yes-no":
            continue
        _, said = question.evidence[-1]
        assert said == question.answers[0] and not states(question.text, said)
        for entity, _ in question.evidence[:-1]:
            assert not states(entity.text, question.answers[0])


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, CLUSTERS - 1))
def test_two_hops_go_through_an_entity_that_the_question_does_not_name(seed: int, index: int) -> None:
    for question in _asked(seed, index)[1]:
        titles = [entity.title.removeprefix("River ") for entity, _ in question.evidence]
        assert question.subject == question.evidence[0][0].title
        assert titles[0] in question.text
        if question.kind == "two-hop":
            (first, link), _ = question.evidence
            assert titles[1] not in question.text
            assert states(first.text, titles[1]) and titles[1] in (link, link.removeprefix("River "))


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, CLUSTERS - 1))
def test_comparisons_are_answered_as_the_passages_say(seed: int, index: int) -> None:
    for question in _asked(seed, index)[1]:
        if question.kind == "yes-no":
            first, second = (int(said) for _, said in question.evidence)
            assert first != second and question.answers == ("yes" if first < second else "no",)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_passage_of_a_question_has_rivals_with_like_names(seed: int) -> None:
    for cluster in world(seed)[:20]:
        family = cluster.people[0].title.split()[1]
        place = cluster.towns[0].title.split()[1]
        for word in (family, place):
            assert sum(word in entity.title for entity in cluster.entities) >= 4
