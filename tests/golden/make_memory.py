#!/usr/bin/env python3
"""Makes the golden file compressed_memory.safetensors: a decoder-only Transformer whose layers attend in blocks and over
compressed memory in turn, by PyTorch in float64.

    python3 tests/golden/make_memory.py          (needs torch and safetensors; the tests only need the file)

Liu et al. 2018, "Generating Wikipedia by Summarizing Long Sequences", section 4.2.4: keys and values go through
torch.nn's convolution of the stride's width, each sentence by itself, padded on the left so that the one of c·s is of no
later place. The rest is make.py's.
"""
import dataclasses
import math

import torch
import torch.nn.functional as F

import make
from make import BOS, feed_forward, linear, positions, smoothed_loss, split, sublayer, write


@dataclasses.dataclass
class Config(make.Config):
    type: str = "decoder-only"
    attention_memory: str = "local-compressed"
    attention_block: int = 4
    attention_stride: int = 3


CONFIG = Config("post", "relu", "sinusoidal", encoder_layers=0, decoder_layers=3, tied_embeddings_all=True, dim=12,
                key_size=6, value_size=4)


def compresses(layer):
    return layer % 2 == 1


def parameter_shapes(c):
    keys, values, s = c.heads * c.key_size, c.heads * c.value_size, c.attention_stride
    yield "embedding.weight", (c.source_vocabulary, c.dim)
    for layer in range(c.decoder_layers):
        name = f"decoder.{layer}.self_attention"
        yield from make.attention_shapes(name, c)
        for part, columns in (("key", keys), ("value", values)) if compresses(layer) else ():
            yield f"{name}.{part}_convolution.weight", (columns, s * columns)
            yield f"{name}.{part}_convolution.bias", (columns,)
        yield from make.norm_shapes(f"{name}_norm", c)
        yield from make.feed_forward_shapes(f"decoder.{layer}.feed_forward", c)
        yield from make.norm_shapes(f"decoder.{layer}.feed_forward_norm", c)


def convolution(p, name, x, s):
    """x (n,D) -> (ceil(n/s),D). A row of our weight holds the columns of s places, the first place first."""
    weight = p[f"{name}.weight"].unflatten(1, (s, -1)).transpose(1, 2)  # (D,D,s)
    return F.conv1d(F.pad(x.T, (s - 1, 0)), weight, p[f"{name}.bias"], stride=s).T


def attention(p, c, name, layer, x):
    q, k, v = (linear(p, f"{name}.{part}", x) for part in ("query", "key", "value"))
    place, block, s = torch.arange(len(x)), c.attention_block, c.attention_stride
    seen = (place[:, None] >= place) & (place[:, None] // block == place // block)
    if compresses(layer):
        k, v = (convolution(p, f"{name}.{part}_convolution", y, s) for part, y in (("key", k), ("value", v)))
        seen = place[:, None] >= s * torch.arange(len(k))
    y = F.scaled_dot_product_attention(*(split(z, c.heads) for z in (q, k, v)), attn_mask=seen)
    return linear(p, f"{name}.output", y.transpose(0, 1).flatten(1))


def read(p, c, source, target):
    """The stack's output for the target's labels."""
    ids = torch.cat([torch.tensor([BOS]), source, target[:-1]])
    x = p["embedding.weight"][ids] * math.sqrt(c.dim) + positions(p, c, "decoder", len(ids))
    for layer in range(c.decoder_layers):
        name = f"decoder.{layer}"
        x = sublayer(p, c, f"{name}.self_attention", x, lambda y: attention(p, c, f"{name}.self_attention", layer, y))
        x = sublayer(p, c, f"{name}.feed_forward", x, lambda y: feed_forward(p, c, f"{name}.feed_forward", y))
    return x[len(source):]


def forward(p, c, sources, targets):
    states = torch.cat([read(p, c, s, t) for s, t in zip(sources, targets)])
    logits = states @ p["embedding.weight"].T
    return states, logits, smoothed_loss(logits, torch.cat(targets))


def main():
    write("compressed_memory", CONFIG, parameter_shapes(CONFIG), forward)


if __name__ == "__main__":
    main()
