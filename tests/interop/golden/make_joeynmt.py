#!/usr/bin/env python3
"""Makes small models of JoeyNMT with random weights, and what JoeyNMT says of them.

    make_joeynmt.py        (pip install torch pyyaml numpy; joeynmt 2.3.0 and what it imports)

joeynmt/ is pre-norm, with gelu, other sizes in the decoder, scaled embeddings, a separator and tags of languages; its
text is split by tests/vocab/golden/bpe.spm, which the test puts beside it. joeynmt_words/ is post-norm, with relu, one
matrix for all embeddings, and words. In each folder,

pairs.ids has source and target as ids, with the log-probability of the target: "7 8 3 <tab> 9 3 <tab> -12.3".
greedy.ids has what transformer_greedy() finds in at most 12 steps: source without </s>, ids without </s>.
"""
import pathlib
import random
import types

import sentencepiece
import torch
import yaml
from joeynmt.config import _check_special_symbols, load_config
from joeynmt.helpers import write_list_to_file
from joeynmt.model import build_model
from joeynmt.search import greedy
from joeynmt.vocabulary import build_vocab

HERE = pathlib.Path(__file__).resolve().parent
SPM = sentencepiece.SentencePieceProcessor(model_file=str(HERE.parents[1] / "vocab" / "golden" / "bpe.spm"))
EOS, BOS, STEPS = 3, 2, 12


def side(layers, heads, inner, activation, norm, scale):
    return {"type": "transformer", "num_layers": layers, "num_heads": heads, "hidden_size": 8, "ff_size": inner,
            "activation": activation, "layer_norm": norm, "dropout": 0.1,
            "embeddings": {"embedding_dim": 8, "scale": scale, "dropout": 0.0}}


def log_probs(model, source, target):
    """Of the tokens after a target, which begins with <s>."""
    ids, mask = torch.tensor([source]), torch.ones(1, 1, len(source), dtype=torch.bool)
    with torch.no_grad():
        state, _, _, _ = model(return_type="encode", src=ids, src_length=torch.tensor([len(source)]), src_mask=mask)
        out, _, _, _ = model(return_type="decode", encoder_output=state, encoder_hidden=None, src_mask=mask,
                             trg_input=torch.tensor([target]), unroll_steps=None,
                             trg_mask=torch.ones(1, 1, len(target), dtype=torch.bool))
    return torch.log_softmax(out[0].double(), -1)


def translation(model, source):
    ids, mask = torch.tensor([source]), torch.ones(1, 1, len(source), dtype=torch.bool)
    with torch.no_grad():
        state, _, _, _ = model(return_type="encode", src=ids, src_length=torch.tensor([len(source)]), src_mask=mask)
        found, _, _ = greedy(src_mask=mask, max_output_length=STEPS, model=model, encoder_output=state,
                             encoder_hidden=None, generate_unk=False, min_output_length=1)
    ids = [int(i) for i in found[0]]
    return ids[:ids.index(EOS)] if EOS in ids else ids


def make(name, config, vocabularies, checkpoint, seed):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    for file, pieces in vocabularies.items():
        write_list_to_file(folder / file, pieces)
    cfg = load_config(folder / "config.yaml")
    cfg["data"]["special_symbols"] = types.SimpleNamespace(
        **_check_special_symbols(cfg["data"].get("special_symbols", {})))
    for text in (cfg["data"]["src"], cfg["data"]["trg"]):  # as joeynmt/hub_interface.py does for a model that was moved
        if "voc_file" in text:
            text["voc_file"] = folder / pathlib.Path(text["voc_file"]).name
    source, target = build_vocab(cfg["data"], model_dir=folder)
    model = build_model(cfg["model"], source, target).eval()
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter, p in model.named_parameters():
            p.normal_(0, 0.5)
            if "norm" in parameter and "weight" in parameter:
                p.add_(1)
    for stack in (model.encoder, model.decoder):
        stack.pe.pe = stack.pe.pe[:, :64].clone()  # 5,000 rows without
    torch.save({"model_state": model.state_dict(), "optimizer_state": {}, "scaler_state": None, "scheduler_state": None,
                "train_iter_state": torch.zeros(3, dtype=torch.uint8), "stats_state": {"steps": 100}},
               folder / checkpoint, _use_new_zipfile_serialization=False)
    random.seed(6)
    pairs, greedy_lines = [], []
    for _ in range(8):
        words = [random.randrange(7, len(source)) for _ in range(random.randrange(1, 9))]
        wanted = [random.randrange(7, len(target)) for _ in range(random.randrange(0, 9))] + [EOS]
        scores = log_probs(model, words + [EOS], [BOS] + wanted[:-1])
        score = sum(float(scores[i, t]) for i, t in enumerate(wanted))
        pairs.append("\t".join([" ".join(map(str, words + [EOS])), " ".join(map(str, wanted)), f"{score:.7f}"]))
        greedy_lines.append("\t".join([" ".join(map(str, words)), " ".join(map(str, translation(model, words + [EOS])))]))
    (folder / "pairs.ids").write_text("\n".join(pairs) + "\n")
    (folder / "greedy.ids").write_text("\n".join(greedy_lines) + "\n")


def main():
    pieces = [SPM.id_to_piece(i) for i in range(3, 43)]
    random.seed(7)
    random.shuffle(pieces)
    split = {"level": "bpe", "tokenizer_type": "sentencepiece", "lowercase": True,
             "tokenizer_cfg": {"model_file": "elsewhere/bpe.spm", "pretokenizer": "none"}}
    make("joeynmt", {
        "name": "small", "joeynmt_version": "2.3.0", "model_dir": "elsewhere",
        "data": {"src": {"lang": "en", **split}, "trg": {"lang": "de", **split, "voc_file": "elsewhere/de.txt"},
                 "special_symbols": {"unk_token": "UNK", "sep_token": "<sep>", "sep_id": 4, "lang_tags": ["<en>", "<de>"]}},
        "testing": {"load_model": "elsewhere/100.ckpt"}, "training": {},
        "model": {"initializer": "xavier_uniform", "tied_embeddings": False, "tied_softmax": True,
                  "encoder": side(2, 2, 12, "gelu", "pre", True), "decoder": side(1, 4, 10, "gelu", "pre", True)}},
        # Without special tokens, which JoeyNMT adds, and with one token twice.
        {"src_vocab.txt": pieces, "de.txt": pieces[:30] + pieces[:1] + pieces[35:]}, "100.ckpt", 76)
    words = ["<unk>", "<pad>", "<s>", "</s>", "a", "small", "dog", "the", "house", "of", "man", "cat", ".", "in"]
    make("joeynmt_words", {
        "name": "words", "joeynmt_version": "2.3.0", "model_dir": "elsewhere",
        "data": {"src": {"lang": "en", "level": "word"}, "trg": {"lang": "de", "level": "word"}}, "training": {},
        "model": {"tied_embeddings": True, "tied_softmax": True,
                  "encoder": side(1, 2, 12, "relu", "post", False), "decoder": side(2, 2, 12, "relu", "post", False)}},
        {"src_vocab.txt": words, "trg_vocab.txt": words}, "best.ckpt", 96)


if __name__ == "__main__":
    main()
