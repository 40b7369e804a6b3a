#!/usr/bin/env python3
"""CTranslate2 as a line filter, like `dragoman translate`. Run by the other programs of this folder.

    ctranslate2_lines.py FOLDER [OPTION...] < SOURCE > TARGET          (FOLDER: of to_ctranslate2.py)

At the end, prints a JSON line on stderr: the seconds of translating, which include splitting and joining pieces but not
loading, and the number of target tokens, </s> included.
"""
import argparse
import json
import pathlib
import sys
import time

import ctranslate2
import sentencepiece


def parser(description):
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--precision", default="float32")
    p.add_argument("--workers", type=int, default=1, help="number of batches translated at the same time")
    p.add_argument("--threads", type=int, default=1, help="threads of each worker")
    p.add_argument("--beam-size", type=int, default=5)
    p.add_argument("--normalize", type=float, default=1)
    p.add_argument("--batch-words", type=int, default=2048, help="source tokens in a batch")
    p.add_argument("--length", type=int, default=0, help="length of every translation in pieces; 0: the model decides")
    p.add_argument("--map", action="store_true", help="allow only pieces of the folder's vocabulary map")
    p.add_argument("--pieces", action="store_true", help="the input is already split into pieces")
    return p


def options():
    p = parser(__doc__)
    p.add_argument("--lines", action="store_true", help="answer each line at once instead of reading all")
    return p.parse_args()


def search(a, pieces):
    """Options equivalent to dragoman's. </s> counts in the length by which scores are divided (by default it does not). A
    translation may be empty (by default it has at least 1 piece) and has at most 50 pieces more than its source; CTranslate2
    has one limit for all lines, so it is that of the longest."""
    limit = a.length or max(map(len, pieces), default=0) + 50
    return dict(beam_size=a.beam_size, length_penalty=a.normalize, return_end_token=True, disable_unk=True,
                min_decoding_length=a.length, max_decoding_length=limit, max_input_length=0, use_vmap=a.map)


class Filter:
    def __init__(self, a):
        self.a = a
        self.translator = ctranslate2.Translator(str(a.folder), device="cpu", compute_type=a.precision,
                                                 inter_threads=a.workers, intra_threads=a.threads)
        self.source, self.target = (sentencepiece.SentencePieceProcessor(model_file=str(a.folder / f"{side}.spm"))
                                    for side in ("source", "target"))
        self.target_pieces = 0

    def split(self, lines):
        return [line.split(" ") for line in lines] if self.a.pieces else self.source.encode(lines, out_type=str)

    def translate(self, lines):
        pieces = self.split(lines)
        results = self.translator.translate_batch(pieces, max_batch_size=self.a.batch_words, batch_type="tokens",
                                                  **search(self.a, pieces))
        best = [result.hypotheses[0] for result in results]
        self.target_pieces += sum(map(len, best))
        texts = self.target.decode([[piece for piece in pieces if piece != "</s>"] for pieces in best])
        return [text.replace("\n", " ") for text in texts]  # byte pieces can spell a line break


def main():
    a = options()
    lines = Filter(a)
    text = (line.rstrip("\n") for line in open(0, encoding="utf-8", newline="\n"))
    begin = time.monotonic()
    for batch in ([line] for line in text) if a.lines else [list(text)]:
        print(*lines.translate(batch), sep="\n", flush=True)
    seconds = time.monotonic() - begin
    print(json.dumps({"seconds": seconds, "pieces": lines.target_pieces}), file=sys.stderr)


if __name__ == "__main__":
    main()
