# pyright: reportMissingImports=false
# The libraries are those of the extra [train].
"""What the AlignCal loss does to the calibration of a small network on easy-VQA, against the usual ways.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python bench/aligncal.py [--seeds 3] [--resamples 100] [--settings full few noisy]

A convolutional network for the picture and a bag of words for the question are trained on the real train split of
easy-VQA (13 classes) with the negative log likelihood, label smoothing, focal loss, and focal + λ AlignCal; temperature
scaling and Dirichlet calibration are fitted on pictures held out of the train split. Figures are means over the seeds
on the whole test split, of the likeliest answer; intervals are 95 %, pictures resampled. Three settings:

    full    90 % of the train pictures to train on, 10 % to calibrate on
    few     160 train pictures and 40 to calibrate on, until the network knows them by heart: over-confidence is strong
    noisy   800 train pictures, a quarter of whose labels are replaced; 200 with true labels to calibrate on

Needs the extras [train] and [easy-vqa]. No GPU is used; the tensors are so small that more threads only wait.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from rich.table import Table
from torch import Tensor, nn

from demur.console import out, print_table
from evals.benchmarks.easy_vqa import ANSWERS, easy_vqa_questions
from evals.calibration import ace, brier, ece, mce
from evals.intervals import Array, callback_bootstrap
from optimizers.calibrators import NotFitted, fit_dirichlet, fit_options_temperature
from optimizers.losses import AnswerLoss, Focal, FocalAlignCal, LabelSmoothing

LOSSES: dict[str, AnswerLoss] = {
    "NLL": Focal(0.0),
    "label smoothing 0.1": LabelSmoothing(0.1),
    "focal γ=2": Focal(2.0),
    "focal + 2 AlignCal": FocalAlignCal(lam=2.0, gamma=2.0),
}
MEASURES = {"ECE": ece, "ACE": ace, "MCE": mce, "Brier": brier}
CALIBRATORS = ("none", "temperature", "Dirichlet")
PICTURES_AT_ONCE = 8


@dataclass(frozen=True)
class Setting:
    """How much there is to learn from, and for how long."""

    train: int
    """Pictures."""
    calibrate: int
    epochs: int
    noise: float = 0.0
    """Share of the training labels that are replaced by another answer."""


SETTINGS = {
    "full": Setting(train=3600, calibrate=400, epochs=8),
    "few": Setting(train=160, calibrate=40, epochs=40),
    "noisy": Setting(train=800, calibrate=200, epochs=15, noise=0.25),
}


@dataclass(frozen=True)
class Split:
    """Pictures (count, 3, 32, 32), shrunk to half; and of each question words, picture and number of the answer."""

    pictures: Tensor
    words: Tensor
    picture_of: Tensor
    answers: Tensor

    def of(self, pictures: Tensor) -> Tensor:
        """The numbers of the questions about some pictures."""
        return torch.isin(self.picture_of, pictures).nonzero()[:, 0]


class Network(nn.Module):
    """Picture and question, each as 64 numbers, are multiplied; after V. Zhou's easy-VQA baseline."""

    def __init__(self, words: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in ((3, 16), (16, 32), (32, 32)):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.ReLU()]
        self.picture = nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * 4 * 4, 64), nn.ReLU())
        self.question = nn.Sequential(nn.Linear(words, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.answer = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, len(ANSWERS)))

    def forward(self, pictures: Tensor, words: Tensor, picture_of: Tensor) -> Tensor:
        """Logits (questions, 13); each picture is looked at once for all its questions."""
        return self.answer(self.picture(pictures)[picture_of] * self.question(words))


