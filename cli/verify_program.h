#pragma once

namespace dragoman {

/// A program for python3: KIND MODEL SOURCE TARGET SOURCE_LANG TARGET_LANG [VOCAB VOCAB] prints, for each pair of
/// lines, the log-probability of the target, a tab, and its own greedy translation of the source. Sources already
/// contain the tag of the target language, if the model wants it there. With KIND alone it fails if the program is not
/// installed.
inline constexpr const char* verify_program = R"py(
import importlib.util, json, os, re, subprocess, sys

kind = sys.argv[1]
for name in {"marian": ["_pymarian"], "transformers": ["torch", "transformers"],
             "ctranslate2": ["ctranslate2", "sentencepiece"]}[kind]:
    if importlib.util.find_spec(name) is None:
        sys.exit(f"python3 has no {name}: pip install {name.strip('_')}")
if len(sys.argv) == 2:
    sys.exit()

kind, model, source, target, source_lang, target_lang, *vocabs = sys.argv[1:]
lines = [open(name, encoding="utf-8").read().split("\n")[:-1] for name in (source, target)]


def marian():
    import _pymarian
    run = [sys.executable, "-c", "import sys, _pymarian; sys.exit(_pymarian.main(sys.argv[1:]))"]
    options = ["-m", model, "--vocabs", *vocabs, "--cpu-threads", "1", "--mini-batch", "1", "--quiet"]
    def call(task, *more):
        done = subprocess.run([*run, task, *options, *more], capture_output=True, encoding="utf-8")
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        return done.stdout.split("\n")[:-1]
    scores = call("score", "-t", source, target)
    texts = call("decode", "-i", source, "-b", "1", "-n", "0", "--max-length-factor", "4")
    for score, text in zip(scores, texts):
        yield float(score.split()[0]), text


def transformers():
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, logging
    logging.set_verbosity_error()
    more = {"src_lang": source_lang, "tgt_lang": target_lang} if source_lang else {}
    tokenizer = AutoTokenizer.from_pretrained(model, **more)
    net = AutoModelForSeq2SeqLM.from_pretrained(model).eval()
    start = net.config.decoder_start_token_id
    forced = tokenizer.convert_tokens_to_ids(tokenizer.lang_code_to_token[target_lang]
                                             if hasattr(tokenizer, "lang_code_to_token") else target_lang) if more else None
    for text, translation in zip(*lines):
        ids = tokenizer([text], return_tensors="pt").input_ids
        labels = tokenizer(text_target=[translation]).input_ids[0]
        with torch.no_grad():
            logits = net(input_ids=ids, decoder_input_ids=torch.tensor([[start] + labels[:-1]])).logits[0]
            found = net.generate(ids, num_beams=1, do_sample=False, forced_bos_token_id=forced,
                                 max_new_tokens=2 * ids.shape[1] + 50, forced_eos_token_id=None)
        log_probs = torch.log_softmax(logits.double(), -1)
        given = 1 if forced is not None and labels[0] == forced else 0
        yield (sum(float(log_probs[i, t]) for i, t in enumerate(labels) if i >= given),
               tokenizer.decode(found[0], skip_special_tokens=True))


def ctranslate2():
    import ctranslate2, sentencepiece
    config = json.load(open(os.path.join(model, "config.json")))
    def splitter(side, i):
        names = vocabs[i:i + 1] + [os.path.join(model, name) for name in
                                   (side + ".spm", "sentencepiece.model", "sentencepiece.bpe.model", "spiece.model")]
        name = next((n for n in names if os.path.exists(n)), None)
        return sentencepiece.SentencePieceProcessor(model_file=name) if name else None
    pieces = [splitter(side, i) for i, side in enumerate(("source", "target"))]
    def split(text, i):
        tag, text = re.match("(>>.*?<<)? ?(.*)", text).groups() if i == 0 else (None, text)  # as OPUS-MT's tokenizer
        return ([tag] if tag else []) + (pieces[i].encode(text, out_type=str) if pieces[i] else text.split())
    net = ctranslate2.Translator(model, compute_type="float32")
    opennmt = config.get("decoder_start_token") == config["bos_token"] != "<pad>"
    ends = [] if config.get("add_source_eos") or opennmt else [config["eos_token"]]
    before = [source_lang] if source_lang else []
    given = [target_lang] if source_lang and target_lang else []
    for text, translation in zip(*lines):
        tokens = before + split(text, 0) + ends
        score = net.score_batch([tokens], [given + split(translation, 1)])[0].log_probs[len(given):]
        found = net.translate_batch([tokens], target_prefix=[given] if given else None, beam_size=1,
                                    max_decoding_length=2 * len(tokens) + 50)[0].hypotheses[0][len(given):]
        yield sum(score), pieces[1].decode(found) if pieces[1] else " ".join(found)


try:
    for score, text in {"marian": marian, "transformers": transformers, "ctranslate2": ctranslate2}[kind]():
        print(f"{score:.7f}\t{text}".replace("\n", " "))
except ImportError as missing:
    sys.exit(f"python3 has no {missing.name}: pip install {missing.name.strip('_')}")
)py";

}  // namespace dragoman
