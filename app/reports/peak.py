"""The largest speed-up of any window, which a plot shows beside the quantiles so that nobody takes it for the whole."""

from app.metrics.frame import Frames
from app.metrics.spans import spans
from app.reports.report import Peak


def peak_of(frames: Frames) -> Peak | None:
    """None where there are no windows: under load, for drawn answers, and for answers that are too short or differ."""
    if frames.load.regime != "single" or frames.sampled or (found := spans(frames)).empty:
        return None
    most = found.iloc[int(found["speedup"].to_numpy().argmax())]
    return Peak(
        speedup=float(most["speedup"]),
        n=len(found),
        prompt=str(most["prompt"]),
        profile=str(most["profile"]),
        first=int(most["first"]),
        last=int(most["last"]),
    )
