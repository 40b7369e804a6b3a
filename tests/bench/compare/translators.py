"""Translators as line filters: their command lines, and the time of translating according to their logs."""
import json
import re
from dataclasses import dataclass
from pathlib import Path

from binary import Binary
from machine import missing
from process import run

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Job:
    """Settings that are the same for all programs."""
    precision: str
    beam: int
    normalize: float
    length: int  # pieces of every source line and of every translation; 0: plain text, translations of any length

    def __str__(self):
        return f"beam {self.beam}, {self.precision}"


def lines_and_rate(log):
    """From the log of dragoman translate: lines, and lines a second without loading."""
    found = re.search(r"Translated ([\d,]+) lines? in .*: ([\d.,]+) lines/s", log).groups()
    return [float(number.replace(",", "")) for number in found]


class Dragoman(Binary):
    warms_up = False  # whether it translates the text once before the clock starts

    def __init__(self, a):
        super().__init__(a)
        self.a = a

    def settings(self):
        return [f"GPU {self.a.devices}"] if self.a.devices else super().settings()

    def prepare(self, text):
        """--mini-batch-words counts source tokens, </s> included."""
        self.where = ["--devices", self.a.devices] if self.a.devices else ["--cpu-threads", str(self.threads)]
        if self.a.batch:
            self.where += ["--mini-batch-words", str(round(self.a.batch * (text.source_pieces() / len(text.lines) + 1)))]

    def can(self, precision):
        return self.precision("translate", precision) is not None

    def command(self, job, _, one_by_one):
        fixed = ["--no-spm-encode", "--max-length-factor", "1", "--min-length-factor", "1"] if job.length else []
        shortlist = ["--shortlist", self.a.shortlist] if self.a.shortlist else []
        return [self.path, "translate", "--model", self.a.model, "--beam-size", str(job.beam), "--normalize",
                str(job.normalize), *self.where, *fixed, *shortlist, *self.precision("translate", job.precision)]

    def seconds(self, log):
        lines, rate = lines_and_rate(log)
        return lines / rate


def to_ctranslate2(python, model, folder, precisions, *options):
    """One folder per precision: weights that are stored in the type of the computation load fastest and with the least memory."""
    for precision in precisions:
        run([python, "-B", HERE.parent / "to_ctranslate2.py", model, folder / precision, "--quantization", precision, *options])


class CTranslate2:
    name = "CTranslate2"
    warms_up = False

    def __init__(self, a):
        self.a, self.python, self.threads, self.precisions = a, a.python, a.threads, a.precisions
        self.map = ["--shortlist", a.shortlist] if a.shortlist else []

    def missing(self):
        return missing(self.python, "ctranslate2", "sentencepiece", "numpy", "safetensors")

    def version(self):
        return run([self.python, "-c", "import ctranslate2; print(ctranslate2.__version__)"]).out.strip()

    def prepare(self, text):
        self.folder = text.folder
        to_ctranslate2(self.python, self.a.model, self.folder, self.precisions, *self.map)

    def can(self, _):
        return True

    def settings(self):
        """Numbers of workers × threads; with a shortlist also the same with a vocabulary map."""
        alone = list(dict.fromkeys([f"1×{self.threads}", f"{self.threads}×1"]))
        return alone + [f"{setting} map" for setting in alone if self.map]

    def command(self, job, setting, one_by_one):
        workers, threads = setting.removesuffix(" map").split("×")
        fixed = ["--pieces", "--length", str(job.length)] if job.length else []
        return [self.python, "-B", HERE / "ctranslate2_lines.py", self.folder / job.precision, "--precision",
                job.precision, "--beam-size", str(job.beam), "--normalize", str(job.normalize), "--workers", workers,
                "--threads", threads, *fixed, *(["--map"] if setting.endswith("map") else []),
                *(["--lines"] if one_by_one else [])]

    def seconds(self, log):
        return json.loads(log.splitlines()[-1])["seconds"]


class PyTorch:
    name = "PyTorch"
    warms_up = True  # on a GPU

    def __init__(self, a):
        self.a = a

    def missing(self):
        return missing(self.a.python, "torch", "sentencepiece", "safetensors")

    def version(self):
        return run([self.a.python, "-c", "import torch; print(torch.__version__)"]).out.strip()

    def prepare(self, _):
        pass

    def can(self, precision):
        return precision != "int8"

    def settings(self):
        return ["eager", "graph", "compiled"] if self.a.peer_device == "cuda" else ["eager"]

    def command(self, job, setting, one_by_one):
        fixed = ["--pieces", "--length", str(job.length)] if job.length else []
        return [self.a.python, "-B", HERE / "torch_lines.py", self.a.model, "--precision", job.precision, "--device",
                self.a.peer_device, "--mode", setting, "--threads", str(self.a.threads), "--batch",
                str(self.a.batch or 128), "--beam-size", str(job.beam), "--normalize", str(job.normalize), *fixed,
                *(["--lines"] if one_by_one else [])]

    def seconds(self, log):
        return json.loads(log.splitlines()[-1])["seconds"]


PEERS = {"ctranslate2": CTranslate2, "pytorch": PyTorch}
