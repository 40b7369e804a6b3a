#!/usr/bin/env python3
"""Training on text that a program writes: from stdin and from pipes.

    stream_test.py BINARY
"""

import gzip
import json
import os
import re
import signal
import subprocess
import threading
import time
import zlib
from pathlib import Path

import command_case
from end_to_end_test import SMALL, InFolder

RUN = ["train", *"-v v v --cpu-threads 1".split(), *SMALL]


def catches(process, number):
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.search(r"SigCgt:\t(\w+)", status)[1], 16) >> (number - 1) & 1


def without_end(text):
    """Gzip data of the whole text that does not end there."""
    compressor = zlib.compressobj(wbits=31)
    return compressor.compress(text.encode()) + compressor.flush(zlib.Z_SYNC_FLUSH)


class Stream(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lines = [f"{s}\t{t}\n" for s, t in zip(cls.source.splitlines(), cls.target.splitlines())]
        (cls.folder / "columns.tsv").write_text("".join(cls.lines), encoding="utf-8")

    def train(self, *arguments, text="", code=0):
        done = self.call(*RUN, *arguments, text=text)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def model(self, name):
        return (self.folder / name).read_bytes()

    def test_from_stdin_is_as_from_the_file(self):
        options = "--stream 60 --tsv".split()
        log = self.train("-t", "-", "-m", "a", *options, "--log-json", "a.jsonl", text="".join(self.lines))
        self.assertIn("stdin: 60 lines, 60 pairs kept", log)
        self.assertIn("Epoch 3: stdin: 30 lines", log)
        self.assertIn("Training finished: the text has ended, after", log)
        end = json.loads((self.folder / "a.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        self.assertEqual((end["event"], end["reason"], end["epochs"]), ("end", "end-of-text", 3))
        self.train("-t", "columns.tsv", "-m", "b", *options)
        self.assertEqual(self.model("a"), self.model("b"))
        self.train("-t", "-", "-m", "c", *options, "--after", "4u", text="".join(self.lines))
        log = self.train("-t", "stdin", "-m", "c", *options, text="".join(self.lines))
        self.assertIn("Skipping text that the run has already trained on: 1 part of 60 lines", log)
        self.assertEqual(self.model("a"), self.model("c"))

    def test_pipes_need_no_option(self):
        for name in ("source", "target"):
            os.mkfifo(self.folder / name)
        def write(name, text):
            with open(self.folder / name, "w", encoding="utf-8") as pipe:
                pipe.write(text)
        writers = [threading.Thread(target=write, args=each)
                   for each in (("source", self.source), ("target", self.target))]
        for writer in writers:
            writer.start()
        log = self.train("-t", "source", "target", "-m", "piped")
        for writer in writers:
            writer.join()
        self.assertIn("an epoch is 1,000,000 lines of it", log)
        self.assertIn("the text has ended, after", log)

    def test_processes_share_it(self):
        text = "".join(self.lines)
        options = "--stream 60 --tsv --gradient-shards 2".split()
        self.train("-t", "-", "-m", "one", *options, text=text)
        self.train("-t", "-", "-m", "two", *options, "--processes", "2", text=text)
        self.assertEqual(self.model("one"), self.model("two"))

    def test_columns_hold_alignments_and_weights(self):
        pairs = [line.rstrip("\n") for line in self.lines]
        alignment = "0-0 1-2 2-1 3-3 4-4"
        pieces = ["--no-spm-encode", "--decoder-start", "eos", "-v", "v.txt", "v.txt"]
        run = [*RUN[:1], *RUN[4:], *pieces, "--tsv"]
        def train(name, text, *options):
            (self.folder / f"{name}.tsv").write_text(text, encoding="utf-8")
            done = self.call(*run, "-t", f"{name}.tsv", "-m", name, "--after", "9u", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr
        log = train("columns3", "".join(f"{pair}\t{alignment}\t0.5\n" for pair in pairs), "--guided-alignment", "2",
                    "--data-weighting", "3")
        self.assertIn(f"and {5 * len(pairs)} links", log)
        (self.folder / "links").write_text((alignment + "\n") * len(pairs), encoding="utf-8")
        (self.folder / "halves").write_text("0.5\n" * len(pairs), encoding="utf-8")
        train("columns2", "".join(f"{pair}\n" for pair in pairs), "--guided-alignment", "links", "--data-weighting",
              "halves")
        self.assertEqual(self.model("columns3"), self.model("columns2"))

    def stopped(self, name, *options, begun="Ep. ", text="-"):
        """What a run says that is stopped while it waits for text."""
        run = subprocess.Popen([self.BINARY, *RUN, "-t", text, *"--tsv --stream 60 --disp-freq 1u -m".split(), name,
                                *options], cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding="utf-8", env=os.environ | {"OMP_NUM_THREADS": "1"})
        with run, run.stdin if text == "-" else open(self.folder / text, "wb") as pipe:
            begin = "".join(self.lines[:70])  # the second part is incomplete, and the pipe stays open
            pipe.write(begin if text == "-" else without_end(begin))
            pipe.flush()
            log = ""
            for line in run.stderr:
                log += line
                if begun in line:
                    break
            while not catches(run.pid, signal.SIGTERM):  # from the beginning of training on
                time.sleep(0.01)
            run.send_signal(signal.SIGTERM)
            log += run.stderr.read()
            self.assertEqual(run.wait(timeout=60), 0, log)
        self.assertIn("Stopped by a signal after", log)
        return log

    def test_a_stop_does_not_wait_for_text(self):
        self.assertIn("Saved stopped (update ", self.stopped("stopped"))
        self.assertIn("Saved both (update ", self.stopped("both", "--processes", "2"))
        # Before an update has all of its batches, and while skipping what the run has had.
        self.stopped("delayed", "--optimizer-delay", "20", begun="Model: ")
        self.train("-t", "columns.tsv", "--tsv", "--stream", "60", "-m", "skipping")
        self.assertIn("Skipping text that the run has already trained on", self.stopped("skipping", begun="Skipping text "))

    def test_a_stop_does_not_wait_for_a_pipe_of_compressed_text(self):
        os.mkfifo(self.folder / "text.gz")
        self.assertIn("Saved unpacked (update ", self.stopped("unpacked", text="text.gz"))

    def test_a_bad_line_ends_the_run_and_loses_nothing(self):
        log = self.train("-t", "-", "--tsv", "--stream", "60", "-m", "bad", text="".join(self.lines[:90]) + "bad\n",
                         code=2)
        self.assertIn("Saved bad (update ", log)
        self.assertIn("error: stdin, line 91: has no tab, expected one, between source and target", log)

    def test_processes_stop_alike_at_an_error_save_and_resume(self):
        """A bad line, files of unequal length and a damaged archive, after two parts; then the same text without error."""
        source, target = (text.splitlines(keepends=True) for text in (self.source, self.target))
        long = [f"{number} the red house is old {'a' * 2000}\n" for number in range(400)]  # more than is read at once
        self.write("cut", "".join(target[:130]).encode())
        self.write("long", "".join(source[:100] + long).encode())
        self.write("beside", ("".join(target[:100]) + "alt\n" * len(long)).encode())
        self.write("broken.gz", gzip.compress((self.folder / "long").read_bytes(), mtime=0)[:-30])
        self.write("cut.gz", without_end("".join(source[:130])))
        cases = {"line": (["-t", "-", "--tsv"], "".join(self.lines[:130]) + "bad\n" + "".join(self.lines[130:]),
                          "error: stdin, line 131: has no tab", ["-t", "-", "--tsv"], "".join(self.lines)),
                 "unequal": (["-t", "s", "cut"], "", "error: s has 150 lines, cut has 130", ["-t", "s", "t"], ""),
                 "archive": (["-t", "broken.gz", "beside"], "", "error: broken.gz: damaged or truncated gzip data",
                             ["-t", "long", "beside"], ""),
                 "first block": (["-t", "cut.gz", "t"], "",
                                 "error: cut.gz: damaged or truncated gzip data after line 130", ["-t", "s", "t"], "")}
        for name, (broken, text, message, mended, whole) in cases.items():
            options = "--stream 50 --max-length 30 --gradient-shards 2 --log-json".split() + [f"{name}.jsonl"]
            self.train(*mended, "-m", f"{name} straight", *options[:-2], text=whole)
            for processes in (["--processes", "2"], []):
                with self.subTest(name, processes=processes):
                    model = f"{name}{len(processes)}"
                    log = self.train(*broken, "-m", model, *options, *processes, text=text, code=2)
                    self.assertIn(f"Saved {model} (update ", log)
                    self.assertEqual(log.count("error:"), 1, log)
                    self.assertIn(message, log)
                    log = self.train(*mended, "-m", model, *options[:-2], *processes, text=whole)
                    self.assertIn("Skipping text that the run has already trained on: 2 parts of 50 lines", log)
                    self.assertEqual(self.model(model), self.model(f"{name} straight"))

    def test_needs_a_vocabulary(self):
        done = self.call(*"train -t - --tsv -v new.spm new.spm -m new".split(), *SMALL, text="".join(self.lines))
        self.assertEqual(done.returncode, 2)
        self.assertIn("new.spm does not exist, and cannot be learned from stdin, which is read only once", done.stderr)
        self.assertFalse((self.folder / "new.spm").exists())

    def test_a_dry_run_counts_its_epochs(self):
        page = self.succeed(*RUN, *"-t columns.tsv --tsv --stream 60 -m planned --dry-run".split())
        self.assertRegex(page, r"ends +after \d+ updates \(2\.5 epochs\)")


if __name__ == "__main__":
    command_case.main()
