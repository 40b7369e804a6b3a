#!/usr/bin/env python3
"""`dragoman serve` where memory is short: one request fails, the others do not notice, and memory goes back.

    scarce_memory_test.py BINARY
"""

import contextlib
import json
import os
import resource
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import toy_server
from toy_server import LINES, answer, json_post

BINARY = ""  # from the command line
FOLDER = None
EXPECTED = {}  # what the command makes of LINES

# 210 words with 64 hypotheses of at least 150 tokens each: a search of the toy with 2 MiB has no memory for them.
WIDE = {"text": " ".join(" ".join(LINES[:30]).split()), "beam_size": 64, "min_length": 150, "max_length_factor": 3}


def setUpModule():
    global FOLDER
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    FOLDER = Path(temporary.name)
    toy_server.train(BINARY, FOLDER, "a.safetensors")
    EXPECTED.update(zip(LINES, toy_server.translated(BINARY, FOLDER, "a.safetensors", LINES)))


def serving(*options):
    return toy_server.serving(BINARY, FOLDER, *options)


def mebibytes(server, field):
    return toy_server.status_of(server, field) / 1024


class Others:
    """Clients that have lines translated all the time, and count what is wrong. `refusable`: 503 is not, but tried again."""

    def __init__(self, server, clients=4, refusable=False):
        self.server, self.refusable, self.ended, self.right, self.wrong = server, refusable, threading.Event(), 0, []
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(clients)]

    def work(self, i):
        while not self.ended.is_set():
            line = LINES[i % len(LINES)]
            status, _, content = self.server.call("POST", "/v1/translate", {"text": line})
            if status == 200 and json.loads(content)["translations"][0]["text"] == EXPECTED[line]:
                self.right += 1
            elif status == 503 and self.refusable:
                continue
            else:
                self.wrong.append((status, content))
            i += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        while not self.right and not self.wrong:
            time.sleep(0.001)
        return self

    def __exit__(self, *_):
        before = self.right
        while self.right < before + 4 and not self.wrong:  # they go on afterwards
            time.sleep(0.001)
        self.ended.set()
        for thread in self.threads:
            thread.join()


class OutOfMemory(unittest.TestCase):
    def assert_refused(self, status, headers, content):
        self.assertEqual(status, 503, content)
        self.assertEqual(headers["Retry-After"], "1")
        self.assertIn("too little memory for this request", json.loads(content)["error"])

    def test_in_a_search_fails_the_request_that_takes_most(self):
        with serving("--search-memory", "2M") as server:
            with Others(server) as others:
                for _ in range(5):
                    self.assert_refused(*server.call("POST", "/v1/translate", WIDE))
                events = server.events(**WIDE)
                self.assertEqual(events[-1][0], "error")
                self.assertIn("too little memory", events[-1][1]["error"])
            self.assertEqual(others.wrong, [])
            self.assertEqual(server.metrics("sentences_waiting", "requests_in_flight"), [0, 1])
        with serving("--search-memory", "64M") as server:
            status, _, content = server.call("POST", "/v1/translate", WIDE)
            self.assertEqual(status, 200, content)

    def test_of_the_process_fails_the_request_that_needs_it(self):
        """An array of a million texts takes more than the address space has, also as JSON; a text of 300 MB, as bytes.

        What comes at the moment when the memory is used up is refused too, and nothing else.
        """
        large = ("--max-characters", "1000000000", "--max-body", "1G", "--search-memory", "16M")
        with serving(*large) as server:
            for text in (LINES[0], "\n".join(LINES)):  # both kinds of searches exist
                server.json("POST", "/v1/translate", {"text": text})
            limit = toy_server.status_of(server, "VmSize") * 1024 + (64 << 20)
            resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            with Others(server, refusable=True) as others:
                for _ in range(3):
                    self.assert_refused(*server.call("POST", "/v1/translate", {"text": ["red"] * 1_000_000}))
                    self.assertEqual(self.status_of_endless_body(server), 503)
            self.assertEqual(others.wrong, [])

    def status_of_endless_body(self, server):
        """Of a body of 300 MB, of which the server reads as much as it has memory for."""
        head = json_post("/v1/translate", {}).split(b"\r\n\r\n")[0].replace(b"Length: 2", b"Length: 300000000")
        with server.connect() as connection:
            connection.sendall(head + b"\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                for _ in range(300):
                    connection.sendall(b" " * 1_000_000)
            return answer(connection.makefile("rb"))[0]


class Memory(unittest.TestCase):
    def test_of_a_large_request_goes_back_to_the_system(self):
        with serving("--max-characters", "10000000", "--max-body", "20M") as server:
            for line in LINES:
                server.json("POST", "/v1/translate", {"text": line})
            for request in ({"text": ["red"] * 3000, "n_best": 4, "alignment": True},
                            {**WIDE, "text": "red " * 900, "min_length": 900}):
                before = mebibytes(server, "VmRSS")
                Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")  # VmHWM begins anew
                server.json("POST", "/v1/translate", request)
                for _ in range(100):
                    after, most = mebibytes(server, "VmRSS"), mebibytes(server, "VmHWM")
                    if after < before + (most - before) / 3:
                        break
                    time.sleep(0.05)
                self.assertGreater(most, before + 8, "the request is large")
                self.assertLess(after, before + (most - before) / 3, (request.keys(), before, most))


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
