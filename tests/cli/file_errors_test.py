#!/usr/bin/env python3
"""docs/errors.md against the binary, errors of files: every message has a command here that provokes it, and vice versa.

    file_errors_test.py BINARY
"""

import gzip

import command_case
from errors_case import TRAIN, ErrorsCase, rows

# message of the table: command line, run in the folder that `setUpClass` fills
PROVOKED = {
    "--config … is stdin, expected the name of a file": "translate -m m -c -",
    "…, line …: not YAML: …": "translate -m m -c broken.yml",
    "…, line …: a second YAML document begins, expected one": "translate -m m -c documents.yml",
    "…, line …: there is no option '…'": "translate -m m -c slip.yml",
    "…, line …: '…' appears twice in the file": "translate -m m -c twice.yml",
    "…: cannot be opened: No such file or directory": "translate -m m -i nowhere",
    "…: cannot be opened: Permission denied": "inspect locked",
    "… is a folder, expected a file": "translate -m m -i folder",
    "… is a folder without a model that dragoman reads": "translate -m folder",
    "… is not a file on disk": "translate -m pipe",
    "…: there is no folder …": "translate -m m -i s -o nowhere/out",
    "--… …: there is no folder …": "align -m m -t s t -o nowhere/links",
    "--… … exists and is not a regular file, so it is not replaced": "average m -o /dev/null",
    "… of --model, …, exists and is not a regular file, so it is not replaced": f"{TRAIN} -m taken",
    "--… … is a folder, expected the name of a file": "align -m m -t s t -o folder",
    "--… is a … file, so it cannot be '-'": "align -m m -t s t --shortlist -",
    "--… … is …, expected a new file or … to replace": "vocab train -i s -m m --size 280",
    "…: writing failed: No space left on device": "vocab encode -m v -i s -o /dev/full",
    "…: line … is longer than … MiB": "vocab encode -m v -i long",
    "…: damaged or truncated gzip data after line …": "vocab encode -m v -i cut.gz",
    "…: bytes that are no gzip data follow its end": "vocab encode -m v -i more.gz -o before-it",
    "not all output of the run was written: …": f"{TRAIN} -m full --log-json /dev/full",
    "… needs … MiB of memory to be decompressed, expected … MiB at most": "vocab encode -m v -i wide.zst",
    "… has more than … MiB, expected a small file": "detect -m /dev/zero",
    "… holds … data, expected text": "translate -m m -i packed",
    "… begins with a byte-order mark of UTF-16, expected text in UTF-8": "translate -m m -i utf16",
    "…, line …: … pieces, more than --max-length …": "score -m m -t s t --max-length 1",
    "… has … lines, … has …": "score -m m -t s short",
    "…, line …: has … tabs, expected one, between source and target": "train -t columns --tsv -v v v -m new",
    "…, line …: has … tabs, expected …, between source, target and the columns of other options":
        "train -t columns --tsv -v v v -m new --data-weighting 2 --guided-alignment 3",
    "…, line …: has no tab, expected one, between source and target": "train -t s --tsv -v v v -m new",
    "…, line …: '…' is not a weight, expected 0 or a number from 1e-37 to 1e25": f"{TRAIN} -m new --data-weighting s",
    "… has … lines, … has …; --data-weighting needs one weight per line": f"{TRAIN} -m new --data-weighting empty",
    "…, line …: '…' is not a link, expected numbers such as 0-0": f"{TRAIN} -m new --guided-alignment s",
    "--guided-alignment: no pair has a link, so attention would learn none": f"{TRAIN} -m new --guided-alignment blank",
    "…, line …: has … links, expected at most …": f"{TRAIN} -m new --guided-alignment links",
    "…, line …: the link … is beyond the pair, which has … source and … target pieces, </s> included":
        f"{TRAIN} -m new --guided-alignment beyond",
    "… has … lines, … has …; --guided-alignment needs a line of links for each":
        f"{TRAIN} -m new --guided-alignment empty",
    "…, line …: expected 'number … Name= value', found '…'": "score -m m -t s t --n-best",
    "…, line …: belongs to source line … (counted from 0), but … has … lines": "score -m m -t short far --n-best",
    "…: expected a translation of line … of … (counted from 0), found …": "evaluate -r s -i far --oracle",
    "…, line …: is a translation of line … (counted from 0), expected one of line …": "evaluate -i far --mbr",
    "…, line …: belongs to source line …, but follows an entry of line …; expected increasing numbers": "score -m m -t s falling --n-best",
    "…, line …: expected a tree such as (S (NP (NNS cats)) (VP (VBP sleep))), found '…'":
        "evaluate -r t -i t --metrics evalb",
    "…, line …: has no tab, expected a term of the source, a tab and its translation": "translate -m m --glossary s",
    "…, line …: has more than one tab, expected a term of the source, a tab and its translation":
        "translate -m m --glossary columns",
    "…, line …: has no term before the tab, expected …": "translate -m m --glossary no-term",
    "…, line …: has no translation after the tab, expected …": "translate -m m --glossary no-translation",
    "…, line …: not UTF-8": "translate -m m --glossary latin1",
    "…, line …: '…' has another translation in line …": "translate -m m --glossary contradiction",
    "…, line …: '…' has characters that the model's vocabulary lacks": "translate -m words --glossary queue",
    "…, line …: has a tab, expected a phrase that must not occur in translations": "translate -m m --avoid columns",
    "…, line …: the translation '…' (in pieces: …) contains '…', which --avoid forbids":
        "translate -m m --glossary queue --avoid forbidden",
    "no sentence pair is left": f"{TRAIN} -m new --max-length 1",
    "… has 1 line, … has … lines": "evaluate -r s -i short",
    "… has no lines": "evaluate -r empty -i empty",
    "--data-weighting: the weights of all pairs are 0, expected one above 0": f"{TRAIN} -m new --data-weighting zeros",
    "… is …, expected text": "translate -m m -i m",
    "… is …, compressed, expected compressed text": "translate -m m -i archive.tar.gz",
    "--train-sets: … contains both sides, according to its name, expected one file per side":
        "train -t s.tsv t -v v v -m new",
}


