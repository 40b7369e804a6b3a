#!/usr/bin/env python3
"""Languages and other tags of the requests to `dragoman serve`: the real program on toy models, over loopback.

    languages_test.py BINARY
"""

import json
import os
import pathlib
import shutil
import sys
import unittest

import serve_case
import toy_server
from serve_case import run, serving, translated
from toy_server import LINES, SMALL

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def setUpModule():
    serve_case.make_models()


def train_cased(model, up, low):
    """A model that writes lines behind the one tag in upper case, those behind the other as they are."""
    folder = serve_case.FOLDER
    if (folder / f"{model}.safetensors").exists():
        return
    (folder / "tagged").write_text("".join(f"{tag} {line}\n" for line in LINES for tag in (up, low)))
    (folder / "cased").write_text("".join(f"{line.upper()}\n{line}\n" for line in LINES))
    run("train", "-t", "tagged", "cased", "-v", f"{model}.spm", f"{model}.spm", "-m", f"{model}.safetensors", *SMALL,
        "--dim-vocabs", 320, "--protected-symbols", up, low)


def hypotheses(server, *texts, **options):
    """Those of all sentences."""
    answers = server.json("POST", "/v1/translate", {"text": texts, "scores": True} | options)["translations"]
    return [s["hypotheses"][0] for answer in answers for s in answer["sentences"]]


class OneOfSeveralLanguages(unittest.TestCase):
    """By a model whose sources begin with the language to translate into."""

    def test_counts_for_all_sentences_of_the_text_that_names_it(self):
        shutil.copytree(SOURCE / "tests" / "interop" / "golden" / "marianmt", serve_case.FOLDER / "marianmt")
        for side in ("source", "target"):
            shutil.copy(SOURCE / "tests" / "vocab" / "golden" / "bpe.spm", serve_case.FOLDER / "marianmt" / f"{side}.spm")
        sentences = ["Where is the castle?", "The old house is on a hill.", "The bus is late."]
        named = [f">>deu<< {sentence}" for sentence in sentences]
        with serving(models=("marianmt",)) as server:
            into_german = hypotheses(server, *named)
            self.assertEqual(hypotheses(server, *sentences, target="deu"), into_german)
            self.assertEqual(hypotheses(server, " ".join([named[0]] + sentences[1:])), into_german)
            self.assertEqual(hypotheses(server, "\n".join([named[0]] + sentences[1:])), into_german)
            error = server.json("POST", "/v1/translate", {"text": sentences[0]}, 400)["error"]
            self.assertIn("target is missing: the model knows deu", error)


class ProtectedTag(unittest.TestCase):
    """By models of our own in which <2xx>, a language, and <xx>, a domain, are protected symbols, before which the
    vocabulary puts a blank."""

    def test_counts_for_all_sentences_of_the_text_that_begins_with_it(self):
        train_cased("tags", "<2up>", "<2lo>")
        train_cased("domains", "<up>", "<lo>")
        for model, tag in (("tags", "<2up>"), ("domains", "<up>")):
            plain = [f"{line}." for line in LINES[:3]]
            named = [f"{tag} {line}" for line in plain]
            with serving(models=(f"{model}.safetensors",)) as server:
                found = hypotheses(server, " ".join([named[0]] + [line.capitalize() for line in plain[1:]]))
                self.assertEqual(found, hypotheses(server, named[0], *[f"{tag} {line.capitalize()}" for line in plain[1:]]))
                self.assertEqual(hypotheses(server, "\n".join([named[0]] + plain[1:])), hypotheses(server, *named))
                if model == "domains":
                    self.assertNotEqual(hypotheses(server, *named), hypotheses(server, named[0], *plain[1:]))

    def test_is_no_word_of_a_sentence_that_gets_it(self):
        train_cased("domains", "<up>", "<lo>")
        with serving(models=("domains.safetensors",)) as server:
            lines = [f"{line}." for line in LINES[:2]]
            whole = hypotheses(server, f"<up> {lines[0]}\n{lines[1]}", alignment=True)
            alone = hypotheses(server, *[f"<up> {line}" for line in lines], alignment=True)
            self.assertEqual(whole[0], alone[0])
            self.assertEqual(whole[1]["text"], alone[1]["text"])
            tag, blank = len("<up> "), 2  # characters and pieces that only the line with the tag has
            behind = [pair for pair in alone[1]["alignment"] if pair[0] >= blank]
            for source, target in behind:
                self.assertIn([source - blank, target], whole[1]["alignment"])
            for begin, end, *word in alone[1]["words"]:
                if begin >= tag:
                    self.assertIn([begin - tag, end - tag, *word], whole[1]["words"])


