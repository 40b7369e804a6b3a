#!/usr/bin/env python3
"""Load, connections, limits and life of `dragoman serve`: the real program on a toy model, over loopback.

    limits_test.py BINARY
"""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import serve_case
from serve_case import Served, run, serving, translated
from toy_server import LINES, answer, json_post


def setUpModule():
    serve_case.make_models()


class Load(Served):
    def test_changes_no_text(self):
        expected = dict(zip(LINES, translated(LINES)))
        greedy = dict(zip(LINES, translated(LINES, "-b", 1)))

        def check(i):
            lines = [LINES[(i * 7 + j) % len(LINES)] for j in range(1 + i % 9)]
            if i % 3 == 0:
                found = self.server.json("POST", "/v1/translate", {"text": lines, "beam_size": 1})["translations"]
                return [t["text"] for t in found] == [greedy[line] for line in lines]
            found = self.server.json("POST", "/translate", {"q": lines, "source": "en", "target": "de"})
            return found["translatedText"] == [expected[line] for line in lines]

        with ThreadPoolExecutor(16) as pool:
            self.assertEqual(list(pool.map(check, range(400))), [True] * 400)

    def test_does_not_hold_up_a_short_text(self):
        """A word is answered while a text is translated that takes seconds."""
        ended = []
        with serving("--max-characters", "10000000", "--max-body", "20M") as server:

            def ask(name, body):
                server.json("POST", "/translate", {"q": body, "source": "en", "target": "de"})
                ended.append(name)

            long = threading.Thread(target=ask, args=("long", "\n".join(LINES[i % len(LINES)] for i in range(20_000))))
            long.start()
            waiting = r"dragoman_sentences_waiting (\d+)"
            while int(re.search(waiting, server.call("GET", "/metrics")[2].decode())[1]) < 500 and not ended:
                time.sleep(0.001)
            ask("short", "red")
            long.join()
        self.assertEqual(ended, ["short", "long"])


class Connections(Served):
    def test_answer_pipelined_requests_in_their_order(self):
        expected = translated(LINES[:6])
        with self.server.connect() as connection:
            connection.sendall(b"".join(json_post("/translate", {"q": line, "source": "en", "target": "de"})
                                        for line in LINES[:6]))
            stream = connection.makefile("rb")
            found = [answer(stream) for _ in range(6)]
        self.assertEqual([(s, json.loads(b)["translatedText"]) for s, b in found], [(200, line) for line in expected])

    def test_take_chunked_bodies(self):
        body = json.dumps({"q": LINES[0], "source": "en", "target": "de"})
        chunks = iter([body[:10].encode(), body[10:].encode()])
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request("POST", "/translate", chunks, {"Content-Type": "application/json"}, encode_chunked=True)
        self.assertEqual(json.load(connection.getresponse())["translatedText"], translated(LINES[:1])[0])
        connection.close()

    def test_that_are_half_closed_get_their_answer(self):
        with self.server.connect() as connection:
            connection.sendall(json_post("/translate", {"q": LINES[0], "source": "en", "target": "de"}))
            connection.shutdown(socket.SHUT_WR)
            status, body = answer(connection.makefile("rb"))
        self.assertEqual((status, json.loads(body)["translatedText"]), (200, translated(LINES[:1])[0]))

    def test_that_send_no_http_are_refused(self):
        with self.server.connect() as connection:
            connection.sendall(b"hello\r\n\r\n")
            self.assertEqual(answer(connection.makefile("rb"))[0], 400)

    def test_that_wait_for_100_get_it(self):
        post = json_post("/translate", {"q": LINES[0], "source": "en", "target": "de"})
        head, body = post.split(b"\r\n\r\n")
        with self.server.connect() as connection:
            connection.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
            stream = connection.makefile("rb")
            self.assertEqual(answer(stream)[0], 100)
            connection.sendall(body)
            self.assertEqual(answer(stream)[0], 200)

    def test_may_be_idle_by_the_thousand(self):
        with contextlib.ExitStack() as stack:
            for _ in range(400):
                stack.enter_context(self.server.connect())
            self.assertEqual(self.server.json("GET", "/health"), {"status": "ok"})
            metrics = self.server.call("GET", "/metrics")[2].decode()
            self.assertGreaterEqual(int(re.search(r"dragoman_connections (\d+)", metrics)[1]), 400)

    def test_that_go_away_take_their_requests_with_them(self):
        text = "\n".join(LINES[i % len(LINES)] for i in range(2500))
        with self.server.connect() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset when closed
            connection.sendall(json_post("/v1/translate", {"text": text, "beam_size": 64}))  # takes seconds
            self.wait_for(r"dragoman_sentences_waiting [1-9]")
        self.wait_for(r"dragoman_sentences_waiting 0\b")
        metrics = self.server.call("GET", "/metrics")[2].decode()
        self.assertRegex(metrics, r'dragoman_requests_total{route="/v1/translate",status="499"} 1')

    def wait_for(self, pattern):
        for _ in range(20_000):
            if re.search(pattern, self.server.call("GET", "/metrics")[2].decode()):
                return
        self.fail(pattern)


