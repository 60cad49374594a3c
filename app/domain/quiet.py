"""How quiet the measuring cores were."""

# The share of them that others may take; a trial that loses more is contended (definitions § 3).
MOST_TAKEN = 0.03


def contended(steal: float | None, others: float | None) -> bool:
    """Whether the hypervisor (`steal`) or other processes (`others`) took too much; None where the system does not tell."""
    return any(share is not None and share > MOST_TAKEN for share in (steal, others))
