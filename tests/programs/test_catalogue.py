import pytest

from programs import PROGRAMS, Direct, InputError, VisualDebate, arguments_of, make_program, name_of, program_class


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_can_be_made_by_its_name(name):
    program = make_program(name)
    assert name_of(program) == name
    assert type(program) is program_class(name)
    assert set(program.arguments) == {argument.name for argument in arguments_of(name)}
    assert program.roles and program.predictors()


def test_names_are_in_kebab_case():
    assert all(name == name.lower() and "_" not in name and " " not in name for name in PROGRAMS)


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("2", "rounds", 2),
        ("nothing,everything", "told", ("nothing", "everything")),
        ('["attributes"]', "told", ("attributes",)),
        ("everything", "told", ("everything",)),
        ("false", "personas", False),
        ("off", "personas", False),
        ("on", "zoom", True),
        ("none", "imitation", None),
        ("both", "judge_order", "both"),
    ],
)
def test_arguments_as_texts(text, attribute, value):
    assert getattr(make_program("visual-debate", {attribute: text}), attribute) == value


def test_arguments_as_values():
    program = make_program("visual-debate", {"rounds": 1, "told": ["nothing"]})
    assert isinstance(program, VisualDebate)
    assert (program.rounds, program.told) == (1, ("nothing",))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("visual_debate", {}, r"no program is called 'visual_debate'; there are: direct, self-reflection"),
        ("visual-debate", {"round": "2"}, r"has no argument 'round'; its arguments are: rounds, told"),
        ("direct", {"rounds": "2"}, r"direct has no argument 'rounds'; its arguments are: questions, confidence"),
        ("visual-debate", {"rounds": "two"}, r"visual-debate: rounds='two' does not fit: .*; the default is 3"),
        ("visual-debate", {"rounds": "-1"}, r"rounds must be 0 or more, got -1"),
        ("visual-debate", {"told": "half"}, r"told='half' does not fit"),
        ("visual-debate", {"imitation": "/nowhere/library.jsonl"}, r"cannot be read"),
    ],
)
def test_what_does_not_fit_is_refused_and_says_what_would(name, arguments, message):
    with pytest.raises(InputError, match=message):
        make_program(name, arguments)


def test_arguments_are_listed_with_type_and_default():
    arguments = {argument.name: argument for argument in arguments_of("visual-debate")}
    assert arguments["rounds"].default == 3 and arguments["rounds"].type is int
    assert arguments_of("naive-generation") == ()


def test_a_program_of_ones_own_goes_by_its_class_name():
    class Mine(Direct):
        pass

    assert name_of(Mine()) == "Mine"
