#!/usr/bin/env python3
"""Makes small models of Hugging Face's transformers with random weights, and what transformers says of them.

    make_huggingface.py        (pip install torch transformers sentencepiece)

marianmt/ is a model of MarianMT, m2m100/ one of M2M100, mbart/ one of mBART-50, t5/ and
t5_gated/ of T5 as in its first version and in later ones, mt5/ of mT5. Their SentencePiece model is
tests/vocab/golden/bpe.spm, which is not copied: the test puts it beside the rest. The list of pieces has another order
than that model and lacks some of its pieces. In each folder,

pairs.ids has source and target as ids, with the log-probability of the target: "3 4 0 <tab> 5 6 0 <tab> -12.3". In
    front of a target stands the language, if there are several; its log-probability does not count.
search.ids has what generate() finds, with 4 beams and at most as many tokens as the source has pieces, and 6:
    early_stopping, source without what stands around it, and the two best: score, ids without </s> and language.
"""
import json
import pathlib
import random

import sentencepiece
import torch
from transformers import (M2M100Config, M2M100ForConditionalGeneration, MarianConfig, MarianMTModel, MBartConfig,
                          MBartForConditionalGeneration, MT5Config, MT5ForConditionalGeneration, T5Config,
                          T5ForConditionalGeneration)

HERE = pathlib.Path(__file__).resolve().parent
SPM = sentencepiece.SentencePieceProcessor(model_file=str(HERE.parents[1] / "vocab" / "golden" / "bpe.spm"))
SHAPE = dict(d_model=8, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=4,
             encoder_ffn_dim=12, decoder_ffn_dim=10, scale_embedding=True, max_position_embeddings=64)
LANGUAGES = ["__de__", "__en__", "__fr__"]


def shuffled_pieces(count):
    random.seed(2)
    pieces = [SPM.id_to_piece(i) for i in range(SPM.get_piece_size()) if not (SPM.is_control(i) or SPM.is_unknown(i))]
    random.shuffle(pieces)
    return pieces[:count]


def randomise(model, spread, frequent=52):
    torch.manual_seed(3)
    shared = model.get_input_embeddings().weight
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "embed_positions" not in name or "mbart" in model.config.model_type:
                p.normal_(0, spread)
            if "norm" in name and "weight" in name:
                p.add_(1)
        shared[model.config.pad_token_id] = 0  # as the classes have it
        if model.config.model_type in ("m2m_100", "t5", "mt5"):  # have no bias: </s> is as probable as a frequent piece
            output = model.get_output_embeddings().weight
            output[model.config.eos_token_id] = 0.93 * output[frequent]
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_(0, 0.5)
            model.final_logits_bias[0, model.config.eos_token_id] += 3


def write(name, model, around, given, texts, suppressed):
    """`around`: what stands before and after the pieces of a source; `given`: before those of a target."""
    folder = HERE / name
    model.save_pretrained(folder)
    model = model.double()
    (folder / "generation_config.json").unlink(missing_ok=True)
    eos, start = model.config.eos_token_id, model.config.decoder_start_token_id
    lines, found = [], []
    for _ in range(8):
        source = [random.choice(texts) for _ in range(random.randrange(0, 9))]
        target = given + [random.choice(texts) for _ in range(random.randrange(0, 9))] + [eos]
        whole = around[0] + source + around[1]
        with torch.no_grad():
            out = model(input_ids=torch.tensor([whole]), decoder_input_ids=torch.tensor([[start] + target[:-1]]))
        log_probs = torch.log_softmax(out.logits[0].double(), -1)
        score = sum(float(log_probs[i, t]) for i, t in enumerate(target) if i >= len(given))
        lines.append("\t".join([" ".join(map(str, whole)), " ".join(map(str, target)), f"{score:.7f}"]))
        for stop in (False, True):
            with torch.no_grad():
                out = model.generate(
                    torch.tensor([whole]), num_beams=4, num_return_sequences=2, early_stopping=stop, length_penalty=1.0,
                    max_new_tokens=len(source) + 6 + len(given), bad_words_ids=[[s] for s in suppressed],
                    forced_eos_token_id=eos, forced_bos_token_id=given[0] if given else None,
                    output_scores=True, return_dict_in_generate=True)
            fields = [str(stop), " ".join(map(str, source))]
            for ids, score in zip(out.sequences.tolist(), out.sequences_scores.tolist()):
                ids = ids[1 + len(given):]
                fields += [f"{score:.6f}", " ".join(map(str, ids[:ids.index(eos)] if eos in ids else ids))]
            found.append("\t".join(fields))
    (folder / "pairs.ids").write_text("\n".join(lines) + "\n")
    (folder / "search.ids").write_text("\n".join(found) + "\n")


def marianmt():
    pieces = ["</s>", "<unk>", ">>deu<<"] + shuffled_pieces(200) + ["<pad>"]
    pad = len(pieces) - 1
    model = MarianMTModel(MarianConfig(
        **SHAPE, vocab_size=len(pieces), activation_function="swish", pad_token_id=pad, eos_token_id=0,
        forced_eos_token_id=0, decoder_start_token_id=pad)).eval()
    randomise(model, 0.4)
    write("marianmt", model, ([], [0]), [], range(2, pad), [1, pad])
    (HERE / "marianmt" / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(pieces)}))


def multilingual(name, config, kind, pieces):
    special = dict(bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2)
    languages = list(range(len(pieces), len(pieces) + len(LANGUAGES)))
    model = kind(config(**SHAPE, vocab_size=len(pieces) + len(LANGUAGES) + 2, activation_function="relu",
                        **special)).eval()
    randomise(model, 0.3)
    write(name, model, ([languages[1]], [2]), [languages[2]], range(4, len(pieces)), [0, 1, 3])
    (HERE / name / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": LANGUAGES}))


def t5(name, untied, config=T5Config, kind=T5ForConditionalGeneration, **more):
    pieces = SPM.get_piece_size()
    model = kind(config(
        vocab_size=pieces + 5, d_model=8, d_kv=6, d_ff=14, num_layers=2, num_heads=2, relative_attention_num_buckets=8,
        relative_attention_max_distance=6, pad_token_id=pieces, eos_token_id=2, decoder_start_token_id=pieces,
        tie_word_embeddings=not untied, **more)).eval()
    if untied:
        model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.shared.weight))
    randomise(model, 0.4, frequent=195)
    write(name, model, ([], [2]), [], range(3, pieces), [0, pieces])


def main():
    marianmt()
    t5("t5", False)
    t5("t5_gated", True, feed_forward_proj="gated-gelu")
    t5("mt5", True, MT5Config, MT5ForConditionalGeneration)
    pieces = ["<s>", "<pad>", "</s>", "<unk>"] + shuffled_pieces(60)
    multilingual("m2m100", M2M100Config, M2M100ForConditionalGeneration, pieces)
    (HERE / "m2m100" / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(pieces)}))
    fairseq = ["<s>", "<pad>", "</s>", "<unk>"] + [SPM.id_to_piece(i) for i in range(3, SPM.get_piece_size())]
    multilingual("mbart", MBartConfig, MBartForConditionalGeneration, fairseq)


if __name__ == "__main__":
    main()
