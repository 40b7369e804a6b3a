#!/usr/bin/env python3
"""Makes small checkpoints of fairseq with random weights, and what fairseq says of them.

    make_fairseq.py        (pip install torch; fairseq 0.12.2, omegaconf, hydra-core, bitarray, regex, sacrebleu)

fairseq/ is a checkpoint as fairseq 0.12.2 writes it, with everything that is not the default: pre-norm, learned
positions, a norm of the embeddings, gelu, two dictionaries. fairseq_old/ is one as versions before 0.8 wrote it: an
argparse.Namespace, a matrix of query, key and value together, numbered norms; fairseq loads it, too. Its text is split
by tests/vocab/golden/bpe.spm, which the test puts beside it. In each folder,

pairs.ids has source and target as ids, with the log-probability of the target: "3 4 2 <tab> 5 6 2 <tab> -12.3".
search.ids has what SequenceGenerator finds, with 4 beams and at most as many tokens as the source has pieces, and 6:
    source without </s>, and the two best: score, ids without </s>.
"""
import dataclasses
import pathlib
import random
import re

import numpy
import sentencepiece
import torch
import torch._dynamo
import torch.distributed
import torch.export
import torch.onnx

# fairseq 0.12.2 is older than Python 3.11 and NumPy 1.24.
numpy.float, numpy.int, numpy.bool = float, int, bool
made = dataclasses.dataclass
dataclasses.dataclass = lambda cls=None, **options: (
    made(cls, **{"unsafe_hash": True, **options}) if cls else lambda c: made(c, **{"unsafe_hash": True, **options}))

from fairseq import options as fairseq_options  # noqa: E402
from fairseq.data import Dictionary  # noqa: E402
from fairseq.dataclass.utils import convert_namespace_to_omegaconf  # noqa: E402
from fairseq.models.transformer import TransformerModel  # noqa: E402
from fairseq.sequence_generator import SequenceGenerator  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SPM = sentencepiece.SentencePieceProcessor(model_file=str(HERE.parents[1] / "vocab" / "golden" / "bpe.spm"))
SHAPE = ("--encoder-embed-dim 8 --encoder-ffn-embed-dim 12 --encoder-layers 2 --encoder-attention-heads 2 "
         "--decoder-embed-dim 8 --decoder-ffn-embed-dim 10 --decoder-layers 1 --decoder-attention-heads 4 ")
EOS = 2


class Task:
    def __init__(self, source, target):
        self.source_dictionary, self.target_dictionary = source, target


def dictionary(pieces):
    made = Dictionary()
    for piece in pieces:
        made.add_symbol(piece)
    return made


def shuffled_pieces(count):
    random.seed(2)
    pieces = [SPM.id_to_piece(i) for i in range(SPM.get_piece_size()) if not (SPM.is_control(i) or SPM.is_unknown(i))]
    random.shuffle(pieces)
    return pieces[:count]


def model_of(arguments, source, target, frequent):
    """</s> is as probable as a frequent piece."""
    parser = fairseq_options.get_training_parser()
    args = fairseq_options.parse_args_and_arch(
        parser, ["data", "--source-lang", "en", "--target-lang", "de", "--arch", "transformer"] +
        (SHAPE + arguments).split())
    model = TransformerModel.build_model(args, Task(source, target)).eval()
    torch.manual_seed(3)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.normal_(0, 0.3)
            if "norm" in name and "weight" in name:
                p.add_(1)
        embeddings = model.decoder.embed_tokens.weight
        embeddings[EOS] = 0.93 * embeddings[frequent]
    return args, model


def before_0_8(state):
    """The same weights under their old names, without the copies that version 0.12 keeps of its encoder's."""
    norms = {"self_attn_layer_norm": 0, "encoder_attn_layer_norm": 1, "final_layer_norm": 2}
    old = {}
    for name, tensor in state.items():
        if re.search(r"\.([kv]_proj|output_projection)\.|layers\.\d+\.(in_proj|out_proj|fc.)_", name):
            continue
        if ".q_proj." in name:
            tensor = torch.cat([state[name.replace("q_proj", f"{letter}_proj")] for letter in "qkv"])
            name = name.replace("q_proj.", "in_proj_")
        for norm, number in norms.items():
            place = min(number, 1) if name.startswith("encoder") else number
            name = name.replace(f".{norm}.", f".layer_norms.{place}.")
        old[name] = tensor
    return old


