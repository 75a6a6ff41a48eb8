"""bayleaf on Ray: learn, score and filter Datasets and files.

Needs `pip install "bayleaf[ray]"`. See docs/scale.md.
"""

from bayleaf.engines.ray import filter, learn, learn_files, score, tune

__all__ = ["filter", "learn", "learn_files", "score", "tune"]
