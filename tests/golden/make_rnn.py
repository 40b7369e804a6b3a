#!/usr/bin/env python3
"""Makes the golden files rnn_*.safetensors: recurrent models with attention, by PyTorch in float64.

    python3 tests/golden/make_rnn.py          (needs torch and safetensors; the tests only need the files)

Cells are torch.nn's GRU and LSTM, a sentence at a time; the rest is written from the papers: attention before each step
with tanh scores (Bahdanau et al. 2015), or after it with a matrix between query and key, and fed to the next step (Luong
et al. 2015), of all the source or of a window around a predicted place, or none, and one vector made of words and then of
sentences (Yang et al. 2016).
"""
import dataclasses
import math

import torch
from torch.func import functional_call

from make import BOS, smoothed_loss, write


@dataclasses.dataclass
class Config:
    """The fields of src/model/config.h by their names there."""
    encoder_cell: str
    decoder_cell: str
    encoder_type: str
    rnn_attention: str
    attention_score: str
    encoder_pooling: str
    encoder_layers: int
    decoder_layers: int
    reverse_source: bool = False
    sentence_ends: list | None = None  # ids that a sentence ends with
    attention_local: int = 0
    attention_local_center: str = "monotonic"
    attention_projections: str = "none"
    tied_embeddings_all: bool = True
    source_vocabulary: int = 23
    target_vocabulary: int = 23
    dim: int = 6
    rnn_dim: int = 10
    heads: int = 1
    dropout_rnn: float = 0
    type: str = "s2s"


CONFIGS = {
    "rnn_bahdanau": Config("gru", "gru", "bidirectional", "bahdanau", "additive", "mean", 2, 2),
    "rnn_luong": Config("lstm", "lstm", "unidirectional", "luong", "bilinear", "last", 1, 2, reverse_source=True),
    "rnn_hierarchical": Config("gru", "lstm", "bidirectional", "none", "additive", "hierarchical", 1, 1,
                               sentence_ends=list(range(4, 23, 2))),
    "rnn_predictive": Config("gru", "gru", "bidirectional", "luong", "bilinear", "mean", 1, 1, attention_local=2,
                             attention_local_center="predictive"),
}
GATES = {"gru": ("reset", "update", "candidate"), "lstm": ("input", "forget", "candidate", "output")}
CELLS = {"gru": torch.nn.GRUCell, "lstm": torch.nn.LSTMCell}


# Parameters ----------------------------------------------------------------------------------------------------------

def cell_shapes(name, cell, inputs, dim):
    for gate in GATES[cell]:
        yield f"{name}.input.{gate}.weight", (dim, inputs)
        yield f"{name}.input.{gate}.bias", (dim,)
        yield f"{name}.state.{gate}.weight", (dim, dim)


def linear_shapes(name, rows, columns):
    yield f"{name}.weight", (rows, columns)
    yield f"{name}.bias", (rows,)


