"""The picture of the table of drafters: it is what the table is, and nothing in it runs."""

from dataclasses import replace
from xml.etree import ElementTree

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.reports.drafter_table import Board, Entry, Line
from app.web.drafter_picture import picture

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>"


def entry(text: str, point: float, low: float, high: float) -> Entry:
    return Entry(text, Estimate(point=point, low=low, high=high, n=8, counted="prompts"))


def line(run: int, language: str, *, decided: bool = True, refused: bool = False) -> Line:
    acceptance = Entry("⊘ refused\u00a0¹") if refused else entry("50.0% [40.0, 60.0]", 0.5, 0.4, 0.6)
    return Line(
        run=run, drafter="ngram", parts="", model=HOSTILE, language=language, acceptance=acceptance, ceiling=Entry("1.50"),
        speedup=entry("1.00× [0.50, 2.00]", 1.0, 0.5, 2.0), verdict="pays", decided=decided, exact=Entry("8 of 8"),
    )  # fmt: skip


def drawn(*lines: Line) -> ElementTree.Element:
    return ElementTree.fromstring(picture([Board("caption", lines, (f"{HOSTILE} refused it",))], "en"))


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def test_marks_stand_where_their_numbers_say() -> None:
    """Catches an axis that is turned, shifted or of another kind: 50 % is the middle of the shares, 1× that of the ratios."""
    root = drawn(line(1, "ru"))
    places = {text: float(each.attrib["x"]) for each in root.iter(f"{SVG}text") if (text := "".join(each.itertext())) in ("50%", "1×")}
    assert [float(each.attrib["cx"]) for each in root.iter(f"{SVG}circle")] == [places["50%"], places["1×"]]


def test_languages_differ_by_shape_and_undecided_is_hollow() -> None:
    """Catches a picture that says nothing in grey, and a filled mark beside "cannot tell"."""
    root = drawn(line(1, "ru", decided=False), line(2, "en"))
    assert len(list(root.iter(f"{SVG}circle"))) == 2
    assert len([each for each in root.iter(f"{SVG}rect") if each.attrib.get("stroke")]) == 2
    fills = [each.attrib["style"] for each in root.iter(f"{SVG}circle")]
    assert ["var(--paper)" in fill for fill in fills] == [False, True]


def test_what_is_refused_is_said_and_not_drawn() -> None:
    """Catches a mark for a refused acceptance, and a reason that is not in the picture."""
    root = drawn(line(1, "ru", refused=True))
    assert len(list(root.iter(f"{SVG}circle"))) == 1
    assert any(text.startswith("⊘ refused") for text in texts(root))
    assert any("refused it" in text for text in texts(root))


def test_names_of_others_are_text() -> None:
    """Catches markup out of a model's name or a reason."""
    assert [each for each in drawn(line(1, "ru")).iter() if each.tag.endswith("script")] == []
    assert HOSTILE in texts(drawn(line(1, "ru")))


def test_a_reason_is_needed_for_a_number_without_interval() -> None:
    """Catches a bar of no length that would read as certainty: the point alone is drawn."""
    found = Entry("1.00×\u00a0¹", Estimate(point=1.0, n=1, counted="prompts", reason=plain("one prompt")))
    one = line(1, "ru")
    root = drawn(Line(**{**one.__dict__, "speedup": found}))
    bars = [each for each in root.iter(f"{SVG}line") if each.attrib.get("stroke")]
    assert bars[1].attrib["x1"] == bars[1].attrib["x2"]


def test_parameters_tell_two_runs_of_a_drafter_apart() -> None:
    """Catches two lines called "layerskip" alone, whose exits nobody can know."""
    lines = [replace(line(run, language), drafter="layerskip", parts=f"exit_layer={run}") for run in (26, 20) for language in ("en", "ru")]
    assert [text for text in texts(drawn(*lines)) if text.startswith("layerskip")] == ["layerskip exit_layer=26", "layerskip exit_layer=20"]