class Limits(unittest.TestCase):
    def test_a_client_that_has_closed_is_noticed_though_it_looks_half_closed(self):
        text = "\n".join(LINES[i % len(LINES)] for i in range(100_000))
        with serving("--max-characters", "10000000", "--max-body", "20M") as server:
            with server.connect() as connection:
                connection.sendall(json_post("/translate", {"q": text, "source": "en", "target": "de"}))
            self.wait_for(server, r'dragoman_requests_total{route="/translate",status="499"} 1')

    def wait_for(self, server, pattern):
        for _ in range(1000):
            if re.search(pattern, server.call("GET", "/metrics")[2].decode()):
                return
            time.sleep(0.05)
        self.fail(pattern)

    def test_languages_are_detected(self):
        run("detect", "--learn", "en=s", "fr=t", "--output", "languages")
        models = ("en-de=a.safetensors", "fr-de=b.safetensors")
        with serving("--detect-model", "languages", models=models) as server:
            for line, language, model in ((LINES[3], "en", "a"), ("das house red ist new", "fr", "b")):
                self.assertEqual(server.form("/detect", q=line)[0]["language"], language)
                found = server.form("/translate", q=line, source="auto", target="de")
                self.assertEqual(found["detectedLanguage"]["language"], language)
                self.assertEqual(found["translatedText"], translated([line], model=model)[0])
                found = server.json("POST", "/v1/translate", {"text": line, "target": "de"})["translations"][0]
                self.assertEqual(found["text"], translated([line], model=model)[0])
        with serving(models=models) as server:
            self.assertIn("name the source (en, fr)",
                          server.form("/translate", 400, q="a", source="auto", target="de")["error"])
            self.assertIn("cannot detect languages", server.form("/detect", 400, q="a")["error"])

    def test_keys_are_needed_where_there_are_some(self):
        (serve_case.FOLDER / "keys").write_text("# a comment\nsecret\n")
        with serving("--api-keys", "keys") as server:
            request = {"q": LINES[0], "source": "en", "target": "de"}
            self.assertIn("API key", server.json("POST", "/translate", request, 403)["error"])
            self.assertIn("Invalid", server.json("POST", "/translate", request | {"api_key": "secre"}, 403)["error"])
            server.json("POST", "/translate", request | {"api_key": "secret"})
            server.json("POST", "/v1/translate", {"text": "a"}, 403)
            server.json("POST", "/v1/translate", {"text": "a"}, Authorization="Bearer secret")
            server.json("POST", "/v1/translate", {"text": "a"}, Authorization="bearer  secret")
            server.json("POST", "/v1/translate", {"text": "a"}, 403, Authorization="Basic secret")
            server.json("POST", "/v1/reload", {}, 403)
            self.assertTrue(server.json("GET", "/frontend/settings")["keyRequired"])

    def test_of_bodies_requests_and_time_are_kept(self):
        long = {"q": "\n".join(LINES * 60), "source": "en", "target": "de"}
        with serving("--max-body", "1K", "--timeout", "0.02", "--max-requests-per-client", "1") as server:
            self.assertIn("1024 bytes", server.json("POST", "/translate", {"q": "a" * 2000}, 413)["error"])
        with serving("--timeout", "0.02") as server:
            status, headers, content = server.call("POST", "/translate", long)
            self.assertEqual((status, headers["Retry-After"]), (503, "1"), content)
            status, headers, content = server.call("POST", "/v1/translate", {"text": long["q"], "stream": True})
            self.assertIn(b'{"error":"this took more than 0.02 s"}', content)
            if status == 200:  # the first token came in time
                self.assertIn(b"event: error\n", content)
            else:
                self.assertEqual((status, headers["Retry-After"]), (503, "1"))
            self.assertIn(b'{route="/v1/translate",status="503"} 1', server.call("GET", "/metrics")[2])
        for option, status in (("--max-requests-per-client", 429), ("--max-requests", 503)):
            large = ("--max-characters", "10000000", "--max-body", "20M")
            with serving(option, "1", *large) as server, server.connect() as connection:
                connection.sendall(json_post("/translate", {**long, "q": "\n".join(LINES[i % len(LINES)] for i in range(10_000))}))
                while b"dragoman_requests_in_flight 2" not in server.call("GET", "/metrics")[2]:
                    pass
                found, headers, _ = server.call("POST", "/translate", {"q": "a", "source": "en", "target": "de"})
                self.assertEqual((found, headers["Retry-After"]), (status, "1"))
                self.assertEqual(answer(connection.makefile("rb"))[0], 200)
                server.form("/translate", q="a", source="en", target="de")

    def test_of_characters_counts_whatever_is_translated(self):
        with serving("--max-characters", "100") as server:
            for request in ({"text": "a" * 101}, {"text": ["a" * 50, "b" * 51]}, {"text": "a", "prefix": "b" * 100},
                            {"text": [""] * 101}, {"text": ["", "é" * 100]},
                            {"text": "a", "avoid": ["b" * 50, "é" * 50]},
                            {"text": "a", "glossary": {"b" * 20: "c" * 30, "d" * 20: "é" * 30}}):
                self.assertIn("request (101) exceeds text limit (100)",
                              server.json("POST", "/v1/translate", request, 400)["error"])
            for bytes_of_one in (b"\x80", "é".encode()):
                server.form("/translate", q=bytes_of_one * 100, source="en", target="de")
                server.form("/translate", 400, q=bytes_of_one * 101, source="en", target="de")
            server.json("POST", "/v1/translate", {"text": "a" * 50, "prefix": "b" * 50})

    def test_requests_are_logged(self):
        with serving("--access-log", "log") as server:
            server.form("/translate", q=LINES[0], source="en", target="de")
            server.call("GET", "/nowhere")
            with server.connect() as connection:
                connection.sendall(b"hello\r\n\r\n")
                self.assertEqual(answer(connection.makefile("rb"))[0], 400)
            self.assertIn(b'{route="other",status="400"} 1', server.call("GET", "/metrics")[2])
        entries = [json.loads(line) for line in (serve_case.FOLDER / "log").read_text().splitlines()]
        self.assertEqual([(e["method"], e["path"], e["status"], e["peer"]) for e in entries],
                         [("POST", "/translate", 200, "127.0.0.1"), ("GET", "/nowhere", 404, "127.0.0.1"),
                          ("", "", 400, "127.0.0.1"), ("GET", "/metrics", 200, "127.0.0.1")])

    def test_requests_are_logged_to_a_new_file_after_rotation(self):
        log, old = serve_case.FOLDER / "rotated", serve_case.FOLDER / "rotated.1"
        with serving("--access-log", "rotated") as server:
            server.json("GET", "/health")
            log.rename(old)
            server.json("GET", "/languages")
            server.json("POST", "/v1/reload", {})
        paths = [[json.loads(line)["path"] for line in file.read_text().splitlines()] for file in (old, log)]
        self.assertEqual(paths, [["/health", "/languages"], ["/v1/reload"]])


