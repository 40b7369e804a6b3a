#!/usr/bin/env python3
"""PyTorch as a line filter, like `dragoman translate`. Run by the other programs of this folder.

    torch_lines.py MODEL [OPTION...] < SOURCE > TARGET          (MODEL: of dragoman, float32)

This is the usual hand-written loop: sentences of similar length are batched and encoded once, keys and values of decoded tokens
stay on the device, and a step computes all hypotheses of a batch. --mode sets how a step runs: eager; graph, as a CUDA graph;
compiled, as a CUDA graph of the output of torch.compile. Only a flag is copied to the host, every few steps: whether all
sentences are done. The search is dragoman's: a finished hypothesis stays in the beam.

On a GPU the input is translated once before the clock starts. At the end, prints a JSON line on stderr: the seconds of
translating, which include splitting and joining pieces but not loading, the number of target tokens, </s> included, and steps.
"""
import argparse
import json
import math
import sys
import time
from types import SimpleNamespace

import sentencepiece
import torch
import torch.nn.functional as F
from torch_model import BOS, EOS, UNK, load, padded

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
LONGEST = 1024  # maximum pieces of a source line and of a translation
LOOK = 8  # steps between checks whether all sentences are done


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--precision", choices=DTYPES, default="float32")
    p.add_argument("--device", default="cpu")
    p.add_argument("--mode", choices=["eager", "graph", "compiled"], default="eager")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--batch", type=int, default=128, help="lines in a batch")
    p.add_argument("--beam-size", type=int, default=5)
    p.add_argument("--normalize", type=float, default=1)
    p.add_argument("--length", type=int, default=0, help="length of every translation in pieces; 0: the model decides")
    p.add_argument("--pieces", action="store_true", help="the input is already split into pieces")
    p.add_argument("--lines", action="store_true", help="answer each line at once instead of reading all")
    return p.parse_args()


class Search:
    """Translates a batch of B sentences with a beam of W, all on the device. A step changes its tensors in place, so that it
    can be recorded; `load` starts over with other sentences of the same shape."""

    def __init__(self, a, model, shape):
        self.a, self.model, (batch, source, self.room) = a, model, shape
        c, beam, device = model.c, a.beam_size, a.device
        empty = lambda *size, dtype=torch.int64: torch.empty(size, dtype=dtype, device=device)
        number = lambda *size: empty(*size, dtype=model.embedding.weight.dtype)
        heads = (c.heads, c.dim // c.heads)
        layers = range(len(model.decoder))
        self.memory = [[number(batch, heads[0], source, heads[1]) for _ in range(2)] for _ in layers]
        self.past = [[number(batch * beam, heads[0], self.room, heads[1]) for _ in range(2)] for _ in layers]
        self.mask = empty(batch, 1, 1, source, dtype=torch.bool)
        self.all_positions, self.position = torch.arange(self.room, device=device), empty(1)
        self.limit, self.least, self.free = empty(batch, 1), empty(batch, 1), empty(batch, 1)
        self.last, self.log_prob = empty(batch, beam), empty(batch, beam, dtype=torch.float32)
        self.pieces, self.best = empty(batch, beam, self.room), empty(batch, self.room)
        self.score, self.length = empty(batch, 1, dtype=torch.float32), empty(batch, 1)
        self.slots, self.first = torch.arange(beam, device=device), torch.arange(batch, device=device)[:, None] * beam
        self.divisors = torch.arange(1, self.room + 1, device=device) ** a.normalize  # of scores, by length
        self.never = torch.tensor([UNK, BOS], device=device)
        self.run_step = torch.compile(self.step, dynamic=True) if a.mode == "compiled" else self.step
        self.graph = None

    def load(self, source, limits):
        x = self.model.encode(source)
        for layer, memory in zip(self.model.decoder, self.memory):
            for into, kept in zip(memory, layer.cross_attention.memory(x)):
                into.copy_(kept.transpose(1, 2))
        self.mask.copy_(source.mask)
        self.limit.copy_(torch.tensor(limits)[:, None])
        self.least.copy_(self.limit if self.a.length else torch.zeros_like(self.limit))
        for tensor, value in ((self.position, 0), (self.free, self.a.beam_size), (self.last, BOS), (self.pieces, EOS),
                              (self.score, -math.inf), (self.log_prob, -math.inf)):
            tensor.fill_(value)
        for past in (tensor for layer in self.past for tensor in layer):
            past.zero_()  # masked values must be finite
        self.log_prob[:, 0] = 0

    def attend_past(self, layer, x, past, seen):
        q, *new = layer.self_attention.split(x)
        for kept, row in zip(past, new):
            kept.index_copy_(2, self.position, row[:, :, None])
        y = F.scaled_dot_product_attention(q[:, :, None], *past, attn_mask=seen)
        return layer.self_attention.output(y.flatten(1))

    def attend_source(self, layer, x, memory):
        """Attention to the source. The hypotheses of a sentence are its queries, so its keys and values are stored once."""
        q = layer.cross_attention.queries(x).unflatten(0, self.last.shape).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, *memory, attn_mask=self.mask)
        return layer.cross_attention.output(y.transpose(1, 2).flatten(0, 1).flatten(1))

    def logits(self):
        """(B,W,V)"""
        model = self.model
        x = model.embed(self.last.flatten(), self.position)
        seen = (self.all_positions <= self.position)[None]
        for layer, past, memory in zip(model.decoder, self.past, self.memory):
            x = layer.sublayer(layer.self_attention_norm, x, lambda y: self.attend_past(layer, y, past, seen))
            x = layer.sublayer(layer.cross_attention_norm, x, lambda y: self.attend_source(layer, y, memory))
            x = layer.sublayer(layer.feed_forward_norm, x, layer.feed_forward)
        return F.linear(model.decoder_norm(x), model.embedding.weight).float().unflatten(0, self.last.shape)

    def candidates(self):
        """The best continuations of each sentence, (B,W): log-probability, hypothesis, piece."""
        logits = self.logits()
        allowed = logits.index_fill(2, self.never, -math.inf)
        if self.a.length:
            allowed[:, :, EOS].masked_fill_(self.position < self.least, -math.inf)
        if self.a.beam_size == 1:  # log-sum-exp does not change the order
            top, piece = allowed.max(2)
            return self.log_prob + top, torch.zeros_like(piece), piece
        all_of = self.log_prob[:, :, None] + allowed - logits.logsumexp(2, keepdim=True)
        top, index = all_of.flatten(1).topk(self.a.beam_size, 1)
        vocabulary = logits.shape[2]
        return top, index // vocabulary, index % vocabulary

    def step(self):
        top, parent, piece = self.candidates()
        length = self.position + 1
        there = (self.slots < self.free) & (top > -math.inf)
        ended = there & ((piece == EOS) | (length >= self.limit))
        if self.a.beam_size > 1:
            rows = (self.first + parent).flatten()
            for past in (tensor for layer in self.past for tensor in layer):
                past.copy_(past.index_select(0, rows))
            self.pieces.copy_(self.pieces.gather(1, parent[:, :, None].expand_as(self.pieces)))
        self.pieces.index_copy_(2, self.position, piece[:, :, None])
        self.keep_best(torch.where(ended, top / self.divisors[self.position], -math.inf), length)
        self.free.sub_(ended.sum(1, keepdim=True))
        self.last.copy_(piece)
        live = torch.where(there & ~ended, top, -math.inf)
        if self.a.beam_size > 1:  # drops hypotheses that can no longer become the best
            hopeless = live.amax(1, keepdim=True) / self.divisors[self.limit - 1] <= self.score
            live = live.masked_fill(hopeless, -math.inf)
        self.log_prob.copy_(live)
        self.position.add_(1)

    def keep_best(self, scores, length):
        score, slot = scores.max(1, keepdim=True)
        better = score > self.score
        pieces = self.pieces.gather(1, slot[:, :, None].expand(-1, -1, self.room))[:, 0]
        self.best.copy_(torch.where(better, pieces, self.best))
        self.length.copy_(torch.where(better, length, self.length))
        self.score.copy_(torch.where(better, score, self.score))

    def record(self):
        """Records a step after some warm-up runs for libraries and the compiler; `load` resets the tensors that they change."""
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                self.run_step()
        torch.cuda.current_stream().wait_stream(aside)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.run_step()

    def run(self, source, limits):
        """Returns (pieces of each sentence without </s>, number of steps)."""
        self.load(source, limits)
        if self.a.mode != "eager" and self.a.device == "cuda" and not self.graph:
            self.record()
            self.load(source, limits)
        step, steps = self.graph.replay if self.graph else self.run_step, 0
        while steps < max(limits):
            step()
            steps += 1
            if steps % LOOK == 0 and not (self.log_prob > -math.inf).any():
                break
        rows = [row[:n] for row, n in zip(self.best.tolist(), self.length.flatten().tolist())]
        return [row[:-1] if row and row[-1] == EOS else row for row in rows], steps


