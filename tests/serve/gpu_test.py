#!/usr/bin/env python3
"""`dragoman serve --devices`: the threads of several models and of a reload share a GPU. The library for GPUs is the one that
runs on the host (tests/cuda_on_host).

    gpu_test.py BINARY LIBRARY
"""

import shutil
import sys
import tempfile
import unittest
import unittest.mock
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import toy_server
from toy_server import LINES

BINARY, LIBRARY = "", ""  # from the command line
MODELS = {"en": "a.safetensors", "xx": "b.safetensors"}
SOME = LINES[::9]


class SharedGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        for file in (BINARY, Path(BINARY).parent / "libdragoman.so.0"):
            shutil.copy(file, cls.folder)
        shutil.copy(LIBRARY, cls.folder / "libdragoman_cuda.so")
        cls.binary = cls.folder / "dragoman"
        toy_server.train(cls.binary, cls.folder, "a.safetensors")
        toy_server.train(cls.binary, cls.folder, "b.safetensors", "--seed", "2", "--tied-embeddings-all=false")
        cls.expected = {source: toy_server.translated(cls.binary, cls.folder, model, SOME) for source, model in MODELS.items()}

    def serving(self, *options):
        models = [f"{source}-de={model}" for source, model in MODELS.items()]
        return toy_server.serving(self.binary, self.folder, *options, models=models)

    def test_threads_of_several_models_take_turns(self):
        def translation(server, source):
            request = {"text": SOME, "source": source, "target": "de"}
            return source, [each["text"] for each in server.json("POST", "/v1/translate", request)["translations"]]

        def scores(server, source):
            request = {"text": SOME, "translation": self.expected[source], "source": source, "target": "de"}
            return server.json("POST", "/v1/score", request)

        with self.serving("--devices", "0") as server, ThreadPoolExecutor(8) as threads:
            answers = [threads.submit(translation, server, source) for _ in range(6) for source in MODELS]
            reload = threads.submit(server.json, "POST", "/v1/reload")
            answers += [threads.submit(translation, server, source) for _ in range(3) for source in MODELS]
            scored = [threads.submit(scores, server, source) for source in MODELS]
            for each in answers:
                source, texts = each.result()
                self.assertEqual(texts, self.expected[source])
            for each in scored:
                each.result()
            reload.result()

    # Each thread has to select the GPU, as CUDA's own default is the first one.
    def test_computes_on_the_gpu_that_was_chosen(self):
        with unittest.mock.patch.dict(toy_server.ENVIRONMENT, {"CUDA_ON_HOST_DEVICES": "2"}), \
             self.serving("--devices", "1") as server:
            found = server.json("POST", "/v1/translate", {"text": SOME, "source": "en", "target": "de"})
        self.assertEqual([each["text"] for each in found["translations"]], self.expected["en"])

    def test_says_so_when_the_gpu_fails(self):
        broken = self.folder / "broken"
        request = {"text": SOME, "source": "en", "target": "de"}
        with unittest.mock.patch.dict(toy_server.ENVIRONMENT, {"CUDA_ON_HOST_BREAKS": str(broken)}), \
             self.serving("--devices", "0") as server:
            self.assertEqual(server.json("GET", "/health"), {"status": "ok"})
            broken.touch()
            for _ in range(2):
                self.assertEqual(server.json("POST", "/v1/translate", request, 503), {"error": "the server's GPU has failed"})
            self.assertRegex(server.json("GET", "/health", status=503)["error"], "CUDA: .* failed: operation not supported")
            self.assertEqual(server.said().count("The GPU has failed, and /health says so: CUDA: "), 1, server.said())
            broken.unlink()
            server.json("POST", "/v1/translate", request)
            self.assertEqual(server.json("GET", "/health"), {"status": "ok"})

    def test_warns_of_a_limit_that_has_no_effect(self):
        with self.serving("--devices", "0", "--search-memory", "1G") as server:
            self.assertIn("--search-memory has no effect on a GPU", server.said())


if __name__ == "__main__":
    BINARY, LIBRARY = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
