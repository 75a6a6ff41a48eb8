"""Distributed learning: count, merge and score without naming an engine, and an adapter for each engine.

Counts are integers, so a cluster is a sum: any partitioning, order, retry or merge tree gives the bytes of
one process (law L12). An adapter moves batches and blobs; what they mean is decided in `core`.
"""
