#!/usr/bin/env python3
"""docs/errors.md against the binary: every message has a command here that provokes it, and vice versa.

    errors_test.py BINARY
"""

import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = ""  # from the command line
PAGE = Path(__file__).resolve().parents[2] / "docs/errors.md"
SMALL = "--dim-emb 8 --transformer-heads 2 --transformer-dim-ffn 8 --enc-depth 1 --dec-depth 1 --cpu-threads 1"
TRAIN = f"train -t s t -v v v {SMALL} --after 1u"
RNN = "train -t s t -v v v -m new --type s2s --dim-emb 8 --dim-rnn 8 --cpu-threads 1 --after 1u"
COMPRESSED = "train -t s t -v v v -m new --after 1u --cpu-threads 1 --type decoder-only --dec-depth 2 --dim-emb 8 " \
             "--transformer-heads 2 --transformer-dim-ffn 8 --attention-memory local-compressed"
VALIDATE = f"{TRAIN} -m new --valid-sets s t"

# message of the table: command line, run in the folder that `setUpClass` fills
PROVOKED = {
    "no command given": "",
    "there is no command '…', only …": "trasnlate",
    "there is no command '…'": "generate",
    "there is no option --…": f"{TRAIN} -m new --lern-rate 1",
    "… problems with the options of dragoman …": "train",
    "--… '…' is not supported": "score -m m -t s t --summary ce-sum",
    "no option of dragoman … mentions '…'": "train --help elephant",
    "--… needs a value": "translate -m m --beam-size",
    "--…: '…' is not a whole number": "translate -m m --beam-size x",
    "--…: … is out of range, expected from … to …": "translate -m m --beam-size 0",
    "--…: '…' is not one of …": "evaluate -r t -i t --tokenize words",
    "--… is missing: …": "translate",
    "--… is empty, expected …": "translate -c nameless.yml",
    "--… takes two files, source and target, found …": "score -m m -t s",
    "--train-sets, --data-weighting, --valid-sets and --vocabs are read more than once, so none of them can be '-'":
        "train -t s - -v v v -m new",
    "--train-sets, --data-weighting, --valid-sets and --vocabs are read more than once, but … is a pipe":
        "train -t pipe t -v v v -m new",
    "--train-sets takes two files for each corpus, source and target, found …": "train -t s t s -v v v -m new",
    "--valid-sets takes one file with --tsv, found …": "train -t columns --tsv -v v v -m new --valid-sets s t",
    "--corpus-weights has … numbers, --train-sets … corpora, expected one for each":
        f"{TRAIN} -m new --corpus-weights 1 2",
    "--corpus-weights are all 0, expected at least one above 0": f"{TRAIN} -m new --corpus-weights 0",
    "--data-weighting names … files, --train-sets … corpora, expected one for each":
        f"{TRAIN} -m new --data-weighting s t",
    "--ram: '…' is not an amount of memory": f"{TRAIN} -m new --ram 512",
    "--ram … is too little: the lengths and order of … pairs alone take …": f"{TRAIN} -m new --ram 1K",
    "--tempdir … has … free, the encoded text needs about …": f"{TRAIN} -m new --ram 9K --tempdir /proc",
    "…: cannot create a temporary file there: …": f"{TRAIN} -m new --ram 9K --tempdir nowhere",
    "--devices is '…', expected cpu or the number of a GPU, such as 0": f"{TRAIN} -m new --devices gpu",
    "--fast-math is for GPUs, and --devices is cpu": f"{TRAIN} -m new --fast-math",
    "--precision float16 is for GPUs, and --devices is cpu": f"{TRAIN} -m new --precision float16",
    "--devices names … devices (…), expected one: …": "serve -m m --devices 0 1",
    "--devices names … twice (…), …": f"{TRAIN} -m new --devices 0 0",
    "--devices names the CPU among others (…), …": f"{TRAIN} -m new --devices cpu 0",
    "--processes … and --devices with … GPUs contradict each other": f"{TRAIN} -m new --devices 0 1 --processes 3",
    "--paired-bs and --paired-ar cannot be combined": "evaluate -r t -i s t --paired-bs --paired-ar",
    "--metrics evalb takes one file of --references, found …": "evaluate -r t t -i t --metrics evalb",
    "--oracle takes one file of --references and one of --hypotheses, found … and …": "evaluate -r t -i s t --oracle",
    "--… contradicts --oracle, which prints translations, not metrics": "evaluate -r t -i far --oracle --json",
    "--paired-bs compares systems, but --hypotheses names only one": "evaluate -r t -i t --paired-bs",
    "--dim-emb … cannot be divided among --transformer-heads …": f"{TRAIN} -m new --dim-emb 9",
    "--dim-rnn … cannot be divided among --transformer-heads …": f"{RNN} --dim-rnn 10 --transformer-heads 3",
    "--… is for --type transformer, not for …": f"{RNN} --transformer-positions alibi",
    "--… is for --type s2s, not for …": f"{TRAIN} -m new --dim-rnn 8",
    "--dec-cell … is for --type s2s; --transformer-decoder-autoreg rnn has ssru only": f"{TRAIN} -m new --dec-cell lstm",
    "--dec-cell ssru is for --transformer-decoder-autoreg rnn, --type s2s has gru and lstm": f"{RNN} --dec-cell ssru",
    "--dim-rnn … is odd, but --enc-type bidirectional has half of the state in each direction": f"{RNN} --dim-rnn 9",
    "--reverse-source has no effect: --enc-type bidirectional reads in both directions": f"{RNN} --reverse-source",
    "--reverse-source is for --enc-type unidirectional; conv reads all tokens at once":
        f"{RNN} --enc-type conv --reverse-source",
    "--enc-conv-width is for --enc-type conv, not for …": f"{RNN} --enc-conv-width 5",
    "--enc-cell is for any --enc-type but conv": f"{RNN} --enc-type conv --enc-cell lstm",
    "--encoder-pooling hierarchical needs recurrent layers; --enc-type conv has none":
        f"{RNN} --encoder-pooling hierarchical --enc-type conv",
    "--reverse-source contradicts --encoder-pooling hierarchical, which does not keep the order of the words": f"{RNN} --encoder-pooling hierarchical --enc-type unidirectional --reverse-source",
    "--sentence-ends is for --encoder-pooling hierarchical, not for …": f"{RNN} --sentence-ends ;",
    "--sentence-ends …: no piece of … ends with one of these, so each line would be one sentence":
        f"{RNN} --encoder-pooling hierarchical --sentence-ends ¶",
    "--… is for models with attention; --rnn-attention none has none":
        f"{RNN} --rnn-attention none --attention-score dot",
    "--attention-local-center predictive is the centre of a window, but --attention-local is 0":
        f"{RNN} --attention-local-center predictive",
    "--attention-local-center predictive predicts one position per token, so --transformer-heads must be 1, "
    "found …": f"{RNN} --attention-local 2 --attention-local-center predictive --transformer-heads 2",
    "--… is for --attention-choice hard, not for soft": f"{RNN} --attention-reward 1",
    "--attention-choice hard attends to one source token, so --transformer-heads must be 1, found …":
        f"{RNN} --attention-choice hard --transformer-heads 2",
    "--attention-choice hard samples from the whole source; --attention-local … is for soft":
        f"{RNN} --attention-choice hard --attention-local 2",
    "--attention-choice hard takes no weighted mean, so --transformer-dropout-attention … has nothing to drop":
        f"{RNN} --attention-choice hard --transformer-dropout-attention 0.1",
    "--type: … is not one of transformer, decoder-only, s2s": f"{TRAIN} -m new --type other",
    "--method gradient needs the gradient of all attention weights at once, but a model of type s2s computes them step by step; expected --method raw": "explain -m s2s --method gradient -t s t",
    "--beam-size … contradicts --output-sampling, which samples instead of searching":
        "translate -m m --output-sampling -b 6",
    "--alignment: '…' is not hard, soft, none, or a number above 0 and at most 1":
        "translate -m m --alignment 1.5",
    "--temperature … is for --output-sampling, which is not given": "translate -m m --temperature 2",
    "--output-sampling: expected full, topk K or nucleus P, found …": "translate -m m --output-sampling best",
    "--min-length-factor … is more than --max-length-factor … allows":
        "translate -m m --min-length-factor 2 --max-length-factor 1",
    "--weights has … numbers, --model … files, expected one for each": "translate -m m --weights 1 2",
    "--weights are all 0, expected at least one above 0": "translate -m m --weights 0",
    "--scores and --n-best: give one; n-best lists already contain the scores": "translate -m m --scores --n-best",
    "--n-best … exceeds --beam-size …": "translate -m m --n-best 9",
    "--length-penalty and --normalize … are two ways to divide scores by length: give one":
        "translate -m m --length-penalty gnmt 0.6 --normalize 1",
    "--word-penalty … has no effect with --normalize 1, where it adds the same number to every score":
        "translate -m m --word-penalty 1",
    "--input and --train-sets: give one; …": "explain -m m -i s -t s t",
    "--beam-size … is for --input, --train-sets are not translated": "explain -m m -t s t -b 2",
    "--heads contradicts --method rollout, which uses the mean of all heads":
        "explain -m m --method rollout --heads 0",
    "--layers …: the model has … layers, expected 0 to …, or -1 for the last": "explain -m m --layers 9",
    "--heads …: the model has … heads per layer, expected 0 to …": "explain -m m --heads 9",
    "--sites …: a model of type … has only …": "explain -m alone --sites cross",
    "--method rollout needs a model in which only attention moves information between positions; this one has only … attention":
        "explain -m recurrent --method rollout",
    "--… contradicts --positions, which shows position embeddings, not text": "explain --positions -i s",
    "--format text contradicts --positions, which prints a picture or numbers": "explain --positions --format text",
    "--positions: … has no position embeddings, its positions are …; expected sinusoidal, interleaved or learned":
        "explain -m placeless --positions",
    "--vocabs and --model both name vocabularies: give one": "align -t s t -v v v -m m",
    "--reverse contradicts --shortlist, which needs the translations of source pieces":
        "align -t s t -v v v --reverse --shortlist new",
    "--… is for --shortlist, which is not given": "align -t s t -v v v --best 3",
    "--shortlist: … has no pairs to learn from": "align -t empty empty -v v v --shortlist new",
    "--n-best contradicts --summary …, which prints one figure": "score -m m -t s t --n-best --summary",
    "--word-scores contradicts --summary …, which prints one figure": "score -m m -t s t --word-scores --summary",
    "--alignment contradicts --summary …, which prints one figure": "score -m m -t s t --alignment --summary",
    "--alignment: the model has no cross-attention to take the alignment from":
        "score -m alone -t s t --alignment",
    "--normalize contradicts --summary …, which is computed from whole log-probabilities": "score -m m -t s t -n --summary",
    "--n-best-feature … is for --n-best, which is not given": "score -m m -t s t --n-best-feature x",
    "--… and --… are both …: its content would be lost": "score -m m -t s t -o s",
    "--… and --… are both …: one would overwrite the other": f"{TRAIN} -m new --log-json new",
    "--attention-score … has matrices of its own, so --attention-projections … would only rename them":
        f"{TRAIN} -m new --attention-score bilinear",
    "--attention-norm … keeps dot products of queries and keys small, which --attention-score … does not need":
        f"{TRAIN} -m new --attention-norm rms --attention-score additive",
    "--attention-rank is for --attention-score reduced-rank, not for …": f"{TRAIN} -m new --attention-rank 3",
    "--transformer-relative-positions is for --transformer-positions relative, not for …":
        f"{TRAIN} -m new --transformer-relative-positions 3",
    "--attention-projections none uses the vectors of a head unchanged, …":
        f"{TRAIN} -m new --attention-projections none --transformer-dim-key 3",
    "--attention-projections key-value uses one vector as key and value, but …":
        f"{TRAIN} -m new --attention-projections key-value --transformer-dim-value 3",
    "--transformer-positions rotary rotates pairs of numbers, but …":
        f"{TRAIN} -m new --transformer-positions rotary --transformer-dim-key 3",
    "--transformer-positions rotary rotates queries and keys, which represents distances in dot products only: …":
        f"{TRAIN} -m new --transformer-positions rotary --attention-score additive",
    "--valid-metrics translation needs --valid-script-path":
        f"{VALIDATE} --valid-metrics translation",
    "--valid-script-path … is for --valid-metrics translation, which is not given":
        f"{VALIDATE} --valid-script-path sh",
    "--valid-script-path …: there is no such program":
        f"{VALIDATE} --valid-metrics translation --valid-script-path nowhere",
    "--valid-script-path …: the file is not executable":
        f"{VALIDATE} --valid-metrics translation --valid-script-path ./s",
    "--valid-script-args … are for --valid-script-path, which is not given": f"{VALIDATE} --valid-script-args x",
    "--valid-translation-output: none of --valid-metrics translates": f"{VALIDATE} --valid-translation-output new",
    "--copy needs a joint vocabulary, but --vocabs names two: …":
        f"train -t s t -v v w {SMALL} --copy --after 1u -m new",
    "--source-lang …: … takes no source language": "translate -m m --source-lang de",
    "--target-lang …: … takes no target language": "translate -m m --target-lang de",
    "… already exists, expected the name of a new folder": "convert -i m -o s --to ctranslate2",
    "…: its '…' is …, which … does not support (it supports …)": "convert -i m -o new --to marian",
    "--shortlist … cannot be used with …, which was trained with --copy: it would leave out pieces to copy":
        "translate -m copies --shortlist list",
    "--learn-source is for --type decoder-only, not for …": f"{TRAIN} -m new --learn-source",
    "--enc-depth 0 leaves --type … without an encoder, expected at least 1":
        "train -t s t -v v v -m new --after 1u --enc-depth 0",
    "--… is for models with an encoder; --type decoder-only has none":
        "train -t s t -v v v -m new --after 1u --type decoder-only --enc-depth 3",
    "--type decoder-only reads the source by self-attention, which --transformer-decoder-autoreg … replaces":
        "train -t s t -v v v -m new --after 1u --type decoder-only --transformer-decoder-autoreg rnn",
    "--… is for --attention-memory local-compressed, not for …": f"{TRAIN} -m new --attention-block 5",
    "--attention-memory local-compressed is for --type decoder-only, not for …":
        f"{TRAIN} -m new --attention-memory local-compressed",
    "--transformer-positions … needs one key per position, but --attention-memory local-compressed compresses several into one":
        f"{COMPRESSED} --transformer-positions alibi",
    "--attention-score location has no keys that --attention-memory local-compressed could compress":
        f"{COMPRESSED} --attention-score location --transformer-max-positions 600",
    "--attention-window … contradicts --attention-memory local-compressed, whose local layers have blocks: …":
        f"{COMPRESSED} --attention-window 3",
    "--attention-memory local-compressed alternates local and compressed layers, but --dec-depth is …, expected at least 2": f"{COMPRESSED} --dec-depth 1",
    "explain: the model has --attention-memory …, whose compressed keys stand for several pieces each, expected full":
        "explain -m compressed -t s t",
    "--… is for --moe-experts, which is not given": f"{TRAIN} -m new --moe-top-k 1",
    "--moe-experts 1 leaves the router nothing to choose": f"{TRAIN} -m new --moe-experts 1 --moe-frequency 1",
    "--moe-top-k … exceeds --moe-experts …":
        f"{TRAIN} -m new --moe-experts 2 --moe-top-k 3 --moe-frequency 1",
    "--moe-frequency … gives no layer experts: the model has only … layers":
        f"{TRAIN} -m new --moe-experts 2",
    "--half-activations keeps activations in the type of --precision, which is float32 here":
        f"{TRAIN} -m new --half-activations",
    "--half-activations is for Transformers, and --type is s2s":
        f"{RNN} --half-activations --precision bfloat16",
    "--precision …: this CPU (…), or the installed oneDNN, has no bfloat16 matrix product":
        f"{TRAIN} -m new --precision bfloat16",
    "--… is for --transformer-decoder-autoreg average-attention, not for …": f"{TRAIN} -m new --transformer-aan-nogate",
    "--type decoder-only needs a joint vocabulary, but --vocabs names two: …":
        "train -t s t -v v w -m new --after 1u --type decoder-only",
    "--type decoder-only reads source and target as one sequence: …":
        "train -t s t -v v v -m new --after 1u --type decoder-only --transformer-positions learned "
        "--transformer-max-positions 300",
    "cannot listen on …, port …: …": "serve -m m --port 0 --host 192.0.2.1",
    "--host …: …": "serve -m m --port 0 --host nowhere.invalid",
    "--model names two models from … to …": "serve -m en-de=m en-de=m --port 0",
    "--model names several models, but not all with a language pair": "serve -m en-de=m m --port 0",
    "--model …: the language pair is ambiguous": "serve -m pt-BR-en=m --port 0",
    "… has no keys, expected one per line": "serve -m m --port 0 --api-keys empty",
    "--… needs --valid-sets: BLEU is measured on them": "quantize -m m -o new --gate 1",
    "--… is for vocab …, not for vocab …": "vocab inspect -m v --ids",
    "…, line …: not YAML: …": "translate -m m -c broken.yml",
    "…, line …: a second YAML document begins, expected one": "translate -m m -c documents.yml",
    "…, line …: there is no option '…'": "translate -m m -c slip.yml",
    "…, line …: '…' appears twice in the file": "translate -m m -c twice.yml",
    "…: cannot be opened: No such file or directory": "translate -m m -i nowhere",
    "…: cannot be opened: Permission denied": "inspect locked",
    "… is a folder, expected a file": "translate -m folder",
    "… is not a file on disk": "translate -m pipe",
    "…: there is no folder …": "translate -m m -i s -o nowhere/out",
    "…: writing failed: No space left on device": "vocab encode -m v -i s -o /dev/full",
    "…: line … is longer than … MiB": "vocab encode -m v -i long",
    "…: damaged or truncated gzip data after line …": "vocab encode -m v -i cut.gz",
    "not all output of the run was written: …": f"{TRAIN} -m full --log-json /dev/full",
    "… needs … MiB of memory to be decompressed, expected … MiB at most": "vocab encode -m v -i wide.zst",
    "… holds … data, expected text": "translate -m m -i packed",
    "… begins with a byte-order mark of UTF-16, expected text in UTF-8": "translate -m m -i utf16",
    "…, line …: … pieces, more than --max-length …": "score -m m -t s t --max-length 1",
    "… has … lines, … has …": "score -m m -t s short",
    "…, line …: has … tabs, expected one, between source and target": "train -t columns --tsv -v v v -m new",
    "…, line …: has no tab, expected one, between source and target": "train -t s --tsv -v v v -m new",
    "…, line …: '…' is not a weight, expected a number of at least 0": f"{TRAIN} -m new --data-weighting s",
    "… has … lines, … has …; --data-weighting needs one weight per line": f"{TRAIN} -m new --data-weighting empty",
    "…, line …: expected 'number … Name= value', found '…'": "score -m m -t s t --n-best",
    "…, line …: belongs to source line … (counted from 0), but … has … lines": "score -m m -t short far --n-best",
    "…: expected a translation of line … of … (counted from 0), found …": "evaluate -r s -i far --oracle",
    "…, line …: belongs to source line …, but follows an entry of line …; expected increasing numbers": "score -m m -t s falling --n-best",
    "…, line …: expected a tree such as (S (NP (NNS cats)) (VP (VBP sleep))), found '…'":
        "evaluate -r t -i t --metrics evalb",
    "… has 1 line, … has … lines": "evaluate -r s -i short",
    "… has no lines": "evaluate -r empty -i empty",
    "… is …, expected language profiles": "detect -m s",
    "--learn: … is not of the form LANGUAGE=FILE, such as …": "detect --learn s --output out",
    "… is not a SentencePiece model, or is truncated": "vocab encode -m cutv",
    "… is …, expected a SentencePiece model": "vocab encode -m s",
    "…, line …: \"…\", expected PIECE: ID": "vocab inspect -m notes.yml",
    "…: no piece has id …, expected all from 0 to …": "vocab inspect -m gap.yml",
    "…: id … appears twice: \"…\" and \"…\"": "vocab inspect -m both.yml",
    "…: piece …, \"…\", is piece … already": "vocab inspect -m same.yml",
    "… has no line …, which a vocabulary needs": "vocab inspect -m notes.txt",
    "a vocabulary of … cannot sample segmentations, found alpha …, expected 0":
        "vocab encode -m sound.yml --alpha 0.1 -i s",
    "… is …, expected text": "translate -m m -i m",
    "--train-sets: … contains both sides, according to its name, expected one file per side":
        "train -t s.tsv t -v v v -m new",
    "… is …, expected a model or another safetensors file": "translate -m s",
    "unexpected argument '…'": "completion bash zsh",
    "--… takes no value, found '…'": "score -m m -t s t --quiet s",
    "the text is too small for a vocabulary of … pieces, expected at most …": "vocab train --input short --model new",
    "… has no protected symbol …, which --protected-symbols asks for": f"{TRAIN} -m new --protected-symbols <x>",
    "… has … pieces, --dim-vocabs asks for …": f"{TRAIN} -m new --dim-vocabs 400",
    "--… … contradicts …, whose model has …": f"{TRAIN} -m new --pretrained-model m --dec-depth 2",
    "--freeze …: no parameter has such a name": f"{TRAIN} -m new --freeze encoder.1.*",
    "--freeze … leaves no parameter to train": f"{TRAIN} -m new --freeze *",
    "--freeze …: … is a batch-norm statistic, which every training batch updates; it cannot be frozen":
        f"{TRAIN} -m new --transformer-norm batch --freeze encoder.*",
    "… was trained with another vocabulary than …": f"{TRAIN} -m m".replace("-v v v", "-v w w"),
    "… begins with a header length of … bytes, expected at most …": "translate -m noise",
    "… begins with a header length of … bytes, but … follow": "translate -m cut",
    "…: the content has the checksum …, its metadata expects …": "translate -m flipped",
    "… is a training state, expected a model": "translate -m m.state",
    "… is a safetensors file but not a dragoman model: it has no metadata '…'": "translate -m foreign",
    "… is of format version …, this dragoman reads …": "translate -m newer",
    "--model …: the lock … cannot be opened: …": f"{TRAIN} -m linked",
    "--model …: another process is training it (process …)": f"{TRAIN} -m busy",
    "… belongs to another model: …": f"{TRAIN} -m m --dim-emb 16 --after 2u",
    "… and … cannot translate together: their … vocabularies differ (… and … pieces)": "translate -m m other",
    "… is a safetensors file, but not a dragoman shortlist": "translate -m m --shortlist m",
    "… is a shortlist of version …, this dragoman reads …": "translate -m m --shortlist list.newer",
    "… was made for another … vocabulary than the model's (checksum …, expected …)":
        "translate -m other --shortlist list",
    "… is an empty shortlist: it has no translation of any piece": "translate -m m --shortlist list.empty",
    "… contains ids of pieces out of range, expected 0 to …": "translate -m m --shortlist list.far",
    "…: 'begins' does not divide the … ids of 'best' among … source pieces":
        "translate -m m --shortlist list.cut",
    "--shortlist: expected a file and up to three numbers, found …": "translate -m m --shortlist table 1 2 0 3",
    "… is a damaged Marian shortlist: it has … bytes, expected … or more": "translate -m m --shortlist marian.short",
    "… is a damaged Marian shortlist: it has … bytes, but its header announces … source pieces and … translations":
        "translate -m m --shortlist marian.cut",
    "… is a damaged Marian shortlist: the content has the checksum …, expected …":
        "translate -m m --shortlist marian.flipped",
    "… was made for … source pieces, and the model has …": "translate -m m --shortlist marian.few",
    "… lists target piece …, and the model has pieces 0 to …": "translate -m m --shortlist marian.far",
    "…: the offsets of source pieces do not divide its … translations":
        "translate -m m --shortlist marian.wrong",
    "…: line … is not 'target source probability'": "translate -m m --shortlist s",
    "…: no line has pieces of both vocabularies of the model": "translate -m m --shortlist table",
    "… and … have different architectures: …": "average -o new m deep",
    "… is already in 8 bits": "quantize -m small -o new",
    "…: … holds …, expected finite numbers": "quantize -m nan -o new",
    "… is not a file that inspect can read": "inspect noise",
    "… is …, which inspect cannot read": "inspect s",
}


