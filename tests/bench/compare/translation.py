"""Translation by the same model in dragoman and in CTranslate2: speed, time to answer, memory, quality."""
import gzip
import json
import lzma
import tempfile
from pathlib import Path

import samples
import table
from model_file import ModelFile
from process import answers, run
from translators import CTranslate2, Dragoman, Job


def add_options(p):
    p.add_argument("--model", required=True, help="a model of dragoman, float32")
    p.add_argument("--source", required=True, help="text to translate")
    p.add_argument("--reference", help="its translation by people, for BLEU")
    p.add_argument("--bleu-tokenize", default="13a", help="'none' for a reference that is tokenised already")
    p.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    p.add_argument("--precisions", nargs="+", default=["float32", "int8"])
    p.add_argument("--normalize", type=float, default=1, help="power of the length that scores are divided by")
    p.add_argument("--length", type=int, default=0, help="for untrained models: cut the pieces of the text into lines "
                   "of this many, and force every translation to have as many")
    p.add_argument("--lines", type=int, help="translate no more than these")
    p.add_argument("--single-lines", type=int, default=200, help="lines that are sent one by one")


def programs(a):
    return Dragoman(a), CTranslate2(a)


def read_lines(path):
    with {".xz": lzma.open, ".gz": gzip.open}.get(Path(path).suffix, open)(path, "rt", encoding="utf-8") as file:
        return file.read().removesuffix("\n").split("\n")


class Text:
    """What is translated, and how translations are counted and judged: alike for all."""

    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        lines = read_lines(a.source)
        self.lines = (self.pieces_in_lines(lines) if a.length else lines)[:a.lines]
        self.all = "\n".join(self.lines) + "\n"

    def encode(self, text, side):
        return run([self.a.dragoman, "vocab", "encode", "--model", self.folder / f"{side}.spm"], text).out.split()

    def pieces_in_lines(self, lines):
        pieces, n = self.encode("\n".join(lines), "source"), self.a.length
        return [" ".join(pieces[i:i + n]) for i in range(0, len(pieces) - n + 1, n)]

    def target_tokens(self, translations):
        """With </s>, unless the length was forced."""
        if self.a.length:
            return self.a.length * len(self.lines)
        return len(self.encode(translations, "target")) + len(self.lines)

    def bleu(self, translations):
        reference = self.folder / "reference"
        reference.write_text("\n".join(read_lines(self.a.reference)[:len(self.lines)]) + "\n", encoding="utf-8")
        done = run([self.a.dragoman, "evaluate", "--references", reference, "--hypotheses", "-", "--metrics", "bleu",
                    "--tokenize", self.a.bleu_tokenize, "--json"], translations)
        return json.loads(done.out)["bleu"]


def measure(program, setting, job, text):
    """Figures of a program at a setting, and its translations."""
    whole = run(program.command(job, setting, one_by_one=False), text.all)
    seconds = program.seconds(whole.log)
    values = {samples.TOKENS: text.target_tokens(whole.out) / seconds}
    if not job.length:
        values[samples.WORDS] = len(text.all.split()) / seconds
    command = program.command(job, setting, one_by_one=True)
    values[samples.FIRST], values[samples.SINGLE] = answers(command, text.lines[:text.a.single_lines])
    values[samples.PEAK] = whole.peak
    if text.a.reference and not job.length:
        values[samples.BLEU] = text.bleu(whole.out)
    return values, whole.out


def compare_job(a, ours, peer, job, text):
    """Prints the rows of one beam and precision; returns what else is to be said of it."""
    translations = {}

    def once(program, setting):
        values, translations[program.name] = measure(program, setting, job, text)
        return values

    found = samples.collect([p for p in (ours, peer) if p and p.can(job.precision)], a.rounds, once)
    label = f"beam {job.beam}, {job.precision}"
    print(table.rows(label, found.get(ours, samples.Samples()), found.get(peer, samples.Samples())), flush=True)
    if len(translations) < 2:
        return ""
    pairs = list(zip(*(out.removesuffix("\n").split("\n") for out in translations.values())))
    return f"{label}: {sum(x == y for x, y in pairs):,} of {len(pairs):,} translations are the same"


def compare(a, ours, peer):
    with tempfile.TemporaryDirectory() as name:
        folder, file = Path(name), ModelFile(a.model)
        for side in ("source", "target"):
            file.save_vocabulary(side, folder / f"{side}.spm")
        text = Text(a, folder)
        for program in filter(None, (ours, peer)):
            program.prepare(a.model, folder)
        print(f"Lines: {len(text.lines):,}, rounds: {a.rounds}\n\n{table.header(CTranslate2.name)}", flush=True)
        jobs = [Job(precision, beam, a.normalize, a.length) for beam in a.beams for precision in a.precisions]
        notes = [compare_job(a, ours, peer, job, text) for job in jobs]
    print("", *filter(None, notes), sep="\n")
