"""Compares translating with the same model in dragoman and in CTranslate2 or PyTorch: speed, latency, memory, quality.

With --devices both compute on that GPU. PyTorch then runs in three modes (torch_lines.py), of which the best is shown.
"""
import json
import sys
import tempfile
from pathlib import Path

import gpu
import samples
import table
from model_file import ModelFile
from process import Failed, answers, run
from text import read_lines
from translators import PEERS, Dragoman, Job


def add_options(p):
    p.add_argument("--model", required=True, help="dragoman model in float32")
    p.add_argument("--source", required=True, help="text to translate")
    p.add_argument("--peer", choices=PEERS, default="ctranslate2")
    p.add_argument("--devices", metavar="N", help="GPU of dragoman, by number; default: the CPU")
    p.add_argument("--peer-device", choices=["cpu", "cuda"], help="device of PyTorch; default: as --devices")
    p.add_argument("--batch", type=int, metavar="LINES", help="lines translated at a time, by dragoman on average "
                   "(default: 128 for PyTorch, its own default for dragoman)")
    p.add_argument("--reference", help="human translation of --source, for BLEU")
    p.add_argument("--bleu-tokenize", default="13a", help="tokenizer of BLEU; 'none' for a reference that is already tokenised")
    p.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    p.add_argument("--precisions", nargs="+", default=["float32", "int8"])
    p.add_argument("--normalize", type=float, default=1, help="divide scores by length to this power")
    p.add_argument("--length", type=int, default=0, help="for untrained models: cut the text into lines of this many "
                   "pieces, and force every translation to have as many")
    p.add_argument("--shortlist", metavar="FILE", help="shortlist of dragoman align; CTranslate2 translates without it and with "
                   "it as a vocabulary map")
    p.add_argument("--lines", type=int, help="translate only the first so many lines")
    p.add_argument("--times", type=int, default=1, help="repeat the text, if a fast machine translates it in too short a time")
    p.add_argument("--single-lines", type=int, default=200, help="number of lines sent one by one; 0: none")


def programs(a):
    a.peer_device = a.peer_device or ("cuda" if a.devices else "cpu")
    return Dragoman(a), PEERS[a.peer](a)


class Text:
    """The text to translate, and the counting and evaluation of translations, which are the same for all programs."""

    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        lines = read_lines(a.source)
        self.lines = (self.pieces_in_lines(lines) if a.length else lines)[:a.lines] * a.times
        self.all = "\n".join(self.lines) + "\n"

    def encode(self, text, side):
        return run([self.a.dragoman, "vocab", "encode", "--model", self.folder / f"{side}.spm"], text).out.split()

    def source_pieces(self):
        return len(self.encode("\n".join(self.lines), "source")) if not self.a.length else self.a.length * len(self.lines)

    def pieces_in_lines(self, lines):
        pieces, n = self.encode("\n".join(lines), "source"), self.a.length
        return [" ".join(pieces[i:i + n]) for i in range(0, len(pieces) - n + 1, n)]

    def target_tokens(self, translations):
        """Target tokens, with </s> unless the length was forced."""
        if self.a.length:
            return self.a.length * len(self.lines)
        return len(self.encode(translations, "target")) + len(self.lines)

    def bleu(self, translations):
        reference = self.folder / "reference"
        reference.write_text("\n".join(read_lines(self.a.reference)[:self.a.lines] * self.a.times) + "\n", encoding="utf-8")
        done = run([self.a.dragoman, "evaluate", "--references", reference, "--hypotheses", "-", "--metrics", "bleu",
                    "--tokenize", self.a.bleu_tokenize, "--json"], translations)
        return json.loads(done.out)["bleu"]


def seconds_of(program, setting, job, text, whole):
    """Seconds for the text, without the run `whole` on a GPU, which nvidia-smi slows down by asking for its memory. There, this is
    the second pass in the same process, because in the first one kernels are loaded and steps recorded; PyTorch also translates
    the text once before the clock starts (torch_lines.py)."""
    if not text.a.devices:
        return program.seconds(whole.log)
    command = program.command(job, setting, one_by_one=False)
    once = program.seconds(run(command, text.all).log)
    if program.warms_up:
        return once
    twice = program.seconds(run(command, text.all * 2).log)
    return twice - once if twice > once else once  # a toy text may take longer in one pass than in two


def measure(program, setting, job, text):
    """Figures of a program at a setting, and its translations."""
    with gpu.Memory() as memory:
        whole = run(program.command(job, setting, one_by_one=False), text.all)
    seconds = seconds_of(program, setting, job, text, whole)
    values = {samples.TOKENS: text.target_tokens(whole.out) / seconds}
    if not job.length:
        values[samples.WORDS] = len(text.all.split()) / seconds
    if text.a.single_lines:
        command = program.command(job, setting, one_by_one=True)
        values[samples.FIRST], values[samples.SINGLE] = answers(command, text.lines[:text.a.single_lines])
    if text.a.devices and memory.mib():
        values[samples.GPU_PEAK] = memory.mib()
    if not text.a.devices:
        values[samples.PEAK] = whole.peak
    if text.a.reference and not job.length:
        values[samples.BLEU] = text.bleu(whole.out)
    return values, whole.out


def compare_job(a, ours, peer, job, text):
    """Samples of dragoman and of the peer for one beam and precision, and what else is to be said of it."""
    translations = {}

    def once(program, setting):
        try:
            values, translations[program.name] = measure(program, setting, job, text)
        except Failed as failed:  # continue with the other settings of the peer
            if program is ours:
                raise
            print(f"note: {program.name}, {setting}: {str(failed).splitlines()[-1]}", file=sys.stderr)
            return {}
        return values

    found = samples.collect([p for p in (ours, peer) if p and p.can(job.precision)], a.rounds, once)
    of_both = [found.get(program, samples.Samples()) for program in (ours, peer)]
    if len(translations) < 2:
        return *of_both, ""
    pairs = list(zip(*(out.removesuffix("\n").split("\n") for out in translations.values())))
    return *of_both, f"{job}: {sum(x == y for x, y in pairs):,} of {len(pairs):,} translations are the same"


def compare(a, ours, peer):
    with tempfile.TemporaryDirectory() as name:
        folder, file = Path(name), ModelFile(a.model)
        for side in ("source", "target"):
            file.save_vocabulary(side, folder / f"{side}.spm")
        text = Text(a, folder)
        if a.single_lines and min(a.single_lines, len(text.lines)) < 2:
            raise Failed(f"--single-lines is {a.single_lines} and the text has {len(text.lines):,} lines, expected at least 2 of "
                         "both: the first one shows the start; --single-lines 0 sends none")
        for program in filter(None, (ours, peer)):
            program.prepare(text)
        print(f"Lines: {len(text.lines):,}, rounds: {a.rounds}\n\n{table.header(PEERS[a.peer].name)}", flush=True)
        jobs = [Job(precision, beam, a.normalize, a.length) for beam in a.beams for precision in a.precisions]
        notes = []
        for job in jobs:
            of_ours, of_peer, note = compare_job(a, ours, peer, job, text)
            notes.append(note)
            yield str(job), of_ours, of_peer
    print("", *filter(None, notes), sep="\n")
