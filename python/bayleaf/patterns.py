"""The former path of `bayleaf.text.patterns`, kept working."""

from bayleaf.text.patterns import KEEP_PATTERNS, TOKENIZERS, keep_pattern

__all__ = ["KEEP_PATTERNS", "TOKENIZERS", "keep_pattern"]
