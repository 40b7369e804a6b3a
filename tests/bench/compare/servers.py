"""Translators as servers, pinned to a core: how to start them, and how to send requests."""
import contextlib
import socket
import subprocess
import tempfile
import time

from binary import Binary
from machine import missing
from process import fail, run
from translators import HERE, lines_and_rate, to_ctranslate2


def pinned(core, command):
    return ["taskset", "--cpu-list", str(core), *map(str, command)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(command, port):
    """A running server that accepts connections."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        try:
            for _ in range(600):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                if process.poll() is not None:
                    break
                time.sleep(0.1)
            if process.poll() is not None:
                log.seek(0)
                fail(command, log.read())
            yield
        finally:
            process.terminate()
            process.wait()


class Dragoman(Binary):
    body = '{"text": "%s"}'

    def __init__(self, a):
        super().__init__(a)
        self.a = a

    def prepare(self, _):
        pass

    def can(self, precision):
        return self.precision("serve", precision) is not None

    def settings(self):
        return [f"{self.threads} threads"]

    def options(self, command, job):
        return ["--model", self.a.model, "--cpu-threads", self.threads, "--beam-size", job.beam, "--normalize",
                job.normalize, *self.precision(command, job.precision)]

    def serve(self, job, _):
        """A context manager that runs the server and gives its URL."""
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/v1/translate"
        command = [self.path, "serve", "--port", port, "--max-requests-per-client", 1000, *self.options("serve", job)]
        return running(pinned(self.a.server_core, command), port)

    def lines_per_second(self, job, lines):
        """Speed of the command, without loading."""
        command = [self.path, "translate", "--input", lines, *self.options("translate", job)]
        return lines_and_rate(run(pinned(self.a.server_core, command)).log)[1]


class CTranslate2Server:
    name = "CTranslate2 behind FastAPI and uvicorn"
    body = '{"q": "%s"}'

    def __init__(self, a):
        self.a, self.python, self.threads, self.precisions = a, a.python, a.threads, a.precisions

    def missing(self):
        return missing(self.python, "ctranslate2", "sentencepiece", "numpy", "safetensors", "fastapi", "uvicorn")

    def version(self):
        return ", ".join(run([self.python, "-c", f"import {name}; print({name}.__version__)"]).out.strip()
                         for name in ("ctranslate2", "fastapi", "uvicorn"))

    def prepare(self, folder):
        self.folder = folder
        to_ctranslate2(self.python, self.a.model, folder, self.precisions)

    def settings(self):
        return [f"waits {wait:g} ms" for wait in self.a.waits]

    def serve(self, job, setting):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/translate"
        command = [self.python, "-B", HERE / "ctranslate2_server.py", self.folder / job.precision, "--port", port, "--precision",
                   job.precision, "--beam-size", job.beam, "--normalize", job.normalize, "--threads", self.threads, "--wait",
                   setting.split()[1]]
        return running(pinned(self.a.server_core, command), port)
