"""The Transformer of "Attention Is All You Need" in PyTorch, written for speed; weights may come from a dragoman model.
Parts are named as in docs/model_format.md; queries, keys and values are one product.

The tokens of a batch are laid out in one of two ways:

    padded  (B,T) with masks, through scaled_dot_product_attention
    packed  (N) end to end without padding, through varlen_attn (flash attention); on a CPU sentence by sentence
"""
import json
import math
import sys
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from shapes import Shape
from torch import Tensor, nn

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:  # before 2.10
    varlen_attn = None

UNK, BOS, EOS = 0, 1, 2


class Rows(NamedTuple):
    ids: Tensor  # (B,T) or (N)
    positions: Tensor  # of tokens in their sentences, (T) or (N)
    mask: Optional[Tensor] = None  # padded: (B,1,1,T), true for tokens, false for padding
    ends: Optional[Tensor] = None  # packed: (B+1) int32, boundaries of sentences
    longest: int = 0  # packed: upper bound of the lengths, rounded so that few values occur


def padded(sentences, device):
    multiple = 8 if torch.device(device).type == "cuda" else 1  # matrix units need it
    width = -max(map(len, sentences)) // multiple * -multiple
    ids = torch.tensor([s + [EOS] * (width - len(s)) for s in sentences])
    mask = torch.arange(width) < torch.tensor([[len(s)] for s in sentences])
    return Rows(ids.to(device), torch.arange(width, device=device), mask=mask[:, None, None].to(device))


def packed(sentences, device):
    ids = torch.tensor([i for s in sentences for i in s])
    positions = torch.cat([torch.arange(len(s)) for s in sentences])
    ends = torch.tensor([0] + [len(s) for s in sentences], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    longest = -max(map(len, sentences)) // 128 * -128  # rounded up to a block of queries
    return Rows(ids.to(device), positions.to(device), ends=ends.to(device), longest=longest)


LAYOUTS = {"padded": padded, "packed": packed}


def attend(q, k, v, queries, keys, causal):
    """q, k, v (…,H,K)"""
    if keys.ends is None:
        mask = None if causal else keys.mask  # a query sees no later key, and therefore no padding
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal).transpose(1, 2)
    if q.is_cuda:
        window = (-1, 0) if causal else (-1, -1)
        return varlen_attn(q, k, v, queries.ends, keys.ends, queries.longest, keys.longest, window_size=window)
    cut = lambda x, rows: x.transpose(0, 1).split(rows.ends.diff().tolist(), 1)
    each = zip(cut(q, queries), cut(k, keys), cut(v, keys))
    return torch.cat([F.scaled_dot_product_attention(*qkv, is_causal=causal) for qkv in each], 1).transpose(0, 1)


class SelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.query_key_value, self.output = nn.Linear(c.dim, 3 * c.dim), nn.Linear(c.dim, c.dim)

    def split(self, x):
        """Queries, keys and values, (…,H,K)"""
        return self.query_key_value(x).unflatten(-1, (3, self.heads, -1)).unbind(-3)

    def forward(self, x, rows, causal):
        return self.output(attend(*self.split(x), rows, rows, causal).flatten(-2))


class CrossAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.query, self.key_value, self.output = (nn.Linear(c.dim, n * c.dim) for n in (1, 2, 1))

    def queries(self, x):
        return self.query(x).unflatten(-1, (self.heads, -1))

    def memory(self, x):
        """Keys and values, (…,H,K)"""
        return self.key_value(x).unflatten(-1, (2, self.heads, -1)).unbind(-3)

    def forward(self, x, rows, memory, source):
        return self.output(attend(self.queries(x), *self.memory(memory), rows, source, False).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up, self.down = nn.Linear(c.dim, c.feed_forward), nn.Linear(c.feed_forward, c.dim)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, c, decodes):
        super().__init__()
        self.dropout, self.pre_norm = c.dropout, c.pre_norm
        self.self_attention, self.self_attention_norm = SelfAttention(c), nn.LayerNorm(c.dim)
        if decodes:
            self.cross_attention, self.cross_attention_norm = CrossAttention(c), nn.LayerNorm(c.dim)
        self.feed_forward, self.feed_forward_norm = FeedForward(c), nn.LayerNorm(c.dim)

    def sublayer(self, norm, x, f):
        drop = lambda y: F.dropout(y, self.dropout, self.training)
        return x + drop(f(norm(x))) if self.pre_norm else norm(x + drop(f(x)))

    def forward(self, x, rows, memory=None, source=None):
        x = self.sublayer(self.self_attention_norm, x, lambda y: self.self_attention(y, rows, memory is not None))
        if memory is not None:
            x = self.sublayer(self.cross_attention_norm, x, lambda y: self.cross_attention(y, rows, memory, source))
        return self.sublayer(self.feed_forward_norm, x, self.feed_forward)


