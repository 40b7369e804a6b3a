#!/usr/bin/env python3
"""The laws behind key_size.py, and the picture that layers_plot.py makes of a benchmark's JSON."""

import json
import math
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import key_size  # noqa: E402
import layers_plot  # noqa: E402


def run(*command):
    return subprocess.run([sys.executable, "-B", *command], cwd=HERE, capture_output=True, encoding="utf-8", check=False)


class KeySize(unittest.TestCase):
    def test_the_gradient_of_a_softmax_is_known_at_its_ends(self):
        # Two equal weights: every entry of the Jacobian is ± 1/4.
        self.assertAlmostEqual(key_size.jacobian_norm([0.5, 0.5]), 0.5)
        self.assertEqual(key_size.jacobian_norm([1, 0, 0]), 0)

    def test_scores_are_those_of_the_page(self):
        query, keys = [1.0, 2.0, 0.0, -1.0], [[1.0, 1.0, 5.0, 1.0]]
        self.assertEqual(key_size.scores("dot", query, keys, []), [2.0])
        self.assertEqual(key_size.scores("scaled dot", query, keys, []), [1.0])
        self.assertAlmostEqual(key_size.scores("additive", query, keys, [2, 0, 0, 1])[0], 2 * math.tanh(2.0))

    def test_only_the_plain_dot_product_grows_with_the_key(self):
        draw = random.Random(1)
        small, large = key_size.measure(16, 40, draw), key_size.measure(256, 40, draw)
        self.assertAlmostEqual(large["dot"][0] / small["dot"][0], 16, delta=4)
        for kind in ("scaled dot", "additive"):
            self.assertAlmostEqual(large[kind][0] / small[kind][0], 1, delta=0.3)
        self.assertLess(large["dot"][2], small["dot"][2] / 1.5)


    def test_no_queries_are_an_error(self):
        done = run("key_size.py", "--queries", "0")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error: --queries is 0, expected at least 1\n", done.stderr)


class LayersPlot(unittest.TestCase):
    def test_help_and_missing_files_are_no_tracebacks(self):
        done = run("layers_plot.py", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Draws the results of bench_layers", done.stdout)
        self.assertEqual(run("layers_plot.py").returncode, 2)

    def test_the_fastest_repetition_is_drawn_for_each_length(self):
        def rows(kind, times):
            return [{"name": f"{kind}/{length}", "run_type": "iteration", "cpu_time": time, "MB": 4.0 + length}
                    for length, time in times.items()]

        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/{n}.json" for n in range(2)]
            for file, factor in zip(files, (1, 3)):
                times = {16: 2.0 * factor, 64: 9.0 / factor}
                measured = [row for kind in layers_plot.KINDS for row in rows(kind, times)]
                Path(file).write_text(json.dumps({"benchmarks": measured}), encoding="utf-8")
            found = layers_plot.read(files)
        self.assertEqual(found["BM_recurrent_unit"], {16: (2.0, 20.0), 64: (3.0, 68.0)})
        svg = ElementTree.fromstring("\n".join(layers_plot.page(found)))
        lines = [e for e in svg.iter() if e.tag.endswith("polyline")]
        self.assertEqual(len(lines), 2 * len(layers_plot.KINDS) + 1)
        (left, low), (right, high) = (map(float, point.split(",")) for point in lines[0].get("points").split())
        self.assertLess(left, right)
        self.assertGreater(low, high)  # more is further up
        self.assertIn("simple recurrent unit", [e.text for e in svg.iter()])


if __name__ == "__main__":
    unittest.main()
