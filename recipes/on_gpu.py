"""Recipes on a GPU, from text to BLEU, in calls of some minutes: two stages of scripts/gpu_check.

Each run has its own folder, and calling it again resumes it. Its training time is read from its log (docs/run_log.md), to
which each call appends: the seconds from the first update of a call to its end, including validation and saving.
"""
import dataclasses
import json
import math
import re
import signal
import time
from pathlib import Path

from experiments import read_lines, text_file

HERE = Path(__file__).resolve().parent
BEAM = 5
SAVING = 30  # seconds before its time limit at which a call stops training, to save
SAMPLE = 100_000  # lines a side, approximately, from which a vocabulary is learned; on all lines of unsegmented text it takes minutes
TOY = """dim-vocabs: 320
dim-emb: 16
transformer-heads: 2
transformer-dim-ffn: 32
enc-depth: 1
dec-depth: 1
mini-batch-words: 128
after: 6u
save-freq: 2u
valid-freq: 3u
"""


@dataclasses.dataclass(frozen=True)
class Recipe:
    file: str
    parts: tuple  # names of training, development and test text, without the language suffix
    sides: tuple  # languages, source and target
    vocabularies: tuple
    tokenize: str  # tokenizer of BLEU
    minutes: float = math.inf  # limit of training; the model is evaluated when it is reached


RECIPES = {
    "multi30k": Recipe("multi30k-tiny.yml",
                       ("tok/train.lc.norm.tok", "tok/val.lc.norm.tok", "tok/test_2016_flickr.lc.norm.tok"),
                       ("en", "de"), ("joint", "joint"), "none"),
    "kftt": Recipe("kftt-base.yml", ("train", "dev", "test"), ("ja", "en"), ("ja", "en"), "intl", 14.9),  # of 15
}


@dataclasses.dataclass
class Past:
    """What the calls of a run have done so far."""
    calls: int = 0
    seconds: float = 0  # of training
    before: float = 0  # of reading text
    updates: int = 0
    tokens: int = 0  # of the target
    ended: bool = False

    def speed(self):
        return self.tokens / self.seconds if self.seconds else 0

    def __str__(self):
        return (f"{self.updates:,} updates, {self.tokens:,} target tokens in {self.seconds:.1f} s of {self.calls} "
                f"call{'s' * (self.calls != 1)}, {self.speed():,.0f} tokens/s; before the first updates {self.before:.1f} s")


def past_of(log, minutes):
    """Reads the log of a run that may train for `minutes`."""
    past, last = Past(), 0
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        try:
            event = json.loads(line)
        except ValueError:  # half a line, of a process that was killed
            continue
        if event["event"] == "start":
            past.calls, past.before, last = past.calls + 1, past.before + event["seconds"], event["seconds"]
        past.seconds, last = past.seconds + event["seconds"] - last, event["seconds"]
        past.updates, past.tokens = event["update"], event["target_tokens"]
        past.ended = event["event"] == "end" and event["reason"] != "signal"
    past.ended |= past.seconds > 60 * (minutes - 1)  # less than a minute is left, and --after takes whole ones
    return past


class Run:
    """A run of a recipe on text in a folder. `check` (scripts/gpu_check) runs its programs within a time limit."""

    def __init__(self, check, name, data, folder, configs):
        self.check, self.name, self.recipe, self.folder = check, name, RECIPES[name], folder
        self.configs = [HERE / self.recipe.file, *configs]
        self.train, self.dev, self.test = ([text_file(data, f"{part}.{side}") for side in self.recipe.sides]
                                           for part in self.recipe.parts)
        self.log = folder / "log.jsonl"
        self.vocabularies = [folder / f"{name}.spm" for name in self.recipe.vocabularies]
        folder.mkdir(parents=True, exist_ok=True)

    def past(self):
        return past_of(self.log, self.recipe.minutes)

    def options(self, words):
        """All options in effect for a command, each as a list of words."""
        _, page, _ = self.check.run(*words, "--dump-config", "full")
        return {name: value.strip("[]").split(", ") for name, value in re.findall(r"^([\w-]+): (.*)$", page, re.MULTILINE)}

    def make_vocabularies(self, options):
        """Learns the missing vocabularies as `train` would, but from a sample. Returns False on failure."""
        for vocabulary in dict.fromkeys(self.vocabularies):
            if vocabulary.exists():
                continue
            files = [file for file, its in zip(self.train, self.vocabularies) if its == vocabulary]
            sample = self.folder / "sample"
            with open(sample, "w", encoding="utf-8") as out:
                for lines in map(read_lines, files):
                    out.writelines(f"{line}\n" for line in lines[::1 + len(lines) // SAMPLE])
            sizes = options["dim-vocabs"]
            code, said, seconds = self.check.run(
                self.check.dragoman, "vocab", "train", "--input", sample, "--model", vocabulary, "--size",
                sizes[min(self.vocabularies.index(vocabulary), len(sizes) - 1)], "--type", *options["vocab-type"],
                "--normalization", *options["vocab-normalization"], at_most=math.inf)
            sample.unlink()
            self.check.say(f"{self.name}, vocabulary {vocabulary.name}", code, said, seconds=seconds)
            if code != 0:
                return False
        return True

    def resume(self):
        """Trains until the run ends or the time of this call is over. Returns False on failure."""
        past = self.past()
        if past.ended:
            return True
        words = [self.check.dragoman, "train", "-c", *self.configs, "-t", *self.train, "--valid-sets", *self.dev,
                 "--valid-metrics", "cross-entropy", "-v", *self.vocabularies,
                 "-m", self.folder / "model.safetensors", "--devices", 0, "--log-json", self.log,
                 "--disp-freq", "50u", "--quiet"]
        options = self.options(words)
        if options and not self.make_vocabularies(options):  # no options: training reports the error
            return False
        time_for_it = self.check.end - time.monotonic() - SAVING
        if time_for_it < 0:
            return True
        if self.recipe.minutes < math.inf:
            words += ["--after", ",".join([*options.get("after", []), f"{int(self.recipe.minutes - past.seconds / 60)}m"])]
        code, said, _ = self.check.run(*words, at_most=math.inf, asked_to_end_after=time_for_it)
        if code not in (0, -signal.SIGTERM):  # SIGTERM if stopped before the first update, else 0
            self.check.say(f"training {self.name}", code, said)
        return code in (0, -signal.SIGTERM)

    def bleu(self):
        """BLEU of the average of the last checkpoints. Returns None on failure."""
        average, out = self.folder / "average.safetensors", self.folder / f"test.{self.recipe.sides[1]}"
        source, reference = self.test
        checkpoints = sorted(self.folder.glob("model.update*.safetensors"))
        for words in (["average", "-o", average, *checkpoints],
                      ["translate", "-m", average, "-b", BEAM, "-i", source, "-o", out, "--devices", 0, "--quiet"],
                      ["evaluate", "-r", reference, "-i", out, "--metrics", "bleu", "--tokenize", self.recipe.tokenize,
                       "--json"]):
            code, said, _ = self.check.run(self.check.dragoman, *words)
            if code != 0:
                self.check.say(f"{self.name}, BLEU", code, said)
                return None
        return float(re.search(r'"bleu": ([\d.]+)', said)[1])
