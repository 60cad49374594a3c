"""What a runner saw beyond requests and trials: what stages take, and where answers part."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.domain.bounds import Count, Purpose, Seconds, Share, Short, Small
from app.domain.value import Value


class CostFact(Value):
    """Seconds that one stage took, an entry an occurrence, from trials that do nothing but measure stages: a plain decode step (`step`), a
    proposal of `tokens` drafts a sequence (`draft`), or the forward that verifies them (`verify`), with `sequences` sequences in the batch."""

    kind: Literal["cost"] = "cost"
    stage: Literal["step", "draft", "verify"]
    sequences: Annotated[int, Field(ge=1, le=256)]
    tokens: Small
    seconds: Annotated[tuple[Seconds, ...], Field(min_length=1, max_length=4096)]


class DivergenceFact(Value):
    """Where one speculative answer first parts from plain's, and whether that is numerics. `gap` is how far the lower of the two tokens lies below
    the largest logit there, by a plain forward over the shared text: a `tie` where it is at most `tolerance`. A token is None, and so is `gap`, where
    an answer ends and the other goes on. `withheld`: of a private suite neither tokens nor texts are told, only how far apart they were."""

    kind: Literal["divergence"] = "divergence"
    purpose: Purpose
    trial: Count
    prompt: Short
    seed: Count
    position: Count
    judgement: Literal["tie", "violation"]
    gap: Annotated[float, Field(ge=0, le=10**9)] | None
    tolerance: Annotated[float, Field(ge=0, le=10**9)]
    plain_token: Count | None
    speculative_token: Count | None
    plain_text: Annotated[str, Field(max_length=400)] | None = None
    speculative_text: Annotated[str, Field(max_length=400)] | None = None
    withheld: bool = False

    @model_validator(mode="after")
    def _judged_by_its_gap(self) -> Self:
        said = (self.plain_token, self.speculative_token, self.plain_text, self.speculative_text)
        if self.withheld and any(part is not None for part in said):
            raise ValueError("what is withheld is not told")
        if not self.withheld and self.plain_token == self.speculative_token:
            raise ValueError("answers that part do not go on with the same token")
        if not self.withheld and (self.gap is None) != (self.plain_token is None or self.speculative_token is None):
            raise ValueError("a gap lies between two tokens")
        if (self.judgement == "tie") != (self.gap is not None and self.gap <= self.tolerance):
            raise ValueError(f"a gap of {self.gap} at a tolerance of {self.tolerance} is no {self.judgement}")
        return self


class LearnedFact(Value):
    """What a drafter that chooses as it goes came to, over the last pass of the headline. `left_out` holds, for the attention and the MLP of each
    layer in turn, the share of its `tokens` draft tokens that were drafted without it. Where it chose by costs that it measured, these are the
    seconds of one token's `mlp` and of its `attention`, which grows by `attention_per_entry` with each token before it."""

    kind: Literal["learned"] = "learned"
    tokens: Annotated[int, Field(ge=1, le=10**9)]
    left_out: Annotated[tuple[Share, ...], Field(min_length=2, max_length=2048)]
    attention: Seconds | None = None
    attention_per_entry: Seconds | None = None
    mlp: Seconds | None = None
