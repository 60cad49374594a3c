"""A badge as SVG: two lines of text, no font and no script from anywhere. Everything in it is escaped by the serialiser."""

from xml.etree import ElementTree as xml

LINE, MARGIN, BASELINE, SIZE = 20, 7, 14, 11
# Pixels at most: a README has little room.
WIDEST = 300
# How far a line may be pressed together; what is longer still is cut, and stands in the title.
DENSEST = 0.75
LABEL = "#3b3f46"
FONT = "Verdana, DejaVu Sans, Geneva, sans-serif"
# Widths in pixels at 11 px: what a font makes of it is stretched or pressed to this by textLength.
_NARROW = dict.fromkeys("iljtfr.,:;'|!()[]I ", 4.2) | dict.fromkeys("mwMWшщжюфШЩЖЮФ×%·", 9.6)
_DEFAULT = 7.0


def width(text: str) -> int:
    return round(sum(_NARROW.get(sign, _DEFAULT + (1.0 if sign.isupper() else 0.0)) for sign in text))


def badge(label: str, message: str, colour: str, title: str) -> str:
    """The label above the message. `title` is read aloud and shown by a pointer."""
    lines = [_fitting(_clean(text)) for text in (label, message)]
    wide = min(WIDEST, max(map(width, lines)) + 2 * MARGIN)
    size = {"width": str(wide), "height": str(2 * LINE), "viewBox": f"0 0 {wide} {2 * LINE}"}
    root = xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img", "aria-label": _clean(title)})
    xml.SubElement(root, "title").text = _clean(title)
    for place, fill in enumerate((LABEL, colour)):
        xml.SubElement(root, "rect", {"y": str(place * LINE), "width": str(wide), "height": str(LINE), "fill": fill})
    words = xml.SubElement(root, "g", {"fill": "#ffffff", "font-family": FONT, "font-size": str(SIZE)})
    for place, text in enumerate(lines):
        length = min(width(text), wide - 2 * MARGIN)
        at = {"x": str(MARGIN), "y": str(place * LINE + BASELINE), "textLength": str(length), "lengthAdjust": "spacingAndGlyphs"}
        xml.SubElement(words, "text", at).text = text
    return xml.tostring(root, encoding="unicode")


def fits(text: str) -> bool:
    """Whether a line holds it without a cut."""
    return width(text) <= (WIDEST - 2 * MARGIN) / DENSEST


def _fitting(text: str) -> str:
    if fits(text):
        return text
    while text and not fits(text + "…"):
        text = text[:-1]
    return text + "…"


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(sign if sign.isprintable() or sign == "\u00a0" else "\ufffd" for sign in text)
