#!/usr/bin/env python3
"""docs/errors.md against the binary, errors of vocabularies, models and shortlists: every message has a command here that
provokes it, and vice versa.

    model_errors_test.py BINARY
"""

import fcntl
import json
import shutil
import struct
import zipfile
from pathlib import Path

import command_case
from errors_case import TRAIN, ErrorsCase, rows
from quantize_test import edited, spoil

RNN = "train -t s t -v v v --type s2s --dim-emb 8 --dim-rnn 8 --cpu-threads 1 --after 1u"
# a model that translates well enough to be spoilt by 8 bits
ABLE = f"{TRAIN} -m able --mini-batch-words 256 --learn-rate 0.02 --lr-warmup 10".replace("--after 1u", "--after 300u") \
    .replace("--dim-emb 8", "--dim-emb 16").replace("--transformer-dim-ffn 8", "--transformer-dim-ffn 32")

# message of the table: command line, run in the folder that `setUpClass` fills
PROVOKED = {
    "… is …, expected language profiles": "detect -m s",
    "--learn: … is not of the form LANGUAGE=FILE, such as …": "detect --learn s --output out",
    "all lines to learn a vocabulary from have more than 65,536 bytes, the first of them …: line …":
        "vocab train --input endless --model new --size 300",
    "… is not a SentencePiece model, or is truncated": "vocab encode -m cutv",
    "… is …, expected a SentencePiece model": "vocab encode -m s",
    "…, line …: \"…\", expected PIECE: ID": "vocab inspect -m notes.yml",
    "…: no piece has id …, expected all from 0 to …": "vocab inspect -m gap.yml",
    "…: id … appears twice: \"…\" and \"…\"": "vocab inspect -m both.yml",
    "…: piece …, \"…\", is piece … already": "vocab inspect -m same.yml",
    "… has no line …, which a vocabulary needs": "vocab inspect -m notes.txt",
    "a vocabulary of … cannot sample segmentations, found alpha …, expected 0":
        "vocab encode -m sound.yml --alpha 0.1 -i s",
    "… is …, expected a model or another safetensors file": "translate -m s",
    "--sentencepiece-options: '…' does not begin with two dashes":
        f"{TRAIN} -m new --sentencepiece-options split_digits",
    "--sentencepiece-options: --… is not for this option to set":
        f"{TRAIN} -m new --sentencepiece-options --vocab_size=300",
    "--sentencepiece-options: '…' is not one of …":
        f"{TRAIN} -m new --sentencepiece-options --add_dummy_prefix=false",
    "--sentencepiece-options: --…: '…' is neither true nor false":
        f"{TRAIN} -m new --sentencepiece-options --split_digits=maybe",
    "--sentencepiece-options: --…: '…' is not a number from … to …":
        f"{TRAIN} -m new --sentencepiece-options --shrinking_factor=2",
    "--sentencepiece-options: --…: '…' is not a whole number from … to …":
        f"{TRAIN} -m new --sentencepiece-options --num_sub_iterations=1.5",
    "--sentencepiece-options: --… needs a value: --…=…": f"{TRAIN} -m new --sentencepiece-options --required_chars",
    "--… and --… of --sentencepiece-options set the same: give one":
        "vocab train -m new.spm --input s --no-byte-fallback --sentencepiece-options --byte_fallback",
    "the text is too small for a vocabulary of … pieces, expected at most …": "vocab train --input short --model new",
    "… has no protected symbol …, which --protected-symbols asks for": f"{TRAIN} -m new --protected-symbols <x>",
    "--sentencepiece-max-lines …, expected … or more, or 0 for all lines":
        "vocab train --input s --model new --sentencepiece-max-lines 100",
    "… is a list of tokens, which has no protected symbols, found …":
        "vocab train -i t -m new.yml --protected-symbols <x>",
    "… has … pieces, --dim-vocabs asks for …": f"{TRAIN} -m new --dim-vocabs 400",
    "… contains averaged weights, which would be lost without --exponential-smoothing": f"{TRAIN} -m smooth --after 2u",
    "--… … contradicts …, whose model has …": f"{TRAIN} -m new --pretrained-model m --dec-depth 2",
    "--freeze …: no parameter has such a name": f"{TRAIN} -m new --freeze encoder.1.*",
    "--lora-rank trains updates of a model that has been trained, and --pretrained-model is missing":
        f"{TRAIN} -m new --lora-rank 2",
    "--lora-rank is for Transformers, and --type is s2s":
        f"{RNN} -m new --lora-rank 2 --pretrained-model rnn",
    "--lora-rank … must be below --dim-emb …, the rank of most weights":
        f"{TRAIN} -m new --pretrained-model m --lora-rank 8",
    "… gets rows for the symbols of --protected-symbols, but this run does not train it":
        f"{TRAIN} -m new --pretrained-model m --lora-rank 2 --protected-symbols <x>".replace("-v v v", "-v more more"),
    "… has an update of …, which --freeze cannot keep as it was":
        f"{TRAIN} -m low --pretrained-model m --lora-rank 2 --freeze *.key.* --after 2u",
    "… was trained with …, this run has …": f"{TRAIN} -m m --lora-rank 2 --pretrained-model smooth --after 2u",
    "--freeze … leaves no parameter to train": f"{TRAIN} -m new --freeze *",
    "--freeze …: … is a batch-norm statistic, which every training batch updates; it cannot be frozen":
        f"{TRAIN} -m new --transformer-norm batch --freeze encoder.*",
    "--decoder-start … is a piece that … does not have":
        f"{TRAIN} -m new --decoder-start bos".replace("-v v v", "-v sound.yml sound.yml"),
    "… was trained with another vocabulary than …": f"{TRAIN} -m m".replace("-v v v", "-v w w"),
    "… begins with a header length of … bytes, expected at most …": "translate -m noise",
    "… begins with a header length of … bytes, but … follow": "translate -m cut",
    "…: the content has the checksum …, its metadata expects …": "translate -m flipped",
    "… is a training state, expected a model": "translate -m m.state",
    "… is a safetensors file but not a dragoman model: it has no metadata '…'": "translate -m foreign",
    "… is of format version …, this dragoman reads …": "translate -m newer",
    "…: its model configuration is impossible: …": "translate -m roomless",
    "--model …: the lock … cannot be opened: …": f"{TRAIN} -m linked",
    "--model …: the folder …, which the training state is written to, cannot be written to": f"{TRAIN} -m apart",
    "--model …: it is being trained already (process …)": f"{TRAIN} -m busy",
    "--model …: its largest file, of … KiB, exceeds the limit on file sizes, … KiB": f"{TRAIN} -m new",
    "… belongs to another model: …": f"{TRAIN} -m m --dim-emb 16 --after 2u",
    "… was trained … --guided-alignment": f"{TRAIN} -m m --guided-alignment s --after 2u",
    "… and … cannot translate together: their … vocabularies differ (… and … pieces; …)": "translate -m m other",
    "… is a safetensors file, but not a dragoman shortlist": "translate -m m --shortlist m",
    "… is a shortlist of version …, this dragoman reads …": "translate -m m --shortlist list.newer",
    "… was made for another … vocabulary than the model's (checksum …, expected …)":
        "translate -m other --shortlist list",
    "… is an empty shortlist: it has no translation of any piece": "translate -m m --shortlist list.empty",
    "… contains ids of pieces out of range, expected 0 to …": "translate -m m --shortlist list.far",
    "…: 'begins' does not divide the … ids of 'best' among … source pieces":
        "translate -m m --shortlist list.cut",
    "--shortlist: expected a file and up to three numbers, found …": "translate -m m --shortlist table 1 2 0 3",
    "… names …, which is a dragoman model, not a model of Marian": "translate -m decoder.yml",
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
    "BLEU falls by …, which is more than --gate …": "quantize -m spoilt -o new --valid-sets s t --beam-size 1 --gate 0.3",
    "…: … holds …, expected finite numbers": "quantize -m nan -o new",
    "… is an ONNX model, which dragoman writes but does not read": "translate -m graph.onnx",
    "…: … is compressed, expected it as torch.save writes it": "translate -m packed/checkpoint_best.pt",
    "…: … has … bytes, decompressed from …, expected at most …: it may be made to exhaust memory": "translate -m bomb.pt",
    "…: … is …, expected a whole number of at most 2147483647": "translate -m half",
    "… is not a file that inspect can read": "inspect noise",
    "… is …, which inspect cannot read": "inspect s",
}


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