def parameter_shapes(c):
    D, E = c.rnn_dim, c.dim
    directions = ("forward", "backward") if c.encoder_type == "bidirectional" else ("forward",)
    yield "embedding.weight", (c.source_vocabulary, E)
    for layer in range(c.encoder_layers):
        for direction in directions:
            inputs = E if layer == 0 else D
            yield from cell_shapes(f"encoder.{layer}.{direction}", c.encoder_cell, inputs, D // len(directions))
    if c.encoder_pooling == "hierarchical":
        for direction in directions:
            yield from cell_shapes(f"encoder.sentences.{direction}", c.encoder_cell, D, D // len(directions))
        for level in ("words", "sentences"):
            yield from linear_shapes(f"encoder.pooling.{level}.projection", D, D)
            yield f"encoder.pooling.{level}.query.weight", (1, D)
    for layer in range(c.decoder_layers):
        yield from linear_shapes(f"decoder.{layer}.initial", D, D)
        yield from cell_shapes(f"decoder.{layer}.cell", c.decoder_cell, E if layer == 0 else D, D)
    yield from linear_shapes("decoder.readout.state", E, D)
    if c.rnn_attention == "none":
        yield "decoder.readout.word.weight", (E, E)
        return
    yield "decoder.readout.context.weight", (E, D)
    yield from linear_shapes("decoder.0.cross_attention.query", D, D)
    if c.attention_score == "additive":
        yield from linear_shapes("decoder.0.cross_attention.key", D, D)
        yield "decoder.0.cross_attention.score.weight", (D,)
    if c.attention_local_center == "predictive":
        yield "decoder.0.cross_attention.center.inner.weight", (D, D)
        yield "decoder.0.cross_attention.center.outer.weight", (1, D)
    luong = c.rnn_attention == "luong"
    if not luong:
        yield "decoder.readout.word.weight", (E, E)
    yield "decoder.0.feed.weight", (len(GATES[c.decoder_cell]) * D, E if luong else D)


# The model, for one sentence -----------------------------------------------------------------------------------------

def linear(p, name, x):
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def cell_weights(p, name, cell):
    """By the names that torch.nn's cells give them; a state has no bias of its own."""
    def together(part):
        return torch.cat([p[f"{name}.{part.format(gate)}"] for gate in GATES[cell]])
    bias = together("input.{}.bias")
    return {"weight_ih": together("input.{}.weight"), "weight_hh": together("state.{}.weight"), "bias_ih": bias,
            "bias_hh": torch.zeros_like(bias)}


def step(p, name, cell, x, state, fed=None):
    """state: (h, c). `fed` is what attention says to the gates, beside x."""
    weights = cell_weights(p, name, cell)
    if fed is not None:
        weights["weight_ih"] = torch.cat([weights["weight_ih"], p["decoder.0.feed.weight"]], 1)
        x = torch.cat([x, fed])
    module = CELLS[cell](x.shape[-1], state[0].shape[-1], dtype=torch.float64)
    new = functional_call(module, weights, (x, state if cell == "lstm" else state[0]))
    return new if cell == "lstm" else (new, state[1])


def recurrence(p, name, cell, x):
    zeros = torch.zeros(p[f"{name}.state.{GATES[cell][0]}.weight"].shape[1], dtype=torch.float64)
    state, out = (zeros, zeros), []
    for row in x:
        state = step(p, name, cell, row, state)
        out.append(state[0])
    return torch.stack(out)


def both_directions(p, name, cell, x):
    return torch.cat([recurrence(p, f"{name}.forward", cell, x),
                      recurrence(p, f"{name}.backward", cell, x.flip(0)).flip(0)], 1)


def sentences_of(c, line):
    """Cut after an id that ends a sentence; several of them in a row end one; </s> belongs to the last."""
    cuts = [i + 1 for i in range(len(line) - 2) if int(line[i]) in c.sentence_ends
            and int(line[i + 1]) not in c.sentence_ends]
    return torch.tensor_split(line, cuts)


def attention_pooling(p, name, x):
    """Yang et al. 2016, equations 5 to 7."""
    u = torch.tanh(linear(p, f"{name}.projection", x))
    return torch.softmax(u @ p[f"{name}.query.weight"][0], 0) @ x


def encode_by_sentences(p, c, source):
    words = [both_directions(p, "encoder.0", c.encoder_cell, p["embedding.weight"][s] * math.sqrt(c.dim))
             for s in sentences_of(c, source)]
    sentences = torch.stack([attention_pooling(p, "encoder.pooling.words", h) for h in words])
    read = both_directions(p, "encoder.sentences", c.encoder_cell, sentences)
    return torch.cat(words), attention_pooling(p, "encoder.pooling.sentences", read)


def encode(p, c, source):
    """The states (n,D) and what the decoder begins with (D)."""
    if c.encoder_pooling == "hierarchical":
        return encode_by_sentences(p, c, source)
    x = p["embedding.weight"][source] * math.sqrt(c.dim)
    order = torch.arange(len(source))
    if c.reverse_source:  # all but </s>
        order[:-1] = order[:-1].flip(0)
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order))
    for layer in range(c.encoder_layers):
        forward = recurrence(p, f"encoder.{layer}.forward", c.encoder_cell, x[order])
        ends = [forward[-1]]
        h = forward[back]
        if c.encoder_type == "bidirectional":
            backward = recurrence(p, f"encoder.{layer}.backward", c.encoder_cell, x.flip(0))
            ends.append(backward[-1])
            h = torch.cat([h, backward.flip(0)], 1)
        x = h
    return x, x.mean(0) if c.encoder_pooling == "mean" else torch.cat(ends)


def attend(p, c, h, memory):
    query = linear(p, "decoder.0.cross_attention.query", h)
    if c.attention_score == "additive":
        keys = linear(p, "decoder.0.cross_attention.key", memory)
        scores = torch.tanh(query + keys) @ p["decoder.0.cross_attention.score.weight"]
    else:
        scores = memory @ query
    if c.attention_local_center != "predictive":
        return torch.softmax(scores, 0) @ memory
    # Luong et al. 2015, equations 9 and 10: the Gaussian multiplies the softmax over the window, normalised by nothing.
    inner = torch.tanh(p["decoder.0.cross_attention.center.inner.weight"] @ h)
    center = len(memory) * torch.sigmoid(p["decoder.0.cross_attention.center.outer.weight"][0] @ inner)
    distance = torch.arange(len(memory)) - center
    weights = torch.softmax(scores.masked_fill(distance.abs() > c.attention_local, -math.inf), 0)
    return (weights * torch.exp(-distance ** 2 / (2 * (c.attention_local / 2) ** 2))) @ memory


def decode(p, c, encoded, target):
    memory, summary = encoded
    luong, attends = c.rnn_attention == "luong", c.rnn_attention != "none"
    zeros = torch.zeros(c.rnn_dim, dtype=torch.float64)
    states = [(torch.tanh(linear(p, f"decoder.{layer}.initial", summary)), zeros) for layer in range(c.decoder_layers)]
    fed, rows = torch.zeros(c.dim, dtype=torch.float64), []
    for word in torch.cat([torch.tensor([BOS]), target[:-1]]):
        y = x = p["embedding.weight"][word] * math.sqrt(c.dim)
        if attends and not luong:
            fed = context = attend(p, c, states[0][0], memory)
        for layer in range(c.decoder_layers):
            states[layer] = step(p, f"decoder.{layer}.cell", c.decoder_cell, x, states[layer],
                                 fed if attends and layer == 0 else None)
            x = states[layer][0]
        if luong:
            context = attend(p, c, x, memory)
        read = linear(p, "decoder.readout.state", x)
        if attends:
            read = read + p["decoder.readout.context.weight"] @ context
        if not luong:
            read = read + p["decoder.readout.word.weight"] @ y
        rows.append(torch.tanh(read))
        if luong:
            fed = rows[-1]
    return torch.stack(rows) @ p["embedding.weight"].T


def forward(p, c, sources, targets):
    encoded = [encode(p, c, s) for s in sources]
    logits = torch.cat([decode(p, c, e, t) for e, t in zip(encoded, targets)])
    return torch.cat([memory for memory, _ in encoded]), logits, smoothed_loss(logits, torch.cat(targets))


if __name__ == "__main__":
    for name, c in CONFIGS.items():
        write(name, c, parameter_shapes(c), forward)
