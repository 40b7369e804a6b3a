#!/usr/bin/env python3
"""Makes small models of Sockeye with random weights, and what Sockeye says of them.

    make_sockeye.py        (pip install torch pyyaml numpy sacrebleu; sockeye 3.1.34)

sockeye/ is pre-norm, with gelu, sinusoids, other sizes in the decoder, two vocabularies and a task of length ratios;
sockeye_learned/ is post-norm, with swish, learned positions, one matrix for all embeddings and
float16; sockeye_ssru/ has a decoder of SSRUs; sockeye_glu/ has gated feed-forward networks. In each folder,

pairs.ids has source and target as ids, with the log-probability of the target: "7 8 3 <tab> 9 3 <tab> -12.3".
greedy.ids has what GreedySearch finds in at most 12 steps: source without </s>, ids without </s>.
"""
import logging
import pathlib
import random
import warnings

import torch
from sockeye import beam_search, constants, data_io, encoder, inference, layers, model, transformer, vocab

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).resolve().parent
EOS, BOS, STEPS = constants.EOS_ID, constants.BOS_ID, 12


def stack(layer_count, heads, inner, act, positions, before, after, **more):
    return transformer.TransformerConfig(
        model_size=8, attention_heads=heads, feed_forward_num_hidden=inner, act_type=act, num_layers=layer_count,
        dropout_attention=0.1, dropout_act=0.1, dropout_prepost=0.1, positional_embedding_type=positions,
        preprocess_sequence=before, postprocess_sequence=after, max_seq_len_source=32, max_seq_len_target=32,
        depth_key_value=8, **more)


def embedding(words):
    return encoder.EmbeddingConfig(vocab_size=len(words), num_embed=8, dropout=0.0)


def log_probs(sockeye, source, target):
    """Of the tokens after a target, which begins with <s>."""
    with torch.no_grad():
        out = sockeye(torch.tensor([source]).unsqueeze(-1), torch.tensor([[len(source), 0]]),
                      torch.tensor([target]).unsqueeze(-1), torch.tensor([len(target)]))
    return torch.log_softmax(out[constants.LOGITS_NAME][0].double(), -1)


def translation(search, source):
    found = search(torch.tensor([source], dtype=torch.int32).unsqueeze(-1),
                   torch.tensor([[len(source), 0]], dtype=torch.int32), max_output_lengths=torch.tensor([STEPS]))
    ids = [int(i) for i in found.best_word_indices[0, 0]]
    return ids[:ids.index(EOS)] if EOS in ids else ids[:STEPS]


def make(name, seed, encoder_config, decoder_config, tying, words, dtype=constants.DTYPE_FP32, spread=0.5, **more):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    source, target = ({w: i for i, w in enumerate(constants.VOCAB_SYMBOLS + side)} for side in words)
    config = model.ModelConfig(
        config_data=data_io.DataConfig(
            data_statistics=data_io.DataStatistics(
                num_sents=1, num_discarded=0, num_tokens_source=1, num_tokens_target=1, num_unks_source=0,
                num_unks_target=0, max_observed_len_source=20, max_observed_len_target=20, size_vocab_source=len(source),
                size_vocab_target=len(target), length_ratio_mean=1.0, length_ratio_std=0.1, buckets=[(32, 32)],
                num_sents_per_bucket=[1], average_len_target_per_bucket=[1.0], length_ratio_stats_per_bucket=[(1.0, 0.1)]),
            max_seq_len_source=32, max_seq_len_target=32, num_source_factors=1, num_target_factors=1),
        vocab_source_size=len(source), vocab_target_size=len(target), config_embed_source=embedding(source),
        config_embed_target=embedding(target), config_encoder=encoder_config, config_decoder=decoder_config,
        weight_tying_type=tying, dtype=dtype, **more)
    made = model.SockeyeModel(config)
    made.apply(model.initialize_parameters)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter, p in made.named_parameters():
            if p.requires_grad:
                p.normal_(0, spread)
            if "norm" in parameter and "weight" in parameter:
                p.add_(1)
        made.output_layer.bias[:3] = -20  # Sockeye may generate <pad>, <unk> and <s>
    made.save_config(str(folder))
    made.save_version(str(folder))
    made.save_parameters(folder / constants.PARAMS_BEST_NAME)
    vocab.save_source_vocabs([source], str(folder))
    vocab.save_target_vocabs([target], str(folder))
    whole, _, _ = model.load_model(str(folder))
    whole.cast(torch.float32)
    steps, _, _ = model.load_model(str(folder), inference_only=True)
    steps.cast(torch.float32)
    search = beam_search.get_search_algorithm(
        models=[steps], beam_size=1, device=torch.device("cpu"), output_scores=False, sample=None,
        ensemble_mode="linear", greedy=True, constant_length_ratio=-1.0, knn_lambda=0.0,
        scorer=beam_search.CandidateScorer())
    random.seed(6)
    pairs, greedy = [], []
    for _ in range(8):
        given = [random.randrange(4, len(source)) for _ in range(random.randrange(1, 9))]
        wanted = [random.randrange(4, len(target)) for _ in range(random.randrange(0, 9))] + [EOS]
        scores = log_probs(whole, given + [EOS], [BOS] + wanted[:-1])
        score = sum(float(scores[i, t]) for i, t in enumerate(wanted))
        pairs.append("\t".join([" ".join(map(str, given + [EOS])), " ".join(map(str, wanted)), f"{score:.7f}"]))
        greedy.append("\t".join([" ".join(map(str, given)), " ".join(map(str, translation(search, given + [EOS])))]))
    (folder / "pairs.ids").write_text("\n".join(pairs) + "\n")
    (folder / "greedy.ids").write_text("\n".join(greedy) + "\n")


def main():
    english = ["a", "small", "dog", "the", "house", "of", "man", "cat", ".", "in"]
    german = ["ein", "Hund", "Haus", "das", "in", "."]
    make("sockeye", 5, stack(2, 2, 12, "gelu", "fixed", "n", "dr"), stack(1, 4, 10, "gelu", "fixed", "n", "dr"),
         "trg_softmax", (english, german), config_length_task=layers.LengthRatioConfig(num_layers=1, weight=1.0))
    make("sockeye_learned", 9, stack(1, 2, 12, "swish1", "learned", "", "drn"),
         stack(2, 2, 12, "swish1", "learned", "", "drn"), "src_trg_softmax", (english, english),
         constants.DTYPE_FP16)
    make("sockeye_ssru", 5, stack(1, 2, 12, "relu", "fixed", "n", "dr"),
         stack(2, 2, 12, "relu", "fixed", "n", "dr", decoder_type="ssru_transformer"), "none", (english, german))
    make("sockeye_glu", 2, stack(1, 2, 12, "swish1", "fixed", "n", "dr", use_glu=True),
         stack(2, 2, 12, "swish1", "fixed", "n", "dr", use_glu=True), "none", (english, german), spread=0.4)


if __name__ == "__main__":
    main()
