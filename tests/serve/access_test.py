#!/usr/bin/env python3
"""Who may send what to `dragoman serve`: pages of other origins, bodies of any size. The real program on a toy model,
over loopback.

    access_test.py BINARY
"""

import os
import subprocess
import sys
import unittest

import serve_case
from serve_case import run, serving
from toy_server import LINES


def setUpModule():
    serve_case.make_models()


class Origins(unittest.TestCase):
    def test_that_are_named_may_read_every_answer(self):
        origin = "https://a.example:8080"
        request = {"q": "\n".join(LINES * 60), "source": "en", "target": "de"}
        with serving("--allow-origin", origin, "--max-body", "64K", "--timeout", "0.02") as server:
            for expected, method, path, body in ((200, "GET", "/languages", None), (204, "OPTIONS", "/translate", None),
                                                 (404, "GET", "/nowhere", None), (503, "POST", "/translate", request),
                                                 (413, "POST", "/translate", {"q": "a" * 100_000})):
                status, headers, _ = server.call(method, path, body, Origin=origin)
                self.assertEqual((status, headers.get_all("Access-Control-Allow-Origin")), (expected, [origin]), path)
                self.assertEqual(headers["Access-Control-Expose-Headers"], "Retry-After")
                self.assertEqual(headers["Access-Control-Allow-Headers"], "Authorization, Content-Type")
            with server.connect() as connection:
                connection.sendall(b"hello\r\n\r\n")
                self.assertIn(f"Access-Control-Allow-Origin: {origin}\r\n".encode(), connection.recv(4096))

    def test_are_none_by_default(self):
        with serving() as server:
            headers = server.call("GET", "/languages", Origin="https://a.example")[1]
            self.assertEqual([name for name in headers if name.startswith("Access-Control")], [])

    def test_must_be_what_browsers_send(self):
        for origin in ("https://a.example\r\nX-Other: 1", ""):
            done = subprocess.run([serve_case.BINARY, "serve", "-m", "a.safetensors", "--port", "0", "--allow-origin",
                                   origin], cwd=serve_case.FOLDER, capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"^error: --allow-origin '[^']*' is not an origin.*\n  hint: ")

    def test_may_be_none_in_a_file_of_all_options(self):
        dumped = run("serve", "-m", "a.safetensors", "--dump-config", "full")
        self.assertIn('allow-origin: ""\n', dumped)
        (serve_case.FOLDER / "dumped.yml").write_text(dumped, encoding="utf-8")
        self.assertEqual(run("serve", "-c", "dumped.yml", "--dump-config", "full"), dumped)


class Bodies(unittest.TestCase):
    def test_have_any_size_if_their_limit_is_0(self):
        with serving("--max-body", "0") as server:
            padded = {"q": LINES[0], "source": "en", "target": "de", "padding": "a" * (5 << 20)}
            self.assertIn("translatedText", server.json("POST", "/translate", padded))
            for size in (2**62, 2**64 - 1):  # more than there is memory for
                status, _, content = server.call("POST", "/translate", b"a", Content_Length=str(size))
                self.assertIn(status, (400, 413, 503), content)
            self.assertEqual(server.json("GET", "/health"), {"status": "ok"})


if __name__ == "__main__":
    serve_case.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
