"""A comparison over HTTP: one address, the same state on the page and in its twin, and what can be taken away."""

import html
import io
import re

import pandas as pd
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from app.reports.compare import compare
from app.reports.record import RunRecord
from app.reports.report import Comparison
from app.runs import records
from app.storage.view import View
from tests.integration.conftest import Service


@pytest.fixture
async def pair(service: Service) -> tuple[int, int]:
    return await service.finished(language="ru", acceptance=0.4), await service.finished(language="en", acceptance=0.8)


async def page(service: Service, path: str) -> tuple[int, str, str]:
    answer = await service.get(path, accept="text/html")
    return answer.status_code, answer.headers.get("location", ""), html.unescape(answer.text)


async def test_every_comparison_has_one_address(service: Service, pair: tuple[int, int]) -> None:
    """Catches two addresses of one comparison: runs checked in a list come in the list's order, which means nothing."""
    ru, en = pair
    third = await service.finished(language="ru", drafter={"name": "layerskip", "params": {}})
    assert (await page(service, f"/compare?runs={en}&runs={ru}"))[:2] == (303, f"/compare?runs={ru},{en}")
    assert (await page(service, f"/compare?runs={ru},{third},{en}"))[:2] == (303, f"/compare?runs={ru},{en},{third}")
    assert (await page(service, f"/compare?runs={ru},{en}"))[0] == 200
    # The first run is the one asked about, so that turning the question round is another comparison.
    assert (await page(service, f"/compare?runs={en},{ru}"))[0] == 200
    answer = await service.get(f"/api/v1/comparisons?runs={ru},{third},{en}&position=given")
    assert answer.headers["link"].startswith(f'</api/v1/comparisons?runs={ru},{en},{third}&position=given>; rel="canonical"')


async def test_the_state_of_the_page_is_in_its_links(service: Service, pair: tuple[int, int]) -> None:
    """Catches a link on the page that forgets what is shown."""
    ru, en = pair
    status, _, text = await page(service, f"/compare?runs={ru},{en}&position=given&figure=positions,forest")
    # The usual order of plots is the canonical one.
    assert status == 303
    status, _, text = await page(service, f"/compare?runs={ru},{en}&position=given&figure=forest,positions")
    assert status == 200
    state = f"runs={ru},{en}&position=given&figure=forest,positions"
    for path in ("/compare", "/api/v1/comparisons", "/api/v1/comparisons.csv", "/api/v1/comparisons.parquet", "/compare.html"):
        assert f'href="{path}?{state}"' in text
    assert f'href="/compare?runs={ru},{en}&position=all&figure=forest,positions#plot-positions"' in text
    assert re.findall(r'id="plot-(?!setup)(\w+)"', text) == ["forest", "positions"]
    assert "plots are not shown" in text
    assert (await service.get(f"/api/v1/comparisons?{state}")).status_code == 200


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("load=16", 'No pair of these runs was measured at load "16"; there is no load to choose from, so leave it out.'),
        ("figure=forrest", 'There is no plot "forrest". Did you mean forest?'),
    ],
)
async def test_page_and_twin_refuse_a_state_alike(service: Service, pair: tuple[int, int], more: str, said: str) -> None:
    query = f"runs={pair[0]},{pair[1]}&{more}"
    answer = await service.get(f"/api/v1/comparisons?{query}")
    assert (answer.status_code, answer.json()["detail"]) == (422, said)
    status, _, text = await page(service, f"/compare?{query}")
    assert (status, said in text) == (422, True)


async def test_the_twin_is_a_comparison_and_its_exports_hold_its_numbers(service: Service, pair: tuple[int, int]) -> None:
    """Catches an export that is of another comparison than its page."""
    query = f"runs={pair[0]},{pair[1]}"
    found = Comparison.model_validate((await service.get(f"/api/v1/comparisons?{query}")).json())
    accepted = next(each.estimate for each in found.contrasts if each.id == "acceptance_rate" and not each.part)
    for path, accept in ((f"/api/v1/comparisons.parquet?{query}", "*/*"), (f"/api/v1/comparisons?{query}", "application/vnd.apache.parquet")):
        table = pd.read_parquet(io.BytesIO((await service.get(path, accept=accept)).content))
        row = table[(table["record"] == "contrast") & (table["figure"] == "acceptance_rate") & (table["part"] == "")].iloc[0]
        assert (row["point"], row["low"]) == (accepted.point, accepted.low)
    run = pd.read_parquet(io.BytesIO((await service.get(f"/api/v1/runs/{pair[0]}/report.parquet")).content))
    assert set(run["language"]) == {"ru"}


async def test_a_saved_page_is_a_download_and_no_page_of_ours(service: Service, pair: tuple[int, int]) -> None:
    """Its scripts are inline, so it must never run where our pages do; and it must ask for nothing."""
    for path in (f"/compare.html?runs={pair[0]},{pair[1]}", f"/runs/{pair[0]}/report.html"):
        answer = await service.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment; filename=")
        assert answer.headers["content-security-policy"].startswith("sandbox")
        body = answer.text
        outside = re.sub(r"<(script|style)\b.*?</\1>", "", body, flags=re.DOTALL)
        assert not re.search(r'<link[^>]+href="(?!data:)|<(?:script|img|iframe)[^>]+src=|href="/', outside)
        assert "default-src 'none'" in html.unescape(outside)
        styles = "".join(re.findall(r"<style\b.*?</style>", body, flags=re.DOTALL))
        assert set(re.findall(r"url\(['\"]?(\w+):", styles)) == {"data"}


async def test_a_run_that_has_not_ended_cannot_be_saved(service: Service) -> None:
    await service.offer()
    run = await service.run()
    answer = await service.get(f"/runs/{run}/report.html")
    assert (answer.status_code, answer.json()["detail"]) == (409, f"Run {run} is queued; its report can be saved when it has ended.")


async def test_what_is_foreign_in_a_saved_page_stays_text(service: Service) -> None:
    """Catches a profile's name that ends the data's script element, or that passes for one of our links."""
    hostile = '</script><img src=x onerror=alert(1)> href="/x'
    run = await service.finished(language="en", profile=hostile)
    body = (await service.get(f"/runs/{run}/report.html")).text
    assert "<img" not in re.sub(r"<script>.*?</script>", "", body, flags=re.DOTALL)
    assert 'href="http://127.0.0.1:8000/x' not in body


async def test_a_comparison_reads_what_is_kept_and_nothing_older(service: Service, pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a comparison that reduces all facts at each request, one that differs from that of the facts, and one that outlives its formulas."""
    read: list[int] = []
    facts = [await service.app.state.runs.record(run) for run in pair]
    of_facts = records.record

    async def watched(connection: AsyncConnection, beside: AsyncConnection, view: View, run: int, *, whole: bool) -> RunRecord | None:
        read.append(run)
        return await of_facts(connection, beside, view, run, whole=whole)

    query = f"/api/v1/comparisons?runs={pair[0]},{pair[1]}"
    for run in pair:
        await service.app.state.runs.prepare_report(run)
    monkeypatch.setattr(records, "record", watched)
    assert Comparison.model_validate((await service.get(query)).json()) == compare(facts)
    assert read == []
    # What an older formula left behind is there, and is not what is shown.
    await service.sql("UPDATE reports SET analysis = 'bezmen-1+older', kept = NULL WHERE run_id = :run", run=pair[0])
    await service.sql("UPDATE reports SET analysis = 'bezmen-1+older' WHERE run_id = :run", run=pair[1])
    assert Comparison.model_validate((await service.get(query)).json()) == compare(facts)
    assert set(read) == set(pair)
