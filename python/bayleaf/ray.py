"""bayleaf on Ray: learn, score and filter Datasets and files.

Needs `pip install "bayleaf[ray]"`. See docs/scale.md.
"""

try:
    from bayleaf.engines.ray import filter, learn, learn_files, score, tune
except ImportError as error:
    raise ImportError(
        f'bayleaf.ray needs Ray Data and pyarrow ({error}): pip install "bayleaf[ray]"'
    ) from error

__all__ = ["filter", "learn", "learn_files", "score", "tune"]
