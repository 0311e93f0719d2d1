"""The losses against published vectors, numerical gradients and laws."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.errors import InputError

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "aligncal.json").read_text())["cases"]


def test_the_core_never_imports_torch():
    code = (
        "import sys, signatures, programs, evals, evals.benchmarks, evals.calibration, optimizers, "
        "optimizers.calibrators, demur, demur.cli; "
        "sys.exit(str(sorted({'torch', 'transformers', 'peft'} & sys.modules.keys())) "
        "if {'torch', 'transformers', 'peft'} & sys.modules.keys() else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:]


torch = pytest.importorskip("torch", reason="needs the extra [train], which has torch")
losses = pytest.importorskip("optimizers.losses")

ALL = [
    losses.AlignCal,
    losses.Focal,
    lambda **options: losses.Focal(gamma=0.5, **options),
    losses.LabelSmoothing,
    losses.FocalAlignCal,
]


def with_gradient(loss, logits, label):
    z = torch.tensor([logits], dtype=torch.float64, requires_grad=True)
    value = loss(z, torch.tensor([label]))
    value.backward()
    return value.item(), z.grad[0].tolist()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.parametrize(
    ("loss", "value", "gradient"),
    [("aligncal", "loss", "grad"), ("focal", "focal", "focal_grad"), ("aligncal+focal", "total", "total_grad")],
)
def test_published_vectors(case, loss, value, gradient):
    found, slope = with_gradient(losses.make_loss(loss, lam=2.0, gamma=2.0), case["logits"], case["label"])
    assert found == pytest.approx(case[value], abs=1e-9)
    assert slope == pytest.approx(case[gradient], abs=1e-7)


@pytest.mark.parametrize("make", ALL)
def test_gradients_are_those_of_finite_differences(make):
    torch.manual_seed(0)
    logits = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([[0, 4, -100], [2, 2, 1]])
    for reduction in ("mean", "sum", "none"):
        assert torch.autograd.gradcheck(lambda z, r=reduction: make(reduction=r)(z, target), (logits,))


def analytic(p, y, m):
    """dL/dz of references and docstring."""
    return [
        (1 - 2 * p[m]) * p[y] * ((k == y) - p[k]) + (1 - 2 * p[y]) * p[m] * ((k == m) - p[k]) for k in range(len(p))
    ]


@pytest.mark.parametrize("label", [0, 1, 2])
def test_on_ties_the_first_class_is_the_top_one(label):
    found, slope = with_gradient(losses.AlignCal(), [1.0, 1.0, 0.0], label)
    p = torch.softmax(torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64), 0).tolist()
    assert found == pytest.approx(p[label] * (1 - p[0]) + (1 - p[label]) * p[0], abs=1e-12)
    assert slope == pytest.approx(analytic(p, label, 0), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-15, 15), min_size=2, max_size=6), st.data())
def test_aligncal_is_in_0_to_1_and_has_the_stated_gradient(logits, data):
    label = data.draw(st.integers(0, len(logits) - 1))
    found, slope = with_gradient(losses.AlignCal(), logits, label)
    assert 0 <= found < 1
    p = torch.softmax(torch.tensor(logits, dtype=torch.float64), 0)
    assert slope == pytest.approx(analytic(p.tolist(), label, int(p.argmax())), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=5).filter(lambda p: sum(p) > 0.01))
def test_of_the_top_answer_it_is_the_ubce_that_the_model_expects(weights):
    """UBCE is q (1 - c) + (1 - q) c; with the top probability as both q and c that is 2 p (1 - p)."""
    p = torch.tensor(weights, dtype=torch.float64)
    p = p / p.sum()
    top = int(p.argmax())
    loss = losses.AlignCal()(p.log()[None].clamp_min(-700), torch.tensor([top])).item()
    assert loss == pytest.approx(2 * p[top].item() * (1 - p[top].item()), abs=1e-9)


def test_descent_can_lower_the_true_logit_where_the_top_probability_is_below_a_half():
    def slope(p, label):
        return with_gradient(losses.AlignCal(), torch.tensor(p, dtype=torch.float64).log().tolist(), label)[1][label]

    assert slope([0.4, 0.3, 0.3], 0) == pytest.approx(2 * (1 - 0.8) * 0.4 * 0.6)
    assert slope([0.3, 0.25, 0.25, 0.2], 1) == pytest.approx(0.25 * (1 - 0.25 - 0.9 + 0.3))
    assert slope([0.6, 0.2, 0.2], 0) < 0


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_extreme_logits_give_no_nan(make, dtype):
    logits = torch.tensor([[1e4, -1e4, 0.0], [0.0, 0.0, 0.0]], dtype=getattr(torch, dtype), requires_grad=True)
    for label in range(3):
        logits.grad = None
        value = make()(logits, torch.tensor([label, label]))
        value.backward()
        assert torch.isfinite(value)
        assert torch.isfinite(logits.grad).all()


def test_focal_without_focus_and_smoothing_are_torchs_cross_entropy():
    torch.manual_seed(1)
    logits, target = torch.randn(4, 7, dtype=torch.float64), torch.tensor([0, 3, -100, 6])
    cross_entropy = torch.nn.functional.cross_entropy
    assert torch.allclose(losses.make_loss("nll")(logits, target), cross_entropy(logits, target))
    assert torch.allclose(
        losses.LabelSmoothing(0.2)(logits, target), cross_entropy(logits, target, label_smoothing=0.2)
    )


def test_ignored_targets_add_nothing():
    logits, target = torch.randn(3, 4), torch.tensor([1, -1, 2])
    each = losses.AlignCal(reduction="none", ignore_index=-1)(logits, target)
    assert each.shape == (3,)
    assert each[1] == 0
    assert losses.AlignCal(ignore_index=-1)(logits, target).item() == pytest.approx(each.sum().item() / 2)
    assert losses.AlignCal(reduction="sum", ignore_index=-1)(logits, target).item() == pytest.approx(each.sum().item())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.Focal(gamma=-1), "gamma"),
        (lambda: losses.FocalAlignCal(lam=-1), "lam"),
        (lambda: losses.LabelSmoothing(1.0), "smoothing"),
        (lambda: losses.AlignCal(reduction="median"), "reduction"),
        (lambda: losses.make_loss("hinge"), "known: aligncal"),
        (lambda: losses.AlignCal()(torch.zeros(2, 3), torch.zeros(3, dtype=torch.long)), "shape"),
        (lambda: losses.AlignCal()(torch.zeros(1, 3), torch.tensor([0.0])), "whole numbers"),
        (lambda: losses.AlignCal()(torch.zeros(1, 3), torch.tensor([3])), "0 to 2"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
