"""`dragoman serve` for tests: a toy model, and the real program over loopback."""
import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
from itertools import product
from pathlib import Path

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
SMALL = ("--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 256 --learn-rate 0.02 --lr-warmup 10 --after 60u --cpu-threads 1 --quiet").split()
WORDS = list(product(("red", "blue", "green", "old"), ("house", "book", "car"), ("new", "small", "near")))
LINES = ["the {} {} is {}".format(*w) for w in WORDS]


def run(binary, folder, *words, text=None):
    done = subprocess.run([binary, *map(str, words)], cwd=folder, input=text, text=True, capture_output=True, check=False,
                          env=ENVIRONMENT)
    if done.returncode:
        raise AssertionError(f"{words}\n{done.stderr}")
    return done.stdout


def train(binary, folder, model, *options):
    """A model of LINES; the first makes the text (s, t) and the vocabulary (v) as well."""
    if not (folder / "v").exists():
        (folder / "s").write_text("".join(f"{line}\n" for line in LINES))
        (folder / "t").write_text("".join("das {1} {0} ist {2}\n".format(*w) for w in WORDS))
        run(binary, folder, "vocab", "train", "--input", "s", "t", "--model", "v", "--size", 320)
    at = SMALL.index("--enc-depth")
    small = SMALL[:at] + SMALL[at + 2:] if "decoder-only" in options else SMALL
    run(binary, folder, "train", "-t", "s", "t", "-v", "v", "v", "-m", model, *small, *options)


def translated(binary, folder, model, lines, *options):
    """What the command makes of them."""
    return run(binary, folder, "translate", "--quiet", "-m", model, *options,
               text="".join(f"{line}\n" for line in lines)).removesuffix("\n").split("\n")


def json_post(path, body):
    data = json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
            .encode() + data)


def answer(stream):
    """(status, body) of the next answer with a length."""
    status = int(stream.readline().split()[1])
    length = 0
    while (line := stream.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return status, stream.read(length)


class Server:
    """`dragoman serve` on a port that the system chose."""

    def __init__(self, binary, folder, *options, models=("en-de=a.safetensors",), files=None):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([binary, "serve", "-m", *models, "--port", "0", "--cpu-threads", "2", *options],
                                        cwd=folder, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=ENVIRONMENT,
                                        preexec_fn=limit if files else None)
        for _ in range(600):
            found = re.search(r"Listening on http://127\.0\.0\.1:(\d+)", self.said())
            if found:
                self.port = int(found[1])
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(self.said())

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def stop(self):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def close(self):
        self.process.stdout.close()
        self.errors.close()

    def call(self, method, path, body=None, **headers):
        """(status, headers, content) over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            if isinstance(body, dict):
                body, headers = json.dumps(body), {"Content-Type": "application/json"} | headers
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, status=200, **headers):
        found, _, content = self.call(method, path, body, **headers)
        if found != status:
            raise AssertionError(f"{path}: {found} {content!r}, expected {status}")
        return json.loads(content)

    def form(self, path, status=200, **fields):
        return self.json("POST", path, urllib.parse.urlencode(fields), status,
                         Content_Type="application/x-www-form-urlencoded")

    def connect(self):
        return contextlib.closing(socket.create_connection(("127.0.0.1", self.port), 60))

    def events(self, **request):
        """[(name, data)] of a stream."""
        status, headers, content = self.call("POST", "/v1/translate", request | {"stream": True})
        if status != 200:
            raise AssertionError(content)
        assert headers["Content-Type"] == "text/event-stream"
        events = [event.split("\n") for event in content.decode().split("\n\n") if event]
        return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]

    def metrics(self, *names):
        """Those without labels."""
        text = self.call("GET", "/metrics")[2].decode()
        return [int(re.search(rf"^dragoman_{name} (\d+)", text, re.M)[1]) for name in names]


def status_of(server, field):
    """A number of /proc/PID/status; memory in KiB."""
    return int(re.search(rf"^{field}:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text(), re.M)[1])


@contextlib.contextmanager
def serving(*arguments, **more):
    server = Server(*arguments, **more)
    try:
        yield server
        if server.stop():
            raise AssertionError(server.said())
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(60)
        server.close()
