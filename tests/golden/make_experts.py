#!/usr/bin/env python3
"""Makes the golden file experts.safetensors: a Transformer with mixtures of experts, by PyTorch in float64.

    python3 tests/golden/make_experts.py          (needs torch and safetensors; the tests only need the file)

The model of make.py, where every second layer sends each word to the best two of three feed-forward networks (Shazeer et
al. 2017, eq. 3 and 5, without noise). Gradients are of the loss of the labels and of the load loss of Fedus et al. 2021,
eq. 4 to 6, for all words of a layer together and times their number; `loss` is that of the labels alone.
"""
import dataclasses
from collections import defaultdict

import torch

import make
from make import write


@dataclasses.dataclass
class Config(make.Config):
    feed_forward: int = 8
    moe_experts: int = 3
    moe_top_k: int = 2
    moe_frequency: int = 2
    moe_load_loss: float = 38 / 128  # with 38 choices on the target side its gradients are exact in dragoman's float32


CONFIG = Config("post", "relu", "sinusoidal", encoder_layers=2, decoder_layers=2, tied_embeddings_all=True)
one_network, one_network_shapes, all_sentences = make.feed_forward, make.feed_forward_shapes, make.forward
routed = defaultdict(list)  # of each layer: of its words, probabilities and choices


def has_experts(name, c):
    return (int(name.split(".")[1]) + 1) % c.moe_frequency == 0


def feed_forward_shapes(name, c):
    if not has_experts(name, c):
        yield from one_network_shapes(name, c)
        return
    yield f"{name}.router.weight", (c.moe_experts, c.dim)
    for expert in range(c.moe_experts):
        yield from one_network_shapes(f"{name}.expert.{expert}", c)


def feed_forward(p, c, name, x):
    if not has_experts(name, c):
        return one_network(p, c, name, x)
    logits = x @ p[f"{name}.router.weight"].T  # (n, experts)
    best, chosen = logits.topk(c.moe_top_k)
    gates = torch.softmax(best, -1)
    routed[name].append((torch.softmax(logits, -1), chosen))
    rows = []
    for word, weights, experts in zip(x, gates, chosen):
        rows.append(sum(w * one_network(p, c, f"{name}.expert.{e}", word) for w, e in zip(weights, experts)))
    return torch.stack(rows)


def load_loss(c):
    loss = 0
    for layer in routed.values():
        probabilities, chosen = (torch.cat(parts) for parts in zip(*layer))
        share = torch.bincount(chosen.flatten(), minlength=c.moe_experts).double() / chosen.numel()
        loss += c.moe_load_loss * c.moe_experts * (share * probabilities.sum(0)).sum()
    return loss


def forward(p, c, sources, targets):
    routed.clear()
    states, logits, loss = all_sentences(p, c, sources, targets)
    load = load_loss(c)
    return states, logits, loss + (load - load.detach())  # the gradient of both, the value of one


def main():
    make.feed_forward, make.feed_forward_shapes = feed_forward, feed_forward_shapes
    write("experts", CONFIG, make.parameter_shapes(CONFIG), forward)


if __name__ == "__main__":
    main()
