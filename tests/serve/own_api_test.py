#!/usr/bin/env python3
"""The interface of `dragoman serve` with all options of the search, /v1: the real program on a toy model, over loopback.

    own_api_test.py BINARY
"""

import json
import os
import pathlib
import re
import sys
import unittest

import serve_case
import toy_server
from serve_case import Served, run, serving, translated
from toy_server import LINES

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from model_errors_test import filled


def setUpModule():
    serve_case.make_models()


class OwnApi(Served):
    def translate(self, status=200, **request):
        return self.server.json("POST", "/v1/translate", request, status)

    def test_translates_with_options_of_the_request(self):
        for options, words in (({"beam_size": 1}, ("-b", 1)), ({"beam_size": 7, "normalize": 0}, ("-b", 7, "-n", 0)),
                               ({"min_length": 9}, ("--min-length", 9)),
                               ({"min_length_factor": 2}, ("--min-length-factor", 2)),
                               ({"rule": "fairseq"}, ("--search-rule", "fairseq")),
                               ({"sampling": "topk", "sampling_pieces": 4, "seed": 3},
                                ("--output-sampling", "topk", 4, "--seed", 3))):
            found = self.translate(text="\n".join(LINES[:5]), **options)["translations"]
            self.assertEqual([t["text"] for t in found], ["\n".join(translated(LINES[:5], *words))], options)

    def test_takes_null_for_what_is_not_given(self):
        nothing = dict.fromkeys(("source", "target", "glossary", "beam_size", "prefix", "sampling", "stream"))
        self.assertEqual(self.translate(text=LINES[0], **nothing), self.translate(text=LINES[0]))
        self.assertIn("text is missing", self.translate(400, text=None)["error"])

    def test_begins_with_a_prefix(self):
        found = self.translate(text=LINES[0], prefix="das car")["translations"][0]["text"]
        self.assertEqual([found], translated([f"{LINES[0]}\tdas car"], "--force-decode"))

    def test_contains_the_terms_of_a_glossary(self):
        (serve_case.FOLDER / "terms").write_text("red\tkaum rot\n", encoding="utf-8")
        with serving("--glossary", "terms") as server:
            found = server.json("POST", "/v1/translate", {"text": "\n".join(LINES[:9])})["translations"][0]["text"]
            self.assertEqual(found.split("\n"), translated(LINES[:9], "--glossary", "terms"))
            self.assertIn("kaum rot", found)
            refused = server.json("POST", "/v1/translate", {"text": LINES[0], "sampling": "full"}, 400)["error"]
            self.assertIn("sampling cannot make translations contain phrases", refused)
            own = {"red": "neues rot", "book": "das Buch"}
            found = server.json("POST", "/v1/translate", {"text": LINES[:9], "glossary": own})["translations"]
            (serve_case.FOLDER / "own").write_text("red\tneues rot\nbook\tdas Buch\n", encoding="utf-8")
            self.assertEqual([t["text"] for t in found], translated(LINES[:9], "--glossary", "own"))
            (serve_case.FOLDER / "both").write_text("red\tkaum rot\nbook\tdas Buch\n", encoding="utf-8")
            found = server.json("POST", "/v1/translate", {"text": LINES[:9], "glossary": {"book": "das Buch"}})
            self.assertEqual([t["text"] for t in found["translations"]], translated(LINES[:9], "--glossary", "both"))

    def test_contains_the_terms_of_the_request(self):
        for form, text in (("text", "The red house. A red book."), ("html", "<p>The red <b>house</b>.<p>A red book.")):
            found = self.translate(text=text, format=form, glossary={"red": "das small"})["translations"][0]["text"]
            self.assertEqual(found.count("das small"), 2, found)
        for glossary, message in (([], "glossary is array"), ({"a": 1}, "the translation of 'a' is number, expected text"),
                                  ({" ": "b"}, "glossary: a term is empty"), ({"a": ""}, "'a' has no translation"),
                                  ({"a": "b", " a": "c"}, "glossary: 'a' has another translation")):
            self.assertIn(message, self.translate(400, text="a", glossary=glossary)["error"])
        self.assertIn("glossary contradicts sampling", self.translate(400, text="a", glossary={"a": "b"}, sampling="full")["error"])

    def test_avoids_phrases_of_the_server_and_of_the_request(self):
        free = [t["text"] for t in self.translate(text=LINES[:9])["translations"]]
        first, second = free[0].split()[0], free[0].split()[-1]
        (serve_case.FOLDER / "avoid").write_text(f"{first}\n", encoding="utf-8")
        (serve_case.FOLDER / "both").write_text(f"{first}\n{second}\n", encoding="utf-8")
        expected = translated(LINES[:9], "--avoid", "both")
        self.assertNotEqual(expected, free)
        self.assertFalse({first, second} & {word for line in expected for word in line.split()}, expected)
        found = self.translate(text=LINES[:9], avoid=[first, second])["translations"]
        self.assertEqual([t["text"] for t in found], expected)
        with serving("--avoid", "avoid") as server:
            found = server.json("POST", "/v1/translate", {"text": "\n".join(LINES[:9])})["translations"][0]["text"]
            self.assertEqual(found.split("\n"), translated(LINES[:9], "--avoid", "avoid"))
            found = server.json("POST", "/v1/translate", {"text": LINES[:9], "avoid": [second]})["translations"]
            self.assertEqual([t["text"] for t in found], expected)
            sampled = {"text": LINES[:9], "avoid": [second], "sampling": "full"}
            for text in server.json("POST", "/v1/translate", sampled)["translations"]:
                self.assertFalse({first, second} & set(text["text"].split()), text)
        for avoid, message in (("a", "avoid is string, expected an array of phrases"), ([" "], "avoid: a phrase is empty"),
                               ([1], "a phrase in avoid is number, expected text")):
            self.assertIn(message, self.translate(400, text="a", avoid=avoid)["error"])
        self.assertEqual([t["text"] for t in self.translate(text=LINES[:9], avoid=[])["translations"]], free)

    def test_gives_hypotheses_scores_and_alignment(self):
        found = self.translate(text=LINES[0], n_best=2, scores=True, alignment=True)["translations"][0]
        listed = [line.split(" ||| ") for line in translated(LINES[:1], "--n-best", 2, "--alignment", "hard")]
        hypotheses = found["sentences"][0]["hypotheses"]
        self.assertEqual([h["text"] for h in hypotheses], [line[1] for line in listed])
        self.assertEqual([found["text"], *found["alternatives"]], [h["text"] for h in hypotheses])
        for hypothesis, line in zip(hypotheses, listed):
            for begin, end, target, target_end in hypothesis["words"]:
                self.assertIn(LINES[0][begin:end], LINES[0].split())
                self.assertIn(hypothesis["text"][target:target_end], hypothesis["text"].split())
            self.assertEqual(len({word[2] for word in hypothesis["words"]}), len(hypothesis["text"].split()))
            self.assertAlmostEqual(sum(hypothesis["token_log_probs"]), hypothesis["log_prob"], 4)
            self.assertEqual({f"{i}-{j}" for i, j in hypothesis["alignment"]},
                             set(next(field for field in line if re.fullmatch(r"(\d+-\d+ ?)+", field)).split()))

    def test_refuses_alignments_that_the_model_cannot_give(self):
        """The error names the parameter, not an option of the command."""
        toy_server.train(serve_case.BINARY, serve_case.FOLDER, "alone.safetensors", "--type", "decoder-only")
        with serving(models=("alone.safetensors",)) as server:
            self.assertEqual(server.json("GET", "/v1/models"),
                             {"models": [{"source": "und", "target": "und", "alignment": False}]})
            request = {"text": LINES[0], "scores": True}
            refused = server.json("POST", "/v1/translate", request | {"alignment": True}, 400)["error"]
            self.assertEqual(refused, "alignment: the model has no cross-attention to take the alignment from")
            server.json("POST", "/v1/translate", request | {"alignment": False})

    def test_scores_translations(self):
        log_prob = self.translate(text=LINES[0], n_best=1, scores=True)["translations"][0]
        found = self.server.json("POST", "/v1/score", {"text": [LINES[0], "a"], "translation": [log_prob["text"], "b"]})
        hypothesis = log_prob["sentences"][0]["hypotheses"][0]
        self.assertAlmostEqual(found["scores"][0]["log_prob"], hypothesis["log_prob"], 3)
        self.assertEqual(len(found["scores"]), 2)
        self.server.json("POST", "/v1/score", {"text": ["a", "b"], "translation": "c"}, 400)
        pairs = {"text": ["a"] * 18 + ["a " * 5000, "a"], "translation": ["c"] * 20}
        self.assertIn("pair 19: its source has 10,000 pieces", self.server.json("POST", "/v1/score", pairs, 400)["error"])

    def test_counts_the_characters_of_both_sides_of_a_score(self):
        with serving("--max-characters", "10") as server:
            for pair, status in (({"text": "a" * 5, "translation": "é" * 5}, 200),
                                 ({"text": "a" * 5, "translation": "b" * 6}, 400),
                                 ({"text": [""] * 6, "translation": [""] * 6}, 400)):
                found = server.json("POST", "/v1/score", pair, status)
                self.assertIn("exceeds text limit (10)" if status == 400 else "scores", found.get("error", found))
            self.assertEqual(server.metrics("characters_total"), [10])

    def test_says_what_is_wrong(self):
        self.assertIn("did you mean beam_size", self.translate(400, text="a", beamsize=2)["error"])
        self.assertIn("expected 1 to 64", self.translate(400, text="a", beam_size=1000)["error"])

    def test_refuses_languages_that_the_model_does_not_have(self):
        score = {"text": LINES[0], "translation": "das car"}
        for languages, message in (({"source": "xx"}, "xx is not supported"), ({"target": "xx"}, "xx is not supported"),
                                   ({"source": "de", "target": "en"}, "not supported")):
            self.assertIn(message, self.translate(400, text=LINES[0], **languages)["error"])
            self.assertIn(message, self.server.json("POST", "/v1/score", score | languages, 400)["error"])
        for languages in ({}, {"source": "en"}, {"source": "auto"}, {"target": "de"}, {"source": "en", "target": "de"}):
            self.translate(text=LINES[0], **languages)
            self.server.json("POST", "/v1/score", score | languages)

    def test_refuses_bytes_that_are_no_text(self):
        error = self.server.json("POST", "/v1/translate?beam_size=%FF", {"text": "a"}, 400)["error"]
        self.assertEqual(error, 'beam_size is "\ufffd", expected a whole number')
        self.server.json("POST", "/v1/score?translation=%FF", {"text": "a"})
        self.server.json("POST", "/v1/translate?text=%FF&prefix=%FF", {})
        for path in ("/v1/translate?text=a&%FF=1", "/v1/translate?text=a&source=%FF", "/translate?q=a&source=%FF&target=de"):
            self.server.json("POST", path, {}, 400)

    def test_streams_what_is_decided(self):
        for options in ({"beam_size": 1}, {"beam_size": 4}, {"sampling": "full"}):
            text = "\n\n".join(LINES[:4])
            whole = self.translate(text=text, **options)["translations"][0]["text"]
            events = self.server.events(text=text, **options)
            self.assertEqual(events[-1][0], "done")
            self.assertEqual(events[-1][1]["translations"][0]["text"], whole)
            self.assertEqual({name for name, _ in events[:-1]}, {"partial"})
            told = "".join(data["delta"] for _, data in events[:-1])
            self.assertTrue(whole.startswith(told), (whole, told))
            if options == {"beam_size": 1}:
                self.assertEqual(told, whole)
                self.assertGreater(len(events), 8)

    def test_streams_what_the_text_has_at_last(self):
        sentence = "two nine one."
        for blank in (" ", "\u00a0", "\u3000", "\u2028", "\ufeff", " \u00a0 "):
            for text in (sentence + blank, f"{sentence}{blank}{sentence}\n{blank}\n{sentence} {sentence}{blank}"):
                *partial, (name, last) = self.server.events(text=text)
                self.assertEqual(name, "done")
                deltas = [data["delta"] for _, data in partial]
                self.assertGreater(len(deltas), 1, [text])
                whole = last["translations"][0]["text"]
                self.assertEqual("".join(deltas), whole.rstrip(" \n\u00a0\u3000\u2028\ufeff"), [text])

    def test_streams_an_error_before_it_begins(self):
        self.translate(400, text=["a", "b"], stream=True)
        self.translate(400, text="a", avoid=[""], stream=True)
        self.translate(400, text="a", glossary={"": "x"}, stream=True)


