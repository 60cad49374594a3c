"""A badge as SVG: two fields of text, no font and no script from anywhere. Everything in it is escaped by the serialiser."""

from xml.etree import ElementTree as xml

HEIGHT, MARGIN, BASELINE, SIZE = 20, 7, 14, 11
LABEL = "#3b3f46"
FONT = "Verdana, DejaVu Sans, Geneva, sans-serif"
# Widths in pixels at 11 px: what a font makes of it is stretched or pressed to this by textLength.
_NARROW = dict.fromkeys("iljtfr.,:;'|!()[]I ", 4.2) | dict.fromkeys("mwMWшщжюфШЩЖЮФ×%·", 9.6)
_DEFAULT = 7.0


def width(text: str) -> int:
    return round(sum(_NARROW.get(sign, _DEFAULT + (1.0 if sign.isupper() else 0.0)) for sign in text))


def badge(label: str, message: str, colour: str, title: str) -> str:
    """`title` is read aloud and shown by a pointer."""
    left, right = width(label) + 2 * MARGIN, width(message) + 2 * MARGIN
    size = {"width": str(left + right), "height": str(HEIGHT), "viewBox": f"0 0 {left + right} {HEIGHT}"}
    root = xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img", "aria-label": _clean(title)})
    xml.SubElement(root, "title").text = _clean(title)
    xml.SubElement(root, "rect", {"width": str(left), "height": str(HEIGHT), "fill": LABEL})
    xml.SubElement(root, "rect", {"x": str(left), "width": str(right), "height": str(HEIGHT), "fill": colour})
    words = xml.SubElement(root, "g", {"fill": "#ffffff", "font-family": FONT, "font-size": str(SIZE)})
    for x, text in ((MARGIN, label), (left + MARGIN, message)):
        place = {"x": str(x), "y": str(BASELINE), "textLength": str(width(_clean(text))), "lengthAdjust": "spacingAndGlyphs"}
        xml.SubElement(words, "text", place).text = _clean(text)
    return xml.tostring(root, encoding="unicode")


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(sign if sign.isprintable() or sign == "\u00a0" else "\ufffd" for sign in text)
