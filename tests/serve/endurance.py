#!/usr/bin/env python3
"""What `dragoman serve` must bear for long, each check a program of its own that exits with 1 if it fails:

    endurance.py BINARY text       the command's text whatever the load: lines in random order over many connections
    endurance.py BINARY fairness   a short request beside a page of 5,000 words
    endurance.py BINARY memory     a million requests
    endurance.py BINARY kills      connections that end at random for ten minutes

Without --model and --source, a toy model and lines of its words.
"""
import argparse
import contextlib
import http.client
import json
import math
import os
import random
import re
import socket
import statistics
import struct
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import toy_server
from toy_server import json_post, status_of

LARGE = ("--max-characters", "10000000", "--max-requests-per-client", "1000")


def toy_lines(count):
    """Each different, of 1 to 12 words."""
    words = sorted({word for line in toy_server.LINES for word in line.split()})
    draw = random.Random(1)
    lines = set()
    while len(lines) < count:
        lines.add(" ".join(draw.choices(words, k=draw.randint(1, 12))))
    return sorted(lines)


class Setting:
    """A folder with a model, lines to translate, and servers."""

    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        if not a.model:
            toy_server.train(a.binary, folder, "a.safetensors")
        self.model = str(Path(a.model).resolve()) if a.model else "a.safetensors"

    def lines(self, count):
        if not self.a.source:
            return toy_lines(count)
        text = Path(self.a.source).read_text(encoding="utf-8").split("\n")[:-1]
        return [text[i % len(text)] for i in range(count)]

    def translated(self, lines, *options):
        return toy_server.translated(self.a.binary, self.folder, self.model, lines, *self.a.options, *options)

    def serving(self, *options):
        return toy_server.serving(self.a.binary, self.folder, *LARGE, *self.a.options, *options, models=(self.model,))


def ask(connection, request):
    connection.request("POST", "/v1/translate", json.dumps(request), {"Content-Type": "application/json"})
    response = connection.getresponse()
    content = response.read()
    if response.status != 200:
        raise AssertionError(f"{response.status}: {content!r}")
    return json.loads(content)


def text(setting, a):
    """Half of the lines greedily, half with a beam. A line may have several sentences: the command gets these."""
    orders = [(line, (1, 5)[i % 2]) for i, line in enumerate(setting.lines(a.lines))]
    random.Random(2).shuffle(orders)
    local = threading.local()

    def translate(order):
        if not hasattr(local, "connection"):
            local.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        line, beam = order
        [found] = ask(local.connection, {"text": line, "beam_size": beam, "n_best": 1})["translations"]
        sentences = [(s["source"], s["hypotheses"][0]["text"]) for s in found["sentences"]]
        whole = " ".join(found["text"].split()) == " ".join(" ".join(t for _, t in sentences).split())
        return whole, beam, sentences

    with setting.serving() as server, ThreadPoolExecutor(a.connections) as pool:
        answers = list(pool.map(translate, orders))
    differ = sum(not whole for whole, _, _ in answers)
    sentences = 0
    for beam in (1, 5):
        pairs = [pair for _, b, found in answers if b == beam for pair in found]
        sentences += len(pairs)
        expected = setting.translated([source for source, _ in pairs], "-b", beam)
        differ += sum(translation != e for (_, translation), e in zip(pairs, expected))
    print(f"{len(answers):,} lines ({sentences:,} sentences) over {a.connections} connections: {differ} differ")
    return differ == 0 and len(answers) == a.lines


def fairness(setting, a):
    """Each round: short requests alone, then beside pages that follow each other."""
    lines = setting.lines(a.requests)
    words = " ".join(setting.lines(3000)).split()
    page = "\n".join(" ".join(words[i:i + 20]) for i in range(0, a.words, 20))
    times = {"alone": [], "beside a page": []}
    pages = 0

    def translate_pages(ended):
        nonlocal pages
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        while not ended.is_set():
            ask(connection, {"text": page})
            pages += 1

    def measure(name):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        for line in lines:
            begin = time.monotonic()
            ask(connection, {"text": line})
            times[name].append(1000 * (time.monotonic() - begin))

    with setting.serving() as server:
        for _ in range(a.rounds):
            measure("alone")
            ended = threading.Event()
            other = threading.Thread(target=translate_pages, args=(ended,))
            other.start()
            while server.metrics("sentences_waiting") == [0]:
                pass
            measure("beside a page")
            ended.set()
            other.join()
    p99 = {name: statistics.quantiles(found, n=100)[98] for name, found in times.items()}
    for name, found in times.items():
        print(f"{name}: {len(found):,} requests, p50 {statistics.median(found):.2f} ms, p99 {p99[name]:.2f} ms")
    ratio = p99["beside a page"] / p99["alone"]
    print(f"{pages} pages of {a.words:,} words meanwhile; ratio of p99: {ratio:.2f}")
    return ratio <= 3


