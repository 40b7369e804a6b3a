#!/usr/bin/env python3
"""Makes the golden files beside it: what the Transformer of "Attention Is All You Need" computes, by PyTorch in float64.

    python3 tests/golden/make.py          (needs torch and safetensors; the tests only need the files)

The model is written from the paper, one sentence at a time and without padding or masks other than the causal one, so
that nothing of dragoman's way of batching can leak into the expectation. README.md says what each file holds.
"""
import dataclasses
import json
import math
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

BOS, EOS = 1, 2  # a decoder reads <s> + the target without its last id; every sentence ends with </s>


LABEL_SMOOTHING = 0.1
NORM_EPSILON = 1e-5


@dataclasses.dataclass
class Config:
    """The fields of src/model/config.h by their names there, and what each of our files wants of them."""
    norm: str  # "post": norm(x + f(x)), "pre": x + f(norm(x)) and one more norm at the end of each side
    activation: str  # "relu", "gelu" (exact), "swish" (x · sigmoid(x))
    positions: str  # "sinusoidal" (all sines, then all cosines), "interleaved" (as in the paper), "learned"
    encoder_layers: int
    decoder_layers: int
    tied_embeddings_all: bool = False  # one table for source, target and output
    tied_embeddings: bool = False  # the target embedding is the output layer
    source_vocabulary: int = 23
    target_vocabulary: int = 23
    dim: int = 16
    heads: int = 2
    key_size: int = 8  # of one head
    value_size: int = 8  # of one head
    feed_forward: int = 24
    max_positions: int = 12  # rows of learned position tables
    dropout: float = 0
    attention_norm: str | None = None  # "layer": queries and keys of each head are normalised before they meet
    type: str = "transformer"


CONFIGS = {
    "post_norm": Config("post", "relu", "sinusoidal", encoder_layers=1, decoder_layers=2, tied_embeddings_all=True),
    "pre_norm": Config("pre", "gelu", "interleaved", encoder_layers=2, decoder_layers=1, source_vocabulary=19,
                       key_size=6, value_size=10),
    "learned_positions": Config("post", "swish", "learned", encoder_layers=2, decoder_layers=1, tied_embeddings=True,
                                target_vocabulary=21),
    "head_norm": Config("post", "relu", "sinusoidal", encoder_layers=1, decoder_layers=1, tied_embeddings_all=True,
                        feed_forward=8, key_size=6, attention_norm="layer"),
}
SOURCE_LENGTHS, TARGET_LENGTHS = (5, 1, 7, 3), (6, 4, 1, 8)  # with </s>: a length of 1 is an empty sentence


# Parameters ----------------------------------------------------------------------------------------------------------

def attention_shapes(name, c):
    D, K, V = c.dim, c.heads * c.key_size, c.heads * c.value_size
    for part, rows, columns in (("query", K, D), ("key", K, D), ("value", V, D), ("output", D, V)):
        yield f"{name}.{part}.weight", (rows, columns)
        yield f"{name}.{part}.bias", (rows,)
    if c.attention_norm:
        for part in ("query_norm", "key_norm"):  # one for all heads
            yield f"{name}.{part}.weight", (c.key_size,)
            yield f"{name}.{part}.bias", (c.key_size,)


def feed_forward_shapes(name, c):
    yield f"{name}.up.weight", (c.feed_forward, c.dim)
    yield f"{name}.up.bias", (c.feed_forward,)
    yield f"{name}.down.weight", (c.dim, c.feed_forward)
    yield f"{name}.down.bias", (c.dim,)


def norm_shapes(name, c):
    yield f"{name}.weight", (c.dim,)
    yield f"{name}.bias", (c.dim,)


def embedding_shapes(c):
    if c.tied_embeddings_all:
        yield "embedding.weight", (c.source_vocabulary, c.dim)
        return
    yield "source_embedding.weight", (c.source_vocabulary, c.dim)
    yield "target_embedding.weight", (c.target_vocabulary, c.dim)
    if not c.tied_embeddings:
        yield "output.weight", (c.target_vocabulary, c.dim)


