"""Merge trees on paper and in fact: so many partitions of real blobs, merged level by level, on one core.

    BAYLEAF_DATA=~/corpora python benchmarks/merge_tree.py --partitions 10000

Partitions are slices of imdb.train, used over and over where there are more partitions than slices. For each
level it prints the nodes, the bytes that arrive (the shuffle), the seconds of all nodes (the work) and of the
slowest (the time on a cluster with a core for each node).
"""

from __future__ import annotations

import argparse
import time

from bayleaf import Model, words
from bayleaf.engines.core import count, merge
from measure import data_folder


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--slices", type=int, default=200, help="different partitions")
    parser.add_argument("--tree", default="256,16,1", help="nodes in each level")
    parser.add_argument("--ngrams", type=int, default=1)
    given = parser.parse_args()
    empty = Model([words(given.ngrams)], threads=1)
    blobs, seconds, megabytes = counted(empty, given.slices)
    rate = megabytes / seconds
    print(f"count: {megabytes:.1f} MB of text in {given.slices} partitions, {rate:.0f} MB/s on one core")
    level = [blobs[i % len(blobs)] for i in range(given.partitions)]
    for nodes in map(int, given.tree.split(",")):
        level = merged(level, nodes, empty)


def counted(empty: Model, slices: int) -> tuple[list[bytes], float, float]:
    lines = (data_folder() / "imdb.train.tsv").read_text("utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines]
    blobs, seconds = [], 0.0
    for i in range(slices):
        own = pairs[i::slices]
        texts, labels = [text for _, text in own], [label for label, _ in own]
        start = time.process_time()
        blob = count([(texts, labels)], empty)
        seconds += time.process_time() - start
        assert blob is not None
        blobs.append(blob)
    return blobs, seconds, sum(len(text.encode()) for _, text in pairs) / 1e6


def merged(level: list[bytes], nodes: int, empty: Model) -> list[bytes]:
    arriving, times, sums = sum(map(len, level)), [], []
    for node in range(min(nodes, len(level))):
        own = level[node::nodes]
        start = time.process_time()
        blob = merge(own, empty)
        times.append(time.process_time() - start)
        assert blob is not None
        sums.append(blob)
    print(
        f"{len(level):6} blobs of {arriving / len(level) / 1e3:7.0f} kB -> {len(sums):4} nodes: shuffle "
        f"{arriving / 1e6:8.1f} MB, work {sum(times):7.1f} s ({1000 * sum(times) / len(level):.1f} ms a "
        f"blob), slowest node {max(times):6.2f} s"
    )
    return sums


if __name__ == "__main__":
    main()