def sinusoids(length, dim):
    """Sinusoids: all sines, then all cosines."""
    angle = torch.arange(length)[:, None] * 10000.0 ** (-2 * torch.arange((dim + 1) // 2) / dim)
    return torch.cat([angle.sin(), angle.cos()], 1)[:, :dim]


class Transformer(nn.Module):
    def __init__(self, c, vocabulary, longest=512):
        super().__init__()
        self.c = c
        self.embedding = nn.Embedding(vocabulary, c.dim)  # shared by source, target and output
        nn.init.normal_(self.embedding.weight, std=c.dim ** -0.5)
        self.register_buffer("positions", sinusoids(longest, c.dim), persistent=False)
        self.encoder = nn.ModuleList(Layer(c, False) for _ in range(c.layers))
        self.decoder = nn.ModuleList(Layer(c, True) for _ in range(c.decoder_layers or c.layers))
        self.encoder_norm, self.decoder_norm = (nn.LayerNorm(c.dim) if c.pre_norm else nn.Identity() for _ in range(2))

    def embed(self, ids, positions):
        x = self.embedding(ids) * math.sqrt(self.c.dim) + self.positions[positions]
        return F.dropout(x, self.c.dropout, self.training)

    def encode(self, source):
        x = self.embed(source.ids, source.positions)
        for layer in self.encoder:
            x = layer(x, source)
        return self.encoder_norm(x)

    def hidden(self, source, target):
        memory, x = self.encode(source), self.embed(target.ids, target.positions)
        for layer in self.decoder:
            x = layer(x, target, memory, source)
        return self.decoder_norm(x).reshape(-1, self.c.dim)

    def forward(self, source, target, there, labels, chunk=0):
        """Mean label-smoothed cross-entropy of the rows for which `there` is true, which are not padding; None: of all rows."""
        x, w = self.hidden(source, target), self.embedding.weight
        if there is not None:
            x = x.index_select(0, there)
        if not chunk:
            return F.cross_entropy(F.linear(x, w), labels, label_smoothing=0.1)
        # PyTorch's chunked op lacks label smoothing, which adds 0.1 · (logit of the target - mean of logits).
        loss = F.linear_cross_entropy(x, w, labels, options=nn.LinearCrossEntropyOptions(batch_chunk_size=chunk))
        return loss + 0.1 * ((x * F.embedding(labels, w)).sum(1) - x @ w.mean(0)).mean()


# Models of dragoman --------------------------------------------------------------------------------------------------

PLAIN = {"type": "transformer", "norm_kind": "layer", "positions": "sinusoidal", "activation": "relu",
         "tied_embeddings_all": True, "attention_score": "scaled-dot", "attention_norm": "none", "attention_window": 0,
         "attention_projections": "query-key-value", "attention_memory": "full", "autoregression": "self-attention",
         "copies": False, "moe_experts": 0, "key_size": 0, "value_size": 0}


def shape_of(config, path):
    usual = {"key_size": config["dim"] // config["heads"], "value_size": config["dim"] // config["heads"]}
    for key, plain in PLAIN.items():
        if config.get(key, plain) not in (plain, usual.get(key)):
            sys.exit(f"error: {path}: {key} is {config[key]}, this Transformer has only {plain}")
    return Shape(config["encoder_layers"], config["dim"], config["feed_forward"], config["heads"], 0,
                 config["decoder_layers"], config["norm"] == "pre")


def load(path, longest):
    """Returns a model with the weights of a model file, and its vocabularies by side, as bytes."""
    from safetensors import safe_open
    with safe_open(path, "pt") as file:
        shape = shape_of(json.loads(file.metadata()["config"]), path)
        model = Transformer(shape, file.get_slice("embedding.weight").get_shape()[0], longest)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                *module, part, kind = name.replace("coder_norm", "coder.norm").split(".")
                parts = part.split("_") if part in ("query_key_value", "key_value") else [part]
                parameter.copy_(torch.cat([file.get_tensor(".".join((*module, p, kind))) for p in parts]))
        vocabularies = {side: file.get_tensor(f"vocabulary.{side}").numpy().tobytes() for side in ("source", "target")}
    return model.eval(), vocabularies
