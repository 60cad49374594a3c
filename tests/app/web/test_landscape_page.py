"""What the landscape says of a run that stands beside a claim."""

from app.domain.spec import Load, Sampling
from app.landscape.schemas import Landscape, Row
from app.web.pages.landscape import view
from tests.app.landscape.test_beside import measured
from tests.app.landscape.test_engines import ENGINES


def test_a_line_says_under_which_load_and_how_drawn() -> None:
    """Catches a run under load, or one whose answers were drawn, that looks like one at one request at a time, greedy."""
    four = measured(2).model_copy(update={"load": Load(concurrency=4)})
    drawn = measured(3, language="ru").model_copy(update={"sampling": Sampling(temperature=0.7, seed=1)})
    row = Row(system=ENGINES, measured=(drawn, four, measured(1)), checks=())
    (shown,) = view(Landscape(rows=(row,)), {}, {}, "en")["systems"]
    assert [(run.found.run, run.load) for run in shown.runs] == [(3, "closed 1, temperature 0.7, seed 1"), (1, "closed 1"), (2, "closed 4")]
