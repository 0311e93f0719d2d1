"""The objects that scenes are made of, and the pairs of them that are easily confused.

The five causes, and the first pair of most of them, are those of the visual-debate paper (section 4, figure 1):
ski pole taken for a fork, plate for a bowl, backpack for a handbag, the color orange for the fruit, a laptop
inferred from a keyboard, a bed from a mattress.
"""

from dataclasses import dataclass
from typing import Literal

from signatures.types import Cause

Place = Literal["ground", "behind", "shelf", "air", "wall", "water"]
"""Where a thing can be: on the ground (or the table top), behind the table, on a shelf, flying, hanging, afloat."""

BRIGHT = ("red", "blue", "green", "yellow", "orange", "pink", "lime", "plum")
CALM = ("white", "gray", "blue", "brown", "orange", "green")
METAL = ("gray", "black")

NAMESAKES = ("orange", "lime", "plum")
"""Colors that are also the name of a fruit: whoever misunderstands the question sees the fruit."""


@dataclass(frozen=True)
class Kind:
    """What all things of one name have in common. Width and height: fractions of the picture, when near."""

    shape: str
    colors: tuple[str, ...]
    width: float
    height: float
    places: tuple[Place, ...] = ("ground",)


KINDS: dict[str, Kind] = {
    "apple": Kind("round", ("red", "green"), 0.092, 0.127, ("ground", "shelf")),
    "armchair": Kind("boxy with armrests", BRIGHT, 0.27, 0.36),
    "backpack": Kind("rounded box", BRIGHT, 0.13, 0.21),
    "banana": Kind("curved", ("yellow",), 0.175, 0.15, ("ground", "shelf")),
    "baseball glove": Kind("hand-shaped", ("brown",), 0.1, 0.14),
    "bench": Kind("long and low", ("brown", "green", "gray"), 0.32, 0.2),
    "bicycle": Kind("two wheels and a frame", BRIGHT, 0.25, 0.26),
    "bird": Kind("winged", ("white", "gray", "brown"), 0.12, 0.1, ("air",)),
    "boat": Kind("hull with a sail", ("white", "red", "blue", "orange"), 0.12, 0.19, ("water",)),
    "book": Kind("rectangular", BRIGHT, 0.18, 0.144, ("ground", "shelf")),
    "bottle": Kind("tall and narrow", ("green", "blue", "orange", "lime"), 0.06, 0.2, ("ground", "shelf")),
    "bowl": Kind("half round", CALM, 0.208, 0.143, ("ground", "shelf")),
    "bucket": Kind("tapered cylinder", BRIGHT, 0.1, 0.14),
    "buoy": Kind("round", ("red", "orange", "yellow"), 0.08, 0.11, ("water",)),
    "bus": Kind("long box on wheels", ("red", "yellow", "blue", "orange"), 0.38, 0.28),
    "car": Kind("low box on wheels", BRIGHT, 0.28, 0.18),
    "cat": Kind("four-legged", ("black", "gray", "orange"), 0.15, 0.17),
    "cell phone": Kind("small rectangle", ("black", "pink", "white"), 0.055, 0.143),
    "clock": Kind("round", ("white", "red", "blue"), 0.13, 0.17, ("wall",)),
    "computer monitor": Kind("wide rectangle on a stand", ("black", "gray"), 0.28, 0.32),
    "computer mouse": Kind("small oval", ("black", "gray", "white"), 0.055, 0.1),
    "cooler": Kind("box with a lid", ("blue", "red", "orange"), 0.19, 0.19),
    "couch": Kind("long box with armrests", BRIGHT, 0.42, 0.29),
    "crab": Kind("wide with claws", ("red", "orange"), 0.11, 0.08),
    "cup": Kind("small cylinder with a handle", CALM, 0.099, 0.121, ("ground", "shelf")),
    "cushion": Kind("soft square", BRIGHT, 0.13, 0.15),
    "dog": Kind("four-legged", ("brown", "black", "white"), 0.2, 0.2),
    "donut": Kind("ring", ("pink", "brown"), 0.12, 0.144, ("ground", "shelf")),
    "fire hydrant": Kind("short post", ("red", "yellow"), 0.08, 0.17),
    "frisbee": Kind("flat disc", BRIGHT, 0.14, 0.09, ("ground", "air")),
    "game controller": Kind("two-handled", ("black", "white", "plum"), 0.1, 0.08, ("ground", "shelf")),
    "goal": Kind("wide frame with a net", ("white",), 0.4, 0.33),
    "guitar": Kind("rounded body with a long neck", ("brown", "red", "orange"), 0.13, 0.42),
    "handbag": Kind("trapezoid with a handle", BRIGHT, 0.13, 0.19),
    "hot dog": Kind("sausage in a bun", ("brown",), 0.195, 0.13),
    "kettle": Kind("rounded with a spout", ("gray", "red", "blue"), 0.213, 0.263),
    "keyboard": Kind("long flat rectangle", METAL, 0.322, 0.115),
    "kite": Kind("diamond with a tail", BRIGHT, 0.13, 0.26, ("air",)),
    "knife": Kind("long and thin", ("gray",), 0.25, 0.062),
    "lamp": Kind("shade on a stem", ("yellow", "white", "orange", "red"), 0.13, 0.29),
    "mailbox": Kind("box on a post", ("red", "blue"), 0.1, 0.28),
    "mattress": Kind("thick flat rectangle", ("white", "blue", "gray"), 0.4, 0.15),
    "microwave": Kind("box with a window", ("white", "gray", "black"), 0.312, 0.264),
    "motorcycle": Kind("two thick wheels and a body", ("red", "black", "blue", "orange"), 0.27, 0.23),
    "orange": Kind("round", ("orange",), 0.092, 0.127, ("ground", "shelf")),
    "parking meter": Kind("head on a thin post", ("gray", "blue"), 0.06, 0.3),
    "person": Kind("upright", BRIGHT, 0.14, 0.5),
    "plate": Kind("flat disc", CALM, 0.27, 0.121),
    "potted plant": Kind("leaves in a pot", ("green",), 0.13, 0.25, ("ground", "shelf")),
    "printer": Kind("box with a paper tray", ("gray", "black", "white"), 0.276, 0.253),
    "remote": Kind("small and narrow", ("black", "gray"), 0.044, 0.143),
    "sandcastle": Kind("towers", ("yellow",), 0.2, 0.2),
    "seashell": Kind("fan-shaped", ("pink", "white"), 0.07, 0.08),
    "skateboard": Kind("long flat board on wheels", BRIGHT, 0.23, 0.08),
    "ski pole": Kind("long and thin", ("black", "gray"), 0.045, 0.3),
    "snowboard": Kind("long rounded board", BRIGHT, 0.08, 0.38),
    "sports ball": Kind("round", ("white", "orange", "red"), 0.09, 0.12),
    "stapler": Kind("small wedge", ("black", "red", "blue"), 0.1, 0.07),
    "starfish": Kind("five-pointed", ("orange", "red", "pink"), 0.1, 0.13),
    "stop sign": Kind("octagon on a post", ("red",), 0.12, 0.38),
    "suitcase": Kind("upright box with a handle", BRIGHT, 0.14, 0.24),
    "sun lounger": Kind("long and reclined", ("white", "blue", "yellow"), 0.34, 0.2),
    "surfboard": Kind("long pointed board", BRIGHT, 0.09, 0.44),
    "teddy bear": Kind("soft and rounded", ("brown",), 0.14, 0.22, ("ground", "shelf")),
    "tennis racket": Kind("oval on a handle", BRIGHT, 0.11, 0.33),
    "toaster": Kind("rounded box with slots", ("gray", "red"), 0.213, 0.213),
    "towel": Kind("flat rectangle", BRIGHT, 0.26, 0.1),
    "traffic cone": Kind("cone", ("orange",), 0.1, 0.18),
    "traffic light": Kind("three lamps on a post", ("black",), 0.07, 0.44),
    "trash can": Kind("cylinder with a lid", ("gray", "green"), 0.12, 0.22),
    "truck": Kind("cab with a large box", ("white", "blue", "red", "orange"), 0.38, 0.26),
    "tv": Kind("wide rectangle", ("black",), 0.32, 0.27),
    "umbrella": Kind("dome on a pole", BRIGHT, 0.26, 0.4),
    "vase": Kind("curved vessel", ("blue", "white", "red", "plum"), 0.09, 0.2, ("ground", "shelf")),
    "whisk": Kind("wire loops on a handle", ("gray",), 0.06, 0.192),
    "wine glass": Kind("bowl on a stem", ("white",), 0.084, 0.216, ("ground", "shelf")),
}