def rows(page):
    """The first cells of the tables: messages between backticks."""
    return re.findall(r"(?m)^\| `([^`]+)` \|", page)


def pattern(message):
    """`…` is anything."""
    return re.compile(re.escape(message).replace("…", ".+"))


def safetensors(metadata):
    header = json.dumps({"__metadata__": metadata}).encode()
    return struct.pack("<Q", len(header)) + header


def marian_shortlist(begins, best):
    """Marian's binary file."""
    content = struct.pack(f"<4Q{len(begins)}Q{len(best)}I", 3, 100, len(begins), len(best), *begins, *best)
    checksum = 0
    for [word] in struct.iter_unpack("<Q", content[:len(content) // 8 * 8]):
        checksum ^= (word + 0x9e3779b9 + (checksum << 6) + (checksum >> 2)) % 2**64
    return struct.pack("<2Q", 0xF11A48D5013417F5, checksum) + content


def with_lists(shortlist, version=b"1", **tensors):
    """The shortlist with some tensors replaced and no checksum."""
    [length] = struct.unpack("<Q", shortlist[:8])
    header = json.loads(shortlist[8:8 + length])
    data = shortlist[8 + length:]
    metadata = header.pop("__metadata__")
    del metadata["checksum"]
    metadata["version"] = version.decode()
    found = {name: data[slice(*t["data_offsets"])] for name, t in header.items()}
    found.update({name: struct.pack(f"<{len(numbers)}i", *numbers) for name, numbers in tensors.items()})
    header, end = {"__metadata__": metadata}, 0
    for name, content in found.items():
        header[name] = {"dtype": "I32", "shape": [len(content) // 4], "data_offsets": [end, end := end + len(content)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(found.values())


def with_nan(model):
    """The model without its checksum and with NaN as the first number."""
    [length] = struct.unpack("<Q", model[:8])
    header, data = model[:8 + length].replace(b'"checksum"', b'"checksun"'), model[8 + length:]
    return header + struct.pack("<f", float("nan")) + data[4:]


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.write_texts()
        for command in ("vocab train --input s t --model v --size 300", "vocab train --input s t --model w --size 310",
                        f"{TRAIN} -m m", f"{TRAIN} -m deep --dec-depth 2",
                        f"{TRAIN} -m alone --type decoder-only".replace("--enc-depth 1", ""),
                        f"{TRAIN} -m recurrent --transformer-decoder-autoreg rnn",
                        COMPRESSED.replace("new", "compressed"),
                        f"{TRAIN} -m copies --copy",
                        f"{TRAIN} -m placeless --transformer-positions none",
                        RNN.replace("new", "s2s"),
                        f"{TRAIN} -m other".replace("-v v v", "-v w w"), "quantize -m m -o small",
                        "align -t s t -v v v --shortlist list"):
            done = cls.call(command)
            if done.returncode != 0:
                raise RuntimeError(f"{command}\n{done.stderr}")
        cls.write_models()

    @classmethod
    def write_texts(cls):
        words = "red green blue old new small house street river bridge".split()
        text = "".join(f"the {a} {b} is {c}\n" for a in words for b in words for c in words[:3])
        for name, content in (("s", text), ("t", text.replace("the", "das")), ("short", "one line\n"), ("empty", ""),
                              ("broken.yml", "a: [\n"), ("slip.yml", "beam-szie: 3\n"),
                              ("twice.yml", "beam-size: 3\nbeam-size: 4\n"),
                              ("nameless.yml", "model: ''\n"), ("documents.yml", "beam-size: 3\n---\nbeam-size: 4\n"),
                              ("locked", ""), ("columns", "a\tb\tc\n"),
                              ("far", "5 ||| a ||| F0= 1\n"), ("falling", "1 ||| a ||| F0= 1\n0 ||| a ||| F0= 1\n")):
            (cls.folder / name).write_text(content, encoding="utf-8")
        (cls.folder / "locked").chmod(0)
        (cls.folder / "folder").mkdir()
        os.mkfifo(cls.folder / "pipe")
        busy = cls.enterClassContext((cls.folder / "busy.lock").open("w", encoding="utf-8"))
        busy.write("1")
        busy.flush()
        fcntl.flock(busy, fcntl.LOCK_EX)
        (cls.folder / "linked.lock").symlink_to("elsewhere")
        (cls.folder / "long").write_bytes(b"m" * (17 << 20))
        (cls.folder / "packed").write_bytes(b"\x1f\x8b\x08")
        (cls.folder / "noise").write_bytes(bytes(range(128, 256)))
        (cls.folder / "utf16").write_bytes("a dog\n".encode("utf-16"))
        # the beginning of a gzip file
        (cls.folder / "cut.gz").write_bytes(bytes.fromhex("1f8b0800000000000003cb48"))
        # two lines under a window of a gibibyte
        (cls.folder / "wide.zst").write_bytes(bytes.fromhex("28b52ffd04a0410000") + b"one\ntwo\n" + bytes.fromhex("e6a60e40"))

    @classmethod
    def write_models(cls):
        model = (cls.folder / "m").read_bytes()
        (cls.folder / "cut").write_bytes(model[:500])
        for name, text in (("notes.yml", "good morning\n"), ("notes.txt", "good morning\n"), ("gap.yml", "a: 2\nb: 4\n"),
                           ("both.yml", "a: 2\nb: 2\n"), ("same.yml", "a: 2\na: 3\n"), ("sound.yml", "a: 2\n")):
            (cls.folder / name).write_text(text)
        (cls.folder / "cutv").write_bytes((cls.folder / "v").read_bytes()[:100])
        (cls.folder / "flipped").write_bytes(model[:-1] + bytes([model[-1] ^ 1]))
        (cls.folder / "nan").write_bytes(with_nan(model))
        shortlist = (cls.folder / "list").read_bytes()
        for name, content in (("list.flipped", shortlist[:-1] + bytes([shortlist[-1] ^ 1])),
                              ("list.newer", with_lists(shortlist, version=b"2")),
                              ("list.empty", with_lists(shortlist, begins=[0] * 301, best=[])),
                              ("list.far", with_lists(shortlist, first=[300])),
                              ("list.cut", with_lists(shortlist, best=[3]))):
            (cls.folder / name).write_bytes(content)
        sound = marian_shortlist([0] * 300 + [1], [7])
        for name, content in (("marian.short", sound[:20]), ("marian.cut", sound[:-1]),
                              ("marian.flipped", sound[:8] + b"x" + sound[9:]),
                              ("marian.few", marian_shortlist([0, 1], [7])),
                              ("marian.far", marian_shortlist([0] * 300 + [1], [300])),
                              ("marian.wrong", marian_shortlist([1] + [0] * 299 + [1], [7])),
                              ("table", b"nopiece nopiece 0.5\n")):
            (cls.folder / name).write_bytes(content)
        (cls.folder / "foreign").write_bytes(safetensors({}))
        (cls.folder / "newer").write_bytes(safetensors({"format": "dragoman", "version": "99"}))

    @classmethod
    def call(cls, command):
        return subprocess.run([BINARY, *command.split()], cwd=cls.folder, stdin=subprocess.DEVNULL, timeout=60,
                              check=False, capture_output=True, encoding="utf-8",
                              env=os.environ | {"OMP_NUM_THREADS": "1"})

    def test_each_row_has_its_command_and_each_command_its_row(self):
        self.assertEqual(sorted(rows(PAGE.read_text(encoding="utf-8"))), sorted(PROVOKED))

    def test_each_message_comes(self):
        for message, command in PROVOKED.items():
            if "Permission denied" in message and os.geteuid() == 0:
                continue  # root can read every file
            if "bfloat16" in message and "avx512_bf16" in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
                continue  # this CPU supports it
            with self.subTest(command):
                done = self.call(command)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                first = re.search(r"(?m)^error: (.*)$", done.stderr)
                self.assertIsNotNone(first, done.stderr)
                self.assertRegex(first[1], pattern(message))
                self.assertFalse((self.folder / "new").exists(), "a file was made")

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
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
