"""Server-sent events out of a stream of bytes (WHATWG HTML § 9.2), as far as engines use them: the data of each event."""

from runners.engine.external.faults import EngineFault

LONGEST = 8 << 20


class Events:
    """Fed with bytes as they come. Lines end at CR, LF or both and nowhere else: a text may hold U+2028, at which `str.splitlines` would cut it. A
    character that is split between two pieces stays whole, since bytes are joined before they are decoded. Raises EngineFault for an event of more
    than LONGEST bytes."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The events that `piece` completes; comments, with which servers keep a silent connection open, are none."""
        joined = self._rest + piece
        # A CR at the end may be the first half of a line's end.
        held = joined[-1:] == b"\r"
        lines = joined[: -1 if held else None].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + (b"\r" if held else b"")
        found = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                found.append(b"\n".join(self._data))
                self._data = []
        if len(self._rest) + sum(map(len, self._data)) > LONGEST:
            raise EngineFault("engine_unreadable", f"the engine sent an event of more than {LONGEST >> 20} MiB")
        return found

    @property
    def whole(self) -> bool:
        """Whether nothing of an event is left over that has not come to its end."""
        return not self._rest.strip() and not self._data
