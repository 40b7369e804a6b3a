#!/usr/bin/env python3
"""Makes the small models of Marian in this folder and what Marian says of them (pip install pymarian numpy).

    make_marian.py MARIAN [NAME…]    MARIAN: a command that runs `marian train|score|convert`, such as a script around
                                     pymarian; NAME: the models to make, else all

Models learn for some seconds to reverse words of a toy language: random weights would leave ties. NAME.npz is the model,
NAME.scores has the log-probability of each pair in pairs.tsv, as `marian score` prints it.
"""
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

WORDS = "the a red blue big old dog cat bird house sees likes finds".split()
COMMON = ("--type transformer --dim-emb 8 --transformer-heads 2 --transformer-dim-ffn 12 --enc-depth 2 --dec-depth 2 "
          "--mini-batch 32 --maxi-batch 10 --learn-rate 0.02 --lr-warmup 20 --clip-norm 1 --cpu-threads 1 --seed 7 "
          "--after-batches 250 --no-reload --overwrite --quiet --dim-vocabs 20 20")
MODELS = {
    "tied": "--tied-embeddings-all --transformer-ffn-activation relu",
    "ssru": "--tied-embeddings-all --transformer-decoder-autoreg rnn --dec-cell ssru --transformer-decoder-dim-ffn 10",
    "ssru_norm": "--tied-embeddings-all --transformer-decoder-autoreg rnn --dec-cell ssru --layer-normalization",
    "aan": "--tied-embeddings --transformer-decoder-autoreg average-attention --transformer-dim-aan 9 "
           "--transformer-ffn-activation gelu",
    "prenorm": "--transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n "
               "--transformer-postprocess-emb nd --output-omit-bias --dec-depth 3 --transformer-tied-layers 1 2 1",
}


def main():
    marian = shlex.split(sys.argv[1])
    here = pathlib.Path(__file__).parent
    random.seed(1)
    sentences = [[random.choice(WORDS) for _ in range(random.randint(1, 9))] for _ in range(2000)]
    pieces = ["</s>", "<unk>"] + WORDS + [f"spare{i}" for i in range(18 - len(WORDS))]
    (here / "words.yml").write_text("".join(f"{piece}: {i}\n" for i, piece in enumerate(pieces)))
    pairs = [(s, s[::-1]) for s in sentences[:8]] + [(["dog", "nothing"], ["cat"]), (["a"], [])]
    (here / "pairs.tsv").write_text("".join(f"{' '.join(s)}\t{' '.join(t)}\n" for s, t in pairs))
    with tempfile.TemporaryDirectory() as folder:
        def text(name, lines):
            path = f"{folder}/{name}"
            pathlib.Path(path).write_text("".join(" ".join(line) + "\n" for line in lines))
            return path
        train = [text("s", sentences), text("t", [s[::-1] for s in sentences])]
        test = [text("ps", [s for s, _ in pairs]), text("pt", [t for _, t in pairs])]
        vocabs = [str(here / "words.yml")] * 2
        for name, options in MODELS.items():
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            model = f"{folder}/{name}.npz"
            common = [o for o in COMMON.split()]
            if "--dec-depth" in options:
                at = common.index("--dec-depth")
                del common[at:at + 2]
            subprocess.run(marian + ["train", *common, *options.split(), "--model", model, "--train-sets", *train,
                                     "--vocabs", *vocabs], check=True, stderr=subprocess.DEVNULL)
            scores = subprocess.run(marian + ["score", "-m", model, "-v", *vocabs, "-t", *test, "--mini-batch", "1",
                                              "--cpu-threads", "1", "--quiet"], check=True, capture_output=True, text=True)
            (here / f"{name}.scores").write_text(scores.stdout)
            (here / f"{name}.npz").write_bytes(pathlib.Path(model).read_bytes())
        if sys.argv[2:]:
            return
        subprocess.run(marian + ["convert", "-f", str(here / "tied.npz"), "-t", str(here / "tied.bin")], check=True,
                       capture_output=True)


if __name__ == "__main__":
    main()
