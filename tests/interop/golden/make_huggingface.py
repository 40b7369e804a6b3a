#!/usr/bin/env python3
"""Makes marianmt/, a small model of Hugging Face's MarianMT with random weights, and what transformers says of it.

    make_huggingface.py        (pip install torch transformers sentencepiece)

Its SentencePiece model is tests/vocab/golden/bpe.spm, which is not copied: the test puts it beside the rest. The list of
pieces has another order than that model and lacks some of its pieces. pairs.ids has source and target as ids, with the log-probability of
the target: "3 4 0 <tab> 5 6 0 <tab> -12.3".
"""
import json
import pathlib
import random

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel

HERE = pathlib.Path(__file__).resolve().parent


def main():
    folder = HERE / "marianmt"
    folder.mkdir(exist_ok=True)
    spm = sentencepiece.SentencePieceProcessor(model_file=str(HERE.parents[1] / "vocab" / "golden" / "bpe.spm"))
    random.seed(2)
    pieces = [spm.id_to_piece(i) for i in range(spm.get_piece_size())
              if not (spm.is_control(i) or spm.is_unknown(i))]
    random.shuffle(pieces)
    pieces = ["</s>", "<unk>", ">>deu<<"] + pieces[:200] + ["<pad>"]
    (folder / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(pieces)}))
    config = MarianConfig(
        vocab_size=len(pieces), d_model=8, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=4, encoder_ffn_dim=12, decoder_ffn_dim=10, activation_function="swish",
        scale_embedding=True, pad_token_id=len(pieces) - 1, eos_token_id=0, forced_eos_token_id=0,
        decoder_start_token_id=len(pieces) - 1, max_position_embeddings=64)
    torch.manual_seed(3)
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "embed_positions" not in name:
                p.normal_(0, 0.4)
            if "layer_norm.weight" in name:
                p.add_(1)
        model.model.shared.weight[-1] = 0  # pad, as the class has it
        model.final_logits_bias.normal_(0, 0.5)
    model.save_pretrained(folder)
    for extra in ("generation_config.json",):
        (folder / extra).unlink(missing_ok=True)
    lines = []
    for _ in range(8):
        source = [random.randrange(2, len(pieces) - 1) for _ in range(random.randrange(0, 9))] + [0]
        target = [random.randrange(2, len(pieces) - 1) for _ in range(random.randrange(0, 9))] + [0]
        with torch.no_grad():
            out = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[len(pieces) - 1] + target[:-1]]))
        log_probs = torch.log_softmax(out.logits[0].double(), -1)
        score = sum(float(log_probs[i, t]) for i, t in enumerate(target))
        lines.append("\t".join([" ".join(map(str, source)), " ".join(map(str, target)), f"{score:.7f}"]))
    (folder / "pairs.ids").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
