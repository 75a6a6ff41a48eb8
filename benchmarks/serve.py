"""The service under load, from a client in a process of its own; bounded in count and time.

    python benchmarks/serve.py [--seconds 5] [--mlflow PYTHON] [--json FILE]

PYTHON is an interpreter with MLflow, whose scoring server answers with an identity model. spamd and
bogofilter take part if they are installed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

TEXT = "Claim your free prize now, see you at noon"
MAIL = (
    b"From: Deals <win@deals.example>\nTo: a@b.example\nSubject: Win a prize\n\n"
    + b"Claim your free prize now. " * 40
)


@dataclass(frozen=True)
class Load:
    """Answers a second, and how long one took, in milliseconds."""

    per_second: float
    p50: float
    p99: float
    failed: int
    per_cpu_second: float

    def __str__(self) -> str:
        waited = f"p50 {self.p50:6.2f} ms   p99 {self.p99:6.2f} ms"
        busy = f"{self.per_cpu_second:7,.0f} for a second of its processor time"
        return f"{self.per_second:7,.0f}/s   {waited}   {busy}"


# The client


class Client(asyncio.Protocol):
    """One connection: sends a request, waits for the whole answer, sends the next."""

    def __init__(self, load: _Run) -> None:
        self.run, self.buffer, self.began = load, b"", 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.send()

    def send(self) -> None:
        if time.perf_counter() >= self.run.end:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(self.run.request())

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        at = self.buffer.lower().find(b"content-length:")
        length = int(self.buffer[at + 15 : self.buffer.find(b"\r", at)])
        if len(self.buffer) < head + 4 + length:
            return
        self.run.times.append(time.perf_counter() - self.began)
        self.run.failed += not self.buffer.startswith(b"HTTP/1.1 200")
        self.buffer = b""
        self.send()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.run.left()


class _Run:
    def __init__(self, connections: int, seconds: float, request: Callable[[], bytes]) -> None:
        self.times: list[float] = []
        self.failed = 0
        self.request = request
        self.end = time.perf_counter() + seconds
        self._open = connections
        self.done = asyncio.Event()

    def left(self) -> None:
        self._open -= 1
        if not self._open:
            self.done.set()


def http_post(path: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    kind = "Content-Type: application/json"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def requests(kind: str) -> Callable[[], bytes]:
    """What a client sends, one after the other."""
    classify = http_post("/models/spam/classify", {"text": TEXT})
    count = iter(range(10**9))

    def learn() -> bytes:
        text = f"{TEXT} {os.getpid()} {next(count)}"
        return http_post("/models/spam/learn", {"text": text, "label": "spam"})

    if kind == "classify":
        return lambda: classify
    if kind == "learn":
        return learn
    if kind == "mixed":
        turns = iter(range(10**9))
        return lambda: learn() if next(turns) % 10 == 9 else classify
    mlflow = http_post("/invocations", {"inputs": [TEXT]})
    return lambda: mlflow


async def _client(port: int, connections: int, seconds: float, kind: str) -> None:
    run = _Run(connections, seconds, requests(kind))
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(lambda: Client(run), "127.0.0.1", port)
    await run.done.wait()
    took = time.perf_counter() - began
    print(json.dumps({"times": run.times, "failed": run.failed, "took": took}))


def cpu_seconds(pid: int) -> float:
    """The processor time of a server and its children, which does not depend on who else is busy."""
    own = [pid, *(int(each) for each in _children(pid))]
    ticks = 0
    for each in own:
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[str]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [*found, *(inner for each in found for inner in _children(int(each)))]


def loaded(server: tuple[int, int], connections: int, seconds: float, kind: str) -> Load:
    """Run the client in a process of its own, against a port of a process."""
    port, pid = server
    busy = cpu_seconds(pid)
    command = [sys.executable, __file__, "--client", str(port), str(connections), str(seconds), kind]
    out = subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds + 60).stdout
    found = json.loads(out)
    times = sorted(1000 * each for each in found["times"])
    rate = len(times) / max(cpu_seconds(pid) - busy, 0.01)
    return Load(len(times) / found["took"], _part(times, 0.5), _part(times, 0.99), found["failed"], rate)


def _part(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(share * len(times)))] if times else 0.0


# The servers


@contextmanager
def process(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A server that is ended with its children."""
    started = subprocess.Popen(command, start_new_session=True, text=True, **options)
    try:
        yield started
    finally:
        os.killpg(started.pid, signal.SIGTERM)
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)