class Filter:
    def __init__(self, a):
        self.a = a
        model, vocabularies = load(a.model, LONGEST + 64)
        self.model = model.to(a.device, DTYPES[a.precision])
        self.source, self.target = (sentencepiece.SentencePieceProcessor(model_proto=vocabularies[side])
                                    for side in ("source", "target"))
        self.searches, self.count = {}, SimpleNamespace(pieces=0, steps=0)

    def split(self, lines):
        if self.a.pieces:
            return [[self.source.piece_to_id(piece) for piece in line.split(" ")] for line in lines]
        return self.source.encode(lines)

    def search(self, batch, source, longest):
        """The search for a shape, which is kept because its recording can be reused."""
        shape = batch, source, -longest // 32 * -32
        if shape not in self.searches:
            self.searches[shape] = Search(self.a, self.model, shape)
        return self.searches[shape]

    @torch.inference_mode()
    def translate(self, lines):
        sources = [ids[:LONGEST] + [EOS] for ids in self.split(lines)]
        order = sorted(range(len(lines)), key=lambda i: len(sources[i]))
        out = [None] * len(lines)
        for begin in range(0, len(order), self.a.batch):
            part = order[begin:begin + self.a.batch]
            source = padded([sources[i] for i in part], self.a.device)
            limits = [self.a.length or min(LONGEST, len(sources[i]) - 1 + 50) for i in part]
            pieces, steps = self.search(len(part), source.ids.shape[1], max(limits)).run(source, limits)
            for i, ids in zip(part, pieces):
                out[i] = ids
            self.count.steps += steps
        self.count.pieces += sum(map(len, out)) + (0 if self.a.length else len(out))
        return [text.replace("\n", " ") for text in self.target.decode(out)]  # byte pieces can spell a line break


def main():
    a = options()
    torch.set_num_threads(a.threads)
    lines = Filter(a)
    text = (line.rstrip("\n") for line in open(0, encoding="utf-8", newline="\n"))
    batches = ([line] for line in text) if a.lines else [list(text)]
    if a.device == "cuda" and not a.lines:
        lines.translate(batches[0])
        lines.count = SimpleNamespace(pieces=0, steps=0)
    begin = time.monotonic()
    for batch in batches:
        print(*lines.translate(batch), sep="\n", flush=True)
    said = {"seconds": time.monotonic() - begin, **vars(lines.count)}
    print(json.dumps(said | {"ms_a_step": 1000 * said["seconds"] / max(1, said["steps"])}), file=sys.stderr)


if __name__ == "__main__":
    main()
