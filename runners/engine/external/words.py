"""What an engine wrote, as it may be told to the service: its end, without folders of this machine and without secrets."""

import re
from pathlib import Path

# A path of two parts or more, whose folders may have blanks in their names; what stands behind a colon or a slash is an address, and no path.
_PART = r"[^\s/:;,'\"()\[\]]+"
_PATH = re.compile(rf"(?<![\w.:/-])(?:file://)?~?(?:/{_PART}(?: {_PART})*(?=/))+/([^\s/:;,'\"()\[\]]*)")
_OF_WINDOWS = re.compile(r"(?<![\w\\])[A-Za-z]:\\(?:[^\\/:*?\"<>|\r\n]+\\)*([^\\\s/:*?\"<>|]*)")
# Values of options, variables and headers that hold a secret, and secrets that are known by their beginning. A number is none: a token is a piece of
# text too.
_SECRETS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(--[\w-]*(?:key|token|secret|passw\w*)(?![\w-])[ =]+)(?!\d+\b)\S+",
        r"((?:api|access|secret|private)[_-]?key[\"']?\s*[=:]\s*[\"']?)[^\s\"',;]+",
        r"((?:[\w-]*(?:_|-)token|secret|passw(?:or)?d)[\"']?\s*[=:]\s*[\"']?)(?!\d+\b)[^\s\"',;]{6,}",
        r"(authorization[\"']?\s*[=:]\s*[\"']?(?:bearer |basic )?)[^\s\"',;]+",
        r"(bearer )[\w.~+/=-]{6,}",
        r"()\bsk-[\w-]{8,}",
    )
)
_OF_A_HUB = re.compile(r"\bhf_(?=[A-Za-z0-9]*[A-Z0-9])[A-Za-z0-9]{8,}")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# Counts and times, which a run that broke off gives no figure of.
_FIGURES = re.compile(r"acceptance|accepted|mean len|tokens per second|tokens/s|ms per token|print_timing|total time", re.IGNORECASE)
LINES, LENGTH, READ = 8, 1500, 64 * 1024


def without_folders(text: str) -> str:
    """Every path cut down to its last part."""
    return _OF_WINDOWS.sub(_last, _PATH.sub(_last, text))


def _last(found: re.Match[str]) -> str:
    return found[1] or "…"


def without_secrets(text: str) -> str:
    """What looks like a key, a token or a password is left out; nobody can know every one."""
    for pattern in _SECRETS:
        text = pattern.sub(r"\1…", text)
    return _OF_A_HUB.sub("…", text)


def tellable(text: str) -> str:
    """An engine's words, as they may leave this machine."""
    return without_folders(without_secrets(readable(text)))


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
    return tellable("\n".join([line for line in lines if line and not _FIGURES.search(line)][-LINES:]))[-LENGTH:]
