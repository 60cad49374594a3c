"""Why a run has measured nothing."""


class Unmeasurable(ValueError):
    """The run cannot be measured as it is asked for. `code` is a word for a program; `again` says that the same run may succeed another time."""

    again: bool = False

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