def pipeline(port, lines, count, seed):
    """Requests, several on their way at once."""
    draw = random.Random(seed)
    with socket.create_connection(("127.0.0.1", port), 600) as connection:
        stream = connection.makefile("rb")
        for _ in range(count // 20):
            connection.sendall(b"".join(json_post("/v1/translate", {"text": draw.choice(lines)}) for _ in range(20)))
            for _ in range(20):
                if toy_server.answer(stream)[0] != 200:
                    raise AssertionError("a request failed")


def in_processes(function, *arguments, count):
    """Calls it with a seed more, in processes whose end is waited for. Python's threads would share a core."""
    pids = []
    for seed in range(count):
        pids.append(os.fork())
        if pids[-1] == 0:
            status = 1
            with contextlib.suppress(BrokenPipeError):
                function(*arguments, seed)
                status = 0
            os._exit(status)
    if any([os.waitpid(pid, 0)[1] for pid in pids]):
        raise AssertionError("a client failed")


def memory(setting, a):
    lines = setting.lines(1000)
    with setting.serving() as server:
        def send(count):
            in_processes(pipeline, server.port, lines, count // 4, count=4)

        send(a.warm_up)
        before = status_of(server, "VmRSS")
        begin = time.monotonic()
        send(a.requests)
        after = status_of(server, "VmRSS")
        answered = sum(map(int, re.findall(r'requests_total\{route="/v1/translate",status="200"\} (\d+)',
                                           server.call("GET", "/metrics")[2].decode())))
    growth = 100 * (after - before) / before
    print(f"{answered:,} requests answered, the last {a.requests:,} in {time.monotonic() - begin:.0f} s: resident memory "
          f"{before:,} -> {after:,} KiB, {growth:+.2f} %")
    return answered == a.warm_up + a.requests and growth < 1


def molest(port, lines, until, seed):
    """A client that sends a request or several, or part of them, or no HTTP, and leaves at any time in any way."""
    draw = random.Random(seed)
    texts = ["\n".join(draw.choices(lines, k=n)) for n in (1, 1, 1, 5, 200)]
    while time.monotonic() < until:
        request = {"text": draw.choice(texts), "beam_size": draw.choice((1, 5)), "stream": draw.random() < 0.3}
        data = json_post("/v1/translate", request) * draw.choice((1, 1, 3))
        if draw.random() < 0.4:
            data = data[:draw.randrange(len(data) + 1)]
        if draw.random() < 0.05:
            data = draw.randbytes(200)
        with contextlib.suppress(ConnectionError, TimeoutError), socket.create_connection(("127.0.0.1", port)) as connection:
            half = draw.randrange(len(data) + 1)
            for part in (data[:half], data[half:]):
                connection.sendall(part)
                time.sleep(draw.choice((0, 0, 0.02)) * draw.random())
            if draw.random() < 0.2:
                connection.shutdown(socket.SHUT_WR)
            if draw.random() < 0.5:
                connection.settimeout(0.001 + draw.random() / 20)
                connection.recv(draw.choice((1, 100, 1 << 20)))
            if draw.random() < 0.5:  # reset rather than close
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def held(server, limit=math.inf):
    """What must not grow, when nobody asks any more. The server may take a moment to close what clients have left, the
    connection of this question included: looked at until there are at most so many files, for a minute."""
    names = ("requests_in_flight", "connections", "sentences_waiting")
    for _ in range(600):
        gauges = server.metrics(*names)
        files = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        if gauges == [1, 1, 0] and files <= limit:  # the request for them
            break
        time.sleep(0.1)
    return {**dict(zip(names, gauges)), "files": files, "threads": status_of(server, "Threads"), "KiB": status_of(server, "VmRSS")}


def kills(setting, a):
    """Memory, in percent, is compared with that after a tenth of the time, but at least 5 s, in which buffers should
    reach their size. On a busy machine this takes longer, so it is repeated, up to three times, until memory grows no more."""
    lines = setting.lines(1000)
    expected = setting.translated(lines[:100])
    with setting.serving() as server:
        def send(seconds, limit=math.inf):
            in_processes(molest, server.port, lines, time.monotonic() + seconds, count=a.clients)
            return held(server, limit)

        warm_up = max(5, a.seconds / 10)
        before = send(warm_up)
        for _ in range(3):
            earlier, before = before, send(warm_up, before["files"])
            if before["KiB"] < 1.05 * earlier["KiB"]:
                break
        after = send(a.seconds, before["files"])
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        same = sum(ask(connection, {"text": line})["translations"][0]["text"] == e for line, e in zip(lines, expected))
        ended = {int(status): int(count) for status, count in re.findall(
            r'requests_total\{route="/v1/translate",status="(\d+)"\} (\d+)', server.call("GET", "/metrics")[2].decode())}
    growth = after.pop("KiB") / before.pop("KiB") - 1
    print(f"{a.seconds:g} s, {a.clients} clients; requests by status: {ended}\nheld before {before}, after {after}; resident "
          f"memory {growth:+.2%}; {same} of {len(expected)} texts right afterwards")
    return all(after[name] <= before[name] for name in before) and growth < a.growth / 100 and same == len(expected) and ended.get(499, 0) > 0


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("binary", metavar="BINARY")
    checks = p.add_subparsers(dest="check", required=True)
    for check, numbers in ((text, {"lines": 10_000, "connections": 64}),
                           (fairness, {"requests": 500, "rounds": 3, "words": 5000}),
                           (memory, {"requests": 1_000_000, "warm-up": 100_000}),
                           (kills, {"seconds": 600, "clients": 8, "growth": 10})):
        q = checks.add_parser(check.__name__, help=check.__doc__)
        q.set_defaults(run=check)
        for name, default in numbers.items():
            q.add_argument(f"--{name}", type=int, default=default)
        q.add_argument("--model", help="default: a toy")
        q.add_argument("--source", help="text of a sentence a line; default: words that the toy knows")
        q.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="for dragoman serve and translate, at the end")
    return p.parse_args()


def main():
    a = options()
    a.binary = str(Path(a.binary).resolve())
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if a.run(Setting(a, Path(folder)), a) else 1)


if __name__ == "__main__":
    main()
