"""What a run and a probe were made of."""

from app.domain.bounds import Count, Digest, Short
from app.domain.tokenizer import TokenizerIdentity
from app.domain.value import Value


class Subject(Value):
    """The model as it was loaded, its tokenizer, the prompts, and what computed."""

    target: Short
    revision: Short | None
    weights_digest: Digest | None
    dtype: Short
    quantisation: Short | None
    layers: Count
    tokenizer: TokenizerIdentity
    suite_digest: Digest
    suite_version: Short
    engine_version: Short
