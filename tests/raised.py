"""What the sources raise, in words: the sentence of every `raise`, with `7` in the place of each value."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VALUE = "7"


def sentences(path: Path, kinds: frozenset[str]) -> Iterator[str]:
    """The sentences of the exceptions of these names that a source raises; of an exception with a code (two strings) the second."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _name(node.exc.func) in kinds:
                    said = [text for argument in node.exc.args for text in _texts(argument, function)]
                    yield from said[-1:] if len(node.exc.args) > 1 else said


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _texts(node: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Every text that an expression may be; a name is what the function assigns to it."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)]
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body, function), *_texts(node.orelse, function)]
    if isinstance(node, ast.BinOp):
        return [a + b for a in _texts(node.left, function) or [VALUE] for b in _texts(node.right, function) or [VALUE]]
    if isinstance(node, ast.Name):
        assigned = [item for item in ast.walk(function) if isinstance(item, ast.Assign) and _name(item.targets[0]) == node.id]
        return [text for item in assigned for text in _texts(item.value, function)]
    return []
