"""How the API answers where nothing else is said."""

from typing import Any

from fastapi.responses import JSONResponse

from app.reports.spoken import spoken


class SpokenResponse(JSONResponse):
    """JSON whose sentences are said in full."""

    def render(self, content: Any) -> bytes:
        return super().render(spoken(content))