def filled(model, name, number):
    """The model without its checksum, a tensor of which holds this number only."""
    [length] = struct.unpack("<Q", model[:8])
    begin, end = (8 + length + offset for offset in json.loads(model[8:8 + length])[name]["data_offsets"])
    numbers = struct.pack("<f", number) * ((end - begin) // 4)
    return model[:8 + length].replace(b'"checksum"', b'"checksun"') + model[8 + length:begin] + numbers + model[end:]


def without_room(model):
    """The model with learned positions, but only one of them, which the end of a sentence takes."""
    [length] = struct.unpack("<Q", model[:8])
    header = json.loads(model[8:8 + length])
    metadata = header["__metadata__"]
    del metadata["checksum"]
    metadata["config"] = json.dumps(json.loads(metadata["config"]) | {"positions": "learned", "max_positions": 1})
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + model[8 + length:]


class ModelErrors(ErrorsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make("vocab train --input s t --model w --size 310",
                 f"{TRAIN} -m deep --dec-depth 2",
                 f"{TRAIN} -m smooth --exponential-smoothing",
                 f"{RNN} -m rnn", f"{TRAIN} -m low --pretrained-model m --lora-rank 2",
                 ABLE,
                 f"{TRAIN} -m other".replace("-v v v", "-v w w"), "quantize -m m -o small",
                 "align -t s t -v v v --shortlist list")
        cls.write_vocabularies()
        cls.write_models()
        cls.write_shortlists()

    @classmethod
    def write_vocabularies(cls):
        for name, text in (("notes.yml", "good morning\n"), ("notes.txt", "good morning\n"), ("gap.yml", "a: 2\nb: 4\n"),
                           ("both.yml", "a: 2\nb: 2\n"), ("same.yml", "a: 2\na: 3\n"), ("sound.yml", "a: 2\n")):
            (cls.folder / name).write_text(text)
        (cls.folder / "endless").write_bytes(b"word " * 20000)
        (cls.folder / "cutv").write_bytes((cls.folder / "v").read_bytes()[:100])

    @classmethod
    def write_models(cls):
        busy = cls.enterClassContext((cls.folder / "busy.lock").open("w", encoding="utf-8"))
        busy.write("1")
        busy.flush()
        fcntl.flock(busy, fcntl.LOCK_EX)
        (cls.folder / "linked.lock").symlink_to("elsewhere")
        (cls.folder / "apart.state").symlink_to("nowhere/state")
        (cls.folder / "noise").write_bytes(bytes(range(128, 256)))
        model = (cls.folder / "m").read_bytes()
        (cls.folder / "cut").write_bytes(model[:500])
        (cls.folder / "flipped").write_bytes(model[:-1] + bytes([model[-1] ^ 1]))
        (cls.folder / "spoilt").write_bytes(edited((cls.folder / "able").read_bytes(), spoil))
        (cls.folder / "nan").write_bytes(filled(model, "decoder.0.cross_attention.key.bias", float("nan")))
        (cls.folder / "roomless").write_bytes(without_room(model))
        with zipfile.ZipFile(cls.folder / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as bomb:
            bomb.writestr("bomb/data.pkl", bytes(4 << 20))
        golden = Path(__file__).resolve().parents[1] / "interop/golden"
        shutil.copytree(golden / "fairseq", cls.folder / "packed")
        with zipfile.ZipFile(golden / "fairseq/checkpoint_best.pt") as stored, \
                zipfile.ZipFile(cls.folder / "packed/checkpoint_best.pt", "w", zipfile.ZIP_DEFLATED) as packed:
            for name in stored.namelist():
                packed.writestr(name, stored.read(name))
        (cls.folder / "graph.onnx").write_bytes(b"")
        shutil.copytree(golden / "marianmt", cls.folder / "half")
        config = json.loads((cls.folder / "half/config.json").read_text())
        (cls.folder / "half/config.json").write_text(json.dumps(config | {"d_model": 8.5}))
        (cls.folder / "foreign").write_bytes(safetensors({}))
        (cls.folder / "newer").write_bytes(safetensors({"format": "dragoman", "version": "99"}))

    @classmethod
    def write_shortlists(cls):
        shortlist = (cls.folder / "list").read_bytes()
        for name, content in (("list.flipped", shortlist[:-1] + bytes([shortlist[-1] ^ 1])),
                              ("list.newer", with_lists(shortlist, version=b"2")),
                              ("list.empty", with_lists(shortlist, begins=[0] * 301, best=[])),
                              ("list.far", with_lists(shortlist, first=[300])),
                              ("list.cut", with_lists(shortlist, best=[3]))):
            (cls.folder / name).write_bytes(content)
        (cls.folder / "decoder.yml").write_text("models: [m]\nvocabs: [v, v]\nrelative-paths: true\n")
        sound = marian_shortlist([0] * 300 + [1], [7])
        for name, content in (("marian.short", sound[:20]), ("marian.cut", sound[:-1]),
                              ("marian.flipped", sound[:8] + b"x" + sound[9:]),
                              ("marian.few", marian_shortlist([0, 1], [7])),
                              ("marian.far", marian_shortlist([0] * 300 + [1], [300])),
                              ("marian.wrong", marian_shortlist([1] + [0] * 299 + [1], [7])),
                              ("table", b"nopiece nopiece 0.5\n")):
            (cls.folder / name).write_bytes(content)

    def test_each_row_has_its_command_and_each_command_its_row(self):
        self.assertEqual(sorted(rows("model_errors_test")), sorted(PROVOKED))

    def test_each_message_comes(self):
        self.provoke(PROVOKED)


if __name__ == "__main__":
    command_case.main()