SCENARIOS: dict[str, tuple[str, ...]] = {
    "sports": (
        "person", "ski pole", "snowboard", "skateboard", "tennis racket", "frisbee", "sports ball", "baseball glove",
        "goal", "bench", "backpack", "bottle", "bird", "bicycle", "traffic cone",
    ),
    "kitchen": (
        "person", "plate", "bowl", "cup", "knife", "whisk", "microwave", "kettle", "toaster", "banana", "apple",
        "orange", "hot dog", "donut", "bottle", "wine glass", "clock", "potted plant",
    ),
    "office": (
        "person", "keyboard", "computer monitor", "computer mouse", "cell phone", "lamp", "book", "stapler", "cup",
        "potted plant", "printer", "backpack", "handbag", "clock", "bottle", "teddy bear",
    ),
    "street": (
        "person", "car", "bus", "truck", "bicycle", "motorcycle", "traffic light", "stop sign", "fire hydrant",
        "parking meter", "bench", "umbrella", "handbag", "suitcase", "dog", "traffic cone", "mailbox", "trash can",
        "bird", "skateboard",
    ),
    "living room": (
        "person", "couch", "armchair", "tv", "remote", "game controller", "mattress", "cushion", "lamp", "vase",
        "potted plant", "teddy bear", "cat", "book", "clock", "guitar", "handbag", "cup",
    ),
    "beach": (
        "person", "surfboard", "umbrella", "kite", "starfish", "sun lounger", "towel", "sandcastle", "bucket", "boat",
        "buoy", "bird", "sports ball", "cooler", "seashell", "crab", "bottle", "handbag",
    ),
}  # fmt: skip
"""What may be in the pictures of each scenario."""


