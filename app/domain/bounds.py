"""Sizes and words that every fact keeps to."""

from typing import Annotated, Literal

from pydantic import Field

Count = Annotated[int, Field(ge=0, le=10**9)]
Seconds = Annotated[float, Field(ge=0, le=10**7)]
Share = Annotated[float, Field(ge=0, le=1)]
# SHA-256 in hexadecimal.
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Short = Annotated[str, Field(max_length=256)]
Small = Annotated[int, Field(ge=0, le=32767)]
# A word of a command line.
Word = Annotated[str, Field(max_length=1024)]

Arm = Literal["plain", "speculative", "control"]
Purpose = Literal["headline", "losslessness", "profile"]
