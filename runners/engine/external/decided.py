"""Options that no file of engines may add to a command: a spec or the runner decides them, or a passport states what they would change."""

import re

# Short names of llama-server and of vLLM, as they are written.
_SHORT_NAMES = """
    -m -mu -md -a -dr -hf -hfr -hff -hft -hfd -hfrd -c -cd -n -np -pps -s -l -j -jf -bs -r -sp -t -tb -td -tbd -C -Cr -Cb -Crb -Cd -Crd -Cbd -Crbd
    -lcs -lcd -ctk -ctv -ctkd -ctvd -cram -sm -ts -q -sc -tp -pp -dp -pc -pcp -dc -dcp -ngld
    -devd -otd -cmoed -ncmoed -rea
"""
# Beginnings of long names.
_LONG_NAMES = """
    spec draft no-spec host port uds model served-model-name alias parallel n-parallel slots no-slots slot-save-path metrics no-metrics threads
    cpu-mask cpu-range cpu-strict ctx-size max-model-len max-num-seqs dtype quantization load-format per-request-spec enable-per-request-metrics
    enforce-eager no-enforce-eager config predict n-predict cache-type kv-cache-dtype cache-prompt no-cache-prompt cache-reuse cache-ram
    lookup-cache enable-prefix-caching no-enable-prefix-caching hf- docker-repo revision code-revision tokenizer skip-tokenizer-init lora enable-lora
    control-vector rope yarn override- generation-config samplers sampler- sampling- backend-sampling temp top- min-p xtc typical repeat- presence-
    frequency- dry- adaptive- dynatemp mirostat logit-bias grammar json-schema ignore-eos seed reverse-prompt special chat-template split-mode
    tensor-split rpc tensor-parallel pipeline-parallel data-parallel prefill-context-parallel decode-context-parallel enable-expert-parallel
    ssl allowed-origins api-key reasoning default-chat-template mmproj-url context-shift keep embedding rerank log-prompts
"""
_SHORT, _LONG = frozenset(_SHORT_NAMES.split()), tuple(f"--{name}" for name in _LONG_NAMES.split())
# A drafter's own option under any beginning, and llama-server's presets, which fetch a model and may turn speculation on.
_ANYWHERE = re.compile(r"^--.*-(spec|draft|default)(-|$)")
# vLLM takes the value of a name of one letter without a blank between them.
_JOINED = "-q"
_SECRET = re.compile(r"api-?key|token$|token-file|secret|passw|auth|credential")


def refusal(word: str) -> str | None:
    """Why a word may not be among the arguments of every command, or None. Both engines take `_` for `-` in long names."""
    if word != word.strip() or not word:
        return "an argument is empty, or begins or ends with a blank"
    name = word.partition("=")[0]
    if name.startswith("--"):
        name = name.replace("_", "-").lower()
    if name.startswith("-") and _SECRET.search(name):
        return f"{name} takes a secret, and a command is shown with every result; leave it out"
    known = name in _SHORT or name.startswith((*_LONG, _JOINED)) or bool(_ANYWHERE.match(name))
    # Abbreviations of long names are taken for them by vLLM.
    known = known or (name.startswith("--") and any(each.startswith(name) for each in _LONG))
    return f"{name} is decided by a run's spec, or stated by its passport, and is no argument of every one" if known else None
