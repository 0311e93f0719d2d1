"""Build POPE on one's own pictures: balanced yes/no questions about objects, in three settings.

Li et al. 2023, "Evaluating Object Hallucination in Large Vision-Language Models" (https://arxiv.org/abs/2305.10355,
section 5.1): half of the questions about a picture ask for objects that are there, half for objects that are not. The
absent ones are drawn at random, or are the most frequent of the data set (popular), or those that are most often seen
together with what is in the picture (adversarial).

How this relates to the official code, `pope` and `compute_co_occurrence` in
https://github.com/AoiDragon/POPE/blob/7cf0a02d562128c9633c10f531e8356f79f6cbff/utils.py:

- The code pairs each absent object with one present object and ranks by how often it is seen with *that* one; the
  paper ranks by how often it is seen with the objects of the picture. `rank_by="image"`, the default, follows the
  paper; `rank_by="object"` follows the code, and so the published files.
- The code breaks ties by what it met first and fills up at random; here a tie goes to the more frequent object, then
  to the name that sorts first, and nothing is left to fill.
- The code counts over the pictures that it drew; here over all pictures of the file, as the paper says.
- The code asks for the first objects of a list; here they are drawn by the seed.
- The published files say "an traffic light" and "a skis"; here the article fits the word, plurals keep "a".
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evals.object_annotations import AnnotatedImage, read_annotations
from programs.errors import InputError

Setting = Literal["random", "popular", "adversarial"]
RankBy = Literal["image", "object"]
SETTINGS: tuple[Setting, ...] = get_args(Setting)


@dataclass(frozen=True)
class PopeBuild:
    """What was built: the files by setting, and how many pictures they are about."""

    files: dict[str, Path]
    """Setting → its questions, JSONL as published: `question_id`, `image`, `text`, `label`."""
    ground_truth: Path
    """`image` and `objects` of every picture that was read; building from it again gives the same files."""
    images: int
    skipped: int
    """Pictures left out because they show too few objects."""
    too_full: int
    """Pictures left out because they show so many of the objects that too few absent ones are left to ask for."""
    questions: int
    """Questions in each file, half of them with the label yes."""


@dataclass(frozen=True)
class ObjectStatistics:
    """How often objects are seen in a data set, alone and together, counted in pictures."""

    frequency: Mapping[str, int]
    together: Mapping[str, Mapping[str, int]]
    """Object → other object → pictures that show both."""

    @classmethod
    def of(cls, images: Iterable[AnnotatedImage]) -> ObjectStatistics:
        frequency: Counter[str] = Counter()
        together: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for entry in images:
            frequency.update(entry.objects)
            for name in entry.objects:
                together[name].update(other for other in entry.objects if other != name)
        return cls(frequency, together)

    def ranked(self, candidates: Iterable[str], beside: Sequence[str] = ()) -> list[str]:
        """`candidates`, those first that are most often seen with the objects of `beside` (added up over them),
        then the more frequent, then by name."""

        seen_together: Counter[str] = Counter()
        for other in beside:
            seen_together.update(self.together[other])
        return sorted(candidates, key=lambda name: (-seen_together[name], -self.frequency[name], name))


def build_pope(
    annotations: Path,
    out: Path,
    *,
    source: str,
    seed: int = 0,
    questions_per_image: int = 6,
    settings: Sequence[Setting] = SETTINGS,
    minimum_objects: int = 3,
    limit: int | None = None,
    rank_by: RankBy = "image",
) -> PopeBuild:
    """Write `{source}_pope_{setting}.json` for each setting, and `ground_truth.json`, into the folder `out`.

    The settings share their questions with the label yes, as the published files do. The same seed gives the same
    bytes on every machine; the order of pictures in the file changes the order of questions only.

    Args:
        annotations: COCO instances or POPE's lines; see `evals.object_annotations`.
        source: Name of the data set, as `coco`; becomes part of the file names and of the cases' ids.
        questions_per_image: Even; half are asked for objects that are there.
        minimum_objects: Pictures with fewer kinds of objects are skipped. At least `questions_per_image` / 2 count.
        limit: At most this many pictures, drawn by the seed; frequencies are still those of all.
        rank_by: What adversarial objects are often seen with: any object of the `image`, or the one `object` that
            the question before asks for.

    Raises:
        InputError: an argument or the file is wrong; no picture has enough objects, or none of them enough absent
            ones; or a file in `out` has different content, which is never replaced.
    """
    _check_arguments(source, questions_per_image, settings, minimum_objects, limit, rank_by)
    pairs = questions_per_image // 2
    everything = read_annotations(annotations)
    if not everything:
        raise InputError(f"{annotations}: there are no pictures in it")
    enough = [entry for entry in everything if len(entry.objects) >= max(minimum_objects, pairs)]
    if not enough:
        most = max(len(entry.objects) for entry in everything)
        raise InputError(
            f"{annotations}: none of {len(everything)} pictures shows {max(minimum_objects, pairs)} kinds of objects "
            f"(the most is {most}); lower --questions (`questions_per_image`, now {questions_per_image}) or "
            f"--minimum-objects (`minimum_objects`, now {minimum_objects})"
        )
    statistics = ObjectStatistics.of(everything)
    kinds = len(statistics.frequency)
    chosen = usable = [entry for entry in enough if kinds - len(entry.objects) >= pairs]
    if not usable:
        raise InputError(
            f"{annotations}: each picture with enough objects shows so many of the {kinds} kinds that fewer than "
            f"{pairs} absent ones are left to ask for; lower --questions (`questions_per_image`, now "
            f"{questions_per_image}) or use annotations with more kinds of objects"
        )
    if limit is not None:
        kept = set(_draw([entry.image for entry in usable], limit, seed, "images"))
        chosen = [entry for entry in usable if entry.image in kept]
    rows: dict[str, list[dict[str, object]]] = {setting: [] for setting in settings}
    for entry in chosen:
        absent = set(statistics.frequency) - set(entry.objects)
        present = _draw(entry.objects, pairs, seed, "present", entry.image)
        for setting in settings:
            if setting == "random":
                missing = _draw(absent, pairs, seed, "absent", entry.image)
            elif setting == "popular":
                missing = statistics.ranked(absent)[:pairs]
            elif rank_by == "image":
                missing = statistics.ranked(absent, beside=entry.objects)[:pairs]
            else:
                missing = _seen_with_each(present, absent, statistics)
            for there, not_there in zip(present, missing, strict=True):
                _ask(rows[setting], entry.image, there, "yes")
                _ask(rows[setting], entry.image, not_there, "no")
    files = {setting: out / f"{source}_pope_{setting}.json" for setting in settings}
    ground_truth = out / "ground_truth.json"
    contents = {files[setting]: _lines(rows[setting]) for setting in settings}
    contents[ground_truth] = _lines({"image": entry.image, "objects": list(entry.objects)} for entry in everything)
    _write_new(contents)
    return PopeBuild(
        files,
        ground_truth,
        images=len(chosen),
        skipped=len(everything) - len(enough),
        too_full=len(enough) - len(usable),
        questions=len(chosen) * questions_per_image,
    )


def question(name: str) -> str:
    """The question of POPE about an object.

    >>> question("umbrella"), question("traffic light"), question("hourglass"), question("unicycle")
    ('Is there an umbrella in the image?', 'Is there a traffic light in the image?', \
'Is there an hourglass in the image?', 'Is there a unicycle in the image?')
    """
    return f"Is there {article(name)} {name} in the image?"


_VOWEL_SOUND = re.compile(
    r"(?!uni(?![mn])|us[aeiu]|usb|ut[ei]|u[kv]|ur[ai]|eu|ewe|one\b|ouija)[aeiou]"  # not where it sounds as "you", "w"
    r"|hour|heir|honest|honou?r"
    r"|[fhlmnrsx]\b",  # a letter by itself, as in x-ray
    re.IGNORECASE,
)


def article(name: str) -> Literal["a", "an"]:
    """The indefinite article by sound, as far as spelling tells: `an hourglass`, `a unicycle`."""
    return "an" if _VOWEL_SOUND.match(name) else "a"


def _ask(rows: list[dict[str, object]], image: str, name: str, label: Literal["yes", "no"]) -> None:
    rows.append({"question_id": len(rows) + 1, "image": image, "text": question(name), "label": label})


def _seen_with_each(present: Sequence[str], absent: set[str], statistics: ObjectStatistics) -> list[str]:
    """For each present object the absent one that is most often seen with it and not yet taken."""
    taken: list[str] = []
    for name in present:
        taken.append(statistics.ranked(absent.difference(taken), beside=[name])[0])
    return taken


def _draw(names: Iterable[str], count: int, seed: int, *purpose: str) -> list[str]:
    """`count` of `names`, drawn without replacement: those with the smallest hash.

    Unlike `random.sample`, this is the same in every version of Python, whatever the order of `names`, and what is
    drawn for one picture does not depend on the others.
    """

    start = hashlib.sha256(json.dumps([seed, *purpose]).encode())

    def key(name: str) -> bytes:
        digest = start.copy()
        digest.update(name.encode(errors="surrogatepass"))
        return digest.digest()

    return sorted(names, key=key)[:count]


def _lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _write_new(contents: Mapping[Path, bytes]) -> None:
    """Write each file at once or not at all; refuse all if one is there with other content."""
    for path, content in contents.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == content):
            raise InputError(f"{path} is there already with different content; give another folder or remove it")
    for path, content in contents.items():
        if path.exists():
            continue
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(unfinished, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from error


def _check_arguments(
    source: str,
    questions_per_image: int,
    settings: Sequence[str],
    minimum_objects: int,
    limit: int | None,
    rank_by: str,
) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", source, re.ASCII) or "_pope_" in source:
        raise InputError(f"source must be letters, digits, `.`, `-` and `_`, as `coco`; found {source!r}")
    if questions_per_image < 2 or questions_per_image % 2:
        raise InputError(
            f"--questions (`questions_per_image`) must be even and at least 2; found {questions_per_image}"
        )
    if not settings or len(set(settings)) < len(settings) or not set(settings) <= set(SETTINGS):
        raise InputError(f"settings must be some of {', '.join(SETTINGS)}, each once; found {', '.join(settings)!r}")
    if minimum_objects < 1:
        raise InputError(f"--minimum-objects (`minimum_objects`) must be at least 1; found {minimum_objects}")
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1; found {limit}")
    if rank_by not in get_args(RankBy):
        raise InputError(f"rank_by must be one of {', '.join(get_args(RankBy))}; found {rank_by!r}")
