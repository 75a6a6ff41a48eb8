"""A model's views: given, by preset or by default, or from a file; and how they read X."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from bayleaf.columns import as_list, length_of
from bayleaf.frames import is_table
from bayleaf.text.views import TextView, View, Words, bytes_, chars, words
from bayleaf.types import Priors

Views = View | Sequence[View] | Mapping[str, View | Sequence[View]]
NamedViews = Sequence[tuple[str, View]]
WHOLE = ""
"""The name of the column when X is one column."""


def named_views(views: Any) -> list[tuple[str, View]]:
    """Views with the names of their columns, if they can stand side by side."""
    if isinstance(views, View):
        views = [views]
    columns = views if isinstance(views, Mapping) else {WHOLE: list(views)}
    named = [
        (name, view)
        for name, own in columns.items()
        for view in (own if isinstance(own, list | tuple) else [own])
    ]
    if not named:
        raise ValueError("`views` is empty; a model needs at least one view, for example [words()].")
    for name, view in named:
        if not isinstance(view, View):
            raise TypeError(f"`views` holds {view!r}, which is not a view such as words() or chars(3, 5).")
        if isinstance(views, Mapping) and (not isinstance(name, str) or name == WHOLE):
            raise TypeError(f"`views` maps column names to views; {name!r} is not a name.")
    facts = [(name, view.facts()) for name, view in named]
    for i, fact in enumerate(facts):
        if fact in facts[:i]:
            raise ValueError(
                f"The views clash: {named[i][1]!r} is there twice, and would count the same terms twice."
            )
    return named


def as_given(views: NamedViews) -> list[View] | dict[str, Any]:
    """Views as a user writes them: a list for one column, or a mapping from columns to a view or a list."""
    columns: dict[str, list[View]] = {}
    for name, view in views:
        columns.setdefault(name, []).append(view)
    if WHOLE in columns:
        return columns[WHOLE]
    return {name: own[0] if len(own) == 1 else own for name, own in columns.items()}


def configured(
    views: NamedViews, chosen: int | str | None, settings: dict[str, Any]
) -> list[tuple[str, View]]:
    """The views with other judgments in one of them, by number or column, or in all."""
    places = _places(views, chosen)
    unknown = set(settings).difference(*(views[i][1].judgments for i in places))
    if unknown:
        raise TypeError(
            f"configure() has no setting {sorted(unknown)[0]!r}. What is counted cannot be changed later."
        )
    return [
        (name, view.configured(**settings) if i in places else view) for i, (name, view) in enumerate(views)
    ]


def _places(views: NamedViews, chosen: int | str | None) -> set[int]:
    if chosen is None:
        return set(range(len(views)))
    found = {i for i, (name, _) in enumerate(views) if chosen == (name if isinstance(chosen, str) else i)}
    if not found:
        names = list(range(len(views))) if views[0][0] == WHOLE else [name for name, _ in views]
        raise ValueError(f"There is no view {chosen!r}. The views are {names}.")
    return found


def check_alike(ours: NamedViews, theirs: NamedViews) -> None:
    """Raise unless both look at their documents in the same way."""
    mine, other = ([(name, view.facts()) for name, view in views] for views in (ours, theirs))
    if mine != other:
        raise ValueError(
            f"The models look at their documents differently: this one as {as_given(ours)}, the other as "
            f"{as_given(theirs)}. "
            "Choose one of the two as `views`, and learn the documents of the other model again with it."
        )


def table_for_column(views: object, X: Any) -> TypeError:
    """What is said to a table where one column was expected."""
    names = column_names(X)
    return TypeError(
        f"The views {views} look at one column, and X is a table with the columns {names}. Give one of "
        f"them{f', X[{names[0]!r}]' if names else ''}, or a mapping from columns to views."
    )


def read(views: NamedViews, X: Any) -> list[Any]:
    """What each view reads of X."""
    if views[0][0] == WHOLE:
        if type(X) is not list and is_table(X):
            raise table_for_column(as_given(views), X)
        return [views[0][1].read(X, "X")] if len(views) == 1 else _read_once(views, X)
    texts = _one_row_of_texts(views, X) if type(X) is dict else None
    if texts is not None:
        return texts
    names = column_names(X)
    missing = [name for name in columns_of(views) if name not in names]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}. Its columns are {names}.")
    columns = [view.read(_looked_at(X, name, view), f"The column {name!r} of X") for name, view in views]
    lengths = [length_of(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"The columns of X have different lengths: {lengths}.")
    return columns


def _one_row_of_texts(views: NamedViews, X: dict[Any, Any]) -> list[Any] | None:
    """What views of text read of one row, as services ask: to look for what may be odd takes longer."""
    read = []
    for name, view in views:
        column = X.get(name)
        if type(column) is not list or len(column) != 1 or type(column[0]) is not str:
            return None
        if not isinstance(view, TextView):
            return None
        read.append((column[0],))
    return read


def read_row(views: NamedViews, x: Any) -> list[Any]:
    """What each view reads of one row."""
    if views[0][0] == WHOLE:
        return read(views, [x])
    names = set(x.keys() if hasattr(x, "keys") else column_names(x))
    return read(views, {name: [x[name]] for name in columns_of(views) if name in names})


def rows_of(views: NamedViews, X: Any, rows: Sequence[int]) -> Any:
    """Some rows of X."""
    if views[0][0] == WHOLE:
        return _taken(X, rows)
    return {name: _taken(X[name], rows) for name in columns_of(views)}


def _taken(column: Any, rows: Sequence[int]) -> list[Any]:
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [values[row] for row in rows]


def columns_of(views: NamedViews) -> list[str]:
    """The columns that the views look at."""
    return list(dict.fromkeys(name for own, view in views for name in view.columns or (own,)))


def _looked_at(X: Any, name: str, view: View) -> Any:
    return [X[column] for column in view.columns] if view.columns else X[name]


def _read_once(views: NamedViews, X: Any) -> list[Any]:
    """What each view reads of one column; those that read alike share it."""
    read: dict[Any, Any] = {}
    columns = []
    for _, view in views:
        reader = type(view).read
        if reader not in read:
            read[reader] = view.read(X, "X")
        columns.append(read[reader])
    return columns


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a table."""
    if not is_table(X):
        raise TypeError(
            f"The views name columns, so X must be a table with named columns, got {type(X).__name__}."
        )
    return list(X.keys() if isinstance(X, Mapping) else getattr(X, "column_names", getattr(X, "columns", ())))


