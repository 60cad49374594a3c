"""Ends a draft behind the first token that the drafter itself is not sure of."""

from typing import Annotated

from pydantic import Field

from runners.controllers.base import Controller, Params


class ConfidenceParams(Params):
    length: Annotated[int, Field(ge=1, le=32, title="Longest draft")] = 8
    threshold: Annotated[
        float, Field(ge=0, le=1, title="Stop below", description="the drafter's own probability of its token; the token itself stays in the draft")
    ] = 0.4


class Confidence(Controller):
    """A constant length that ends early (transformers' `assistant_confidence_threshold`, 0.4 there too, but here it stays as it is set).

    The stop comes behind the token: a token that was drawn and then left out because it was improbable would have been drawn from another law than
    the verifier is told, and what is said would change.
    """

    name = "confidence"
    summary = "ends a draft behind the first token that the drafter gave too little probability"
    Params = ConfidenceParams
    stops_drafts = True
    params: ConfidenceParams

    @property
    def longest(self) -> int:
        return self.params.length

    def begin(self, slot: int) -> None:
        pass

    def length(self, slot: int) -> int:
        return self.params.length

    def proceeds(self, slot: int, confidence: float) -> bool:
        return confidence >= self.params.threshold

    def observe(self, slot: int, drafted: int, kept: int) -> None:
        pass
