#!/usr/bin/env python3
"""Whether two builds of dragoman give the same bytes: models, training states, translations.

    tests/same_bytes/same_bytes.py OLD NEW             compares two binaries, case by case
    tests/same_bytes/same_bytes.py OLD NEW --only rnn  only the cases whose names hold this word
    tests/same_bytes/same_bytes.py --list

Each case is a short training of a tiny model that stops, resumes and ends, then translations. The last bits of results
depend on the CPU and on the number of threads, so both binaries run here, one after the other. The new one also has to
translate with the old one's model and to resume from the old one's state. Exit code 1: some bytes differ.
"""
import argparse
import hashlib
import pathlib
import random
import subprocess
import sys
import tempfile

LINES, UPDATES, STOP = 300, 12, 7
SMALL = "--dim-emb 32 --enc-depth 2 --dec-depth 2 --transformer-dim-ffn 48 --transformer-heads 4".split()
DECODER = "--type decoder-only --enc-depth 0 --dim-emb 32 --dec-depth 2 --transformer-dim-ffn 48 --transformer-heads 4".split()
RNN = "--type s2s --dim-emb 24 --dim-rnn 32 --enc-depth 2 --dec-depth 2".split()
TRAIN = (
    "--mini-batch-words 200 --learn-rate 0.01 --lr-warmup 4 --seed 7 --disp-freq 0 --save-freq 0 --quiet "
    "--dim-vocabs 300"
).split()


def cases():
    """Name → the options of its training; {text} options are added by run()."""

    def family(name, base, variants):
        return {f"{name}-{key}" if key else name: base + options.split() for key, options in variants.items()}

    return {
        **family("transformer", SMALL, {
            "": "",
            "prenorm": "--transformer-preprocess n --transformer-postprocess da",
            "rms": "--transformer-norm rms",
            "batchnorm": "--transformer-norm batch",
            "dropout": "--transformer-dropout-attention 0.1 --transformer-dropout-ffn 0.1 --label-smoothing 0.1",
            "gelu": "--transformer-ffn-activation gelu",
            "swish": "--transformer-ffn-activation swish",
            "interleaved": "--transformer-positions interleaved",
            "learned": "--transformer-positions learned",
            "relative": "--transformer-positions relative",
            "rotary": "--transformer-positions rotary",
            "alibi": "--transformer-positions alibi",
            "nopositions": "--transformer-positions none",
            "additive": "--attention-score additive",
            "dot": "--attention-score dot",
            "reducedrank": "--attention-score reduced-rank --attention-rank 4 --attention-projections none",
            "headnorm": "--attention-norm layer",
            "keysize": "--transformer-dim-key 6 --transformer-dim-value 10",
            "window": "--attention-window 3",
            "local": "--attention-local 3",
            "aan": "--transformer-decoder-autoreg average-attention --transformer-dim-aan 40",
            "aan-nogate": "--transformer-decoder-autoreg average-attention --transformer-aan-nogate",
            "ssru": "--transformer-decoder-autoreg rnn --dec-cell ssru",
            "experts": "--moe-experts 4",
            "experts1": "--moe-experts 4 --moe-top-k 1 --moe-frequency 1",
            "copy": "--copy",
            "untied": "--tied-embeddings-all false --tied-embeddings true",
            "unscaled": "--transformer-depth-scaling false",
            "prenorm-scaled": "--transformer-preprocess n --transformer-postprocess da --transformer-depth-scaling",
            "bfloat16": "--precision bfloat16",
            "ema": "--exponential-smoothing 0.01",
            "delay": "--optimizer-delay 2",
            "freeze": "--freeze embedding*",
            "sampling": "--sentencepiece-alphas 0.2 0.2",
            "cosine": "--lr-schedule cosine --lr-decay-updates 20 --weight-decay 0.01",
            "threads1": "--cpu-threads 1",
        }),
        **family("decoder", DECODER, {
            "": "",
            "learnsource": "--learn-source",
            "compressed": "--attention-memory local-compressed --attention-block 8 --attention-stride 2",
            "rotary": "--transformer-positions rotary",
        }),
        **family("rnn", RNN, {
            "": "",
            "lstm": "--enc-cell lstm --dec-cell lstm",
            "luong": "--rnn-attention luong",
            "none": "--rnn-attention none",
            "pool-last": "--rnn-attention none --encoder-pooling last",
            "pool-sum": "--rnn-attention none --encoder-pooling sum",
            "pool-attention": "--rnn-attention none --encoder-pooling attention",
            "pool-hierarchical": "--rnn-attention none --encoder-pooling hierarchical",
            "unidirectional": "--enc-type unidirectional",
            "conv": "--enc-type conv",
            "norm": "--layer-normalization",
            "reverse": "--enc-type unidirectional --reverse-source",
            "local": "--rnn-attention luong --attention-local 3",
            "local-predictive": "--rnn-attention luong --attention-local 3 --attention-local-center predictive",
            "hard": "--attention-choice hard",
            "copy": "--copy",
        }),
    }


