#!/usr/bin/env python3
"""End-to-end test of `dragoman translate`: one output line per input line, sampling, ensembles, forced prefixes, n-best
lists and their scores, and contradicting options.

    translate_test.py BINARY
"""

import contextlib
import gzip
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from itertools import product
from pathlib import Path

BINARY = ""  # from the command line
SMALL = ("--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 256 --learn-rate 0.02 --lr-warmup 10 --after 60u --cpu-threads 1 --quiet").split()
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def setUpModule():
    """A folder with text (s, t), its vocabulary (v), two models of it (a, b) and one with another vocabulary (other)."""
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    WithModels.folder = Path(temporary.name)
    words = list(product(("red", "blue", "green", "old"), ("house", "book", "car"), ("new", "small", "near")))
    WithModels.lines = ["the {} {} is {}".format(*w) for w in words]
    for name, line in (("s", "the {} {} is {}\n"), ("t", "das {1} {0} ist {2}\n")):
        (WithModels.folder / name).write_text("".join(line.format(*w) for w in words), encoding="utf-8")
    for command in ("vocab train --input s t --model v --size 320", "vocab train --input s t --model w --size 300"):
        WithModels.succeed(command)
    for name, more in (("a", "-v v v"), ("b", "-v v v --seed 2 --dec-depth 2"), ("other", "-v w w")):
        WithModels.succeed("train -t s t", "-m", f"{name}.safetensors", *SMALL, *more.split())


class WithModels(unittest.TestCase):
    @classmethod
    def call(cls, command, *more, text=b""):
        return subprocess.run([BINARY, *command.split(), *more], cwd=cls.folder, timeout=240, check=False,
                              input=text.encode() if isinstance(text, str) else text, capture_output=True,
                              env=ENVIRONMENT)

    @classmethod
    def succeed(cls, command, *more, text=b""):
        """The bytes on stdout."""
        done = cls.call(command, *more, text=text)
        if done.returncode:
            raise AssertionError(f"{command}\n{done.stderr.decode()}")
        return done.stdout

    @classmethod
    def translate(cls, lines, *options, model="a.safetensors"):
        """Lines for lines."""
        text = cls.succeed("translate --quiet -m", *model.split(), *options, text="".join(f"{l}\n" for l in lines))
        return text.decode().removesuffix("\n").split("\n")