class FileErrors(ErrorsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, content in (("broken.yml", "a: [\n"), ("slip.yml", "beam-szie: 3\n"),
                              ("twice.yml", "beam-size: 3\nbeam-size: 4\n"),
                              ("documents.yml", "beam-size: 3\n---\nbeam-size: 4\n"), ("locked", ""),
                              ("falling", "1 ||| a ||| F0= 1\n0 ||| a ||| F0= 1\n")):
            (cls.folder / name).write_text(content, encoding="utf-8")
        for name, content in (("no-term", "a\tb\n\tb\n"), ("no-translation", "a\t \n"), ("latin1", "caf\xe9\tb\n"),
                              ("contradiction", "a\tb\na\tc\n"), ("queue", "house\tqueue\n"),
                              ("forbidden", "queue\n")):
            (cls.folder / name).write_text(content, encoding="latin-1")
        cls.make("vocab train --input s t --model few --size 60 --no-byte-fallback",
                 f"{TRAIN} -m words".replace("-v v v", "-v few few"))
        (cls.folder / "locked").chmod(0)
        (cls.folder / "folder").mkdir()
        (cls.folder / "taken.state").mkdir()
        (cls.folder / "long").write_bytes(b"m" * (17 << 20))
        (cls.folder / "zeros").write_text("0\n" * (cls.folder / "s").read_text(encoding="utf-8").count("\n"), encoding="utf-8")
        blank = "\n" * ((cls.folder / "s").read_text(encoding="utf-8").count("\n") - 1)
        many = " ".join(f"{i // 256}-{i % 256}" for i in range(65536))
        for name, first in (("blank", ""), ("beyond", "0-999"), ("links", many)):
            (cls.folder / name).write_text(f"{first}\n{blank}", encoding="utf-8")
        (cls.folder / "packed").write_bytes(b"\x1f\x8b\x08")
        (cls.folder / "utf16").write_bytes("a dog\n".encode("utf-16"))
        (cls.folder / "archive.tar.gz").write_bytes(gzip.compress(b"PK\3\4"))
        # the beginning of a gzip file
        (cls.folder / "cut.gz").write_bytes(bytes.fromhex("1f8b0800000000000003cb48"))
        (cls.folder / "more.gz").write_bytes(gzip.compress(b"a dog\n") + b"a cat\n")
        # two lines under a window of a gibibyte
        (cls.folder / "wide.zst").write_bytes(bytes.fromhex("28b52ffd04a0410000") + b"one\ntwo\n" + bytes.fromhex("e6a60e40"))

    def test_each_row_has_its_command_and_each_command_its_row(self):
        self.assertEqual(sorted(rows("file_errors_test")), sorted(PROVOKED))

    def test_each_message_comes(self):
        self.provoke(PROVOKED)

    def test_a_folder_in_place_of_a_file_is_named(self):
        for command in ("translate -m folder", "translate -m m -c folder", "translate -m m -i folder", "inspect folder",
                        "score -m m -t folder t", "score -m m -t s folder", "evaluate -r folder -i t",
                        "evaluate -r t -i folder", "average -o new m folder", "average -o folder m", "plot folder",
                        "quantize -m folder -o new", "quantize -m m -o folder", "vocab train --model folder --input s --size 300",
                        "data -t s folder", "align -v v v -t folder t", "align -v v folder -t s t",
                        f"{TRAIN} -m folder", f"{TRAIN} -m new -c folder", f"{TRAIN} -m new --log-json folder",
                        f"{TRAIN} -m new --pretrained-model folder", f"{TRAIN} -m new --data-weighting folder",
                        f"{TRAIN} -m new --valid-sets s folder", f"{TRAIN} -m new -t s folder",
                        f"{TRAIN} -m new -v v folder"):
            with self.subTest(command):
                done = self.call(command)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, "(?m)^error: .*folder")

    def test_a_pipe_where_none_can_be_read_is_named(self):
        for command in ("translate -m pipe", "inspect pipe", "average -o new m pipe", "quantize -m pipe -o new",
                        f"{TRAIN} -m new".replace("-v v v", "-v v pipe"),
                        f"{TRAIN} -m new --pretrained-model pipe", f"{TRAIN} -m pipe"):
            with self.subTest(command):
                done = self.call(command)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, "(?m)^error: .*pipe")


if __name__ == "__main__":
    command_case.main()
