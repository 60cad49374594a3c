"""Every sentence that a person may read has a Russian twin."""

import re
import subprocess
import sys
from pathlib import Path

from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[3]
KEYWORDS = ("plain", "mark", "word", "row:1", "both:1,2", "gettext:1", "ngettext:1,2")


def test_nothing_is_untranslated(tmp_path: Path) -> None:
    """Catches a sentence added in English alone, and a translation that lost a placeholder."""
    template = tmp_path / "messages.pot"
    keywords = [argument for keyword in KEYWORDS for argument in ("-k", keyword)]
    command = [
        sys.executable,
        "-m",
        "babel.messages.frontend",
        "-q",
        "extract",
        "-F",
        "app/web/locale/extract.cfg",
        *keywords,
        "-o",
        str(template),
        "app",
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with template.open("rb") as stream:
        said = {message.id for message in read_po(stream) if message.id}
    with (ROOT / "app/web/locale/ru/LC_MESSAGES/messages.po").open("rb") as stream:
        catalogue = {message.id: message for message in read_po(stream, locale="ru") if message.id}
    missing = [id for id in said if id not in catalogue or not all(_forms(catalogue[id].string)) or catalogue[id].fuzzy]
    assert not missing
    for id in said:
        own = set(re.findall(r"%\((\w+)\)", " ".join(_forms(id))))
        for form in _forms(catalogue[id].string):
            named = {name.removesuffix("_in") for name in re.findall(r"%\((\w+)\)", form)}
            assert named <= own, id
            assert own - named <= {"n"}, id


def _forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)
