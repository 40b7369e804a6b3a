#!/usr/bin/env python3
"""Makes small checkpoints of OpenNMT-py with random weights, and what OpenNMT-py says of them.

    make_opennmt.py        (pip install torch; OpenNMT-py 3.5.1 with pyonmttok; what else it imports need not be there)

opennmt/ has interleaved sinusoids, gelu and no biases in attention, opennmt_concat/ the other sinusoids, relu, RMS norms,
all biases, one matrix for both vocabularies; opennmt_silu/ and opennmt_gated/ have gated networks, with silu and gelu, and
RMS norms, the second also biases; opennmt_relative/, opennmt_rotary/, opennmt_halves/ and opennmt_alibi/ have these
positions in self-attention, the second of adjacent numbers and the third of halves of heads. In each folder, pairs.ids has source and target as ids, with the
log-probability of the target: "3 4 5 <tab> 5 6 3 <tab> -12.3".
"""
import pathlib
import random
import sys
import types

import torch


class Absent(types.ModuleType):
    """Stands for a library that models do not need."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for library in ("spacy", "ahocorasick", "waitress", "flask", "rapidfuzz", "rapidfuzz.fuzz", "fasttext", "tensorboard"):
    try:
        __import__(library)
    except ImportError:
        sys.modules[library] = Absent(library)

from onmt import opts  # noqa: E402
from onmt.inputters.inputter import dict_to_vocabs  # noqa: E402
from onmt.model_builder import build_base_model  # noqa: E402
from onmt.utils.parse import ArgumentParser  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]
SHAPE = ("--encoder_type transformer --decoder_type transformer --enc_layers 2 --dec_layers 1 --heads 2 "
         "--hidden_size 8 --word_vec_size 8 --transformer_ff 12 ")
UNK, BOS, EOS = 0, 2, 3


def checkpoint(name, arguments, source, target, positions="--position_encoding "):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    parser = ArgumentParser()
    opts.model_opts(parser)
    options, _ = parser.parse_known_args((SHAPE + positions + arguments).split())
    options.freeze_word_vecs_enc = options.freeze_word_vecs_dec = False
    options.optim, options.dropout, options.attention_dropout = "adam", [0.1], [0.1]
    options.parallel_mode, options.world_size, options.gpu_ranks, options.use_ckpting = "data_parallel", 1, [], []
    ArgumentParser.update_model_opts(options)
    ArgumentParser.validate_model_opts(options)
    vocab = {"data_task": "seq2seq", "decoder_start_token": "<s>", "src": source, "tgt": target}
    model = build_base_model(options, dict_to_vocabs(vocab)).eval()
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter_name, p in model.named_parameters():
            p.normal_(0, 0.3)
            if "norm" in parameter_name and "weight" in parameter_name:
                p.add_(1)
        for module in model.modules():
            if isinstance(getattr(module, "pe", None), torch.Tensor):
                module.pe = module.pe[:64].clone()  # 5,000 rows without
    state = {n: t for n, t in model.state_dict().items() if not n.startswith("generator.")}
    torch.save({"model": state, "generator": model.generator.state_dict(), "vocab": vocab, "opt": options,
                "optim": None}, folder / "model_step_100.pt", _use_new_zipfile_serialization=False)
    lines = []
    random.seed(4)
    for _ in range(8):
        whole = [random.randrange(4, len(source)) for _ in range(random.randrange(1, 9))]
        wanted = [random.randrange(4, len(target)) for _ in range(random.randrange(0, 9))] + [EOS]
        with torch.no_grad():
            out, _ = model(torch.tensor([whole]).unsqueeze(-1), torch.tensor([[BOS] + wanted]).unsqueeze(-1),
                           torch.tensor([len(whole)]))
            log_probs = torch.log_softmax(model.generator(out)[0].double(), -1)
        score = sum(float(log_probs[i, t]) for i, t in enumerate(wanted))
        lines.append("\t".join([" ".join(map(str, whole)), " ".join(map(str, wanted)), f"{score:.7f}"]))
    (folder / "pairs.ids").write_text("\n".join(lines) + "\n")


def main():
    words = SPECIAL + ["a", "small", "dog", "the", "house"]
    checkpoint("opennmt", "--pos_ffn_activation_fn gelu", words, SPECIAL + ["ein", "Hund", "Haus", "das", "in", "."])
    checkpoint("opennmt_concat", "--position_encoding_type SinusoidalConcat --add_qkvbias --add_ffnbias "
               "--layer_norm rms --norm_eps 1e-2 --share_embeddings --share_decoder_embeddings", words, words)
    checkpoint("opennmt_silu", "--pos_ffn_activation_fn silu --layer_norm rms", words, words)
    checkpoint("opennmt_gated", "--pos_ffn_activation_fn gated-gelu --layer_norm rms --add_ffnbias", words, words)
    for name, positions in (("relative", "--max_relative_positions 2 "),
                            ("rotary", "--max_relative_positions -1 --rotary_interleave "),
                            ("halves", "--max_relative_positions -1 "), ("alibi", "--max_relative_positions -2 ")):
        checkpoint("opennmt_" + name, "--add_qkvbias", words, words, positions)


if __name__ == "__main__":
    main()
