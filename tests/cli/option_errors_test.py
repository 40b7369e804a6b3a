#!/usr/bin/env python3
"""docs/errors.md against the binary, errors of commands and options: every message has a command here that provokes it,
and vice versa.

    option_errors_test.py BINARY
"""


import command_case
from errors_case import SMALL, TRAIN, ErrorsCase, rows

RNN = "train -t s t -v v v -m new --type s2s --dim-emb 8 --dim-rnn 8 --cpu-threads 1 --after 1u"
COMPRESSED = "train -t s t -v v v -m new --after 1u --cpu-threads 1 --type decoder-only --dec-depth 2 --dim-emb 8 " \
             "--transformer-heads 2 --transformer-dim-ffn 8 --attention-memory local-compressed"
VALIDATE = f"{TRAIN} -m new --valid-sets s t"

# message of the table: command line, run in the folder that `setUpClass` fills
PROVOKED = {
    "--output-sampling contradicts --…: only a search makes translations contain phrases":
        "translate -m m --constraints --output-sampling",
    "--constraints ordered and --glossary: …": "translate -m m --constraints ordered --glossary t",
    "--no-spm-encode and --glossary: …": "translate -m m --no-spm-encode --glossary t",
    "--glossary - and --input - both read stdin: …": "translate -m m --glossary -",
    "--avoid - and --… - both read stdin: …": "translate -m m --avoid -",
    "no command given": "",
    "there is no command '…', only …": "trasnlate",
    "there is no command '…'": "generate",
    "there is no option --…": f"{TRAIN} -m new --lern-rate 1",
    "there is no option -…": "translate -m m -quiet",
    "… problems with the options of dragoman …": "train",
    "--… '…' is not supported": "score -m m -t s t --summary ce-sum",
    "no option of dragoman … mentions '…'": "train --help elephant",
    "--… needs a value": "translate -m m --beam-size",
    "--…: '…' is not a whole number": "translate -m m --beam-size x",
    "--…: '…' is not in the expected form, …": "translate -m m --beam-size 6.0",
    "--…: … is out of range, expected from … to …": "translate -m m --beam-size 0",
    "--…: '…' is not one of …": "evaluate -r t -i t --tokenize words",
    "--… is missing: …": "translate",
    "--… is empty, expected …": "translate -c nameless.yml",
    "--… takes two files, source and target, found …": "score -m m -t s",
    "--… - is stdin, but train reads it more than once": f"{TRAIN} -m new --valid-sets s -",
    "--… … is a pipe, but train reads it more than once": f"{TRAIN} -m new --valid-sets pipe t",
    "--train-sets takes two files for each corpus, source and target, found …": "train -t s t s -v v v -m new",
    "--valid-sets takes one file with --tsv, found …": "train -t columns --tsv -v v v -m new --valid-sets s t",
    "--train-sets takes one file with --tsv, found …": "score -m m -t s t --tsv",
    "--n-best contradicts --tsv: its translations are in a list of their own": "score -m m -t columns --tsv --n-best",
    "--corpus-weights has … numbers, --train-sets … corpora, expected one for each":
        f"{TRAIN} -m new --corpus-weights 1 2",
    "--corpus-weights are all 0, expected at least one above 0": f"{TRAIN} -m new --corpus-weights 0",
    "--corpus-weights with --stream: text that is read once has no pair twice":
        f"{TRAIN} -m new --stream 10 --corpus-weights 1",
    "--dry-run reads the text, which a pipe has only once": "train -t - --tsv -v v v -m new --dry-run",
    "only one file can come from stdin (-), found …": "train -t - --tsv -v v v -m new --data-weighting -",
    "--… …: with --tsv, a number is a column, counted from 0, and a line has … columns: …":
        "train -t columns --tsv -v v v -m new --guided-alignment 3",
    "--data-weighting … and --guided-alignment … are the same column of --tsv":
        "train -t columns --tsv -v v v -m new --guided-alignment 2 --data-weighting 2",
    "… does not exist, and cannot be learned from …, which is read only once":
        "train -t - --tsv -v missing missing -m new",
    "--data-weighting names … files, --train-sets … corpora, expected one for each":
        f"{TRAIN} -m new --data-weighting s t",
    "--guided-alignment names … files, --train-sets … corpora, expected one for each":
        f"{TRAIN} -m new --guided-alignment s t",
    "--guided-alignment with --sentencepiece-alphas: links are of the pieces of one segmentation":
        f"{TRAIN} -m new --guided-alignment s --sentencepiece-alphas 0.1",
    "--guided-alignment trains cross-attention, which --type decoder-only does not have":
        "train -t s t -v v v --type decoder-only --dim-emb 8 -m new --guided-alignment s",
    "--guided-alignment contradicts --rnn-attention none: there is no attention to learn links":
        "train -t s t -v v v --type s2s --dim-emb 8 --dim-rnn 8 --rnn-attention none -m new --guided-alignment s",
    "--guided-alignment contradicts --attention-local-center predictive, whose predicted window links do not teach":
        "train -t s t -v v v --type s2s --dim-emb 8 --dim-rnn 8 --attention-local 2 --attention-local-center predictive "
        "-m new --guided-alignment s",
    "--transformer-guided-alignment-layer … is beyond the decoder, which has … layers (--dec-depth)":
        f"{TRAIN} -m new --transformer-guided-alignment-layer 99",
    "--ram: '…' is not an amount of memory": f"{TRAIN} -m new --ram 512",
    "--ram … is too little: the lengths and order of … pairs alone take …": f"{TRAIN} -m new --ram 1K",
    "--tempdir … has … free, the encoded text needs about …": f"{TRAIN} -m new --ram 9K --tempdir /proc",
    "…: cannot create a temporary file there: …": f"{TRAIN} -m new --ram 9K --tempdir nowhere",
    "--devices is '…', expected cpu or the number of a GPU, such as 0": f"{TRAIN} -m new --devices gpu",
    "--fast-math is for GPUs, and --devices is cpu": f"{TRAIN} -m new --fast-math",
    "training would need … MiB (… for the largest batch), but the … has … MiB":
        "train -t s t -v v v -m new --after 1u --cpu-threads 1 --enc-depth 60 --dec-depth 60 --dim-emb 16384 "
        "--transformer-dim-ffn 65536",
    "--lr-schedule … needs --lr-decay-updates above --lr-warmup …": f"{TRAIN} -m new --lr-schedule cosine",
    "--lr-warmup-start-rate … contradicts --lr-schedule noam, whose formula begins at 0":
        f"{TRAIN} -m new --lr-schedule noam --lr-warmup-start-rate 1e-7",
    "--lr-warmup-start-rate … exceeds --learn-rate …": f"{TRAIN} -m new --lr-warmup-start-rate 1",
    "--lr-decay-strategy … takes one number in --lr-decay-start, found …":
        f"{VALIDATE} --lr-decay 0.5 --lr-decay-strategy stalled",
    "--lr-decay-strategy … takes two numbers in --lr-decay-start, found …":
        f"{TRAIN} -m new --lr-decay 0.5 --lr-decay-start 3",
    "--lr-decay-strategy stalled needs validations: --valid-sets, with --valid-freq above 0":
        f"{TRAIN} -m new --lr-decay 0.5 --lr-decay-strategy stalled --lr-decay-start 3",
    "--early-stopping-epsilon has … numbers, --valid-metrics … metrics, expected one or as many":
        f"{VALIDATE} --early-stopping-epsilon 0 0.1",
    "--gradient-shards …, expected a power of two": f"{TRAIN} -m new --gradient-shards 3",
    "… processes share …: each needs at least one": f"{TRAIN} -m new --gradient-shards 1 --processes 2",
    "--precision float16 is for GPUs, and --devices is cpu": f"{TRAIN} -m new --precision float16",
    "--devices names … devices (…), expected one: …": "serve -m m --devices 0 1",
    "--devices names … twice (…), …": f"{TRAIN} -m new --devices 0 0",
    "--devices names the CPU among others (…), …": f"{TRAIN} -m new --devices cpu 0",
    "--processes … and --devices with … GPUs contradict each other": f"{TRAIN} -m new --devices 0 1 --processes 3",
    "--processes …, but --devices names one GPU, and each process needs its own": f"{TRAIN} -m new --devices 0 --processes 2",
    "--paired-bs and --paired-ar cannot be combined": "evaluate -r t -i s t --paired-bs --paired-ar",
    "--metrics evalb takes one file of --references, found …": "evaluate -r t t -i t --metrics evalb",
    "--tokenize spm needs --tokenize-model: the SentencePiece model whose pieces are the words":
        "evaluate -r t -i t --tokenize spm",
    "--tokenize-model is for --tokenize spm, found --tokenize …": "evaluate -r t -i t --tokenize-model v",
    "--tokenize-model: … is a list of pieces, expected a SentencePiece model":
        "evaluate -r t -i t --tokenize spm --tokenize-model pieces.txt",
    "--… spm: only dragoman evaluate takes the SentencePiece model that it needs":
        f"{TRAIN} -m new --valid-sets s t --valid-metrics bleu --valid-tokenize spm",
    "--oracle takes one file of --references and one of --hypotheses, found … and …": "evaluate -r t -i s t --oracle",
    "--… contradicts --…, which prints translations, not metrics": "evaluate -r t -i far --oracle --json",
    "--mbr and --oracle cannot be combined": "evaluate -i far --mbr --oracle",
    "--mbr chooses without references, found --references …": "evaluate -r t -i far --mbr",
    "--mbr takes one file of --hypotheses, found …": "evaluate -i far far --mbr",
    "--mbr takes one of --metrics chrf, chrf++ and bleu, found …": "evaluate -i far --mbr --metrics ter",
    "--paired-bs compares systems, but --hypotheses names only one": "evaluate -r t -i t --paired-bs",
    "--dim-emb … cannot be divided among --transformer-heads …": f"{TRAIN} -m new --dim-emb 9",
    "--dim-rnn … cannot be divided among --transformer-heads …": f"{RNN} --dim-rnn 10 --transformer-heads 3",
    "--… is for --type transformer, not for …": f"{RNN} --transformer-positions alibi",
    "--… is for --type s2s, not for …": f"{TRAIN} -m new --dim-rnn 8",
    "--dec-cell … is for --type s2s; --transformer-decoder-autoreg rnn has ssru only": f"{TRAIN} -m new --dec-cell lstm",
    "--dec-cell ssru is for --transformer-decoder-autoreg rnn, --type s2s has gru and lstm": f"{RNN} --dec-cell ssru",
    "--dim-rnn … is odd, but --enc-type bidirectional has half of the state in each direction": f"{RNN} --dim-rnn 9",
    "--reverse-source has no effect: --enc-type bidirectional reads in both directions": f"{RNN} --reverse-source",
    "--reverse-source is for --enc-type unidirectional; conv reads all tokens at once":
        f"{RNN} --enc-type conv --reverse-source",
    "--enc-conv-width is for --enc-type conv, not for …": f"{RNN} --enc-conv-width 5",
    "--enc-cell is for any --enc-type but conv": f"{RNN} --enc-type conv --enc-cell lstm",
    "--encoder-pooling hierarchical needs recurrent layers; --enc-type conv has none":
        f"{RNN} --encoder-pooling hierarchical --enc-type conv",
    "--reverse-source contradicts --encoder-pooling hierarchical, which does not keep the order of the words": f"{RNN} --encoder-pooling hierarchical --enc-type unidirectional --reverse-source",
    "--sentence-ends is for --encoder-pooling hierarchical, not for …": f"{RNN} --sentence-ends ;",
    "--sentence-ends …: no piece of … ends with one of these, so each line would be one sentence":
        f"{RNN} --encoder-pooling hierarchical --sentence-ends ¶",
    "--… is for models with attention; --rnn-attention none has none":
        f"{RNN} --rnn-attention none --attention-score dot",
    "--attention-local-center predictive is the centre of a window, but --attention-local is 0":
        f"{RNN} --attention-local-center predictive",
    "--attention-local-center predictive predicts one position per token, so --transformer-heads must be 1, "
    "found …": f"{RNN} --attention-local 2 --attention-local-center predictive --transformer-heads 2",
    "--… is for --attention-choice hard, not for soft": f"{RNN} --attention-reward 1",
    "--attention-choice hard attends to one source token, so --transformer-heads must be 1, found …":
        f"{RNN} --attention-choice hard --transformer-heads 2",
    "--attention-choice hard samples from the whole source; --attention-local … is for soft":
        f"{RNN} --attention-choice hard --attention-local 2",
    "--attention-choice hard takes no weighted mean, so --transformer-dropout-attention … has nothing to drop":
        f"{RNN} --attention-choice hard --transformer-dropout-attention 0.1",
    "--type: … is not one of transformer, decoder-only, s2s": f"{TRAIN} -m new --type other",
    "--method gradient needs the gradient of all attention weights at once, but a model of type s2s computes them step by step; expected --method raw": "explain -m s2s --method gradient -t s t",
    "--beam-size … contradicts --output-sampling, which samples instead of searching":
        "translate -m m --output-sampling -b 6",
    "--alignment: '…' is not hard, soft, none, or a number above 0 and at most 1":
        "translate -m m --alignment 1.5",
    "--temperature … is for --output-sampling, which is not given": "translate -m m --temperature 2",
    "--output-sampling: expected full, topk K or nucleus P, found …": "translate -m m --output-sampling best",
    "--min-length-factor … is more than --max-length-factor … allows":
        "translate -m m --min-length-factor 2 --max-length-factor 1",
    "--weights has … numbers, --model … files, expected one for each": "translate -m m --weights 1 2",
    "--weights: … is the largest, expected at least one of 1e-06 or more": "translate -m m --weights 0",
    "--scores and --n-best: give one; n-best lists already contain the scores": "translate -m m --scores --n-best",
    "--n-best … exceeds --beam-size …": "translate -m m --n-best 9",
    "--length-penalty and --normalize … are two ways to divide scores by length: give one":
        "translate -m m --length-penalty gnmt 0.6 --normalize 1",
    "--word-penalty … has no effect with --normalize 1, where it adds the same number to every score":
        "translate -m m --word-penalty 1",
    "--input and --train-sets: give one; …": "explain -m m -i s -t s t",
    "--beam-size … is for --input, --train-sets are not translated": "explain -m m -t s t -b 2",
    "--heads contradicts --method rollout, which uses the mean of all heads":
        "explain -m m --method rollout --heads 0",
    "--layers …: the model has …, numbered …; -1 is the last": "explain -m m --layers 9",
    "--heads …: the model has … per layer, numbered …": "explain -m m --heads 9",
    "--sites …: a model of type … has only …": "explain -m alone --sites cross",
    "--method rollout needs a model in which only attention moves information between positions; this one has only … attention":
        "explain -m recurrent --method rollout",
    "--… contradicts --positions, which shows position embeddings, not text": "explain --positions -i s",
    "--format text contradicts --positions, which prints a picture or numbers": "explain --positions --format text",
    "--positions: … has no position embeddings, its positions are …; expected sinusoidal, interleaved or learned":
        "explain -m placeless --positions",
    "--vocabs and --model both name vocabularies: give one": "align -t s t -v v v -m m",
    "--reverse contradicts --shortlist, which needs the translations of source pieces":
        "align -t s t -v v v --reverse --shortlist new",
    "--symmetrize contradicts --reverse: it aligns in both directions":
        "align -t s t -v v v --symmetrize union --reverse",
    "--symmetrize contradicts --shortlist, which needs the translations of source pieces alone":
        "align -t s t -v v v --symmetrize union --shortlist new",
    "--… is for --shortlist, which is not given": "align -t s t -v v v --best 3",
    "--shortlist: … has no pairs to learn from": "align -t empty empty -v v v --shortlist new",
    "--n-best contradicts --summary …, which prints one figure": "score -m m -t s t --n-best --summary",
    "--word-scores contradicts --summary …, which prints one figure": "score -m m -t s t --word-scores --summary",
    "--alignment contradicts --summary …, which prints one figure": "score -m m -t s t --alignment --summary",
    "--alignment: the model has no cross-attention to take the alignment from":
        "translate -m alone --alignment",  # before any line is read
    "--normalize contradicts --summary …, which is computed from whole log-probabilities": "score -m m -t s t -n --summary",
    "--n-best-feature … is for --n-best, which is not given": "score -m m -t s t --n-best-feature x",
    "--… is for --metrics …, not for …": "evaluate -r t -i t --rouge-stemmer",
    "--… is for --confidence, --paired-bs and --paired-ar, none of which is given": "evaluate -r t -i t --samples 9",
    "--… contradicts --sentence-level, which prints the scores of lines": "evaluate -r t -i t --sentence-level --json",
    "--sentence-level takes one file of --hypotheses, found …": "evaluate -r t -i t t --sentence-level",
    "--… is for --vocabs, which is not given: only words are counted": "data -t s t --sample 9",
    "only one of --… can be '-' (stdin), found …": "detect -m m -i - -",
    "--model names profiles to detect with, and --learn learns them for --output: give one":
        "detect -m m --learn en=s",
    "--… and --… are both …: its content would be lost": "score -m m -t s t -o s",
    "--… and --… are both …: one would overwrite the other": f"{TRAIN} -m new --log-json new",
    "--attention-score … has matrices of its own, so --attention-projections … would only rename them":
        f"{TRAIN} -m new --attention-score bilinear",
    "--attention-norm … keeps dot products of queries and keys small, which --attention-score … does not need":
        f"{TRAIN} -m new --attention-norm rms --attention-score additive",
    "--attention-rank is for --attention-score reduced-rank, not for …": f"{TRAIN} -m new --attention-rank 3",
    "--transformer-relative-positions is for --transformer-positions relative, not for …":
        f"{TRAIN} -m new --transformer-relative-positions 3",
    "--attention-projections none uses the vectors of a head unchanged, …":
        f"{TRAIN} -m new --attention-projections none --transformer-dim-key 3",
    "--attention-projections key-value uses one vector as key and value, but …":
        f"{TRAIN} -m new --attention-projections key-value --transformer-dim-value 3",
    "--transformer-relative-buckets … is odd, expected an even number":
        f"{TRAIN} -m new --transformer-positions relative-bias --transformer-relative-buckets 7",
    "--transformer-relative-max-distance … is too small for --transformer-relative-buckets …, expected more than …":
        f"{TRAIN} -m new --transformer-positions relative-bias --transformer-relative-max-distance 16",
    "--transformer-positions rotary rotates pairs of numbers, but …":
        f"{TRAIN} -m new --transformer-positions rotary --transformer-dim-key 3",
    "--transformer-positions rotary rotates queries and keys, which represents distances in dot products only: …":
        f"{TRAIN} -m new --transformer-positions rotary --attention-score additive",
    "--valid-metrics translation needs --valid-script-path":
        f"{VALIDATE} --valid-metrics translation",
    "--valid-script-path … is for --valid-metrics translation, which is not given":
        f"{VALIDATE} --valid-script-path sh",
    "--valid-script-path …: there is no such program":
        f"{VALIDATE} --valid-metrics translation --valid-script-path nowhere",
    "--valid-script-path …: the file is not executable":
        f"{VALIDATE} --valid-metrics translation --valid-script-path ./s",
    "--valid-script-args … are for --valid-script-path, which is not given": f"{VALIDATE} --valid-script-args x",
    "--valid-translation-output: none of --valid-metrics translates": f"{VALIDATE} --valid-translation-output new",
    "--copy needs a joint vocabulary, but --vocabs names two: …":
        f"train -t s t -v v w {SMALL} --copy --after 1u -m new",
    "--source-lang …: … takes no source language": "translate -m m --source-lang de",
    "--target-lang …: … takes no target language": "translate -m m --target-lang de",
    "… already exists, expected the name of a new folder": "convert -i m -o s --to ctranslate2",
    "…: its '…' is …, which cannot be written for … (only …)": "convert -i m -o new --to marian",
    "--shortlist … cannot be used with …, which was trained with --copy: it would leave out pieces to copy":
        "translate -m copies --shortlist list",
    "--learn-source is for --type decoder-only, not for …": f"{TRAIN} -m new --learn-source",
    "--enc-depth 0 leaves --type … without an encoder, expected at least 1":
        "train -t s t -v v v -m new --after 1u --enc-depth 0",
    "--… is for models with an encoder; --type decoder-only has none":
        "train -t s t -v v v -m new --after 1u --type decoder-only --enc-depth 3",
    "--type decoder-only reads the source by self-attention, which --transformer-decoder-autoreg … replaces":
        "train -t s t -v v v -m new --after 1u --type decoder-only --transformer-decoder-autoreg rnn",
    "--… is for --attention-memory local-compressed, not for …": f"{TRAIN} -m new --attention-block 5",
    "--attention-memory local-compressed is for --type decoder-only, not for …":
        f"{TRAIN} -m new --attention-memory local-compressed",
    "--transformer-positions … needs one key per position, but --attention-memory local-compressed compresses several into one":
        f"{COMPRESSED} --transformer-positions alibi",
    "--attention-score location has no keys that --attention-memory local-compressed could compress":
        f"{COMPRESSED} --attention-score location --transformer-max-positions 600",
    "--attention-window … contradicts --attention-memory local-compressed, whose local layers have blocks: …":
        f"{COMPRESSED} --attention-window 3",
    "--attention-memory local-compressed alternates local and compressed layers, but --dec-depth is …, expected at least 2": f"{COMPRESSED} --dec-depth 1",
    "explain: the model has --attention-memory …, whose compressed keys stand for several pieces each, expected full":
        "explain -m compressed -t s t",
    "--… is for --moe-experts, which is not given": f"{TRAIN} -m new --moe-top-k 1",
    "--moe-experts 1 leaves the router nothing to choose": f"{TRAIN} -m new --moe-experts 1 --moe-frequency 1",
    "--moe-top-k … exceeds --moe-experts …":
        f"{TRAIN} -m new --moe-experts 2 --moe-top-k 3 --moe-frequency 1",
    "--transformer-max-positions is for --transformer-positions learned and --attention-score location; other "
    "positions have no maximum": f"{TRAIN} -m new --transformer-max-positions 600",
    "--transformer-dim-key is not for --attention-score reduced-rank, whose queries and keys have the size "
    "--attention-rank": f"{TRAIN} -m new --attention-score reduced-rank --attention-projections none "
                        "--transformer-dim-key 7",
    "--transformer-dropout-embedding … is no probability, expected from 0 to 0.99, or -1":
        f"{TRAIN} -m new --transformer-dropout-embedding -0.5",
    "--moe-frequency … gives no layer experts: --transformer-tied-layers replaces those that would have some":
        f"{TRAIN} -m new --moe-experts 2 --enc-depth 1 --dec-depth 2 --transformer-tied-layers 1 1",
    "--moe-frequency … gives no layer experts: the model has only …":
        f"{TRAIN} -m new --moe-experts 2",
    "--half-activations keeps activations in the type of --precision, which is float32 here":
        f"{TRAIN} -m new --half-activations",
    "--half-activations is for Transformers, and --type is s2s":
        f"{RNN} --half-activations --precision bfloat16",
    "--precision …: this CPU (…), or the installed oneDNN, has no bfloat16 matrix product":
        f"{TRAIN} -m new --precision bfloat16",
    "--… is for --transformer-decoder-autoreg average-attention, not for …": f"{TRAIN} -m new --transformer-aan-nogate",
    "--type decoder-only needs a joint vocabulary, but --vocabs names two: …":
        "train -t s t -v v w -m new --after 1u --type decoder-only",
    "--type decoder-only reads source and target as one sequence: …":
        "train -t s t -v v v -m new --after 1u --type decoder-only --transformer-positions learned "
        "--transformer-max-positions 300",
    "--search-memory … is too little to translate even a single word": "serve -m m --port 0 --search-memory 1K",
    "cannot listen on …, port …: …": "serve -m m --port 0 --host 192.0.2.1",
    "--host is empty, expected an address": "serve -m m --port 0 --host=",
    "--host …: …": "serve -m m --port 0 --host nowhere.invalid",
    "--allow-origin '…' is not an origin, expected * or scheme://host[:port]":
        "serve -m m --port 0 --allow-origin https://a.example/",
    "--model names two models from … to …": "serve -m en-de=m en-de=m --port 0",
    "--model names several models, but not all with a language pair": "serve -m en-de=m m --port 0",
    "--… is for one model, --model names …": "serve -m en-de=m en-fr=m --port 0 --target-lang fr",
    "--model …: '…' is not two languages, and there is no file …": "serve -m x=m --port 0",
    "--model …: the language pair is ambiguous": "serve -m pt-BR-en=m --port 0",
    "--model …: the model has no piece that names the … language …, only …": "serve -m en-es=tagged --port 0",
    "… has no keys, expected one per line": "serve -m m --port 0 --api-keys empty",
    "the system cannot start more threads: …": "translate -m m -i s --cpu-threads 2",
    "--… needs --valid-sets: BLEU is measured on them": "quantize -m m -o new --gate 1",
    "--… is for vocab …, not for vocab …": "vocab inspect -m v --ids",
    "--seed is for --alpha, which is not given": "vocab encode -m v --seed 5",
    "unexpected argument '…'": "completion bash zsh",
    "--… takes no value, found '…'": "score -m m -t s t --quiet s",
}


class OptionErrors(ErrorsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "nameless.yml").write_text("model: ''\n", encoding="utf-8")
        (cls.folder / "pieces.txt").write_text("</s>\n<unk>\na\n", encoding="utf-8")
        cls.make("vocab train --input s t --model w --size 310",
                 f"{TRAIN} -m alone --type decoder-only".replace("--enc-depth 1", ""),
                 f"{TRAIN} -m recurrent --transformer-decoder-autoreg rnn",
                 COMPRESSED.replace("new", "compressed"),
                 f"{TRAIN} -m copies --copy",
                 f"{TRAIN} -m tagged --dim-vocabs 310 --protected-symbols <2de> <2fr>".replace("-v v v", "-v x x"),
                 f"{TRAIN} -m placeless --transformer-positions none",
                 RNN.replace("new", "s2s"),
                 "align -t s t -v v v --shortlist list")

    def test_each_row_has_its_command_and_each_command_its_row(self):
        self.assertEqual(sorted(rows("option_errors_test")), sorted(PROVOKED))

    def test_each_message_comes(self):
        self.provoke(PROVOKED)


if __name__ == "__main__":
    command_case.main()
