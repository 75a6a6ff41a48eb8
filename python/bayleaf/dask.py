"""bayleaf on Dask: learn, score and filter DataFrames and files.

Needs `pip install "bayleaf[dask]"`. See docs/scale.md.
"""

try:
    from bayleaf.engines.dask import filter, learn, learn_files, score, tune
except ImportError as error:
    raise ImportError(
        f'bayleaf.dask needs dask, distributed and pyarrow ({error}): pip install "bayleaf[dask]"'
    ) from error

__all__ = ["filter", "learn", "learn_files", "score", "tune"]
