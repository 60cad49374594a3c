"""The one base of every value that crosses a process border."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Frozen; unknown fields are refused and so are NaN and infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