def side_shapes(side, layers, attentions, c):
    if c.positions == "learned":
        yield f"{side}.positions.weight", (c.max_positions, c.dim)
    for layer in range(layers):
        for attention in attentions:
            yield from attention_shapes(f"{side}.{layer}.{attention}", c)
            yield from norm_shapes(f"{side}.{layer}.{attention}_norm", c)
        yield from feed_forward_shapes(f"{side}.{layer}.feed_forward", c)
        yield from norm_shapes(f"{side}.{layer}.feed_forward_norm", c)
    if c.norm == "pre":
        yield from norm_shapes(f"{side}.norm", c)


def parameter_shapes(c):
    yield from embedding_shapes(c)
    yield from side_shapes("encoder", c.encoder_layers, ["self_attention"], c)
    yield from side_shapes("decoder", c.decoder_layers, ["self_attention", "cross_attention"], c)


def initial_parameters(shapes):
    """Glorot-like matrices, and biases and norms away from their usual 0 and 1, where mistakes would hide."""
    p = {}
    for name, shape in shapes:
        noise = torch.rand(shape, dtype=torch.float64) * 2 - 1
        if len(shape) == 2:
            p[name] = noise * math.sqrt(6 / sum(shape))
        else:
            p[name] = noise * 0.1 + (1 if name.endswith(("norm.weight", "running_variance")) else 0)
        p[name].requires_grad_(".running_" not in name)
    return p


# The model, for one sentence -----------------------------------------------------------------------------------------

def linear(p, name, x):
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def norm(p, name, x):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(variance + NORM_EPSILON) * p[f"{name}.weight"] + p[f"{name}.bias"]


def activation(c, x):
    return {"relu": torch.relu, "gelu": lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2,
            "swish": lambda x: x * torch.sigmoid(x)}[c.activation](x)


def split(x, heads):  # (n, heads * size) -> (heads, n, size)
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)


def attention(p, c, name, x, memory, causal):
    """Section 3.2: x (n,D) asks, memory (m,D) answers; a causal query sees no key after itself."""
    q, k, v = (split(linear(p, f"{name}.{part}", y), c.heads)
               for part, y in (("query", x), ("key", memory), ("value", memory)))
    if c.attention_norm:
        q, k = (F.layer_norm(x, (c.key_size,), p[f"{name}.{part}.weight"], p[f"{name}.{part}.bias"], NORM_EPSILON)
                for part, x in (("query_norm", q), ("key_norm", k)))
    scores = q @ k.transpose(1, 2) / math.sqrt(c.key_size)  # (heads, n, m)
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)
    context = torch.softmax(scores, -1) @ v
    torch.testing.assert_close(context, F.scaled_dot_product_attention(q, k, v, is_causal=causal))
    return linear(p, f"{name}.output", context.transpose(0, 1).flatten(1))


def feed_forward(p, c, name, x):
    return linear(p, f"{name}.down", activation(c, linear(p, f"{name}.up", x)))


def sublayer(p, c, name, x, f):
    if c.norm == "post":
        return norm(p, f"{name}_norm", x + f(x))
    return x + f(norm(p, f"{name}_norm", x))


