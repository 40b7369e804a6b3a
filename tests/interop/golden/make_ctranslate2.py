#!/usr/bin/env python3
"""Makes small models of CTranslate2 with random weights, and what CTranslate2 says of them.

    make_ctranslate2.py        (pip install ctranslate2 numpy)

ct2_marian/ is as its converter makes models of Marian: post-norm, swish, a table of sinusoids, zeros as the first input,
all matrices tied. ct2_opennmt/ is as it makes those of OpenNMT: pre-norm, relu, no table of positions, <s> as the first
input, no </s> behind a source, no matrix tied, in 8 bits. ct2_t5/ is as it makes the first version of T5: relative
biases, root mean squares, heads of another size, outputs scaled. ct2_madlad/ is as it makes MADLAD-400: gated layers, an
output layer of its own, <unk> as the first input. ct2_rotary/ rotates adjacent numbers in its encoder and halves of heads
in its decoder, in 8 bits; ct2_relative/ has vectors of distances, as OpenNMT's models. In each folder,

pairs.tsv has source and target, tokens as they are given, and the log-probability of the target in float32.
search.tsv has a source and what beam search finds with 4 beams and at most as many tokens as the source has, and 6: the
    two best, score and tokens each.
"""
import json
import pathlib
import random

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec, common_spec
from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec

HERE = pathlib.Path(__file__).resolve().parent
D, F = 8, 12
K, H = 3, 2  # size and number of heads of the models with relative biases: 6 dims instead of 8
R = 2        # distances on each side that have a vector of their own


