"""`demur estimate`: what a run will cost, before a cent is spent."""

from typing import Annotated

import typer
from rich.table import Table

from demur.commands import options as o
from demur.console import out, print_json, print_table
from demur.models import make_lm
from demur.pricing import price_of_tokens
from demur.setup import SearchOptions, build_program, load_cases, questions_of
from evals.estimate import PUBLISHED_DISAGREEMENT, Amount
from evals.estimate import estimate as estimate_run


def estimate(
    program: o.ProgramName = None,
    benchmark: o.BenchmarkName = "scenes",
    data: o.Data = None,
    images: o.Images = None,
    limit: o.Limit = None,
    corpus: o.Corpus = None,
    index: o.Index = None,
    top_k: o.TopK = None,
    confidence: o.ConfidenceOption = None,
    compiled: o.Compiled = None,
    set_: o.Set = None,
    imitation: o.Imitation = None,
    model: o.Model = None,
    price: o.Price = None,
    sample: Annotated[int, typer.Option(min=1, help="Cases that are rehearsed, without a model.")] = 8,
    disagreement: Annotated[
        float, typer.Option(min=0, max=1, show_default="0.09", help="Share of cases that take the longest way.")
    ] = PUBLISHED_DISAGREEMENT,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Estimate calls, tokens and dollars of `evaluate`: the least, the likely and the most. Calls no model."""
    debate = build_program(
        program,
        set_ or (),
        imitation=imitation,
        compiled=compiled,
        options={"top_k": top_k, "confidence": confidence, "questions": questions_of(benchmark)},
    )
    found, cases = load_cases(benchmark, data or (), images=images, limit=limit, seed=seed)
    SearchOptions(corpus, tuple(index or ())).given_to(debate, found, seed)
    # A key is not needed: the model only tells its price.
    lm = make_lm(model, price=price, api_key="none") if model else None
    prices = price_of_tokens(lm)
    estimated = estimate_run(debate, cases, price=prices, sample=sample, disagreement=disagreement, seed=seed)
    if as_json:
        print_json(estimated.model_dump())
        return
    table = Table("", "least", "likely", "most", box=None, pad_edge=False)
    table.add_row("calls", *_numbers(estimated.calls))
    table.add_row("prompt tokens", *_numbers(estimated.prompt_tokens))
    table.add_row("completion tokens", *_numbers(estimated.completion_tokens))
    if estimated.cost_usd is not None:
        table.add_row("dollars", *(f"{value:,.2f}" for value in estimated.cost_usd.model_dump().values()))
    print_table(table)
    out.print(
        f"{estimated.cases:,} cases, {estimated.sampled} rehearsed; likely: {100 * estimated.disagreement:.0f} % of "
        "them take the longest way"
    )
    if estimated.cost_usd is None:
        out.print("dollars: the price is not known; name a priced --model, or give --price IN,OUT")


def _numbers(amount: Amount) -> list[str]:
    return [f"{value:,.0f}" for value in amount.model_dump().values()]
