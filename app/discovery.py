"""Finds what a package holds, so that adding a part is adding a file."""

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def modules_of(package: str) -> list[ModuleType]:
    """Every module of a package but `base` and private ones, by name. An import error is raised, never skipped: a part must not vanish."""
    root = importlib.import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(root.__path__) if not info.name.startswith("_") and info.name != "base")
    return [importlib.import_module(f"{package}.{name}") for name in names]


def subclasses_of(package: str, base: type[T]) -> dict[str, type[T]]:
    """{its `name`: the one public subclass of `base` that each module defines}. Raises TypeError when a module defines none or several."""
    found: dict[str, type[T]] = {}
    for module in modules_of(package):
        own = [item for item in vars(module).values() if isinstance(item, type) and issubclass(item, base) and item.__module__ == module.__name__]
        if len(own) != 1:
            raise TypeError(f"{module.__name__} defines {len(own)} parts, one is expected")
        found[str(vars(own[0]).get("name"))] = own[0]
    return found


def values_of(package: str, kind: type[T], attribute: str) -> list[T]:
    """The value named `attribute` of each module of a package. Raises TypeError where it is missing or of another type."""
    found = []
    for module in modules_of(package):
        value = getattr(module, attribute, None)
        if not isinstance(value, kind):
            raise TypeError(f"{module.__name__} has no {attribute} of type {kind.__name__}")
        found.append(value)
    return found