class Lines(WithModels):
    HOSTILE = [b"", b" ", b"\t \x0b\x0c", b"\r", b"a\rb", b"a\0b", b"\0", "one\u2028two\u0085three".encode(),
               b"\xff\xfe broken \xe2\x82", "\u200b\ufeff".encode(), b"<s></s><unk>", b"<0x0A> <0x0D>", b"a ||| b",
               "😀 漢字 한국어 العربية e\u0301\u0301".encode(), b"x" * 50_000, b"the red " * 6_000]

    def hostile(self, lines, *more):
        done = self.call("translate -m a.safetensors -b 1 --max-length 200 --max-length-factor 0.3", *more,
                         text=b"\n".join(lines) + b"\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith(b"\n"))
        return done.stdout[:-1].split(b"\n"), done.stderr.decode()

    def test_each_line_is_a_line_whatever_it_holds(self):
        found, said = self.hostile(self.HOSTILE)
        self.assertEqual(len(found), len(self.HOSTILE))
        for line in found:
            line.decode()  # valid UTF-8
            self.assertNotRegex(line, rb"[\r\n]")
        self.assertEqual(found[:4], [b""] * 4)
        self.assertRegex(said, r"line 15 has [\d,]+ pieces: lines of more than 200 are split into segments")
        self.assertIn("1 line is not valid UTF-8, the first is line 9", said)

    def test_lines_longer_than_any_it_was_trained_on_are_told(self):
        short = self.lines[0]
        long = " ".join(self.lines[:20])
        done = self.call("translate -m a.safetensors -b 1", text=f"{short}\n{long}\n{short}\n{long} {long}\n")
        said = done.stderr.decode()
        self.assertRegex(said, r"line 2 has a segment of \d+ pieces, longer than any sentence that the model was trained on \(\d+\)")
        self.assertIn("2 lines are longer, in pieces, than any sentence", said)
        self.assertNotIn("trained on", self.call("translate -m a.safetensors -b 1", text=f"{short}\n").stderr.decode())

    def test_vocabularies_besides_those_of_the_model_are_ignored_with_a_word(self):
        done = self.call("translate -m a.safetensors -b 1 -v nothere nothere", text=self.lines[0] + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--vocabs is ignored: a.safetensors contains its vocabularies", done.stderr.decode())

    def test_longer_lines_of_all_processes_are_counted(self):
        long = " ".join(self.lines[:20])
        text = f"{long}\n{self.lines[0]}\n" * 3
        for options in ("", "--processes 2", "--processes 2 --maxi-batch-lines 1"):
            said = self.call(f"translate -m a.safetensors -b 1 {options}", text=text).stderr.decode()
            self.assertIn("3 lines are longer, in pieces, than any sentence", said, options)

    def test_the_lengths_that_a_model_was_trained_on_are_in_its_file(self):
        pieces = {file: [len(line.split()) for line in self.succeed(f"vocab encode -m v -i {file}").splitlines()]
                  for file in "st"}
        longest = {"longest_source": max(pieces["s"]), "longest_target": max(pieces["t"])}
        self.succeed("quantize -m a.safetensors -o a8.safetensors")
        self.succeed("average -o mean.safetensors a.safetensors a.safetensors")
        for model in ("a", "a8", "mean"):
            page = json.loads(self.succeed(f"inspect --json {model}.safetensors"))
            self.assertEqual(page["trained"], longest, model)
        self.assertRegex(self.succeed("inspect a.safetensors").decode(),
                         rf"Trained on sentences of up to\n +source +{longest['longest_source']} pieces")
        seen = self.lines[pieces["s"].index(max(pieces["s"]))]
        for text, warned in ((seen, False), (f"{seen} red", True)):
            said = self.call("translate -m a.safetensors", text=f"{text}\n").stderr.decode()
            self.assertEqual(f"trained on ({longest['longest_source']})" in said, warned, said)

    def test_each_line_is_the_same_alone(self):
        together, _ = self.hostile(self.HOSTILE)
        for line, expected in list(zip(self.HOSTILE, together))[:-2]:
            self.assertEqual(self.hostile([line])[0], [expected], line)

    def test_compressed_text_that_no_name_tells_is_refused(self):
        for begin, program in ((b"\x1f\x8b\x08\0", "gzip"), (b"\xfd7zXZ\0\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd")):
            done = subprocess.run([BINARY, "translate", "-m", "a.safetensors"], cwd=self.folder, env=ENVIRONMENT,
                                  input=begin + b"rest\n", capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(f"stdin holds {program} data, expected text".encode(), done.stderr)

    def test_a_last_line_needs_no_end(self):
        self.assertEqual(self.succeed("translate --quiet -m a.safetensors", text=f"{self.lines[0]}\n\n{self.lines[1]}"),
                         self.succeed("translate --quiet -m a.safetensors",
                                      text=f"{self.lines[0]}\r\n\r\n{self.lines[1]}\r\n"))
        self.assertEqual(self.succeed("translate --quiet -m a.safetensors", text=""), b"")

    def test_a_line_of_any_length_takes_a_bounded_amount_of_memory(self):
        def peak(text):
            done = subprocess.run(["/usr/bin/env", "python3", "-c", PEAK, BINARY, "translate", "--quiet", "-m",
                                   "a.safetensors", "--max-length-factor", "0.001", "-b", "1"], cwd=self.folder,
                                  input=text, capture_output=True, env=ENVIRONMENT, check=True, timeout=240)
            self.assertEqual(done.stdout.count(b"\n"), 1)
            return int(done.stderr.split()[-1])  # KiB
        mebibyte = (b"the red house is new" + b" " * 8172) * 128
        self.assertLess(peak(mebibyte * 64), peak(mebibyte * 8) + 8 * 1024)

    def test_less_virtual_memory_than_the_machine_has_is_enough(self):
        command = f"ulimit -v 1000000 && exec {BINARY} translate --quiet -m a.safetensors --cpu-threads 2"
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, input=self.lines[0].encode(), capture_output=True,
                              check=False, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stdout.decode().splitlines()), (0, self.translate(self.lines[:1])))

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        command = (f"yes 'the red house' | {{ {BINARY} translate -m a.safetensors 2>errors; echo $? >code; }}"
                   " | head -3 >head")
        subprocess.run(["bash", "-c", command], cwd=self.folder, timeout=60, check=True, env=ENVIRONMENT)
        read = lambda name: (self.folder / name).read_text(encoding="utf-8")
        self.assertEqual((read("code"), read("errors"), read("head").count("\n")), ("0\n", "", 3))

    def test_memory_does_not_grow_with_the_number_of_lines(self):
        with subprocess.Popen([BINARY, "translate", "--quiet", "-m", "a.safetensors", "-b", "1"], cwd=self.folder,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT) as program:
            def resident_after(rounds):
                for _ in range(rounds):
                    program.stdin.write("".join(f"{line}\n" for line in self.lines).encode())
                    program.stdin.flush()
                    for _ in self.lines:
                        program.stdout.readline()
                status = Path(f"/proc/{program.pid}/status").read_text(encoding="utf-8")
                return int(re.search(r"VmRSS:\s+(\d+)", status)[1])
            readings = [resident_after(30) for _ in range(5)]
            # Batches depend on timing, so the largest may come late; a leak would show in every window.
            self.assertLess(min(b / a for a, b in zip(readings, readings[1:])), 1.002, readings)
            program.stdin.close()


PEAK = """
import os, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=0)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""


class Sampling(WithModels):
    def test_the_same_seed_gives_the_same_lines_in_any_batch_and_on_any_threads(self):
        for kind in (["full"], ["topk", "5"], ["nucleus", "0.8"]):
            options = ["--output-sampling", *kind, "--temperature", "1.5", "--seed", "7"]
            expected = self.translate(self.lines, *options)
            self.assertEqual(len(expected), len(self.lines))
            for more in (["--mini-batch-words", "1"], ["--maxi-batch-lines", "1"], ["--cpu-threads", "3"]):
                self.assertEqual(self.translate(self.lines, *options, *more), expected, more)
            self.assertNotEqual(self.translate(self.lines, *options[:-1], "8"), expected)

    def test_the_same_text_on_two_lines_differs(self):
        self.assertGreater(len(set(self.translate([self.lines[0]] * 20, "--output-sampling"))), 3)

    def test_one_piece_to_draw_from_is_greedy_search(self):
        self.assertEqual(self.translate(self.lines, "--output-sampling", "topk", "1"),
                         self.translate(self.lines, "--beam-size", "1"))

    def test_n_best_draws_several(self):
        found = self.translate(self.lines[:2], "--output-sampling", "--n-best", "20")
        self.assertEqual([line.split(" ||| ")[0] for line in found], ["0"] * 20 + ["1"] * 20)


class Ensembles(WithModels):
    def test_a_model_twice_is_the_model(self):
        self.assertEqual(self.translate(self.lines, model="a.safetensors a.safetensors"), self.translate(self.lines))

    def test_a_weight_of_one_and_zero_leaves_one_model(self):
        for weights, model in (("1 0", "a.safetensors"), ("0 1", "b.safetensors")):
            for mean in ("geometric", "arithmetic"):
                self.assertEqual(self.translate(self.lines, "--weights", *weights.split(), "--ensemble-mean", mean,
                                                model="a.safetensors b.safetensors"),
                                 self.translate(self.lines, model=model))

    def test_the_mean_of_probabilities_is_another_and_never_lower(self):
        found = {}
        for mean in ("geometric", "arithmetic"):
            scored = self.translate([f"{line}\t{line}" for line in self.lines], "--scores", "--force-decode", "-b", "1",
                                    "--max-length-add", "0", "--ensemble-mean", mean, model="a.safetensors b.safetensors")
            found[mean] = [float(line.split("\t")[0]) for line in scored]
        self.assertNotEqual(found["geometric"], found["arithmetic"])
        self.assertTrue(all(g <= a + 1e-4 for g, a in zip(found["geometric"], found["arithmetic"])))

    def test_features_are_the_scores_of_the_models(self):
        """Those that `score` gives, of each model alone; the whole is their mean over the length."""
        found = [line.split(" ||| ") for line in
                 self.translate(self.lines[:9], "--n-best", "--word-scores", model="a.safetensors b.safetensors")]
        self.assertEqual(len(found), 9 * 5)
        for name, texts in (("sources", [self.lines[int(f[0])] for f in found]), ("texts", [f[1] for f in found])):
            (self.folder / name).write_text("".join(f"{t}\n" for t in texts), encoding="utf-8")
        alone = [self.succeed(f"score --quiet -m {m}.safetensors -t sources texts").split() for m in "ab"]
        compared = 0
        for (_, text, words, features, total), a, b in zip(found, *alone):
            [of_a, of_b] = map(float, re.fullmatch(r"F0= (\S+) F1= (\S+)", features).groups())
            pieces = [float(x) for x in words.removeprefix("WordScores= ").split()]
            self.assertAlmostEqual(sum(pieces), (of_a + of_b) / 2, delta=1e-2)
            self.assertAlmostEqual(float(total), (of_a + of_b) / 2 / len(pieces), delta=1e-3)
            if len(self.pieces(text)) + 1 == len(pieces):  # the text may be segmented differently
                compared += 1
                self.assertAlmostEqual(of_a, float(a), delta=2e-3)
                self.assertAlmostEqual(of_b, float(b), delta=2e-3)
        self.assertGreater(compared, 20)

    def pieces(self, text):
        return self.succeed("vocab encode -m v", text=text + "\n").split()


class Options(WithModels):
    def pieces(self, lines):
        text = self.succeed("vocab encode -m v", text="".join(f"{l}\n" for l in lines)).decode()
        return [line.split() for line in text.removesuffix("\n").split("\n")]

    def test_lengths_are_counted_a_sentence(self):
        sources = [" ".join(p[:2 + i % 5]) for i, p in enumerate(self.pieces(self.lines))]
        forced = ["--no-spm-encode", "--max-length-factor", "1", "--min-length-factor", "1", "--n-best", "1",
                  "--word-scores"]
        found = self.translate(sources, *forced)
        for source, line in zip(sources, found):
            scores = line.split(" ||| ")[-3].removeprefix("WordScores= ").split()
            self.assertEqual(len(scores), len(source.split()), line)

    def test_translations_begin_as_they_must(self):
        free = self.translate(self.lines)
        found = self.translate([f"{line}\tein Anfang" for line in self.lines], "--force-decode")
        self.assertTrue(all(line.startswith("ein Anfang") for line in found), found)
        self.assertEqual(self.translate([line + "\t" for line in self.lines], "--force-decode"), free)
        # forcing a prefix of the best translation changes nothing
        begun = [f"{line}\t{best.split()[0]}" for line, best in zip(self.lines, free)]
        self.assertEqual(self.translate(begun, "--force-decode", "-b", "1"), self.translate(self.lines, "-b", "1"))

    def test_a_prefix_that_the_vocabulary_lacks_is_named_once(self):
        text = "▁the\t▁das\n▁the\t▁no-piece\n▁the\t▁no-piece\n"
        done = self.call("translate -m a.safetensors --no-spm-encode --force-decode", text=text)
        self.assertEqual((done.returncode, done.stdout.count(b"\n")), (0, 3), done.stderr)
        said = done.stderr.decode()
        self.assertEqual(said.count("has pieces that the vocabulary lacks"), 1, said)
        self.assertIn("the prefix of line 2 (--force-decode)", said)

    def test_pieces_in_a_row_come_once(self):
        options = ["--min-length", "30", "--no-spm-encode", "--n-best", "1"]
        sources = [" ".join(p) for p in self.pieces(self.lines[:9])]
        repeated = lambda line: len(line.split()) > len(set(line.split()))
        self.assertTrue(any(map(repeated, self.translate(sources, *options))))
        found = self.translate(sources, "--min-length", "12", "--no-spm-encode", "--no-repeat-ngram", "1")
        self.assertFalse(any(map(repeated, found)), found)

    def test_the_unknown_piece_comes_only_when_it_is_allowed(self):
        for line in self.translate(["漢字 漢字 漢字"] * 3):
            self.assertNotIn("⁇", line)

    def test_on_a_terminal_it_says_how_far_it_is(self):
        terminal, end = pty.openpty()
        with subprocess.Popen([BINARY, "translate", "-m", "a.safetensors"], cwd=self.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=end, env=ENVIRONMENT) as program:
            os.close(end)
            for _ in range(2):
                program.stdin.write(b"the red house\n")
                program.stdin.flush()
                program.stdout.readline()
                time.sleep(2.1)
            program.stdin.close()
            self.assertEqual(program.wait(60), 0)
        said = b""
        with contextlib.suppress(OSError):  # reading a closed terminal is an error
            while piece := os.read(terminal, 1 << 16):  # until the end
                said += piece
        os.close(terminal)
        said = said.decode()
        self.assertRegex(said, r"\r\x1b\[K2 lines  [\d.]+ lines/s")
        self.assertRegex(said, r"\r\x1b\[K\[.*Translated 2 lines")


class Shortlists(WithModels):
    @classmethod
    def setUpClass(cls):
        cls.succeed("align -t s t -m a.safetensors --shortlist list --quiet")
        cls.succeed("align -t s t -m a.safetensors --shortlist few --first 0 --best 1 --quiet")

    def test_a_line_is_the_same_in_any_batch_and_on_any_threads(self):
        for more in ([], ["--precision", "int8"], ["--output-sampling"], ["-b", "1"]):
            options = ["--shortlist", "few", "--scores", *more]
            expected = self.translate(self.lines, *options)
            for other in (["--mini-batch-words", "1"], ["--maxi-batch-lines", "1"], ["--cpu-threads", "3"]):
                self.assertEqual(self.translate(self.lines, *options, *other), expected, more + other)

    def test_one_that_names_what_would_be_said_changes_nothing(self):
        self.assertEqual(self.translate(self.lines, "--shortlist", "list"), self.translate(self.lines))

    def test_beginnings_that_are_forced_need_not_be_in_it(self):
        found = self.translate([f"{line}\tein Anfang" for line in self.lines], "--shortlist", "few", "--force-decode")
        self.assertTrue(all(line.startswith("ein Anfang") for line in found), found)

    def test_tables_of_marian_are_cut_as_their_numbers_say(self):
        source, target = ({p for line in self.succeed("vocab encode -m v", text=(self.folder / side).read_bytes())
                           .decode().split("\n") for p in line.split()} for side in "st")
        table = "".join(f"{t} {s} 0.5\n" for s in source for t in target)
        (self.folder / "table").write_text(table, encoding="utf-8")
        (self.folder / "table.gz").write_bytes(gzip.compress(table.encode()))
        plain = self.translate(self.lines)
        for name in ("table", "table.gz"):
            self.assertEqual(self.translate(self.lines, "--shortlist", name, "0", "1000"), plain)
            self.assertEqual(self.translate(self.lines, "--shortlist", name, "320", "0"), plain)
        for numbers in (["0", "0"], ["0", "100", "0.5"]):  # the source's own pieces are left
            for line, found in zip(self.lines, self.translate(self.lines, "--shortlist", "table", *numbers)):
                self.assertLessEqual(set(found.replace(" ", "")), set(line), numbers)

    def test_binaries_of_marian_are_cut_already(self):
        def binary(first):  # of no translations
            words, checksum = [first, 0, 321, 0] + [0] * 321, 0
            for word in words:
                checksum ^= (word + 0x9e3779b9 + (checksum << 6) + (checksum >> 2)) % 2**64
            return struct.pack("<327Q", 0xF11A48D5013417F5, checksum, *words)

        (self.folder / "all.bin").write_bytes(binary(320))
        (self.folder / "none.bin").write_bytes(binary(0))
        for more in ([], ["false"], ["0", "0"]):
            self.assertEqual(self.translate(self.lines, "--shortlist", "all.bin", *more), self.translate(self.lines))
        for line, found in zip(self.lines, self.translate(self.lines, "--shortlist", "none.bin")):
            self.assertLessEqual(set(found.replace(" ", "")), set(line))

    def test_ensembles_have_one_too(self):
        self.assertEqual(self.translate(self.lines, "--shortlist", "few", model="a.safetensors a.safetensors"),
                         self.translate(self.lines, "--shortlist", "few"))


class Profiles(WithModels):
    def test_the_table_comes_last_on_stderr_and_changes_no_result(self):
        for command in ("translate -m a.safetensors -i s", "score -m a.safetensors -t s t"):
            expected = self.succeed(command)
            done = self.call(command, "--profile")
            self.assertEqual(done.stdout, expected)
            said = done.stderr.decode()
            self.assertRegex(said, r"(?m)^kernel +calls +seconds +share +GFLOP/s$")
            self.assertRegex(said, r"(?m)^layer_norm|^residual_norm +[\d,]+ ")
            self.assertRegex(said, r"\nwhole +[\d.]+ +100.0%\s*$")


class Contradictions(WithModels):
    def test_both_options_are_named(self):
        for options, *named in (
                ("--output-sampling --beam-size 6", "--output-sampling", "--beam-size 6", "--n-best"),
                ("--temperature 2", "--temperature 2", "--output-sampling"),
                ("--output-sampling topk 1 2", "--output-sampling", "topk 1 2"),
                ("--output-sampling topk x", "--output-sampling topk", "x"),
                ("--output-sampling nucleus 2", "--output-sampling nucleus", "2"),
                ("--output-sampling some", "--output-sampling", "full, topk K or nucleus P"),
                ("--min-length-factor 2 --max-length-factor 1", "--min-length-factor 2", "--max-length-factor 1"),
                ("--weights 1 2", "--weights has 2", "--model 1"),
                ("--weights 0", "--weights"),
                ("--scores --n-best 2", "--scores", "--n-best"),
                ("--n-best 7 --beam-size 6", "--n-best 7", "--beam-size 6")):
            done = self.call("translate -m a.safetensors", *options.split())
            self.assertEqual((done.returncode, done.stdout), (2, b""), options)
            for words in named:
                self.assertIn(words, done.stderr.decode(), options)

    def test_models_of_different_vocabularies_are_named(self):
        done = self.call("translate -m a.safetensors other.safetensors")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr.decode(),
                         "a.safetensors and other.safetensors cannot translate together: their source vocabularies "
                         r"differ \(320 and 300 pieces; the first that differs has id \d+: '.+' and '.+'\)")


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
