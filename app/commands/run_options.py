"""The options of `bezmen submit`, in the order of its help."""

from typing import Annotated

import typer

Texts = list[str]
NONE: Texts = []

Text = Annotated[str | None, typer.Option()]
Number = Annotated[int | None, typer.Option()]
Real = Annotated[float | None, typer.Option()]
Params = Annotated[Texts, typer.Option(help="NAME=VALUE; may be repeated.")]

Spec = Annotated[str | None, typer.Argument(help="The whole spec as JSON, @file, or - for standard input; options override it.")]
Model = Annotated[str | None, typer.Option(help="SOURCE:NAME, where SOURCE is hub, path, package or zoo.")]
File = Annotated[str | None, typer.Option(help="File within the model.")]
Dtype = Annotated[str | None, typer.Option(help="auto, float32, bfloat16 or float16.")]
Engine = Annotated[str | None, typer.Option(help="transformers, our own loop, or the alias of an engine of a runner.")]
Compile = Annotated[bool | None, typer.Option("--compile/--eager", help="Decode through compiled forwards; compiling is not timed.")]
Drafter = Annotated[str | None, typer.Option(help="For instance ngram or layerskip.")]
Language = Annotated[str | None, typer.Option(help="Language of the prompts, such as ru or en. No default.")]
Tokenizer = Annotated[str | None, typer.Option(help="Repository, package:NAME, zoo:NAME or fingerprint of the tokenizer. No default.")]
Profiles = Annotated[Texts, typer.Option(help="May be repeated; without it all but those answered in another language.")]
Limit = Annotated[int | None, typer.Option(help="Prompts at most.")]
ChatTemplate = Annotated[str | None, typer.Option(help="model or none.")]
Concurrency = Annotated[int | None, typer.Option(help="Requests at once.")]
Load = Annotated[str | None, typer.Option(help="closed, or open: requests arrive at a rate.")]
Rate = Annotated[float | None, typer.Option(help="Requests that arrive a second, in an open load.")]
Burstiness = Annotated[float | None, typer.Option(help="Shape of the gaps between arrivals: 1 is Poisson, less is burstier.")]
Stop = Annotated[Texts, typer.Option(help="A stop string; may be repeated.")]
IgnoreEos = Annotated[bool | None, typer.Option("--ignore-eos/--heed-eos")]
Trials = Annotated[int | None, typer.Option(help="Blocks of two plain and two speculative passes.")]
Margin = Annotated[float | None, typer.Option(help="How much faster it must be to pay.")]
Labels = Annotated[Texts, typer.Option(help="NAME=VALUE that the runner must have; may be repeated.")]
Key = Annotated[str | None, typer.Option(help="The same key never makes a second run.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the answer, as `bezmen wait` does.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print the number of the run alone.")]
