"""Badges over HTTP."""

from xml.etree import ElementTree

import pytest

from tests.integration.conftest import Service


async def test_a_badge_is_an_image_that_is_asked_for_again_cheaply(service: Service) -> None:
    """Catches a badge that a browser cannot draw, that outlives its verdict in a cache, or is sent whole every time."""
    run = await service.finished(language="en", acceptance=0.9)
    answer = await service.get(f"/api/v1/runs/{run}/badge.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.headers["cache-control"] == "private, max-age=300"
    assert ElementTree.fromstring(answer.text).tag == "{http://www.w3.org/2000/svg}svg"
    again = await service.get(f"/api/v1/runs/{run}/badge.svg", **{"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.text) == (304, "")
    russian = await service.get(f"/api/v1/runs/{run}/badge.svg?locale=ru", **{"If-None-Match": answer.headers["etag"]})
    assert "доля принятых" in russian.text


@pytest.mark.parametrize("path", ["/api/v1/runs/99/badge.svg", "/api/v1/runs/1/badge.svg?locale=de"])
async def test_no_badge(service: Service, path: str) -> None:
    await service.finished(language="en")
    assert (await service.get(path)).status_code in {404, 422}


async def test_the_run_page_gives_it_to_copy(service: Service) -> None:
    """Catches Markdown that leads nowhere, and a picture on the page that its policy would not let through."""
    run = await service.finished(language="en", acceptance=0.9)
    text = (await service.get(f"/runs/{run}", Accept="text/html")).text
    assert f"[![Bezmen, run {run}](http://127.0.0.1:8000/api/v1/runs/{run}/badge.svg)](http://127.0.0.1:8000/runs/{run})" in text
    assert 'aria-label="bezmen · ngram · en' in text
    await service.offer()
    waiting = await service.run(language="ru")
    answer = await service.get(f"/api/v1/runs/{waiting}/badge.svg")
    assert (answer.headers["cache-control"], "queued" in answer.text) == ("no-cache", True)