@dataclass(frozen=True)
class Answers:
    """What one trained network says of the test split, with and without calibration."""

    probabilities: dict[str, Array]
    """Calibrator → (questions, 13)."""
    right: NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--settings", nargs="+", metavar="S", choices=SETTINGS, default=list(SETTINGS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    started = time.monotonic()
    vocabulary = sorted({word for row in easy_vqa_questions("train") for word in _words(row.text)})
    train, test = _read("train", vocabulary), _read("test", vocabulary)
    groups = [str(number) for number in test.picture_of.tolist()]
    for name in arguments.settings:
        setting = SETTINGS[name]
        columns = ("accuracy", "confidence", *MEASURES, "ECE of the seeds")
        table = Table("loss", "calibrator", *columns, box=None, pad_edge=False)
        for loss_name, loss in LOSSES.items():
            answers = [_answers(train, test, setting, loss, len(vocabulary), seed) for seed in range(arguments.seeds)]
            for calibrator in CALIBRATORS:
                fitted = all(calibrator in one.probabilities for one in answers)
                cells = _figures(answers, calibrator, groups, arguments.resamples) if fitted else ["not fitted"]
                table.add_row(loss_name, calibrator, *cells)
            print(f"{name}, {loss_name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
        noise = f", {setting.noise:.0%} of the labels wrong" if setting.noise else ""
        out.print(f"{name}: {setting.train} pictures to train on{noise}, {setting.calibrate} to calibrate on")
        print_table(table)
        out.print()
    out.print(f"{len(groups)} questions about {len(set(groups))} pictures; {time.monotonic() - started:.0f} s")


def _read(split: str, vocabulary: Sequence[str]) -> Split:
    rows = list(easy_vqa_questions(split))
    places = {path: number for number, path in enumerate(dict.fromkeys(row.picture for row in rows))}
    pictures = np.stack([np.asarray(Image.open(path).convert("RGB").reduce(2)) for path in places])
    column = {word: number for number, word in enumerate(vocabulary)}
    words = torch.zeros(len(rows), len(vocabulary))
    for number, row in enumerate(rows):
        words[number, [column[word] for word in _words(row.text)]] = 1.0
    return Split(
        torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255 - 0.5,
        words,
        torch.tensor([places[row.picture] for row in rows]),
        torch.tensor([ANSWERS.index(row.answer) for row in rows]),
    )


def _words(question: str) -> list[str]:
    return question.rstrip("?").split()


def _answers(train: Split, test: Split, setting: Setting, loss: AnswerLoss, words: int, seed: int) -> Answers:
    generator = torch.Generator().manual_seed(seed)
    shuffled = torch.randperm(len(train.pictures), generator=generator)
    own, held_out = shuffled[: setting.train], shuffled[setting.train : setting.train + setting.calibrate]
    labels = _noisy(train.answers, setting.noise, generator)
    network = _trained(train, own, labels, setting.epochs, loss, words, seed)
    questions = train.of(held_out)
    known = _probabilities(network, train, questions)
    told = train.answers[questions].numpy()
    plain = _probabilities(network, test, torch.arange(len(test.answers)))
    found = {"none": plain, "temperature": fit_options_temperature(known, told).of_options(plain)}
    with suppress(NotFitted):  # said in the table
        found["Dirichlet"] = fit_dirichlet(known, told).of_options(plain)
    return Answers(found, test.answers.numpy())


def _noisy(answers: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """`answers`, a share of which are replaced by any of the 12 others."""
    hit = torch.rand(len(answers), generator=generator) < share
    shift = torch.randint(1, len(ANSWERS), (len(answers),), generator=generator)
    return torch.where(hit, (answers + shift) % len(ANSWERS), answers)


def _trained(
    data: Split, pictures: Tensor, labels: Tensor, epochs: int, loss: AnswerLoss, words: int, seed: int
) -> Network:
    torch.manual_seed(seed)
    network = Network(words)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    questions_of: dict[int, list[int]] = {}
    for question, picture in enumerate(data.picture_of.tolist()):
        questions_of.setdefault(picture, []).append(question)
    for _ in range(epochs):
        for some in pictures[torch.randperm(len(pictures))].split(PICTURES_AT_ONCE):
            asked = [(place, question) for place, one in enumerate(some.tolist()) for question in questions_of[one]]
            places, questions = torch.tensor(asked).unbind(1)
            optimizer.zero_grad()
            loss(network(data.pictures[some], data.words[questions], places), labels[questions]).backward()
            optimizer.step()
    return network


@torch.no_grad()
def _probabilities(network: Network, data: Split, questions: Tensor) -> Array:
    seen, place = data.picture_of[questions].unique(return_inverse=True)
    logits = network(data.pictures[seen], data.words[questions], place)
    return torch.softmax(logits.double(), dim=-1).numpy()


def _figures(answers: Sequence[Answers], calibrator: str, groups: Sequence[str], resamples: int) -> list[str]:
    """The cells of a row: each figure is the mean over the seeds, and so is it on each resample."""
    sides = [
        (one.probabilities[calibrator].max(1), one.probabilities[calibrator].argmax(1) == one.right) for one in answers
    ]

    def again(cases: Sequence[int]) -> dict[str, float | None]:
        drawn = np.asarray(cases, dtype=np.intp)
        found = {"accuracy": float(np.mean([right[drawn].mean() for _, right in sides]))}
        found["confidence"] = float(np.mean([sure[drawn].mean() for sure, _ in sides]))
        for name, measure in MEASURES.items():
            found[name] = float(np.mean([measure(sure[drawn], right[drawn]) for sure, right in sides]))
        return dict(found)

    everyone = range(len(groups))
    intervals = callback_bootstrap(everyone, groups, again, resamples=resamples)
    cells = []
    for name, value in again(everyone).items():
        interval = intervals[name]
        around = f" ({100 * interval.low:.1f}-{100 * interval.high:.1f})" if interval else ""
        cells.append(f"{100 * (value or 0.0):.1f}{around}")
    eces = [100 * ece(sure, right) for sure, right in sides]
    return [*cells, f"{min(eces):.1f}-{max(eces):.1f}"]


if __name__ == "__main__":
    main()
