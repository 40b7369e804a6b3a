#!/usr/bin/env python3
"""Writes a dragoman model as a CTranslate2 model folder with the same weights, to compare the two programs.

    to_ctranslate2.py model.safetensors FOLDER       (needs ctranslate2, sentencepiece, numpy, safetensors)

The folder has CTranslate2's own files and the vocabularies, source.spm and target.spm. Positions are written as a table,
because CTranslate2's own sinusoids have other frequencies. docs/model_format.md describes the tensors.
"""
import argparse
import json
import pathlib
import sys

import numpy as np
import sentencepiece
from ctranslate2.specs import common_spec, transformer_spec
from safetensors import safe_open

POSITIONS = 2048  # rows of the table; CTranslate2 cuts longer input
ACTIVATIONS = {"relu": common_spec.Activation.RELU, "gelu": common_spec.Activation.GELU,
               "swish": common_spec.Activation.SWISH}


class Model:
    """A model file: its configuration and its tensors by name."""

    def __init__(self, path):
        self.path = path
        self.file = safe_open(path, "numpy")
        metadata = self.file.metadata() or {}
        if metadata.get("format") != "dragoman":
            sys.exit(f"error: {path} is not a dragoman model: format is {metadata.get('format')}")
        self.config = json.loads(metadata["config"])

    def has(self, name):
        return name in self.file.keys()

    def tensor(self, name):
        x = self.file.get_tensor(name)
        if x.dtype != np.float32:
            sys.exit(f"error: {self.path}: {name} is {x.dtype}, expected float32: give the model before quantization")
        return x

    def first(self, *names):
        return self.tensor(next(filter(self.has, names)))

    def vocabulary(self, side):
        return self.file.get_tensor(f"vocabulary.{side}").tobytes()


def check(c):
    """What CTranslate2 cannot compute."""
    size = c["dim"] // c["heads"]
    for name in ("key_size", "value_size"):
        if c[name] not in (0, size):
            sys.exit(f"error: {name} is {c[name]}, but CTranslate2 has only heads of dim / heads = {size} columns")


def linear(spec, m, *names):
    spec.weight = np.concatenate([m.tensor(f"{name}.weight") for name in names])
    spec.bias = np.concatenate([m.tensor(f"{name}.bias") for name in names])


def norm(spec, m, name):
    spec.gamma, spec.beta = m.tensor(f"{name}.weight"), m.tensor(f"{name}.bias")


def self_attention(spec, m, name):
    linear(spec.linear[0], m, *(f"{name}.{part}" for part in ("query", "key", "value")))
    linear(spec.linear[1], m, f"{name}.output")
    norm(spec.layer_norm, m, f"{name}_norm")


def cross_attention(spec, m, name):
    linear(spec.linear[0], m, f"{name}.query")
    linear(spec.linear[1], m, f"{name}.key", f"{name}.value")
    linear(spec.linear[2], m, f"{name}.output")
    norm(spec.layer_norm, m, f"{name}_norm")


def feed_forward(spec, m, name):
    linear(spec.linear_0, m, f"{name}.up")
    linear(spec.linear_1, m, f"{name}.down")
    norm(spec.layer_norm, m, f"{name}_norm")


def require_plain(config):
    """CTranslate2's Transformer has one kind of attention."""
    for key, plain in (("type", "transformer"), ("attention_score", "scaled-dot"), ("attention_projections", "query-key-value"),
                       ("attention_norm", "none"), ("copies", False),
                       ("attention_window", 0), ("attention_local", 0)):
        if config.get(key, plain) != plain:
            sys.exit(f"error: {key} is {config[key]}, which CTranslate2 does not have")
    if config["positions"] not in ("sinusoidal", "interleaved", "learned"):
        sys.exit(f"error: positions are {config['positions']}, which CTranslate2's Transformer does not have")


def positions(m, side):
    """(positions, D): as nn/positions.cpp computes it, or the learned table."""
    if m.config["positions"] == "learned":
        return m.tensor(f"{side}.positions.weight")
    dim = m.config["dim"]
    half = (dim + 1) // 2
    angle = np.arange(POSITIONS)[:, None] * 10000.0 ** (-2 * np.arange(half) / dim)
    interleaved = m.config["positions"] == "interleaved"
    both = np.stack([np.sin(angle), np.cos(angle)], 2 if interleaved else 1)
    return both.reshape(POSITIONS, 2 * half)[:, :dim].astype(np.float32)


def side(spec, m, name):
    spec.scale_embeddings = True
    spec.position_encodings.encodings = positions(m, name)
    for i, layer in enumerate(spec.layer):
        self_attention(layer.self_attention, m, f"{name}.{i}.self_attention")
        if name == "decoder":
            cross_attention(layer.attention, m, f"{name}.{i}.cross_attention")
        feed_forward(layer.ffn, m, f"{name}.{i}.feed_forward")
    if m.config["norm"] == "pre":
        norm(spec.layer_norm, m, f"{name}.norm")


def specification(m):
    c = m.config
    spec = transformer_spec.TransformerSpec.from_config(
        (c["encoder_layers"], c["decoder_layers"]), c["heads"], pre_norm=c["norm"] == "pre",
        activation=ACTIVATIONS[c["activation"]])
    side(spec.encoder, m, "encoder")
    side(spec.decoder, m, "decoder")
    spec.encoder.embeddings[0].weight = m.first("embedding.weight", "source_embedding.weight")
    target = m.first("embedding.weight", "target_embedding.weight", "source_embedding.weight")
    spec.decoder.embeddings.weight = target
    spec.decoder.projection.weight = m.tensor("output.weight") if m.has("output.weight") else target
    return spec


def pieces(vocabulary):
    processor = sentencepiece.SentencePieceProcessor(model_proto=vocabulary)
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def vocabulary_map(path, source, target):
    """A shortlist (docs/shortlist.md) in CTranslate2's form: pieces for every sentence, then those of each source piece."""
    with safe_open(path, "numpy") as shortlist:
        first, begins, best = (shortlist.get_tensor(name) for name in ("first", "begins", "best"))
    lists = [("", first), *((piece, best[begins[i]:begins[i + 1]]) for i, piece in enumerate(source))]
    return "".join(f"{piece}\t{' '.join(target[i] for i in ids)}\n" for piece, ids in lists if len(ids))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--quantization", help="how weights are stored: int8, bfloat16, ...; without it float32")
    p.add_argument("--shortlist", help="of dragoman align, which becomes the folder's vocabulary map")
    a = p.parse_args()
    m = Model(a.model)
    check(m.config)
    require_plain(m.config)
    spec = specification(m)
    spec.register_source_vocabulary(pieces(m.vocabulary("source")))
    spec.register_target_vocabulary(pieces(m.vocabulary("target")))
    spec.config.add_source_eos = True  # the decoder's first piece is <s>, as CTranslate2 has it by default
    spec.validate()
    spec.optimize(quantization=a.quantization)
    a.folder.mkdir(parents=True, exist_ok=True)
    if a.shortlist:
        allowed = a.folder / "vmap.txt"
        allowed.write_text(vocabulary_map(a.shortlist, *map(pieces, map(m.vocabulary, ("source", "target")))))
    spec.save(str(a.folder))
    for name in ("source", "target"):
        (a.folder / f"{name}.spm").write_bytes(m.vocabulary(name))


if __name__ == "__main__":
    main()
