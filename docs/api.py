"""The reference of the public names, written from their docstrings while the site is built."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from textwrap import indent
from types import ModuleType
from typing import Any

import bayleaf

WIDTH = 80
MARK = re.compile(r"<!-- api: ([^>]*) -->")


def filled(page: str) -> str:
    """The page with each mark replaced by the names it lists, and all names listed nowhere at its end."""
    listed = {name for mark in MARK.finditer(page) for name in mark[1].split()}
    others = [name for name in bayleaf.__all__ if name not in {*listed, "__version__"}]
    if others:
        page += f"\n## More\n\n<!-- api: {' '.join(others)} -->\n"
    return MARK.sub(lambda mark: "\n".join(map(entry, mark[1].split())), page)


def entry(name: str) -> str:
    """One public name: how it is called, and what its docstring says."""
    value = getattr(bayleaf, name)
    if isinstance(value, ModuleType):
        inside = (getattr(value, own) for own in value.__all__ if callable(getattr(value, own)))
        functions = "\n".join(f"- {called(function, f'{name}.')}" for function in inside)
        return f"### `{name}`\n\n{inspect.getdoc(value)}\n\n{functions}\n"
    parts = [f"### `{name}`", f"```python\n{broken(signature(value))}\n```", inspect.getdoc(value) or ""]
    if inspect.isclass(value):
        parts += [f"- {called(method)}" for method in methods(value)]
    return "\n\n".join(parts) + "\n"


def methods(cls: type) -> Iterator[Any]:
    """What bayleaf itself defines on a class, in alphabetical order, without what is private."""
    for name, attribute in inspect.getmembers_static(cls):
        function = getattr(attribute, "fget", None) or getattr(attribute, "__func__", attribute)
        ours = getattr(function, "__module__", None) or ""
        if callable(function) and ours.startswith("bayleaf") and not name.startswith("_"):
            yield attribute


def called(value: Any, prefix: str = "") -> str:
    """A function, a method or a property as an item of a list."""
    docstring = indent(inspect.getdoc(value) or "", "  ").lstrip()
    property_ = isinstance(value, property) and value.fget
    head = property_.__name__ if property_ else signature(value, prefix)
    return f"`{head}`\n\n  {docstring}\n"


def broken(call: str) -> str:
    """A long call, a parameter a line."""
    if len(call) <= WIDTH:
        return call
    name, _, parameters = call.removesuffix(")").partition("(")
    parts = re.split(r", (?=\*|\w+=|\w+,|\w+$)", parameters)
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def signature(value: Any, prefix: str = "") -> str:
    """How it is called, without types, which the docstrings give in words."""
    function = getattr(value, "__func__", value)
    name = f"{prefix}{function.__name__}"
    try:
        found = inspect.signature(function)
    except ValueError:
        return name
    kept = [
        each.replace(annotation=each.empty)
        for each in found.parameters.values()
        if each.name not in ("self", "cls")
    ]
    called = f"{name}{found.replace(parameters=kept, return_annotation=found.empty)}"
    return re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", called)