class Defaults(unittest.TestCase):
    """Options of the search with which a server is started hold for requests that do not say otherwise."""

    LINES = [f"{first} {second}" for first, second in zip(LINES[:8], LINES[8:16])]
    LONG = ("--min-length", 60)
    # Each with others that let it have an effect.
    SEARCHES = ((("--beam-size", 1),), (("--normalize", 0),), (("--search-rule", "fairseq"),),
                (("--length-penalty", "gnmt", 9),), (("--word-penalty", -3), ("--normalize", 0)), (("--min-length", 25),),
                (("--min-length-factor", 2),), (("--max-length-add", 9), LONG), (("--max-length-factor", 0.2),),
                (("--max-length", 4),), (("--no-repeat-ngram", 1), LONG))

    def follow(self, model, option, *others):
        """Both interfaces do what the command does, and the option has an effect."""
        options = sum(others, option)
        self.assertIn(f"\n{option[0].removeprefix('--')}:",
                      "\n" + run("serve", "-m", f"{model}.safetensors", *options, "--dump-config"), options)
        expected = translated(self.LINES, *options, model=model)
        self.assertNotEqual(expected, translated(self.LINES, *sum(others, ()), model=model), options)
        with serving(*map(str, options), models=(f"{model}.safetensors",)) as server:
            found = server.json("POST", "/translate", {"q": self.LINES, "source": "en", "target": "de"})
            self.assertEqual(found["translatedText"], expected, options)
            found = server.json("POST", "/v1/translate", {"text": self.LINES})["translations"]
            self.assertEqual([t["text"] for t in found], expected, options)

    def test_are_the_options_of_translate(self):
        for options in self.SEARCHES:
            self.follow("b", *options)

    def test_may_allow_unknown_pieces(self):
        """Of a model whose vocabulary lacks a word that its text has."""
        words = sorted({word for side in ("s", "t") for word in (serve_case.FOLDER / side).read_text().split()} - {"ist"})
        (serve_case.FOLDER / "words.yml").write_text("".join(f"{word}: {i}\n" for i, word in
                                                             enumerate(("</s>", "<unk>", *words))))
        run("train", "-t", "s", "t", "-v", "words.yml", "words.yml", "-m", "lacking.safetensors", *toy_server.SMALL)
        self.follow("lacking", ("--allow-unk",))
        self.assertIn("⁇", translated(self.LINES, "--allow-unk", model="lacking")[0])

    def test_are_options_that_a_request_may_give(self):
        """All of the group of `serve --help` that says so."""
        group = run("serve", "--help").split("Search, unless a request says otherwise:\n")[1].split("\n\n")[0]
        names = [name.replace("-", "_") for name in re.findall("^ +(?:-., )?--([a-z-]+)", group, re.M)]
        self.assertIn("no_repeat_ngram", names)
        with serving() as server:
            for name in names:
                request = {"text": LINES[0], "rule" if name == "search_rule" else name: {}}
                self.assertNotIn("there is no parameter", server.json("POST", "/v1/translate", request, 400)["error"])

    def test_make_room_for_those_of_a_request(self):
        with serving("--length-penalty", "gnmt", "2", "--max-length-factor", "0.5", "--min-length", "25") as server:
            request = {"text": self.LINES, "normalize": 0.5, "max_length_add": 40, "min_length": 0}
            found = server.json("POST", "/v1/translate", request)["translations"]
        expected = translated(self.LINES, "--normalize", 0.5, "--max-length-add", 40)
        self.assertEqual([t["text"] for t in found], expected)

    def test_may_have_the_limits_of_a_shortlist(self):
        (serve_case.FOLDER / "table").write_text("".join(f"▁{target} ▁{source} 0.5\n" for target, source in
                                                         (("das", "the"), ("red", "red"), ("red", "old"), ("ist", "is"))),
                                                 encoding="utf-8")
        with serving("--shortlist", "table", "4", "1", "0.1") as server:
            found = server.json("POST", "/translate", {"q": self.LINES, "source": "en", "target": "de"})
        self.assertEqual(found["translatedText"], translated(self.LINES, "--shortlist", "table", 4, 1, 0.1))


class OfADamagedModel(unittest.TestCase):
    def test_is_an_error_of_the_server(self):
        model = (serve_case.FOLDER / "a.safetensors").read_bytes()
        (serve_case.FOLDER / "huge").write_bytes(filled(model, "embedding.weight", 3e38))
        with serving(models=("en-de=huge",)) as server:
            for path, request in (("/translate", {"q": LINES[0], "source": "en", "target": "de"}),
                                  ("/v1/translate", {"text": LINES[0]}),
                                  ("/v1/score", {"text": LINES[0], "translation": LINES[0]})):
                self.assertIn("NaN", server.json("POST", path, request, 500)["error"])
            self.assertIn("NaN: its weights are damaged", server.said())


if __name__ == "__main__":
    serve_case.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