def write(name, model, source, target):
    """`source`, `target`: ids to draw from."""
    folder = HERE / name
    lines, found = [], []
    for _ in range(8):
        whole = [random.choice(source) for _ in range(random.randrange(0, 9))] + [EOS]
        wanted = [random.choice(target) for _ in range(random.randrange(0, 9))] + [EOS]
        with torch.no_grad():
            logits, _ = model(torch.tensor([whole]), torch.tensor([len(whole)]), torch.tensor([[EOS] + wanted[:-1]]))
        log_probs = torch.log_softmax(logits[0].double(), -1)
        score = sum(float(log_probs[i, t]) for i, t in enumerate(wanted))
        lines.append("\t".join([" ".join(map(str, whole)), " ".join(map(str, wanted)), f"{score:.7f}"]))
        generator = SequenceGenerator([model], model.decoder.dictionary, beam_size=4, max_len_a=0,
                                      max_len_b=len(whole) - 1 + 6 - 1, min_len=0, symbols_to_strip_from_output=set())
        generator.unk, generator.unk_penalty = 3, float("inf")  # as dragoman has it
        best = generator.generate([model], {"net_input": {"src_tokens": torch.tensor([whole]),
                                                          "src_lengths": torch.tensor([len(whole)])}},
                                  bos_token=EOS)[0][:2]
        fields = [" ".join(map(str, whole[:-1]))]
        for hypothesis in best:
            ids = hypothesis["tokens"].tolist()
            fields += [f"{float(hypothesis['score']):.6f}", " ".join(map(str, ids[:-1]))]
        found.append("\t".join(fields))
    (folder / "pairs.ids").write_text("\n".join(lines) + "\n")
    (folder / "search.ids").write_text("\n".join(found) + "\n")


def newest():
    folder = HERE / "fairseq"
    folder.mkdir(exist_ok=True)
    words = ["a", "small", "dog", "the", "house", "of", "man", "."]
    source, target = dictionary(words), dictionary([f"{w}@@" for w in words] + ["ein", "Hund", "Haus"])
    source.save(str(folder / "dict.en.txt"))
    target.save(str(folder / "dict.de.txt"))
    args, model = model_of(
        "--encoder-normalize-before --decoder-normalize-before --encoder-learned-pos --decoder-learned-pos "
        "--layernorm-embedding --activation-fn gelu --share-decoder-input-output-embed --no-scale-embedding "
        "--max-source-positions 24 --max-target-positions 24", source, target, 13)
    configuration = OmegaConf.to_container(convert_namespace_to_omegaconf(args), resolve=True, enum_to_str=True)
    torch.save({"args": None, "cfg": configuration, "model": model.state_dict()}, folder / "checkpoint_best.pt")
    write("fairseq", model, range(4, len(source)), range(4, len(target)))


def old():
    folder = HERE / "fairseq_old"
    folder.mkdir(exist_ok=True)
    both = dictionary(shuffled_pieces(60))
    both.save(str(folder / "dict.en.txt"))
    both.save(str(folder / "dict.de.txt"))
    args, model = model_of("--share-all-embeddings", both, both, 43)
    state = before_0_8(model.state_dict())
    _, reloaded = model_of("--share-all-embeddings", both, both, 43)
    with torch.no_grad():
        for p in reloaded.parameters():
            p.zero_()
    upgraded = dict(state)
    reloaded.upgrade_state_dict(upgraded)
    reloaded.load_state_dict(upgraded)
    for name in ("tokens_per_sample", "encoder_layers_to_keep", "quant_noise_pq", "layernorm_embedding"):
        if hasattr(args, name):
            delattr(args, name)  # which versions of that time did not know
    torch.save({"args": args, "model": state}, folder / "checkpoint_best.pt", _use_new_zipfile_serialization=False)
    write("fairseq_old", reloaded, range(4, len(both)), range(4, len(both)))


if __name__ == "__main__":
    newest()
    old()