def has_no_prior(views: NamedViews, priors: Priors) -> bool:
    """Whether the prior is left out: the complement model by itself has none unless one is given."""
    return priors == "empirical" and all(getattr(view, "event", "") == "complement" for _, view in views)


def is_plain(view: Any) -> bool:
    """Whether a view is of text, with the event model whose terms can have weights."""
    return isinstance(view, TextView) and view.event == "multinomial" and view.tf == "count"


def needs_normalizer(settings: Mapping[str, Any]) -> bool:
    """Whether a view with these settings was learned with a user-supplied function."""
    functions = [settings.get("tokenizer"), settings.get("normalization")]
    return any(isinstance(each, Mapping) and each.get("function") is not None for each in functions)


def normalizers_of(views: NamedViews) -> list[Callable[[str], str | None] | None]:
    """The user's function of each view that has one."""
    return [view.functions if isinstance(view, Words) else None for _, view in views]


TEXT = words(ngrams=2)
"""How texts are looked at if nothing is said: words and pairs of words."""


LETTERS = chars(3, 5)


SHORT = 60
"""Texts of fewer words on average are looked at as letters, too (measured in docs/tuning.md)."""


WORD = re.compile(r"\w+")


def text_views(texts: Any, letters: bool) -> list[View]:
    """How texts are looked at; with `letters`, short ones (judged by 2,000 of them) as letters as well."""
    if not letters or not len(texts):
        return [TEXT]
    step = -(-len(texts) // 2000)
    some = as_list(texts[::step] if isinstance(texts, list | tuple) else texts, "X")
    some = some if isinstance(texts, list | tuple) else some[::step]
    given = [text for text in some if isinstance(text, str | bytes | bytearray)]
    shown = [text if isinstance(text, str) else str(text, "utf-8", "replace") for text in given]
    mean = sum(len(WORD.findall(text)) for text in shown) / max(len(shown), 1)
    return [TEXT, LETTERS] if mean < SHORT else [TEXT]


KINDS = {
    "words": "text.views.Words",
    "chars": "text.views.Chars",
    "bytes_": "text.views.Bytes",
    "category": "table.views.Category",
    "flag": "table.views.Flag",
    "normal": "table.views.Normal",
    "kernel": "table.views.Kernel",
    "bins": "table.views.Bins",
    "counts": "table.views.CountsView",
    "pairs": "table.pairs.Pairs",
    "date_part": "table.dates.DatePart",
}
"""Where each kind of view is; a model of text does without those of tables."""


def view_from_dict(
    settings: Mapping[str, Any], normalizer: Callable[[str], str | None] | None = None
) -> View:
    """The view with these settings."""
    module, _, name = KINDS[settings["kind"]].rpartition(".")
    kind: type[View] = getattr(import_module(f"bayleaf.{module}"), name)
    return kind.from_dict(settings, normalizer)


Preset = list[TextView] | dict[str, TextView]


def text() -> list[TextView]:
    """Any text: words and pairs of words, the default for all but short texts."""
    return [TEXT]


def messages() -> list[TextView]:
    """Short texts: words and pairs with punctuation, numbers by their length; addresses and money whole."""
    kept = ["url", "email", "money", "emoji", "hashtag"]
    return [words(2, tokenizer="words+punctuation", keep=kept, digits="zero")]


def mail() -> dict[str, TextView]:
    """E-mail as columns, made by `mail_columns`: the headers and the body, each with a view of its own."""
    return {
        "subject": words(2, tokenizer="words+punctuation", digits="zero"),
        "from_name": words(),
        "from_domain": words(tokenizer="whitespace"),
        "flags": words(tokenizer="whitespace"),
        "received": words(tokenizer="whitespace"),
        "types": words(tokenizer="whitespace"),
        "links": words(tokenizer="whitespace"),
        "body": words(2, keep=["url", "email", "money"]),
    }


def language() -> list[TextView]:
    """Which language a text is in: letters, one to five in a row."""
    return [chars(1, 5, alpha=0.1)]


def dna() -> list[TextView]:
    """Sequences of letters, such as genes: eight in a row, each of them once a sequence."""
    return [bytes_(8, alphabet="dna", tf="binary", alpha=0.005)]


PRESETS: Mapping[str, Callable[[], Preset]] = {
    "text": text,
    "messages": messages,
    "mail": mail,
    "language": language,
    "dna": dna,
}
"""The presets by name, the same in Python and on the command line."""

OLDER_NAMES = {"languages": "language", "sequences": "dna"}
"""What presets were called on the command line."""


def preset(name: str) -> Preset:
    """The views of a preset: "text", "messages", "mail", "language" or "dna"."""
    found = PRESETS.get(OLDER_NAMES.get(name, name))
    if found is None:
        choice = ", ".join(map(repr, PRESETS))
        raise ValueError(f"There is no preset {name!r}. The presets are {choice}.")
    return found()
