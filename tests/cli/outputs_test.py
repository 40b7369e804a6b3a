#!/usr/bin/env python3
"""Tests what commands do to their output files, and errors that cannot be printed.

    outputs_test.py BINARY
"""

import gzip
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from pathlib import Path

BINARY = ""  # from the command line
TRAIN = ("train -t s t -v vs vt --dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 256 --after 1u --cpu-threads 1 --quiet")


class Outputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        for side, words in (("s", "red blue old small"), ("t", "rot blau alt klein")):
            lines = [" ".join(words.split()[:1 + n % 4]) for n in range(60)]
            (cls.folder / side).write_text("\n".join(lines) + "\n", encoding="utf-8")
        for command in ("vocab train -i s -m vs --size 280", "vocab train -i t -m vt --size 280", f"{TRAIN} -m m"):
            code, error = cls.call(command)
            assert code == 0, error
        (cls.folder / "also-s").symlink_to("s")
        (cls.folder / "also-state").symlink_to("m.state")
        os.link(cls.folder / "s", cls.folder / "hard-s")
        (cls.folder / "train.yml").write_text("mini-batch: 100\n", encoding="utf-8")

    @classmethod
    def call(cls, command, shell=None):
        """Exit code and stderr; `shell` is appended to the command line."""
        words = [BINARY, *command.split()]
        if shell is not None:
            words = ["sh", "-c", f'"$@" {shell}', "sh", *words]
        done = subprocess.run(words, cwd=cls.folder, capture_output=True, check=False, timeout=120,
                              stdin=None if shell else subprocess.DEVNULL)
        return done.returncode, done.stderr.decode("utf-8")

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def test_are_none_of_what_is_read(self):
        before = self.files()
        for command, options, file in (
                ("vocab encode -m vs -i s -o s", "--output and --input", "s"),
                ("vocab encode -m vs -i s -o also-s", "--output and --input", "also-s"),
                ("vocab decode -m vs -i s -o vs", "--output and --model", "vs"),
                ("vocab train -i s -m s --size 280", "--model and --input", "s"),
                ("align -v vs vt -t s t -o s", "--output and --train-sets", "s"),
                ("align -v vs vt -t s t --shortlist vt", "--shortlist and --vocabs", "vt"),
                ("align -m m -t s t --shortlist m", "--shortlist and --model", "m"),
                (f"{TRAIN} -m new --log-json s", "--log-json and --train-sets", "s"),
                (f"{TRAIN} -m s --no-reload", "--model and --train-sets", "s"),
                (f"{TRAIN} -m hard-s --no-reload", "--model and --train-sets", "hard-s"),
                (f"{TRAIN} -m vs --no-reload", "--model and --vocabs", "vs"),
                (f"{TRAIN} -m m --no-reload --pretrained-model m", "--model and --pretrained-model", "m"),
                (f"{TRAIN} -m new --pretrained-model m --log-json ./m", "--log-json and --pretrained-model", "./m"),
                (f"{TRAIN} -m new --data-weighting s --log-json s", "--log-json and --train-sets", "s"),
                (f"{TRAIN} -m new --valid-sets s t --keep-best --pretrained-model new.best-cross-entropy",
                 "the best --model and --pretrained-model", "new.best-cross-entropy"),
                (f"{TRAIN} -m new --valid-sets s t --keep-best 3 --pretrained-model new.best-cross-entropy-update20",
                 "one of the best --model and --pretrained-model", "new.best-cross-entropy-update20"),
                (f"{TRAIN} -m new --keep-last 2 --pretrained-model new.update20",
                 "a numbered checkpoint of --model and --pretrained-model", "new.update20"),
                (f"{TRAIN} -m new -c train.yml --log-json train.yml", "--log-json and --config", "train.yml"),
                ("average -o m m m", "--output and --models", "m"),
                (f"{TRAIN} -m new --valid-sets s t --valid-metrics bleu --valid-translation-output t",
                 "--valid-translation-output and --train-sets", "t"),
                ("translate -m m -i s -o s", "--output and --input", "s"),
                ("translate -m m -i s -o m", "--output and --model", "m"),
                ("score -m m -t s t -o m", "--output and --model", "m"),
                ("explain -m m -i s -o m", "--output and --model", "m"),
                ("quantize -m m -o s --valid-sets s t", "--output and --valid-sets", "s"),
                ("plot s -o s", "--output and --logs", "s")):
            code, error = self.call(command)
            self.assertEqual((code, error.splitlines()[0]),
                             (2, f"error: {options} are both {file}: its content would be lost"), command)
        code, error = self.call("translate -m m -o s", "< s")
        self.assertEqual(code, 2)
        self.assertIn("--output and --input are both s", error)
        self.assertEqual(self.files(), before)

    def test_are_not_what_stdout_is_appended_to(self):
        before = self.files()
        for command in ("data -t s t", "evaluate -r t -i s", "inspect s"):
            code, error = self.call(command, ">> s")
            self.assertEqual(code, 2, command)
            self.assertRegex(error, "error: stdout and --[a-z-]+ are both s: its content would be lost")
        code, error = self.call("plot s", ">> s")
        self.assertEqual(code, 2)
        self.assertIn("error: --output and --logs are both s: its content would be lost", error)
        self.assertEqual(self.files(), before)

    def test_that_the_shell_also_gives_as_stdin_are_named_so(self):
        before = self.files()
        for command, options in (("score -m m -t t -", "--output and --train-sets"), ("translate -m m", "--output and --input"),
                                 ("evaluate -r t", "stdout and --hypotheses")):
            code, error = self.call(command, "< s >> s")
            self.assertEqual((code, error.splitlines()[0]),
                             (2, f"error: {options} are both the file that is stdin and stdout: its content would be lost"))
        self.assertEqual(self.files(), before)

    def test_of_one_run_are_different_files(self):
        before = self.files()
        valid = "--valid-sets s t --valid-metrics bleu --keep-best"
        for options, both, file in (
                ("--log-json m", "--model and --log-json", "m"),
                ("--log-json m.state", "the training state of --model and --log-json", "m.state"),
                ("--log-json also-state", "the training state of --model and --log-json", "also-state"),
                ("--log-json ../{folder}/m.lock", "the lock of --model and --log-json", "../{folder}/m.lock"),
                (f"{valid} --log-json m.best-bleu", "the best --model and --log-json", "m.best-bleu"),
                ("--keep-last 1 --log-json m.update3", "a numbered checkpoint of --model and --log-json", "m.update3"),
                ("--log-json new --tensorboard new", "--log-json and --tensorboard", "new"),
                (f"{valid} --valid-translation-output m.state",
                 "the training state of --model and --valid-translation-output", "m.state"),
                (f"{valid} --keep-last 1 --valid-translation-output m.update{{U}}",
                 "a numbered checkpoint of --model and --valid-translation-output", "m.update{U}"),
                (f"{valid} --log-json out.7 --valid-translation-output out.{{U}}",
                 "--log-json and --valid-translation-output", "out.{U}")):
            options, file = (text.replace("{folder}", self.folder.name) for text in (options, file))
            code, error = self.call(f"{TRAIN} -m m {options}")
            self.assertEqual((code, error.splitlines()[0]),
                             (2, f"error: {both} are both {file}: one would overwrite the other"), options)
        code, error = self.call("align -m m -t s t -o new --shortlist ./new")
        self.assertEqual(code, 2)
        self.assertIn("--output and --shortlist are both ./new: one would overwrite the other", error)
        self.assertEqual(self.files(), before)

    def test_that_cannot_be_written_are_refused_before_the_work(self):
        before = self.files()
        (self.folder / "folder").mkdir()
        for command, said in (
                ("align -v vs vt -t s t -o no/links", "--output no/links: there is no folder no"),
                ("align -v vs vt -t s t -o folder", "--output folder is a folder, expected the name of a file"),
                ("align -v vs vt -t s t --shortlist -", "--shortlist is a binary file, so it cannot be '-'"),
                ("align -v vs vt -t s t --shortlist no/x", "--shortlist no/x: there is no folder no"),
                ("align -v vs vt -t s t --shortlist /dev/full", "--shortlist /dev/full exists and is not a regular file"),
                ("vocab train -i s -m - --size 280", "--model is a vocabulary file, so it cannot be '-'"),
                ("vocab train -i s -m no/v --size 280", "--model no/v: there is no folder no"),
                ("detect --learn en=s de=t -o no/x", "--output no/x: there is no folder no"),
                ("average m m -o no/x", "--output no/x: there is no folder no"),
                ("quantize -m m -o /dev/full --valid-sets s t", "--output /dev/full exists and is not a regular file")):
            code, error = self.call(command)
            self.assertEqual(code, 2, command)
            self.assertTrue(error.startswith(f"error: {said}"), error)  # without a line of progress before it
        (self.folder / "folder").rmdir()  # still empty
        self.assertEqual(self.files(), before)

    def test_replace_only_files_of_their_kind(self):
        before = self.files()
        for command, said in (
                ("vocab train -i s -m m --size 280", "--model m is a safetensors file, expected a new file or a vocab"),
                ("vocab train -i s -m t --size 280", "--model t is text, expected a new file or a vocabulary"),
                ("align -v vs vt -t s t --shortlist m.state", "--shortlist m.state is a safetensors file, expected"),
                ("align -m m -t s s --shortlist t", "--shortlist t is text, expected a new file or a shortlist"),
                ("average m -o t", "--output t is text, expected a new file or a whole dragoman model to replace"),
                ("average m -o vs", "--output vs is a SentencePiece model, expected a new file or a whole dragoman model"),
                ("average m -o m.state", "--output m.state is a safetensors file, expected a new file or a whole dragoman model"),
                ("quantize -m m -o t", "--output t is text, expected a new file or a whole dragoman model to replace"),
                ("convert -i m --target-lang de -o t", "--output t is text, expected a new file or a whole dragoman model")):
            code, error = self.call(command)
            self.assertEqual(code, 2, command)
            self.assertTrue(error.startswith(f"error: {said}"), error)
        self.assertEqual(self.files(), before)
        shortlist = (self.folder / "whole.shortlist")
        self.assertEqual(self.call(f"align -v vs vt -t s t --shortlist {shortlist.name} --iterations 1")[0], 0)
        shortlist.write_bytes(shortlist.read_bytes()[:-1])
        for name, content in (("corpus.txt", b"red blue\nold\n"), ("config.json", b'{"layers": "6"}\n'),
                              ("lines.yml", b"red blue\n"), ("unknown", b"\1\2\3\4"), ("unknown.yml", b"\1\2\3\4")):
            (self.folder / name).write_bytes(content)
            code, error = self.call(f"vocab train -i s -m {name} --size 280")
            self.assertEqual((code, (self.folder / name).read_bytes()), (2, content), error)
            self.assertRegex(error, f"error: --model {name} is (text|of an unknown kind), expected a new file or a vocab")
        code, error = self.call("align -v vs vt -t s t --shortlist whole.shortlist")
        self.assertEqual(code, 2)
        self.assertIn("hint: remove it, or give --shortlist another name", error)
        for name in ("empty.txt", "empty.safetensors"):
            (self.folder / name).touch()
        for command in ("vocab train -i s -m empty.txt --size 280", "vocab train -i s -m again --size 280",
                        "vocab train -i s -m again.yml --size 280",
                        "align -v vs vt -t s t --shortlist again.shortlist --iterations 1",
                        "average m -o empty.safetensors", "quantize -m m -o empty.safetensors"):
            for _ in range(2):
                code, error = self.call(command)
                self.assertEqual(code, 0, error)

    def test_of_average_are_made_of_each_model_once(self):
        for models in ("m", "m m", "m m m"):
            code, error = self.call(f"average {models} -v vs vt -o mean")
            self.assertEqual((code, error.count("--vocabs is ignored")), (0, len(models.split())), error)

    def test_of_links_and_pages_are_whole_or_as_before(self):
        (self.folder / "shorter").write_text("rot\n" * 40, encoding="utf-8")
        many = "".join((self.folder / side).read_text() * 40 for side in "s")
        for name in ("many-s", "many-t"):
            (self.folder / name).write_text(many, encoding="utf-8")
        for command, name, limit in (
                ("explain -m m -t s shorter -o page.html", "page.html", resource.RLIM_INFINITY),
                ("explain -m m -t s t --max-lines 0 -o page.html", "page.html", 40_000),
                ("align -v vs vs -t many-s many-t --iterations 1 -o links", "links", 2_000)):
            (self.folder / name).write_text("the one before\n", encoding="utf-8")
            done = subprocess.run([BINARY, *command.split()], cwd=self.folder, capture_output=True, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual((self.folder / name).read_text(encoding="utf-8"), "the one before\n", command)
        self.assertEqual(list(self.folder.glob("*.tmp-*")), [])

    def test_may_be_files_that_nothing_can_replace(self):
        (self.folder / "both").write_text("", encoding="utf-8")
        for command in ("align -v vs vt -t s t --iterations 1", "explain -m m -t s t --max-lines 1 --format html"):
            words = ["sh", "-c", '{ echo before; "$@" -o /dev/stdout; echo after; } >> both', "sh", BINARY, *command.split()]
            done = subprocess.run(words, cwd=self.folder, check=False, capture_output=True)
            self.assertEqual((done.returncode, done.stderr.count(b"error")), (0, 0), done.stderr)
        both = (self.folder / "both").read_text(encoding="utf-8").splitlines()
        self.assertEqual([both.count("before"), both[0], both.count("after"), both[-1]], [2, "before", 2, "after"])
        self.assertGreater(len(both), 60)
        script = 'mount --bind both both 2>&- || exit 77; "$@"'
        for command, code in (("align -v vs vt -t s t --iterations 1 -o both", 0),
                              ("explain -m m -t s t --max-lines 1 -o both --format html", 0), ("average m -o both", 2)):
            (self.folder / "both").write_text("", encoding="utf-8")
            done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", BINARY, *command.split()],
                                  cwd=self.folder, check=False, capture_output=True)
            if done.returncode in (77, 1):
                self.skipTest("a file cannot be mounted here")
            self.assertEqual(done.returncode, code, done.stderr)
            if code == 0:
                self.assertGreater((self.folder / "both").stat().st_size, 0)
            else:
                self.assertIn(b"hint: a file that is mounted cannot be replaced", done.stderr)

    def test_may_be_one_device(self):
        code, error = self.call(f"{TRAIN} -m another --valid-sets s t --valid-metrics bleu --valid-freq 1u "
                                "--lr-warmup 0 --log-json /dev/null --valid-translation-output /dev/null")
        self.assertEqual((code, error), (0, ""))
        for name in ("another", "another.state"):
            (self.folder / name).unlink()

    def test_may_be_the_device_that_is_read(self):
        self.assertEqual(self.call("translate -m m -i /dev/null -o /dev/null --quiet"), (0, ""))

    def test_with_a_name_that_cannot_be_are_an_error(self):
        for command in (f"{TRAIN} -m {'x' * 300}", f"quantize -m m -o {'x' * 300}"):
            code, error = self.call(command)
            self.assertEqual(code, 2, error)
            self.assertIn("File name too long", error)


    def test_on_a_full_disk_are_an_error(self):
        for ending in ("", ".gz", ".xz", ".zst"):
            full = f"full{ending}"
            (self.folder / full).symlink_to("/dev/full")
            for command in (f"vocab encode -m vs -i s -o {full}", f"translate -m m -i s -o {full} -b 1",
                            f"score -m m -t s t -o {full}", f"align -v vs vt -t s t -o {full}",
                            f"explain -m m -t s t --format text -o {full}"):
                code, error = self.call(command)
                self.assertEqual(code, 2, command)
                self.assertIn(f"error: {full}: writing failed: No space left on device", error, command)
            (self.folder / full).unlink()

    def test_beyond_the_limit_of_a_file_are_an_error(self):
        (self.folder / "large").write_text("red blue old small\n" * 100_000, encoding="utf-8")
        words = ["bash", "-c", 'ulimit -f 1; "$@"', "bash", BINARY, *"vocab encode -m vs -i large -o limited".split()]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"limited: writing failed: File too large\n  hint: ", done.stderr)
        self.assertIn(b"ulimit -f", done.stderr)

    def test_of_commands_that_fail_stay_as_they_were(self):
        (self.folder / "kept").write_text("what was there\n", encoding="utf-8")
        (self.folder / "short").write_text("red\nblue\n", encoding="utf-8")
        for command in ("vocab encode -m vs -i nowhere -o kept", "vocab decode --ids -m vs -i s -o kept",
                        "score -m m -t short t -o kept", "align -v vs vt -t short t -o kept",
                        "translate -m m -i nowhere -o kept", "explain -m m -t short t -o kept"):
            code, error = self.call(command)
            self.assertEqual(code, 2, command)
            self.assertEqual((self.folder / "kept").read_text(encoding="utf-8"), "what was there\n", command)

    def test_of_damaged_text_have_the_lines_before(self):
        compressor = zlib.compressobj(wbits=31)
        cut = compressor.compress(b"red blue\n" * 5) + compressor.flush(zlib.Z_SYNC_FLUSH)
        (self.folder / "cut.gz").write_bytes(cut)
        self.assertEqual(self.call("detect --learn en=s de=t -o profiles")[0], 0)
        for command in ("translate -m m -i cut.gz", "score -m m -t cut.gz s", "vocab encode -m vs -i cut.gz",
                        "detect -m profiles -i cut.gz", "explain -m m -i cut.gz --format json"):
            code, error = self.call(f"{command} -o begun")
            self.assertEqual(code, 2, command)
            self.assertIn("error: cut.gz: damaged or truncated gzip data after line 5", error, command)
            self.assertEqual(len((self.folder / "begun").read_text(encoding="utf-8").splitlines()), 5, command)
            (self.folder / "begun").unlink()

    def test_have_no_warnings_where_stderr_is_closed(self):
        (self.folder / "broken").write_bytes(b"red \xff blue\n")
        self.assertEqual(self.call("vocab encode -m vs -i broken -o out", "2>&-"), (0, ""))
        self.assertNotIn("UTF-8", (self.folder / "out").read_text(encoding="utf-8"))
        self.assertEqual(len((self.folder / "out").read_text(encoding="utf-8").splitlines()), 1)
        self.assertEqual(self.call("vocab encode -m vs -i s", ">&-")[0], 2)
        self.assertEqual(self.call("vocab encode -m vs", "<&-")[0], 2)


