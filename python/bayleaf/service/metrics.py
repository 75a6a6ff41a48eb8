"""What Prometheus reads: requests, answers, what was learned, and how well it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest

from bayleaf.service.progress import Record
from bayleaf.service.store import Store

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0)


class Metrics:
    """Counters of one service, in a registry of its own."""

    def __init__(self, store: Store, records: dict[str, Record]) -> None:
        self._store, self._records = store, records
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "bayleaf_requests", "Requests answered.", ["protocol", "operation", "status"],
            registry=self.registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "bayleaf_request_seconds", "Time from request to reply.", ["protocol", "operation"],
            registry=self.registry, buckets=BUCKETS,
        )  # fmt: skip
        self._changes = Counter(
            "bayleaf_changes", "Documents learned, corrected and forgotten.", ["model", "outcome"],
            registry=self.registry,
        )  # fmt: skip
        self._children: dict[tuple[str, str, str], tuple[Any, Any]] = {}
        self.registry.register(self)

    def request(self, protocol: str, operation: str, status: str, seconds: float) -> None:
        """Count one request."""
        key = (protocol, operation, status)
        if key not in self._children:
            self._children[key] = self._requests.labels(*key), self._seconds.labels(protocol, operation)
        count, time = self._children[key]
        count.inc()
        time.observe(seconds)

    def change(self, model: str, outcome: str) -> None:
        """Count what became of one document."""
        self._changes.labels(model, outcome).inc()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The state of the models, looked up when it is asked for."""
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
