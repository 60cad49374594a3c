"""`make campaigns` where a runner lacks what some of them need."""

import asyncio
import os
import subprocess
import sys

from tests.integration.conftest import Place
from tests.integration.test_gate_command import Bench


async def test_what_cannot_be_measured_is_named_and_the_rest_goes_on(place: Place) -> None:
    """Catches campaigns that end at the first model whose weights are not here, or that leave one out without a word."""
    with place.serving() as (url, _):
        bench = Bench(url, place)
        async with bench.client:
            await bench.offer()
            environment = os.environ | place.environment | {"BEZMEN_URL": url}
            command = [sys.executable, "-m", "benchmarks.campaigns", "component", "s2moe"]
            done = await asyncio.to_thread(subprocess.run, command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    for name in ("parallel", "sequential", "moe"):
        assert f'There is no zoo model "{name}"' in done.stderr, done.stderr
    assert done.stderr.splitlines()[-1] == "Not measured: component on parallel, component on sequential, s2moe on moe; the reasons stand above."