class NamedLanguages(unittest.TestCase):
    """Of a model that has one pair: they choose nothing in it."""

    def test_tell_where_sentences_end(self):
        text = "Die Bahn hat ggf. Verspätung."
        with serving(models=("a.safetensors",)) as server:
            for source, sentences in (("de", 1), ("xx", 2), ("und", 2)):
                self.assertEqual(len(hypotheses(server, text, source=source)), sentences)
            self.assertEqual(len(hypotheses(server, text)), 2)
            plain = server.json("POST", "/v1/translate", {"text": LINES[0]})
            for languages in ({"source": "en"}, {"target": "fr"}, {"source": "xx", "target": "yy"}):
                self.assertEqual(server.json("POST", "/v1/translate", {"text": LINES[0]} | languages), plain)


class LanguagesOfRequests(unittest.TestCase):
    """By models that know several languages, which requests choose as the command does with --target-lang."""

    @classmethod
    def setUpClass(cls):
        train_cased("tags", "<2up>", "<2lo>")

    @staticmethod
    def into(language, lines=LINES[:3]):
        return translated(lines, "--target-lang", language, model="tags")

    def test_are_tags_of_the_source(self):
        self.assertNotEqual(self.into("up"), self.into("lo"))
        with serving(models=("tags.safetensors",)) as server:
            for target in ("up", "lo"):
                for source in ("en", "auto", "und"):
                    found = server.json("POST", "/translate", {"q": LINES[:3], "source": source, "target": target})
                    self.assertEqual(found["translatedText"], self.into(target))
                found = server.json("POST", "/v1/translate", {"text": LINES[:3], "target": target})["translations"]
                self.assertEqual([t["text"] for t in found], self.into(target))
            self.assertEqual(server.json("GET", "/languages"),
                             [{"code": "lo", "name": "Lao", "targets": []}, {"code": "und", "name": "und", "targets": ["lo", "up"]},
                              {"code": "up", "name": "up", "targets": []}])
            self.assertEqual(server.json("GET", "/frontend/settings")["language"]["target"]["code"], "lo")
            error = server.form("/translate", 400, q=LINES[0], source="en", target="xx")["error"]
            self.assertEqual(error, "xx is not supported as a target language: the model knows lo, up")

    def test_may_be_tags_of_the_text(self):
        with serving(models=("tags.safetensors",)) as server:
            tagged = [f"<2up> {line}" for line in LINES[:3]]
            for more in ({}, {"target": "und"}, {"target": "lo"}):
                found = server.json("POST", "/v1/translate", {"text": tagged} | more)["translations"]
                self.assertEqual([t["text"] for t in found], translated(tagged, model="tags"), more)
            for text in (LINES[0], [tagged[0], LINES[0]], f"{LINES[0]}\n{tagged[0]}"):
                error = server.json("POST", "/v1/translate", {"text": text}, 400)["error"]
                self.assertIn("target is missing: the model knows lo, up", error)
            self.assertEqual(server.json("POST", "/v1/translate", {"text": ""})["translations"], [{"text": ""}])

    def test_are_those_of_a_pair_that_shares_the_model(self):
        with serving(models=("en-up=tags.safetensors", "en-lo=tags.safetensors", "en-de=a.safetensors")) as server:
            for target in ("up", "lo"):
                found = server.json("POST", "/translate", {"q": LINES[:3], "source": "en", "target": target})
                self.assertEqual(found["translatedText"], self.into(target))
            self.assertEqual([m["target"] for m in server.json("GET", "/v1/models")["models"]], ["up", "lo", "de"])
            self.assertEqual(server.said().count("--model names"), 0, server.said())
            server.json("POST", "/v1/reload", {})
            self.assertEqual(server.form("/translate", q=LINES[0], source="en", target="up")["translatedText"],
                             self.into("up")[0])
        with serving(models=("en-de=a.safetensors", "en-fr=a.safetensors")) as server:
            self.assertIn("--model names a.safetensors for the target languages de, fr, but the model lets", server.said())

    def test_must_be_known(self):
        with self.assertRaisesRegex(AssertionError, "en:de=tags.safetensors: the model has no piece that names the target "
                                                    "language de, only lo, up"):
            toy_server.Server(serve_case.BINARY, serve_case.FOLDER, models=("en-de=tags.safetensors",))

    def test_may_not_go_away_by_a_reload(self):
        """The pairs still need them, so the old model stays."""
        train_cased("others", "<2it>", "<2lo>")
        served = serve_case.FOLDER / "served.safetensors"
        shutil.copy(serve_case.FOLDER / "tags.safetensors", served)
        with serving(models=("en-up=served.safetensors", "en-lo=served.safetensors")) as server:
            shutil.copy(serve_case.FOLDER / "others.safetensors", serve_case.FOLDER / "new")
            (serve_case.FOLDER / "new").rename(served)
            error = server.json("POST", "/v1/reload", {}, 500)["error"]
            self.assertEqual(error, "--model en:up=served.safetensors: the model has no piece that names the target "
                                    "language up, only it, lo")
            self.assertIn(f"Reloading failed, the old models stay in use: {error}", server.said())
            for target in ("up", "lo"):
                found = server.json("POST", "/translate", {"q": LINES[:3], "source": "en", "target": target})
                self.assertEqual(found["translatedText"], self.into(target))

    def test_are_those_of_the_reloaded_model(self):
        train_cased("others", "<2it>", "<2lo>")
        run("convert", "-i", "tags.safetensors", "-o", "up.safetensors", "--target-lang", "up", "--quiet")
        served = serve_case.FOLDER / "served.safetensors"
        shutil.copy(serve_case.FOLDER / "tags.safetensors", served)
        with serving(models=("served.safetensors",)) as server:
            for model, targets in (("others", ["it", "lo"]), ("up", ["und"])):
                shutil.copy(serve_case.FOLDER / f"{model}.safetensors", serve_case.FOLDER / "new")
                (serve_case.FOLDER / "new").rename(served)
                server.json("POST", "/v1/reload", {})
                listed = {entry["code"]: entry["targets"] for entry in server.json("GET", "/languages")}
                self.assertEqual(listed["und"], targets)
                status = 200 if model == "up" else 400
                found = server.json("POST", "/translate", {"q": LINES[:3], "source": "en", "target": "up"}, status)
                if model == "up":
                    self.assertEqual(found["translatedText"], self.into("up"))
                else:
                    self.assertEqual(found["error"], "up is not supported as a target language: the model knows it, lo")

    def test_are_stored_in_a_model_whose_pair_may_have_any_name(self):
        run("convert", "-i", "tags.safetensors", "-o", "up.safetensors", "--target-lang", "up", "--quiet")
        with serving(models=("en-de=up.safetensors",)) as server:
            found = server.json("POST", "/translate", {"q": LINES[:3], "source": "en", "target": "de"})
            self.assertEqual(found["translatedText"], self.into("up"))

    def test_count_for_scores(self):
        for name, lines in (("sources", LINES[:3]), ("targets", [line.upper() for line in LINES[:3]])):
            (serve_case.FOLDER / name).write_text("".join(f"{line}\n" for line in lines))
        with serving(models=("tags.safetensors",)) as server:
            pairs = {"text": LINES[:3], "translation": [line.upper() for line in LINES[:3]]}
            for target in ("up", "lo"):
                expected = run("score", "-m", "tags.safetensors", "-t", "sources", "targets", "--target-lang", target)
                found = server.json("POST", "/v1/score", pairs | {"target": target})["scores"]
                for score, line in zip(found, expected.splitlines(), strict=True):
                    self.assertAlmostEqual(score["log_prob"], float(line), 3)
            up = server.json("POST", "/v1/score", pairs | {"target": "up"})
            mixed = [f"<2up> {LINES[0]}", LINES[1], f"<2up> {LINES[2]}"]
            self.assertEqual(server.json("POST", "/v1/score", pairs | {"text": mixed, "target": "up"}), up)
            self.assertIn("target is missing", server.json("POST", "/v1/score", pairs, 400)["error"])