def randomise(spec, rng, keys=D, bias=True):
    """Gives every variable that is still to be set random numbers of its shape."""
    sizes = {"self_attention/linear_0": (3 * keys, D), "self_attention/linear_1": (D, keys),
             "attention/linear_0": (keys, D), "attention/linear_1": (2 * keys, D), "attention/linear_2": (D, keys),
             "ffn/linear_0": (F, D), "ffn/linear_0_noact": (F, D), "ffn/linear_1": (D, F)}

    def fill(layer, scope):
        for name, value in list(vars(layer).items()):
            path = f"{scope}/{name}".strip("/")
            if isinstance(value, list):
                for i, v in enumerate(value):
                    fill(v, f"{path}_{i}")
            elif isinstance(value, ctranslate2.specs.LayerSpec):
                fill(value, path)
            elif value is None:
                key = next((k for k in sizes if f"/{k}/" in f"/{path}"), None)
                if name in ("gamma", "beta"):
                    setattr(layer, name, (rng.normal(0, 0.3, D) + (name == "gamma")).astype("float32"))
                elif key and name == "weight":
                    setattr(layer, name, rng.normal(0, 0.4, sizes[key]).astype("float32"))
                elif name.startswith("relative_position_"):
                    setattr(layer, name, rng.normal(0, 0.4, (2 * R + 1, keys // H)).astype("float32"))
                elif key and name == "bias" and bias:
                    setattr(layer, name, rng.normal(0, 0.4, sizes[key][0]).astype("float32"))
    fill(spec, "")


def sinusoids():
    angles = np.arange(64)[:, None] / np.power(10000, 2 * np.arange(D // 2) / D)[None, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype("float32")


def bias_of(rng, tokens):
    bias = rng.normal(0, 0.5, len(tokens)).astype("float32")
    for i, token in enumerate(tokens):
        bias[i] += {"<unk>": -20, "<s>": -20, "<blank>": -20, "</s>": 2.5}.get(token, 0)
    return bias


def write(name, spec, tokens, quantization, end=()):
    """`end`: tokens after a source that the configuration does not mention."""
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))
    translator = ctranslate2.Translator(str(folder), device="cpu", compute_type="float32")
    random.seed(5)
    words = [t for t in tokens if t.isalpha()]
    pairs, found = [], []
    for _ in range(8):
        source = [random.choice(words) for _ in range(random.randrange(1, 9))]
        target = [random.choice(words) for _ in range(random.randrange(0, 9))]
        score = sum(translator.score_batch([source + list(end)], [target])[0].log_probs)
        pairs.append("\t".join([" ".join(source), " ".join(target), f"{score:.6f}"]))
        result = translator.translate_batch(
            [source + list(end)], beam_size=4, num_hypotheses=2, length_penalty=1, max_decoding_length=len(source) + 6,
            min_decoding_length=0, return_scores=True)[0]
        fields = [" ".join(source)]
        for score, hypothesis in zip(result.scores, result.hypotheses):
            fields += [f"{score:.6f}", " ".join(hypothesis)]
        found.append("\t".join(fields))
    (folder / "pairs.tsv").write_text("\n".join(pairs) + "\n")
    (folder / "search.tsv").write_text("\n".join(found) + "\n")


def words(count, first):
    return [chr(ord(first) + i % 26) * (1 + i // 26) for i in range(count)]


def marian():
    rng = np.random.default_rng(1)
    spec = TransformerSpec.from_config((2, 1), 2, pre_norm=False, activation=common_spec.Activation.SWISH)
    tokens = ["</s>", "<unk>"] + words(40, "a")
    table = rng.normal(0, 0.4, (len(tokens), D)).astype("float32")
    for embeddings in (spec.encoder.embeddings[0], spec.decoder.embeddings, spec.decoder.projection):
        embeddings.weight = table
    spec.decoder.projection.bias = bias_of(rng, tokens)
    for side in (spec.encoder, spec.decoder):
        side.position_encodings.encodings = sinusoids()
    spec.decoder.start_from_zero_embedding = True
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.add_source_eos = True
    randomise(spec, rng)
    write("ct2_marian", spec, tokens, None)


def opennmt(name, seed, spec, quantization):
    rng = np.random.default_rng(seed)
    source = ["<unk>", "<s>", "</s>", "<blank>"] + words(30, "a")
    target = ["<unk>", "<s>", "</s>", "<blank>"] + words(26, "a")
    for embeddings, tokens in ((spec.encoder.embeddings[0], source), (spec.decoder.embeddings, target),
                               (spec.decoder.projection, target)):
        embeddings.weight = rng.normal(0, 0.4, (len(tokens), D)).astype("float32")
    spec.decoder.projection.bias = bias_of(rng, target)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.layer_norm_epsilon = 1e-6
    randomise(spec, rng)
    for side in (spec.encoder, spec.decoder):
        if hasattr(side, "position_encodings"):
            del side.position_encodings
    write(name, spec, target, quantization)


def rotary():
    return TransformerSpec(TransformerEncoderSpec(2, H, rotary_dim=0),
                           TransformerDecoderSpec(2, H, rotary_dim=D // H, rotary_interleave=False))


def t5(name, seed, tokens, frequent, tied, **options):
    """T5 has no biases: </s> is as probable as a frequent word because its row is nearly the same."""
    rng = np.random.default_rng(seed)
    spec = TransformerSpec.from_config((2, 2), H, pre_norm=True, rms_norm=True, relative_attention_bias=True, **options)
    table = rng.normal(0, 0.4, (len(tokens), D)).astype("float32")
    output = table if tied else rng.normal(0, 0.4, (len(tokens), D)).astype("float32")
    output[tokens.index("</s>")] = 0.93 * output[tokens.index(frequent)]
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = table
    spec.decoder.projection.weight = output
    if tied:
        spec.decoder.scale_outputs = D ** -0.5
    for side in (spec.encoder, spec.decoder):
        side.scale_embeddings = False
        biases = rng.normal(0, 0.4, (8, H)).astype("float32")
        for layer in side.layer:
            layer.self_attention.relative_attention_bias = biases
            layer.self_attention.relative_attention_max_distance = np.dtype("int32").type(6)
            for attention in (layer.self_attention, getattr(layer, "attention", layer.self_attention)):
                attention.queries_scale = 1.0
    randomise(spec, rng, keys=K * H, bias=False)
    if tied:
        spec.decoder.layer_norm.gamma *= D ** 0.5  # else all words are about as probable
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.bos_token, spec.config.decoder_start_token = tokens[1 - tied], tokens[0]
    write(name, spec, tokens, None, end=["</s>"])


if __name__ == "__main__":
    marian()
    opennmt("ct2_opennmt", 2, TransformerSpec.from_config((1, 2), 4, pre_norm=True), "int8")
    opennmt("ct2_rotary", 11, rotary(), "int8")
    opennmt("ct2_relative", 14, TransformerSpec.from_config((2, 2), H, with_relative_position=True), None)
    t5("ct2_t5", 18, ["<pad>", "</s>", "<unk>"] + words(40, "a"), "e", True)
    t5("ct2_madlad", 4, ["<unk>", "<s>", "</s>"] + words(40, "a"), "e", False, ffn_glu=True,
       activation=common_spec.Activation.GELUTanh)
