"""Where facts are written first: a file of JSON lines that outlives both the child that writes it and the parent that sends it."""

from pathlib import Path

from app.domain.facts import AnyFact


class Spool:
    """Appends facts to `facts.jsonl` of its folder, one line each, flushed at once."""

    def __init__(self, folder: Path) -> None:
        self._stream = (folder / "facts.jsonl").open("a", encoding="utf-8")

    def write(self, *facts: AnyFact) -> None:
        for fact in facts:
            self._stream.write(fact.model_dump_json(exclude_defaults=False) + "\n")
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()


class SpoolReader:
    """Reads whole lines that were added since the last read."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "facts.jsonl"
        self._offset = 0

    def new_lines(self) -> list[str]:
        if not self._path.exists():
            return []
        with self._path.open("rb") as stream:
            stream.seek(self._offset)
            content = stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode().splitlines()