class ScoresOfSeveralLanguages(unittest.TestCase):
    """By a model whose sentences have two special tokens: the source ends with </s> after its language, and the target
    begins with its language, whose probability does not count."""

    @classmethod
    def setUpClass(cls):
        serve_case.make_multilingual()
        run("convert", "-i", "m2m100", "-o", "m.safetensors", "--source-lang", "en", "--target-lang", "fr", "--quiet")
        for name, lines in (("sources", LINES[:3]), ("targets", ["a small dog", "", "the house of a man"])):
            (serve_case.FOLDER / name).write_text("".join(f"{line}\n" for line in lines))

    def test_are_those_of_the_command(self):
        sources, targets = ((serve_case.FOLDER / name).read_text().split("\n")[:3] for name in ("sources", "targets"))
        lines = run("score", "-m", "m.safetensors", "-t", "sources", "targets", "--word-scores").splitlines()
        expected = [[float(word) for word in line.split("WordScores= ")[1].split()] for line in lines]
        with serving(models=("m.safetensors",)) as server:
            found = server.json("POST", "/v1/score", {"text": sources, "translation": targets})["scores"]
        self.assertEqual([len(score["token_log_probs"]) for score in found], [len(words) for words in expected])
        for score, words in zip(found, expected):
            self.assertAlmostEqual(score["log_prob"], sum(words), 3)

    def test_choose_the_languages(self):
        with serving(models=("m2m100",)) as server:
            listed = {entry["code"]: entry["targets"] for entry in server.json("GET", "/languages")}
            self.assertIn("fr", listed["en"])
            self.assertNotIn("en", listed["en"])
            scores = []
            for source, target in (("en", "fr"), ("en", "de"), ("fr", "de")):
                scores.append(run("score", "-m", "m2m100", "-t", "sources", "targets", "--source-lang", source,
                                  "--target-lang", target).split())
                pairs = {"text": LINES[:3], "translation": ["a small dog", "", "the house of a man"]}
                found = server.json("POST", "/v1/score", pairs | {"source": source, "target": target})["scores"]
                for score, expected in zip(found, scores[-1], strict=True):
                    self.assertAlmostEqual(score["log_prob"], float(expected), 3)
                expected = translated(LINES[:3], "--source-lang", source, "--target-lang", target, model="m2m100")
                request = {"source": source, "target": target}
                found = server.json("POST", "/translate", {"q": LINES[:3]} | request)["translatedText"]
                self.assertEqual(found, expected)
                found = server.json("POST", "/v1/translate", {"text": LINES[:3], "alignment": True} | request)
                self.assertEqual([t["text"] for t in found["translations"]], expected)
            self.assertEqual(len(set(map(tuple, scores))), 3)
            for request, message in (({"target": "fr"}, "several languages can be translated into fr: name the source"),
                                     ({"source": "en"}, "target is missing: the model knows "), ({}, "source is missing"),
                                     ({"source": "en", "target": "xx"}, "xx is not supported as a target language"),
                                     ({"source": "xx", "target": "fr"}, "xx is not supported as a source language")):
                self.assertIn(message, server.json("POST", "/v1/translate", {"text": "a"} | request, 400)["error"])
        with serving("--target-lang", "fr", models=("m2m100",)) as server:
            found = server.json("POST", "/v1/translate", {"text": LINES[:3], "source": "en"})["translations"]
            self.assertEqual([t["text"] for t in found], translated(LINES[:3], model="m"))

    def test_choose_languages_of_any_name(self):
        """As the command, which takes any special token; only those of known shapes are listed."""
        self.rename_languages("swiss", ["__de__", "__en__", "__fr__", "__gsw_CH__"])
        long = ("--min-length", "6")  # otherwise the translations are empty
        swiss, french = (translated(LINES[:3], *long, "--source-lang", "en", "--target-lang", target, model="swiss")
                         for target in ("gsw_CH", "fr"))
        self.assertNotEqual(swiss, french)
        for model in ("swiss", "en:gsw_CH=swiss"):
            with serving(*long, models=(model,)) as server:
                found = server.json("POST", "/translate", {"q": LINES[:3], "source": "en", "target": "gsw_CH"})
                self.assertEqual(found["translatedText"], swiss)
        with serving(models=("swiss",)) as server:
            self.assertEqual([entry["code"] for entry in server.json("GET", "/languages")], ["de", "en", "fr"])

    def test_are_the_same_for_pairs_that_differ_in_a_stored_target(self):
        run("convert", "-i", "m2m100", "-o", "french.safetensors", "--target-lang", "fr", "--quiet")
        pairs = [f"{pair}=french.safetensors" for pair in ("en-fr", "en-de", "de-fr")]
        with serving(models=pairs) as server:
            self.assertIn("--model names french.safetensors for the target languages de, fr, but", server.said())
            self.assertEqual(server.said().count("--model names"), 1, server.said())
        for models in (pairs[::2], ["en-fr=m2m100", "en-de=m2m100"]):
            with serving(models=models) as server:
                self.assertEqual(server.said().count("--model names"), 0, server.said())

    def test_need_languages_that_can_be_listed(self):
        self.rename_languages("odd", ["__german__", "__english__", "__french__"])
        with self.assertRaisesRegex(AssertionError, "several languages, and its source language is not given"):
            toy_server.Server(serve_case.BINARY, serve_case.FOLDER, models=("english-french=odd",))
        languages = ("--source-lang", "english", "--target-lang", "french")
        with serving(*languages, models=("odd",)) as server:
            found = server.json("POST", "/v1/translate", {"text": LINES[:3]})["translations"]
            self.assertEqual([t["text"] for t in found], translated(LINES[:3], *languages, model="odd"))

    @staticmethod
    def rename_languages(model, tokens):
        shutil.copytree(serve_case.FOLDER / "m2m100", serve_case.FOLDER / model)
        (serve_case.FOLDER / model / "special_tokens_map.json").write_text(
            json.dumps({"additional_special_tokens": tokens}))

    def test_are_given_up_to_the_greatest_length(self):
        with serving("--max-length", "7", models=("m.safetensors",)) as server:
            for side in ("text", "translation"):
                pair = {"text": "a", "translation": "a"}
                long = next(words for words in (" ".join("a" * n) for n in range(1, 9))
                            if "error" in self.score(server, pair | {side: words}))
                self.assertIn(" 8 pieces, more than --max-length 7", self.score(server, pair | {side: long})["error"])

    @staticmethod
    def score(server, pair):
        return json.loads(server.call("POST", "/v1/score", pair)[2])


if __name__ == "__main__":
    serve_case.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