def positions(p, c, side, length):
    """(length, D). Section 3.5: the i-th pair turns with frequency 10000^(-2i/D)."""
    if c.positions == "learned":
        return p[f"{side}.positions.weight"][:length]
    frequency = torch.exp(-torch.arange(c.dim // 2, dtype=torch.float64) * math.log(10000) * 2 / c.dim)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequency
    if c.positions == "sinusoidal":
        return torch.cat([angle.sin(), angle.cos()], 1)
    return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


def embed(p, c, side, ids):
    own = {"encoder": "source_embedding", "decoder": "target_embedding"}[side]
    table = p["embedding.weight" if c.tied_embeddings_all else f"{own}.weight"]
    return table[ids] * math.sqrt(c.dim) + positions(p, c, side, len(ids))


def encode(p, c, source):
    x = embed(p, c, "encoder", source)
    for layer in range(c.encoder_layers):
        name = f"encoder.{layer}"
        x = sublayer(p, c, f"{name}.self_attention", x,
                     lambda y: attention(p, c, f"{name}.self_attention", y, y, causal=False))
        x = sublayer(p, c, f"{name}.feed_forward", x, lambda y: feed_forward(p, c, f"{name}.feed_forward", y))
    return norm(p, "encoder.norm", x) if c.norm == "pre" else x


def decode(p, c, memory, target):
    x = embed(p, c, "decoder", torch.cat([torch.tensor([BOS]), target[:-1]]))
    for layer in range(c.decoder_layers):
        name = f"decoder.{layer}"
        x = sublayer(p, c, f"{name}.self_attention", x,
                     lambda y: attention(p, c, f"{name}.self_attention", y, y, causal=True))
        x = sublayer(p, c, f"{name}.cross_attention", x,
                     lambda y: attention(p, c, f"{name}.cross_attention", y, memory, causal=False))
        x = sublayer(p, c, f"{name}.feed_forward", x, lambda y: feed_forward(p, c, f"{name}.feed_forward", y))
    x = norm(p, "decoder.norm", x) if c.norm == "pre" else x
    output = "embedding" if c.tied_embeddings_all else "target_embedding" if c.tied_embeddings else "output"
    return x @ p[f"{output}.weight"].T  # logits (n, target vocabulary)


def smoothed_loss(logits, labels):
    """Summed over labels. Szegedy et al. 2016, section 7: the smoothing mass is spread over the whole vocabulary."""
    nll = -torch.log_softmax(logits, -1)
    y = nll[torch.arange(len(labels)), labels]
    loss = ((1 - LABEL_SMOOTHING) * y + LABEL_SMOOTHING * nll.mean(-1)).sum()
    theirs = F.cross_entropy(logits, labels, label_smoothing=LABEL_SMOOTHING, reduction="sum")
    torch.testing.assert_close(loss, theirs)
    return loss


# What a file holds ---------------------------------------------------------------------------------------------------

def random_sentences(lengths, vocabulary):
    return [torch.cat([torch.randint(3, vocabulary, (n - 1,)), torch.tensor([EOS])]) for n in lengths]


def packed(sentences):
    """All ids end to end, and the offsets at which sentences begin (one more than there are sentences)."""
    offsets = torch.tensor([0] + [len(s) for s in sentences]).cumsum(0)
    return torch.cat(sentences).to(torch.int32), offsets.to(torch.int32)


def forward(p, c, sources, targets):
    states = [encode(p, c, s) for s in sources]
    logits = torch.cat([decode(p, c, m, t) for m, t in zip(states, targets)])
    return torch.cat(states), logits, smoothed_loss(logits, torch.cat(targets))


def ten_adam_updates(p, c, forward, sources, targets):
    """The same batch each time; the gradient is that of the loss per label. Returns the summed loss before each."""
    trained = [t for t in p.values() if t.requires_grad]
    adam = torch.optim.Adam(trained, lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(10):
        adam.zero_grad()
        loss = forward(p, c, sources, targets)[2]
        loss.backward()
        for parameter in trained:
            parameter.grad /= sum(map(len, targets))
        adam.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def golden(c, shapes, forward):
    """What a file holds of the model that `forward` computes."""
    p = initial_parameters(shapes)
    sources = random_sentences(SOURCE_LENGTHS, c.source_vocabulary)
    targets = random_sentences(TARGET_LENGTHS, c.target_vocabulary)
    file = {f"p/{name}": t.detach().clone() for name, t in p.items()}
    file["source.ids"], file["source.offsets"] = packed(sources)
    file["target.ids"], file["target.offsets"] = packed(targets)
    states, logits, loss = forward(p, c, sources, targets)
    loss.backward()
    file |= {"encoder_states": states.detach(), "logits": logits.detach(), "loss": loss.detach().reshape(1)}
    file |= {f"g/{name}": t.grad.clone() for name, t in p.items() if t.requires_grad}
    for name, t in p.items():
        if not t.requires_grad:  # a running statistic, which the pass has moved
            t.copy_(file[f"p/{name}"])
    file["adam_losses"] = ten_adam_updates(p, c, forward, sources, targets)
    file |= {f"a/{name}": t.detach() for name, t in p.items()}
    return file


def write(name, c, shapes, forward):
    torch.set_num_threads(1)
    torch.manual_seed(20170612)
    tensors = golden(c, shapes, forward)
    path = pathlib.Path(__file__).parent / f"{name}.safetensors"
    config = {key: value for key, value in dataclasses.asdict(c).items() if value is not None}
    save_file(tensors, path, {"config": json.dumps(config)})  # one key: their order is not fixed
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size:,} bytes, loss {tensors['loss'].item():.6f}")


def main():
    for name, c in CONFIGS.items():
        write(name, c, parameter_shapes(c), forward)


if __name__ == "__main__":
    main()
