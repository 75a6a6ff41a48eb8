"""Classes by their names as text: what a label in a file, an option or an answer means, in every format."""

from __future__ import annotations

TYPE_CHECKING = False  # one message is answered without `typing`
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def name_of(label: Any) -> str:
    """A class as text: a string is its own name, a number or a truth value is written as JSON has it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def by_name(classes: Iterable[Any]) -> dict[str, Any]:
    """The classes by all names under which a file may have them.

    A class that is a string has one name. One that is a number or a truth value, which a model learned in
    Python may have, goes by every usual spelling of it: 1 and 1.0; true and True.
    """
    found = {name_of(label): label for label in classes}
    for label in list(found.values()):
        for name in _spellings(label):
            found.setdefault(name, label)
    return found


def _spellings(label: Any) -> list[str]:
    if isinstance(label, bool):
        return [str(label), str(label).upper()]
    if isinstance(label, str) or label != label or abs(label) >= 2**53 or label != int(label):
        return []
    return [str(int(label)), str(float(label))]


def spelled_alike(names: Iterable[str]) -> list[str]:
    """The first names that are one number, or one word but for case and blanks around it, if any are."""
    groups: dict[Any, list[str]] = {}
    for name in names:
        groups.setdefault(_value(name), []).append(name)
    return next((group for group in groups.values() if len(group) > 1), [])


def _value(name: str) -> Any:
    try:
        number = float(name)
    except ValueError:
        return name.strip().casefold()
    return number if abs(number) < float("inf") else name.strip().casefold()
