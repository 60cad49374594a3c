"""What an engine wrote, as it may be told to the service: its end, without folders of this machine."""

import re
from pathlib import Path

# A path of two parts or more; what stands behind a colon or a slash is an address, and no path.
_PATH = re.compile(r"(?<![\w.:/-])~?(?:/[^\s/:;,'\"()\[\]]+)+/([^\s/:;,'\"()\[\]]*)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# Counts and times, which a run that broke off gives no figure of.
_FIGURES = re.compile(r"acceptance|accepted|mean len|tokens per second|tokens/s|ms per token|print_timing|total time", re.IGNORECASE)
LINES, LENGTH, READ = 8, 1500, 64 * 1024


def without_folders(text: str) -> str:
    """Every path cut down to its last part."""
    return _PATH.sub(lambda found: found[1] or "…", text)


def readable(text: str) -> str:
    """Without colours of a terminal and other characters that are no writing, which neither a page nor a database takes."""
    return "".join(each if each.isprintable() or each == "\n" else " " for each in _COLOUR.sub("", text))


def end_of(log: Path, since: int = 0) -> str:
    """The last lines of a log behind its byte `since`, without progress bars, folders and figures; however long it is, only its end is read."""
    try:
        with log.open("rb") as file:
            file.seek(max(since, log.stat().st_size - READ))
            text = file.read(READ).decode(errors="replace")
    except OSError:
        return ""
    lines = [line.strip().rsplit("\r", 1)[-1] for line in text.split("\n")]
    return without_folders(readable("\n".join([line for line in lines if line and not _FIGURES.search(line)][-LINES:])))[-LENGTH:]