class Bombs(unittest.TestCase):
    """Compressed text of a few megabytes that is one line of gigabytes."""

    @classmethod
    def setUpClass(cls):
        Outputs.setUpClass.__func__(cls)
        with gzip.open(cls.folder / "bomb.gz", "wb", compresslevel=1) as file:
            for _ in range(1024):
                file.write(b"m" * (1 << 20))

    call = classmethod(Outputs.call.__func__)

    def test_are_an_error_in_bounded_memory(self):
        for command in ("vocab encode -m vs -i bomb.gz -o out", "vocab train -i bomb.gz -m new --size 280",
                        "score -m m -t bomb.gz t -o out", "align -v vs vt -t bomb.gz t -o out",
                        TRAIN.replace("-t s t", "-t bomb.gz t") + " -m new"):
            code, error = self.call(command)
            self.assertEqual(code, 2, error)
            self.assertRegex(error, r"error: bomb.gz(: line 1 is longer than 16 MiB|, line 1: has more than 1048576 bytes)",
                             command)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20, "KiB")

    def test_end_with_ctrl_c(self):
        with subprocess.Popen([BINARY, *"translate -m m -i bomb.gz -o out --quiet".split()], cwd=self.folder,
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(1)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            self.assertNotEqual(process.wait(timeout=20), 0)


class Errors(unittest.TestCase):
    def test_that_nobody_can_read_end_the_program_all_the_same(self):
        for shell in ("2>&-", "2>/dev/full"):
            done = subprocess.run(["sh", "-c", f'"$1" nothing {shell}', "sh", BINARY], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, shell)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