@dataclass(frozen=True)
class Confusion:
    """Whoever sees `thing` may believe that `object` is there, for this reason."""

    thing: str
    object: str
    cause: Cause


def _confusions(cause: Cause, *pairs: str) -> tuple[Confusion, ...]:
    """Confusions with one cause, each written as `what is there > what is seen`."""
    split = [pair.split(" > ") for pair in pairs]
    return tuple(Confusion(thing, object_, cause) for thing, object_ in split)


CONFUSIONS: tuple[Confusion, ...] = (
    # Only small things: they are hard to make out.
    *_confusions(
        "perception",
        "ski pole > fork", "whisk > fork", "sports ball > apple", "computer mouse > cell phone", "stapler > remote",
        "remote > cell phone", "game controller > remote", "bird > airplane", "fire hydrant > person", "seashell > egg",
        "crab > spider", "buoy > sports ball", "boat > surfboard", "cup > candle", "apple > tomato",
        "starfish > flower", "traffic cone > tent", "bottle > candle", "frisbee > hat", "knife > pen",
        "cell phone > wallet", "parking meter > lamp",
    ),
    *_confusions(
        "visual similarity",
        "plate > bowl", "bowl > plate", "frisbee > plate", "snowboard > surfboard", "surfboard > snowboard",
        "skateboard > snowboard", "computer monitor > tv", "tv > computer monitor", "clock > plate", "kite > umbrella",
        "umbrella > tent", "donut > bagel", "microwave > tv", "mailbox > trash can", "trash can > bucket",
        "bucket > cup", "motorcycle > bicycle", "sandcastle > cake", "tennis racket > frying pan", "book > laptop",
        "lamp > umbrella", "cushion > handbag", "towel > rug", "banana > boomerang",
    ),
    *_confusions(
        "conceptual similarity",
        "backpack > handbag", "handbag > backpack", "suitcase > handbag", "potted plant > vase", "vase > bottle",
        "cup > wine glass", "wine glass > cup", "truck > bus", "bus > train", "armchair > couch", "couch > bed",
        "kettle > teapot", "toaster > oven", "microwave > oven", "bench > couch", "sun lounger > bench",
        "dog > cat", "cat > dog", "cooler > refrigerator", "guitar > violin", "book > newspaper",
        "printer > fax machine", "snowboard > skateboard", "keyboard > piano",
    ),
    *_confusions(
        "misunderstood question",
        "hot dog > dog", "teddy bear > bear", "starfish > fish", "fire hydrant > fire", "baseball glove > baseball",
    ),
    *_confusions(
        "unreasonable inference",
        "keyboard > laptop", "mattress > bed", "tennis racket > tennis ball", "baseball glove > baseball bat",
        "goal > sports ball", "bench > person", "plate > fork", "knife > fork", "kettle > cup", "traffic light > car",
        "stop sign > car", "parking meter > car", "bicycle > helmet", "game controller > tv", "remote > tv",
        "bucket > shovel", "towel > person", "sun lounger > person", "printer > laptop", "surfboard > person",
        "cushion > couch", "motorcycle > helmet", "bottle > wine glass", "sports ball > goal",
    ),
)  # fmt: skip

ELSEWHERE: tuple[str, ...] = (
    "giraffe", "elephant", "zebra", "cow", "sheep", "horse", "toilet", "toothbrush", "hair dryer", "pizza",
    "sandwich", "carrot", "dinosaur", "submarine",
)  # fmt: skip
"""Objects that are in no scene and that nothing there hints at."""

UNCLEAR: frozenset[tuple[str, str]] = frozenset(
    {
        ("sports ball", "tennis ball"),
        ("sports ball", "baseball"),
        ("potted plant", "flower"),
        ("traffic light", "lamp"),
    }
)
"""(present, absent): pairs for which a reasonable person may dispute that the second is absent."""