class Life(unittest.TestCase):
    def test_ends_when_what_is_in_flight_is_answered(self):
        with serving() as server, server.connect() as connection, server.connect() as idle:
            connection.sendall(json_post("/translate", {"q": LINES * 20, "source": "en", "target": "de"}))
            while b"dragoman_requests_in_flight 2" not in server.call("GET", "/metrics")[2]:
                pass
            self.assertEqual(server.stop(), 0)
            status, body = answer(connection.makefile("rb"))
            self.assertEqual(status, 200)
            self.assertEqual(json.loads(body)["translatedText"], translated(LINES * 20))
            self.assertEqual(idle.recv(1), b"")

    def test_continues_with_a_new_model_and_loses_nothing(self):
        folder = serve_case.FOLDER
        (folder / "m.safetensors").write_bytes((folder / "a.safetensors").read_bytes())
        before, after = translated(LINES[:8]), translated(LINES[:8], model="b")
        self.assertNotEqual(before, after)
        with serving(models=("en-de=m.safetensors",)) as server, ThreadPoolExecutor(4) as pool:
            request = {"q": LINES[:8], "source": "en", "target": "de"}
            found = [pool.submit(server.json, "POST", "/translate", request) for _ in range(200)]
            (folder / "new").write_bytes((folder / "b.safetensors").read_bytes())
            os.replace(folder / "new", folder / "m.safetensors")
            self.assertEqual(server.json("POST", "/v1/reload", {}), {"status": "reloaded"})
            self.assertEqual(server.json("POST", "/translate", request)["translatedText"], after)
            for answered in found:
                self.assertIn(answered.result()["translatedText"], (before, after))
            for new, expected in (("a", before), ("b", after)):
                (folder / "m.safetensors").write_bytes((folder / f"{new}.safetensors").read_bytes())
                reloads = server.said().count("All models are reloaded")
                server.process.send_signal(signal.SIGHUP)
                while server.said().count("All models are reloaded") == reloads:
                    time.sleep(0.01)
                self.assertEqual(server.json("POST", "/translate", request)["translatedText"], expected)
            (folder / "m.safetensors").unlink()
            self.assertIn("m.safetensors", server.json("POST", "/v1/reload", {}, 500)["error"])
            self.assertIn("there is no parameter 'modle'", server.json("POST", "/v1/reload", {"modle": 1}, 400)["error"])
            server.json("POST", "/v1/reload", {}, 403, Origin="https://a.example")
            self.assertEqual(server.json("POST", "/translate", request)["translatedText"], after)

    def test_reloads_again_when_the_old_model_has_answered(self):
        folder = serve_case.FOLDER
        (folder / "m.safetensors").write_bytes((folder / "a.safetensors").read_bytes())
        long = {"text": "\n".join(LINES[i % len(LINES)] for i in range(100_000)), "beam_size": 64}
        with serving("--max-characters", "10000000", "--max-body", "20M", models=("en-de=m.safetensors",)) as server:
            with server.connect() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset when closed
                connection.sendall(json_post("/v1/translate", long))
                while server.metrics("sentences_waiting") == [0]:
                    pass
                self.assertEqual(server.json("POST", "/v1/reload", {}), {"status": "reloaded"})
                (folder / "new").write_bytes((folder / "b.safetensors").read_bytes())
                os.replace(folder / "new", folder / "m.safetensors")
                server.process.send_signal(signal.SIGHUP)
                self.wait_until_said(server, "Models will be reloaded again after this reload")
                self.assertEqual(server.json("POST", "/v1/translate", {"text": LINES[0]})["translations"][0]["text"],
                                 translated(LINES[:1])[0])
            self.wait_until_said(server, "All models are reloaded", 2)
            self.assertEqual(server.json("POST", "/v1/translate", {"text": LINES[0]})["translations"][0]["text"],
                             translated(LINES[:1], model="b")[0])

    def test_reloads_after_a_start_during_which_it_was_told_to(self):
        pipe, keys = serve_case.FOLDER / "pipe", serve_case.FOLDER / "new"
        os.mkfifo(pipe)
        keys.write_text("new\n")
        process = subprocess.Popen([serve_case.BINARY, "serve", "-m", "a.safetensors", "--port", "0", "--api-keys", pipe],
                                   cwd=serve_case.FOLDER, stderr=subprocess.PIPE, text=True)
        with process:
            with open(pipe, "w") as writer:  # opens when the server reads its keys
                process.send_signal(signal.SIGHUP)
                os.replace(keys, pipe)
                writer.write("old\n")
            said = [next((line for line in process.stderr if text in line), None)
                    for text in ("Listening on", "All models are reloaded")]
            process.terminate()
        self.assertNotIn(None, said)

    def wait_until_said(self, server, text, times=1):
        for _ in range(1000):
            if server.said().count(text) >= times:
                return
            time.sleep(0.01)
        self.fail(server.said())

    def test_keeps_the_old_keys_until_new_ones_can_be_read(self):
        keys = serve_case.FOLDER / "renewed"
        keys.write_text("old\n")
        with serving("--api-keys", "renewed") as server:
            def reload(said):
                server.process.send_signal(signal.SIGHUP)
                self.wait_until_said(server, said)

            keys.unlink()
            reload("Reloading failed, the old models and keys stay in use: ")
            self.assertIn("renewed", server.json("POST", "/v1/reload", {"api_key": "old"}, 500)["error"])
            server.json("POST", "/v1/translate", {"text": "a", "api_key": "old"})
            keys.write_text("new\n")
            reload("All models are reloaded")
            server.json("POST", "/v1/translate", {"text": "a", "api_key": "old"}, 403)
            server.json("POST", "/v1/translate", {"text": "a", "api_key": "new"})

    def test_survives_the_limit_of_open_files(self):
        with serving(files=40) as server:
            with contextlib.ExitStack() as stack:
                for _ in range(60):
                    stack.enter_context(server.connect())
                while "No more connections" not in server.said():
                    time.sleep(0.01)
            self.assertEqual(server.json("GET", "/health"), {"status": "ok"})

    def test_serves_several_models(self):
        with serving(models=("en-de=a.safetensors", "en-fr=b.safetensors")) as server:
            for target, model in (("de", "a"), ("fr", "b")):
                self.assertEqual(server.form("/translate", q=LINES[0], source="en", target=target)["translatedText"],
                                 translated(LINES[:1], model=model)[0])
            self.assertIn("en is not supported", server.form("/translate", 400, q="a", source="en", target="en")["error"])
            self.assertIn("fr is not supported", server.form("/translate", 400, q="a", source="fr", target="de")["error"])

    def test_prints_addresses_that_can_be_opened(self):
        try:
            socket.create_server(("::", 0), family=socket.AF_INET6).close()
        except OSError as error:
            self.skipTest(f"no IPv6: {error}")
        with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(
                [serve_case.BINARY, "serve", "-m", "a.safetensors", "--port", "0", "--host", "::"], cwd=serve_case.FOLDER,
                stdout=subprocess.DEVNULL, stderr=errors, text=True) as server:
            try:
                for _ in range(600):
                    errors.seek(0)
                    said = errors.read()
                    if "Listening on" in said or server.poll() is not None:
                        break
                    time.sleep(0.05)
                self.assertRegex(said, r"Listening on http://\[::\]:\d+\n")
            finally:
                server.kill()

    def test_does_not_begin_where_it_cannot(self):
        with serving() as server:
            for options, message in ((("-m", "a.safetensors", "--port", str(server.port)), "cannot listen"),
                                     (("-m", "nowhere", "--port", "0"), "cannot be opened"),
                                     (("-m", "en-de=a.safetensors", "b.safetensors"), "not all with a language pair"),
                                     (("-m", "a.safetensors", "--port", "0", "--api-keys", "s", "--beam-size", "0"),
                                      "out of range")):
                done = subprocess.run([serve_case.BINARY, "serve", *options], cwd=serve_case.FOLDER, capture_output=True,
                                      text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    serve_case.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
