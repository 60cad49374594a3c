"""Which tokenizer cut the text, by content and not by name."""

from typing import Annotated

from pydantic import Field

from app.domain.value import Value


class TokenizerIdentity(Value):
    """`fingerprint` is SHA-256 over the canonical tokenizer (definitions § 5); `vocabulary` counts its entries without padding rows."""

    name: Annotated[str, Field(min_length=1, max_length=256)]
    fingerprint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    vocabulary: Annotated[int, Field(ge=1)]

    @property
    def short(self) -> str:
        return f"{self.name}·{self.fingerprint[:6]}"
