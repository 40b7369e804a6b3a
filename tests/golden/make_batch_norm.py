#!/usr/bin/env python3
"""Makes the golden file batch_norm.safetensors: a Transformer with batch norms, by PyTorch in float64.

    python3 tests/golden/make_batch_norm.py          (needs torch and safetensors; the tests only need the file)

Ioffe & Szegedy 2015, algorithms 1 and 2: torch.nn's batch norm over the words of all sentences of a side, laid end to
end. `encoder_states` and `logits` are by running statistics; the loss, its gradients and the updates are those of
training, which moves these. The rest is make.py's, one sentence at a time.
"""
import dataclasses

import torch
import torch.nn.functional as F

import make
from make import NORM_EPSILON, attention, embed, feed_forward, smoothed_loss, write


@dataclasses.dataclass
class Config(make.Config):
    norm_kind: str = "batch"


CONFIG = Config("post", "relu", "sinusoidal", encoder_layers=1, decoder_layers=1, tied_embeddings_all=True, dim=12,
                feed_forward=10, key_size=6, value_size=4)


def parameter_shapes(c):
    for name, shape in make.parameter_shapes(c):
        yield name, shape
        if name.endswith("_norm.bias"):
            for statistic in ("running_mean", "running_variance"):
                yield name.replace("bias", statistic), shape


def norm(p, name, xs, training):
    y = F.batch_norm(torch.cat(xs), p[f"{name}.running_mean"], p[f"{name}.running_variance"], p[f"{name}.weight"],
                     p[f"{name}.bias"], training, momentum=0.1, eps=NORM_EPSILON)
    return y.split([len(x) for x in xs])


def layer(p, c, name, xs, memories, training):
    """A layer of the decoder, or without memories of the encoder, for all sentences."""
    causal = memories is not None
    at = f"{name}.self_attention"
    xs = norm(p, f"{at}_norm", [x + attention(p, c, at, x, x, causal) for x in xs], training)
    if memories is not None:
        at = f"{name}.cross_attention"
        xs = norm(p, f"{at}_norm", [x + attention(p, c, at, x, m, False) for x, m in zip(xs, memories)], training)
    at = f"{name}.feed_forward"
    return norm(p, f"{at}_norm", [x + feed_forward(p, c, at, x) for x in xs], training)


def run(p, c, sources, targets, training):
    xs = [embed(p, c, "encoder", s) for s in sources]
    for l in range(c.encoder_layers):
        xs = layer(p, c, f"encoder.{l}", xs, None, training)
    ys = [embed(p, c, "decoder", torch.cat([torch.tensor([make.BOS]), t[:-1]])) for t in targets]
    for l in range(c.decoder_layers):
        ys = layer(p, c, f"decoder.{l}", ys, xs, training)
    return torch.cat(xs), torch.cat(ys) @ p["embedding.weight"].T


def forward(p, c, sources, targets):
    with torch.no_grad():
        states, logits = run(p, c, sources, targets, training=False)
    return states, logits, smoothed_loss(run(p, c, sources, targets, training=True)[1], torch.cat(targets))


def main():
    write("batch_norm", CONFIG, parameter_shapes(CONFIG), forward)


if __name__ == "__main__":
    main()
