"""`demur models check`: is a model there, and what can it do."""

from typing import Annotated

import typer

from demur.commands import options as o
from demur.console import out, print_json
from demur.models import check_model
from demur.setup import ModelOptions

app = typer.Typer(help="Models.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _models() -> None:
    """Keeps `check` a verb of its own."""


@app.command()
def check(
    models: Annotated[list[str], typer.Argument(metavar="M [M …]", help="Model strings, as for --model.")],
    api_base: o.ApiBase = None,
    timeout_s: o.TimeoutS = 30.0,
    as_json: o.AsJson = False,
) -> None:
    """Send each model a tiny request: does it answer, how fast, with log probabilities, with structured output?"""
    done = [check_model(ModelOptions(api_base=api_base, timeout_s=timeout_s, retries=0).lm(model)) for model in models]
    if as_json:
        print_json({"models": [found.model_dump() | {"ok": found.ok} for found in done]})
    else:
        for found in done:
            able = f"log probabilities: {_yes(found.logprobs)}; structured output: {_yes(found.response_format)}"
            said = found.error or f"answers in {found.latency_s:.2f} s; {able}"
            out.print(f"{found.model}: {said}", markup=False)
    if not all(found.ok for found in done):
        raise typer.Exit(1)


def _yes(able: bool) -> str:
    return "yes" if able else "no"
