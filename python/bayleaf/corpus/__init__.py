"""Files to batches of columns: labeled or unlabeled documents in any format."""

from bayleaf.corpus.batches import Batch, Column
from bayleaf.corpus.corpus import Corpus, Shard, open_corpus
from bayleaf.corpus.formats import FORMATS
from bayleaf.corpus.settings import MAX_RECORD, CorpusError, Reject
from bayleaf.corpus.slices import Numbering, Slices

__all__ = [
    "FORMATS",
    "MAX_RECORD",
    "Batch",
    "Column",
    "Corpus",
    "CorpusError",
    "Numbering",
    "Reject",
    "Shard",
    "Slices",
    "open_corpus",
]
