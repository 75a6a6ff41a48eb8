"""A model file asked, and changed, without being loaded: no NumPy, and only what one message needs is read.

What comes out is, to the last bit, what the whole model would say. A file that has to be loaded for it raises
`Unfit`. Nothing slow is imported at the top: neither `re` nor `json`, `typing` or `dataclasses`.
"""

from __future__ import annotations

from _json import make_scanner

from bayleaf import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FORMAT = 2
MOST_CLASSES = 256
"""Of more, it is faster to load the file: the cells of a term are looked up class by class."""
MOST_CHANGES = 1 << 20
"""So many bytes of changes may stand behind a file before they are folded into it."""
FEW_CHANGES = 1 << 16
"""So many bytes of them are always few; beyond, an eighth of the file."""
_WIDTHS = {"U8": 1, "U16": 2, "U32": 4, "U64": 8, "F32": 4}
_NO_NORMALIZATION = {
    "stop_words": None,
    "stemmer": None,
    "lemmatizer": None,
    "strip_accents": False,
    "digits": "keep",
    "function": None,
}


class Unfit(Exception):  # noqa: N818 (nothing is wrong with the file)
    """The file must be loaded to answer."""


class _Plain:
    """How JSON is read: as `json.loads` does, which would import `re` first."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = None
    memo: dict[str, str] = {}  # noqa: RUF012 (what the scanner looks for)


def parsed(text: str) -> Any:
    """JSON as Python has it."""
    return make_scanner(_Plain)(text, 0)[0]  # type: ignore[arg-type] # any object with these attributes


class QuickModel:
    """The model in a file, as far as it was looked at."""

    def __init__(self, path: str) -> None:
        self._core = _core.QuickModel(path)
        header = parsed(self._core.header.decode("ascii"))
        settings = parsed(header.pop("__metadata__")["bayleaf"])
        answers = settings.get("answers")
        if settings["format"] != FORMAT or answers is None or len(settings["classes"]) > MOST_CLASSES:
            raise Unfit
        self.settings = settings
        self.classes: list[Any] = settings["classes"]
        self.columns: list[str] = [name for name, _ in settings["views"]]
        self._temperature: float = answers["temperature"]
        self._prior: list[float] | None = answers["prior"]
        self.steady: bool = answers["steady"]
        self._length: int = header.pop("blocks")["data_offsets"][0]
        each = zip(settings["views"], answers["views"], strict=True)
        views = [
            {**own, "analyzer": analyzer_of(view), "arrays": _places(header, i)}
            for i, ((_, view), own) in enumerate(each)
        ]
        self._core.verify(self._length, settings["documents"], views)
        self.documents, self.terms, self.occurrences, self.changes = self._core.facts()

    @property
    def log_prior(self) -> list[float]:
        """What is known of a document's class before looking at it."""
        prior = self._prior
        if prior is None:
            total = float(sum(self.documents))
            prior = _core.logs([documents / total for documents in self.documents])
        return [self._temperature * each for each in prior]

    def log_posterior(self, texts: Sequence[str]) -> list[float]:
        """log P(class | document) of one document, of which each view reads one of the texts."""
        return _core.log_posterior_of_one(self.log_joint(texts))

    def log_joint(self, texts: Sequence[str]) -> list[float]:
        """log P(document, class) of one document."""
        return self._core.log_joint(texts, self._temperature, self.log_prior)

    @property
    def drift(self) -> int:
        """The fingerprint of what was learned and forgotten since the model was tuned."""
        changed = self._core.drift
        judged = self.settings.get("judgement")
        return int(changed) if changed is not None else (judged or {}).get("drift", 0)

    def change(self, parts: Sequence[tuple[bool, int, list[list[str]]]], drift: int) -> bool:
        """Learn or forget documents, and write that behind the file.

        Each part says whether documents are learned, as which class, and has the texts of each view. False if
        that takes the whole model, or must be refused: then nothing was written.
        """
        most = min(MOST_CHANGES, max(FEW_CHANGES, self._length >> 3))
        if not self.steady or self.changes > most or not self._core.append(parts, str(drift)):
            return False
        self.documents, self.terms, self.occurrences, self.changes = self._core.facts()
        return True


def _places(header: dict[str, Any], view: int) -> dict[str, tuple[int, int, int]]:
    """Where the arrays of a view are: begin, count, width."""
    start = f"{view}."
    return {
        name[len(start) :]: (tensor["data_offsets"][0], tensor["shape"][0], _WIDTHS[tensor["dtype"]])
        for name, tensor in header.items()
        if name.startswith(start)
    }


def analyzer_of(view: dict[str, Any]) -> _core.Analyzer:
    """The part of the core that cuts text as a view says that a file describes."""
    buckets = view.get("buckets")
    if view["kind"] == "chars":
        lower, within = view["lower"], view["within_words"]
        return _core.Analyzer.letters(
            view["shortest"], view["longest"], lower=lower, within_words=within, buckets=buckets
        )
    if view["kind"] == "bytes_":
        bases = view.get("alphabet") == "dna"
        return _core.Analyzer.bytes(view["shortest"], view["longest"], bases=bases, buckets=buckets)
    if view["kind"] != "words":
        raise Unfit
    stop_words, porter, normalizer = _steps(view["normalization"])
    return _core.Analyzer.words(
        view["shortest"],
        view["longest"],
        lower=view["lower"],
        marks=view["marks"],
        min_length=view["min_length"],
        max_length=view["max_length"],
        max_bytes=view["max_token_bytes"],
        bigrams=view["spaceless"] == "bigrams",
        sparse=view["sparse"],
        stop_words=stop_words,
        porter=porter,
        normalizer=normalizer,
        buckets=buckets,
        **_cut(view["tokenizer"], view["keep"]),
    )


def _steps(normalization: dict[str, Any]) -> tuple[list[str], bool, Any]:
    """What happens to words; the usual without importing what could be done besides."""
    digits = normalization["digits"]
    if normalization | {"digits": "keep"} == _NO_NORMALIZATION and digits in ("keep", "zero"):
        return [], False, None if digits == "keep" else digits
    if normalization["function"] is not None:
        raise Unfit
    from bayleaf.text.normalization import Normalization

    return Normalization.from_dict(normalization).for_core()


def _cut(tokenizer: Any, keep: list[str]) -> dict[str, Any]:
    """What a token is."""
    if tokenizer in ("words", "words+punctuation", "whitespace"):
        kept = None
        if keep:
            from bayleaf.text.patterns import keep_pattern

            kept = keep_pattern(keep)
        return {"tokenizer": tokenizer, "pattern": None, "function": None, "keep": kept}
    if not isinstance(tokenizer, str):
        raise Unfit
    from bayleaf.text.tokenizers import for_core

    return for_core(tokenizer, tuple(keep))