@contextmanager
def bayleaf_service(folder: Path) -> Iterator[tuple[int, int, int]]:
    """The demo's default model, tuning included; gives the ports of HTTP and SPAMD, and its process."""
    arguments = ["serve", str(folder), "--demo", "--http", "127.0.0.1:0", "--spamd", "127.0.0.1:0"]
    with process(
        [sys.executable, "-m", "bayleaf", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        assert run.stdout
        said = list(iter(run.stdout.readline, "Ready.\n"))
        ports = [int(line.rpartition(":")[2]) for line in said if " on " in line]
        yield ports[0], ports[1], run.pid


MLFLOW = """
import sys, mlflow
class Identity(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        return model_input
mlflow.pyfunc.save_model(sys.argv[1], python_model=Identity(), pip_requirements=[])
"""


@contextmanager
def mlflow_service(python: str, folder: Path) -> Iterator[tuple[int, int]]:
    """MLflow's scoring server around a model that gives back what it gets."""
    subprocess.run([python, "-c", MLFLOW, str(folder / "identity")], check=True, capture_output=True)
    port = free_port()
    arguments = ["models", "serve", "-m", str(folder / "identity"), "-p", str(port), "--env-manager", "local"]
    environment = {**os.environ, "PATH": f"{Path(python).parent}:{os.environ['PATH']}"}
    with process(
        [python, "-m", "mlflow", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as run:
        wait_for(port, 90)
        yield port, run.pid


@contextmanager
def spamd_service(folder: Path) -> Iterator[tuple[int, int]]:
    """The real spamd, Bayes only and taught: no rules of the network, no others."""
    port, rules = free_port(), folder / "rules"
    rules.mkdir()
    folder.chmod(0o777)  # it works as nobody
    (rules / "init.pre").write_text(
        "loadplugin Mail::SpamAssassin::Plugin::Check\nloadplugin Mail::SpamAssassin::Plugin::Bayes\n"
    )
    (rules / "only.cf").write_text(
        "use_bayes 1\nbayes_auto_learn 0\nbayes_min_spam_num 1\nbayes_min_ham_num 1\nbayes_file_mode 0777\n"
        f"bayes_path {folder}/bayes\nbody BAYES_99 eval:check_bayes('0.99', '1.00')\n"
    )
    where = ["-C", str(rules), f"--siteconfigpath={rules}"]
    for label, samples in taught().items():
        (folder / label).mkdir()
        for number, text in enumerate(samples):
            (folder / label / str(number)).write_text(f"Subject: {text[:30]}\n\n{text}\n")
        subprocess.run(
            ["sa-learn", *where, f"--{label}", str(folder / label)], check=True, capture_output=True
        )
    for path in folder.glob("bayes*"):
        path.chmod(0o777)
    spamd = shutil.which("spamd") or "/usr/sbin/spamd"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with process([spamd, "-L", "-x", "-m", "2", "-p", str(port), *where], **quiet) as run:
        wait_for(port, 60)
        yield port, run.pid


def taught() -> dict[str, list[str]]:
    """Some of the bundled messages by their labels."""
    lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()[:300]
    pairs = [line.split("\t", 1) for line in lines]
    return {label: [text for own, text in pairs if own == label] for label in ("spam", "ham")}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait_for(port: int, seconds: float) -> None:
    """Until somebody answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def check(port: int) -> float:
    """The seconds of one CHECK, connection included."""
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(MAIL) + MAIL)
        client.shutdown(socket.SHUT_WR)
        said = b""
        while part := client.recv(65_536):
            said += part
    assert b" EX_OK" in said, said
    return time.perf_counter() - began


def bogofilter(folder: Path) -> float:
    """The seconds of one mail through a process of bogofilter."""
    began = time.perf_counter()
    subprocess.run(["bogofilter", "-d", str(folder), "-v"], input=MAIL, capture_output=True, check=False)
    return time.perf_counter() - began


def median(measure: Callable[[], float], times: int) -> float:
    return statistics.median(measure() for _ in range(times))


# The rows


def http_rows(server: tuple[int, int], seconds: float) -> dict[str, Load]:
    """Classify, classify and learn, learn."""
    loaded(server, 8, 1, "classify")
    rows = {
        "classify, one short text, 32 clients": loaded(server, 32, seconds, "classify"),
        "classify and learn 9:1, durable, 32 clients": loaded(server, 32, seconds, "mixed"),
        "learn, durable, 64 clients": loaded(server, 64, seconds, "learn"),
    }
    for name, row in rows.items():
        print(f"{name:48} {row}   failed {row.failed}", flush=True)
    return rows


def checks(server: tuple[int, int], times: int) -> tuple[float, float]:
    """The median seconds of a CHECK, and the seconds of processor time that it took the server."""
    port, pid = server
    for _ in range(5):
        check(port)
    busy = cpu_seconds(pid)
    waited = median(lambda: check(port), times)
    return waited, (cpu_seconds(pid) - busy) / times


def check_rows(server: tuple[int, int], folder: Path) -> dict[str, float]:
    """CHECK against spamd, and bogofilter as a process."""
    waited, busy = checks(server, 500)
    rows = {"bayleaf": waited}
    print(f"CHECK takes bayleaf {1000 * busy:.2f} ms of processor time", flush=True)
    if shutil.which("spamd") or Path("/usr/sbin/spamd").exists():
        with spamd_service(folder) as other:
            rows["spamd"], theirs = checks(other, 50)
            print(
                f"CHECK takes spamd {1000 * theirs:.2f} ms of processor time: {theirs / busy:.1f} × bayleaf's"
            )
    else:
        print("spamd is not installed (apt packages spamassassin, spamd)")
    if shutil.which("bogofilter"):
        for label, samples in taught().items():
            command = ["bogofilter", "-d", str(folder), "-s" if label == "spam" else "-n"]
            subprocess.run(command, input="\n".join(samples).encode(), check=False)
        rows["bogofilter"] = median(lambda: bogofilter(folder), 50)
    for name, took in rows.items():
        ratio = f"{took / rows['bayleaf']:6.1f} × bayleaf's time" if name != "bayleaf" else ""
        print(f"CHECK of one mail, {name:29} {1000 * took:8.2f} ms   {ratio}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--mlflow", metavar="PYTHON", help="an interpreter that has MLflow")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with bayleaf_service(folder / "service") as (http, spamd, pid):
            rows = http_rows((http, pid), options.seconds)
            found |= {name: vars(row) for name, row in rows.items()}
            found["check"] = check_rows((spamd, pid), folder)
            if options.mlflow:
                with mlflow_service(options.mlflow, folder) as other:
                    loaded(other, 8, 1, "mlflow")
                    row = loaded(other, 32, options.seconds, "mlflow")
                    ours = loaded((http, pid), 32, options.seconds, "classify")
                print(f"{'MLflow, identity model, 32 clients':48} {row}")
                print(f"{'bayleaf again':48} {ours}   {ours.per_second / row.per_second:.1f} × MLflow")
                print(f"for the same processor time: {ours.per_cpu_second / row.per_cpu_second:.1f} × MLflow")
                found["mlflow"], found["again"] = vars(row), vars(ours)
        verified = subprocess.run(
            [sys.executable, "-m", "bayleaf", "verify", str(folder / "service")],
            capture_output=True,
            text=True,
        )
        print(verified.stdout + verified.stderr)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--client"]:
        import uvloop

        port, connections, seconds, kind = sys.argv[2:]
        uvloop.run(_client(int(port), int(connections), float(seconds), kind))
    else:
        main()
