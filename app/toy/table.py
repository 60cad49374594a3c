"""The toy table of the mission, made from facts by the same figures as every report."""

import json
import subprocess
import sys

from app.domain.facts import RequestFact
from app.domain.value import Value
from app.metrics.catalogue import points

PUBLISHED = ("k_skip=1", "k_skip=2", "adaptive")
FIGURES = (
    "acceptance_rate", "accepted_share", "verified_per_position", "accepted_per_round", "tokens_per_round", "tokens_per_target_forward",
    "draft_coverage", "layer_passes_per_token",
)  # fmt: skip


class ToyRow(Value):
    """One run of the toy. `blocks` are tokens delivered by each decode step; `kept_per_new` is what the source prints as acceptance, V ÷ new ids."""

    run: str
    verified: int
    accepted: int
    rounds: int
    undrafted: int
    drafted: int
    emitted: int
    discarded_drafts: int
    discarded_bonus: int
    draft_layer_passes: int
    verify_layer_passes: int
    plain_layer_passes: int
    layer_passes_saved: float
    lossless: bool
    blocks: tuple[int, ...]
    mean_block: float
    wall_clock_ratio: float
    kept_per_new: float
    acceptance_rate: float | None
    accepted_share: float | None
    verified_per_position: float | None
    accepted_per_round: float | None
    tokens_per_round: float | None
    tokens_per_target_forward: float | None
    draft_coverage: float | None
    layer_passes_per_token: float | None


def measure() -> tuple[ToyRow, ...]:
    """Runs the experiment in a process of its own: torch never enters this one."""
    done = subprocess.run([sys.executable, "-m", "runners.toy_experiment"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the toy experiment failed:\n{done.stderr[-2000:]}")
    return tuple(row_of(json.loads(line)) for line in done.stdout.splitlines())


def row_of(line: dict[str, object]) -> ToyRow:
    plain, speculative = (RequestFact.model_validate(line[arm]) for arm in ("plain", "speculative"))
    found = points([plain, speculative])
    draft, verify = speculative.draft_layer_passes or 0, speculative.verify_layer_passes or 0
    plain_passes = plain.verify_layer_passes or 0
    verified = speculative.verified
    assert verified is not None, "our own loop counts what it keeps"
    return ToyRow(
        run=str(line["run"]),
        **{
            name: getattr(speculative, name)
            for name in ("verified", "accepted", "rounds", "undrafted", "drafted", "emitted", "discarded_drafts", "discarded_bonus")
        },
        draft_layer_passes=draft,
        verify_layer_passes=verify,
        plain_layer_passes=plain_passes,
        layer_passes_saved=1 - (draft + verify) / plain_passes,
        lossless=speculative.output_ids == plain.output_ids,
        blocks=speculative.step_tokens,
        mean_block=speculative.emitted / len(speculative.step_tokens),
        wall_clock_ratio=(plain.last_at - plain.sent_at) / (speculative.last_at - speculative.sent_at),
        kept_per_new=verified / speculative.emitted,
        **{name: found.get(name) for name in FIGURES},
    )