def write_text(folder):
    """A small parallel corpus of made-up words, the same in every run."""
    draw = random.Random(3)
    words = ["".join(draw.choice("abdegiklmnorstu") for _ in range(draw.randint(2, 7))) for _ in range(120)]
    source, target = [], []
    for _ in range(LINES):
        line = [draw.choice(words) for _ in range(draw.randint(1, 12))]
        source.append(" ".join(line) + " .")
        target.append(" ".join(word[::-1] for word in reversed(line)) + " .")
    (folder / "train.src").write_text("\n".join(source) + "\n")
    (folder / "train.trg").write_text("\n".join(target) + "\n")
    (folder / "test.src").write_text("\n".join(source[:40]) + "\n")


class Build:
    """One binary and the folder that it writes into."""

    def __init__(self, binary, folder):
        self.binary, self.folder = str(pathlib.Path(binary).resolve()), folder
        folder.mkdir()
        write_text(folder)

    def run(self, *arguments):
        done = subprocess.run([self.binary, *map(str, arguments)], cwd=self.folder, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr.decode()}")
        return done.stdout

    def train(self, name, options, until):
        threads = [] if "--cpu-threads" in options else ["--cpu-threads", "2"]
        self.run("train", "-t", "train.src", "train.trg", "-v", "joint.spm", "joint.spm", "-m", f"{name}.safetensors",
                 *TRAIN, *threads, *options, "--after", f"{until}u")

    def translations(self, model):
        text = {}
        for beam in (1, 5):
            for precision in ("float32", "bfloat16", "int8"):
                text[f"beam {beam} {precision}"] = self.run(
                    "translate", "-m", model, "-i", "test.src", "-b", beam, "--precision", precision, "--cpu-threads", "2",
                    "--n-best", "--quiet")
        return text

    def files(self, name):
        return {kind: (self.folder / f"{name}.{kind}").read_bytes() for kind in ("safetensors", "state.safetensors")}

    def outputs(self, name, options):
        """What a run that stops and resumes leaves, halfway and in the end, and what its model translates."""
        self.train(name, options, STOP)
        half = self.files(name)
        self.train(name, options, UPDATES)
        return half, self.files(name), self.translations(f"{name}.safetensors")

    def resume(self, name, options, half):
        """What becomes of another build's half-trained run."""
        for kind, content in half.items():
            (self.folder / f"{name}.{kind}").write_bytes(content)
        self.train(name, options, UPDATES)
        return self.files(name)


def short(content):
    return hashlib.sha256(content).hexdigest()[:12]


def compare(name, options, old, new):
    """Prints a line for the case; returns whether all is the same."""
    try:
        half, whole, translations = old.outputs(name, options)
        new_half, new_whole, new_translations = new.outputs(name, options)
        resumed = new.resume(name, options, half)
    except RuntimeError as error:
        print(f"{name}: {error}")
        return False
    pairs = {f"{kind} at update {STOP}": (half[kind], new_half[kind]) for kind in half}
    pairs |= {kind: (whole[kind], new_whole[kind]) for kind in whole}
    pairs |= {f"{kind} resumed from the old one": (whole[kind], resumed[kind]) for kind in whole}
    pairs |= {f"translation, {key}": (translations[key], new_translations[key]) for key in translations}
    differing = [f"{what} ({short(a)}, {short(b)})" for what, (a, b) in pairs.items() if a != b]
    print(f"{name}: " + ("DIFFERENT: " + ", ".join(differing) if differing else "the same"), flush=True)
    return not differing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    chosen = {name: options for name, options in cases().items() if arguments.only in name}
    if arguments.list:
        print("\n".join(chosen))
        return 0
    if not arguments.new or not chosen:
        parser.error("expected two binaries, and a word of --only that some case has")
    with tempfile.TemporaryDirectory() as folder:
        old, new = (Build(b, pathlib.Path(folder) / n) for b, n in ((arguments.old, "old"), (arguments.new, "new")))
        same = [compare(name, options, old, new) for name, options in chosen.items()]
    print(f"{sum(same)} of {len(same)} cases the same")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
