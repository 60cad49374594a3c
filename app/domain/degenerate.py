"""Whether an answer loops: judged on its text, never on its tokens (definitions § 5)."""

REPEAT = 24  # characters; shorter ones recur in honest text
LIMIT = 0.5  # share of characters
TAIL = 0.25  # share of the answer that its closing cycle takes up
_HALF = "\ufffd"  # what a decoder shows for a character that the token limit cut


def repeated_share(text: str) -> float:
    """Share (0 to 1) of characters inside a stretch of at least 24 that began earlier in the same text too; the two may overlap.

    Every such stretch is a union of stretches of exactly 24, so a set of those is exact. Time and memory grow with the length of the text.
    """
    body = text.rstrip(_HALF)
    seen: set[str] = set()
    covered, reach = 0, 0
    for start in range(len(body) - REPEAT + 1):
        window = body[start : start + REPEAT]
        if window in seen:
            end = start + REPEAT
            covered += end - max(reach, start)
            reach = end
        seen.add(window)
    return covered / len(body) if covered else 0.0


def is_degenerate(text: str) -> bool:
    """More than half of the characters repeat, or the text ends in one cycle that fills its last quarter.

    The cycle is said at least twice and at least 24 of its characters are said again; the last time may be cut off.
    """
    return repeated_share(text) > LIMIT or _ends_in_cycle(text.rstrip(_HALF).strip())


def _ends_in_cycle(body: str) -> bool:
    agreement = _agreement(body[::-1])
    return any(repeated >= max(period, REPEAT) and period + repeated >= TAIL * len(body) for period, repeated in enumerate(agreement) if period)


def _agreement(text: str) -> list[int]:
    """For each position the length of the common prefix of the text and its rest from there (Gusfield's Z values), in linear time."""
    lengths = [0] * len(text)
    left = right = 0
    for at in range(1, len(text)):
        length = min(right - at, lengths[at - left]) if at < right else 0
        while at + length < len(text) and text[length] == text[at + length]:
            length += 1
        lengths[at] = length
        if at + length > right:
            left, right = at, at + length
    return lengths
