"""The numbers of a suite on its page."""

from app.suites.schemas import SuiteOut
from app.web.pages.suites import row

COUNTS = {tag: {"code": 96, "translation": 12} for tag in ("en", "ru")}


def suite(*apart: str, prompts: int, parallel: int = 108) -> SuiteOut:
    return SuiteOut(
        id="mine-v1", version="1", digest="0" * 64, languages=("en", "ru"), profiles=("code", "translation"), prompts=prompts, origin="uploaded",
        counts=COUNTS, parallel=parallel, apart=apart,
    )  # fmt: skip


def test_more_twins_than_prompts_say_whose_they_are() -> None:
    """Catches 108 parallel prompts beside 96 in each language, of which the reader learns only that one of the two is wrong."""
    assert row(suite("translation", prompts=96), "en").parallel == "96"
    assert row(suite("translation", prompts=96, parallel=100), "en").parallel == "100, with those not counted"
    assert row(suite(prompts=108), "en").parallel == "108"
