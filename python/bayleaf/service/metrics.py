"""What Prometheus reads: requests, answers, what was learned, and how well it goes."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter as Count
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from bayleaf.service.progress import Record
from bayleaf.service.store import Store

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0)


class Times:
    """How many requests took up to each of the bounds, last those beyond, and the seconds of all."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0


class Metrics:
    """Counters of one service, in a registry of its own."""

    def __init__(self, store: Store, records: dict[str, Record]) -> None:
        self._store, self._records = store, records
        self.registry = CollectorRegistry()
        self._requests: Count[tuple[str, str, str]] = Count()
        self._times: dict[tuple[str, str], Times] = {}
        self._changes = Counter(
            "bayleaf_changes", "Documents learned, corrected and forgotten.", ["model", "outcome"],
            registry=self.registry,
        )  # fmt: skip
        self.registry.register(self)

    def request(self, protocol: str, operation: str, status: str, seconds: float) -> None:
        """Count one request."""
        self._requests[protocol, operation, status] += 1
        times = self._times.setdefault((protocol, operation), Times())
        times.counts[bisect_left(BUCKETS, seconds)] += 1
        times.seconds += seconds

    def requests(
        self, protocol: str, operation: str, status: str, counts: Sequence[int], seconds: float
    ) -> None:
        """Add requests that were counted elsewhere, by the same bounds."""
        self._requests[protocol, operation, status] += sum(counts)
        times = self._times.setdefault((protocol, operation), Times())
        times.counts = [own + more for own, more in zip(times.counts, counts, strict=True)]
        times.seconds += seconds

    def change(self, model: str, outcome: str) -> None:
        """Count what became of one document."""
        self._changes.labels(model, outcome).inc()

    def _answered(self) -> tuple[CounterMetricFamily, HistogramMetricFamily]:
        requests = CounterMetricFamily(
            "bayleaf_requests", "Requests answered.", labels=["protocol", "operation", "status"]
        )
        for key, count in self._requests.items():
            requests.add_metric(key, count)
        seconds = HistogramMetricFamily(
            "bayleaf_request_seconds", "Time from request to reply.", labels=["protocol", "operation"]
        )
        for both, times in self._times.items():
            bounds = [*map(str, BUCKETS), "+Inf"]
            sums = map(float, itertools.accumulate(times.counts))
            seconds.add_metric(both, list(zip(bounds, sums, strict=True)), times.seconds)
        return requests, seconds

    def collect(self) -> Iterator[Metric]:
        """What was counted here, and the state of the models, looked up when it is asked for."""
        yield from self._answered()
        documents = GaugeMetricFamily("bayleaf_documents", "Learned documents.", labels=["model", "label"])
        version = GaugeMetricFamily(
            "bayleaf_version", "Sequence number of the last change.", labels=["model"]
        )
        stale = GaugeMetricFamily("bayleaf_stale", "1 if the weights wait for a retune.", labels=["model"])
        accuracy = GaugeMetricFamily(
            "bayleaf_progressive_accuracy", "Right answers among those taught later.", labels=["model"]
        )
        loss = GaugeMetricFamily(
            "bayleaf_progressive_log_loss", "Log loss of answers taught later.", labels=["model"]
        )
        share = GaugeMetricFamily(
            "bayleaf_class_share", "Share of the last answers.", labels=["model", "label"]
        )
        drift = GaugeMetricFamily(
            "bayleaf_class_share_drift", "Distance of the last answers' shares from all.", labels=["model"]
        )
        for name, served in self._store.served.items():
            record = self._records[name]
            for label, count in served.shared.class_documents.items():
                documents.add_metric([name, str(label)], count)
            version.add_metric([name], served.version)
            stale.add_metric([name], float(served.shared.stale))
            if record.accuracy is not None and record.log_loss is not None:
                accuracy.add_metric([name], record.accuracy)
                loss.add_metric([name], record.log_loss)
            for label, value in record.shares().items():
                share.add_metric([name, label], value)
            drift.add_metric([name], record.drift())
        yield from (documents, version, stale, accuracy, loss, share, drift)
        yield _single(
            "bayleaf_waiting_changes", "Changes that wait for the disk.", self._store.writer.waiting()
        )
        yield _single("bayleaf_learning", "1 while learning is possible.", self._store.writer.broken is None)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)


def _single(name: str, help: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help, value=float(value))
