"""The servers that `serve.py` measures, each a process of its own: bayleaf, MLflow, spamd, bogofilter."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from bayleaf import NaiveBayes, mail_columns, preset
from bayleaf.text.mail_one_line import restored

TAUGHT, ASKED = 300, 200


class Server(NamedTuple):
    """Where a server listens, and its process."""

    port: int
    pid: int
    socket: str = ""

    def cpu_seconds(self) -> float:
        """The processor time of it and its children, those that have ended included."""
        ticks = 0
        for each in (self.pid, *_children(self.pid)):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    found = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*found, *(inner for each in found for inner in _children(each))]


@dataclass(frozen=True)
class Mails:
    """Mails to be taught, with their labels, and others to be asked about."""

    taught: list[tuple[str, bytes]]
    asked: list[bytes]

    @property
    def size(self) -> float:
        """The mean size of those that are asked about, in bytes."""
        return statistics.mean(map(len, self.asked))


def messages() -> list[tuple[str, str]]:
    """Label and text of the bundled messages."""
    lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
    return [(label, text) for label, _, text in (line.partition("\t") for line in lines)]


def mails() -> Mails:
    """Real mails if the corpus is there, else the bundled messages with a head in front."""
    corpus = Path(os.environ.get("BAYLEAF_DATA", "data"))
    if (corpus / "mail.train.tsv").exists():
        return Mails(_corpus(corpus, "train", TAUGHT), [mail for _, mail in _corpus(corpus, "test", ASKED)])
    made = [(label, _mail(text)) for label, text in messages()]
    return Mails(made[:TAUGHT], [mail for _, mail in made[-ASKED:]])


def _corpus(corpus: Path, part: str, count: int) -> list[tuple[str, bytes]]:
    """Mails of a part, evenly spread over it."""
    lines = (corpus / f"mail.{part}.tsv").read_text("utf-8").split("\n")
    chosen = lines[:: len(lines) // count][:count]
    pairs = [line.partition("\t") for line in chosen if line]
    return [(label, restored(text).encode()) for label, _, text in pairs]


def _mail(text: str) -> bytes:
    head = "From: Ann <ann@home.example>\nTo: Bob <bob@work.example>\nSubject: A message\n"
    return f"{head}Message-ID: <{abs(hash(text))}@home.example>\n\n{text}\n".encode()


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
def bayleaf_service(folder: Path, found: Mails) -> Iterator[tuple[Server, Server]]:
    """The default model of the messages over HTTP, and a model of mails that answers SPAMD."""
    folder.mkdir()
    pairs = messages()
    NaiveBayes().fit([text for _, text in pairs], [label for label, _ in pairs]).save(folder / "short")
    columns = mail_columns([mail for _, mail in found.taught])
    NaiveBayes(views=preset("mail")).fit(columns, [label for label, _ in found.taught]).save(folder / "mail")
    (folder / "bayleaf.toml").write_text('[spamd]\nmodel = "mail"\n')
    models = ["--model", f"spam={folder / 'short'}", "--model", f"mail={folder / 'mail'}"]
    socket = str(folder / "spamd")
    places = ["--http", "127.0.0.1:0", "--spamd", "127.0.0.1:0", "--spamd-socket", socket]
    command = [sys.executable, "-m", "bayleaf", "serve", str(folder), *models, *places]
    with process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        assert run.stdout
        said = list(iter(run.stdout.readline, "Ready.\n"))
        http, spamd = (int(line.rpartition(":")[2]) for line in said if " on " in line and "Unix" not in line)
        yield Server(http, run.pid), Server(spamd, run.pid, socket)


MLFLOW = """
import sys, mlflow
class Identity(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        return model_input
mlflow.pyfunc.save_model(sys.argv[1], python_model=Identity(), pip_requirements=[])
"""


@contextmanager
def mlflow_service(python: str, folder: Path) -> Iterator[Server]:
    """MLflow's scoring server around a model that gives back what it gets."""
    subprocess.run([python, "-c", MLFLOW, str(folder / "identity")], check=True, capture_output=True)
    port = free_port()
    arguments = ["models", "serve", "-m", str(folder / "identity"), "-p", str(port), "--env-manager", "local"]
    environment = {**os.environ, "PATH": f"{Path(python).parent}:{os.environ['PATH']}"}
    with process([python, "-m", "mlflow", *arguments], env=environment, **_quiet()) as run:
        wait_for(port, 90)
        yield Server(port, run.pid)


ONLY_BAYES = """\
use_bayes 1
bayes_auto_learn 0
bayes_min_spam_num 1
bayes_min_ham_num 1
bayes_file_mode 0777
bayes_path {folder}/bayes
body BAYES_99 eval:check_bayes('0.99', '1.00')
"""


@contextmanager
def spamd_service(folder: Path, found: Mails) -> Iterator[Server]:
    """The real spamd, Bayes only and taught: no rules of the network, no others."""
    port, rules = free_port(), folder / "rules"
    rules.mkdir()
    folder.chmod(0o777)  # it works as nobody
    plugins = ("Check", "Bayes")
    (rules / "init.pre").write_text(
        "".join(f"loadplugin Mail::SpamAssassin::Plugin::{each}\n" for each in plugins)
    )
    (rules / "only.cf").write_text(ONLY_BAYES.format(folder=folder))
    where = ["-C", str(rules), f"--siteconfigpath={rules}"]
    for label in ("spam", "ham"):
        (folder / label).mkdir()
        for number, (own, mail) in enumerate(found.taught):
            if own == label:
                (folder / label / str(number)).write_bytes(mail)
        subprocess.run(
            ["sa-learn", *where, f"--{label}", str(folder / label)], check=True, capture_output=True
        )
    for path in folder.glob("bayes*"):
        path.chmod(0o777)
    # One child for each core from the beginning, and not replaced by a fresh one after 200 mails.
    children = ["-m", "2", "--min-children=2", "--max-conn-per-child=100000"]
    socket = folder / "spamd"
    places = [f"--listen=127.0.0.1:{port}", f"--listen={socket}"]
    with process([spamd_program(), "-L", "-x", *children, *places, *where], **_quiet()) as run:
        wait_for(port, 60)
        yield Server(port, run.pid, str(socket))


def spamd_program() -> str:
    """Where spamd is, or nothing."""
    return shutil.which("spamd", path=f"{os.environ['PATH']}:/usr/sbin") or ""


def teach_bogofilter(folder: Path, found: Mails) -> None:
    """Teach bogofilter the same mails."""
    for label, mail in found.taught:
        command = ["bogofilter", "-d", str(folder), "-s" if label == "spam" else "-n"]
        subprocess.run(command, input=mail, check=False)


def ask_bogofilter(folder: str, mail: bytes) -> None:
    """Ask about a mail, a process for each as procmail has it."""
    subprocess.run(["bogofilter", "-d", folder, "-v"], input=mail, capture_output=True, check=False)


def ask_spamd(place: str, mail: bytes) -> None:
    """Ask a SPAMD server, on a port or a Unix socket, about a mail as spamc does: a connection for each."""
    is_port = place.isdecimal()
    with socket.socket(socket.AF_INET if is_port else socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(("127.0.0.1", int(place)) if is_port else place)
        client.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(mail) + mail)
        client.shutdown(socket.SHUT_WR)
        said = b""
        while part := client.recv(65_536):
            said += part
    assert b" EX_OK" in said, said


def _quiet() -> dict[str, Any]:
    return {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


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
