#!/usr/bin/env python3
"""LibreTranslate's interface of `dragoman serve`, and its web page: the real program on a toy model, over loopback.

    libretranslate_test.py BINARY
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import serve_case
import toy_server
from serve_case import Served, serving, translated
from toy_server import LINES

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NODE = shutil.which("node")


def setUpModule():
    serve_case.make_models()


class LibreTranslate(Served):
    def test_translates_a_text_or_an_array(self):
        expected = translated(LINES[:3])
        self.assertEqual(self.server.form("/translate", q=LINES[0], source="en", target="de"),
                         {"translatedText": expected[0]})
        self.assertEqual(self.server.json("POST", "/translate", {"q": LINES[:3], "source": "en", "target": "de"}),
                         {"translatedText": expected})
        self.assertEqual(self.server.json("POST", "/translate", {"q": [], "source": "en", "target": "de"}),
                         {"translatedText": []})

    def test_takes_a_multipart_form(self):
        fields = {"q": LINES[0], "source": "en", "target": "de", "format": "text", "alternatives": "", "api_key": ""}
        form = "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                       for name, value in fields.items())
        expected = {"translatedText": translated(LINES[:1])[0]}
        kind = {"Content_Type": "multipart/form-data; boundary=x"}
        self.assertEqual(self.server.json("POST", "/translate", f"{form}--x--\r\n", **kind), expected)
        self.assertIn("ends in part 7", self.server.json("POST", "/translate", f"{form}--x\r\n", 400, **kind)["error"])

    def test_takes_null_for_what_is_not_given(self):
        request = {"q": LINES[0], "source": "en", "target": "de"}
        expected = {"translatedText": translated(LINES[:1])[0]}
        for name, value in (("format", None), ("format", ""), ("api_key", None), ("api_key", ""), ("alternatives", None),
                            ("alternatives", "")):
            self.assertEqual(self.server.json("POST", "/translate", request | {name: value}), expected)
        self.assertIn("missing q", self.server.json("POST", "/translate", request | {"q": None}, 400)["error"])

    def test_keeps_lines_and_white_space(self):
        first, second = translated(LINES[:2])
        self.assertEqual(self.server.form("/translate", q=f"\n {LINES[0]}\n\n\t{LINES[1]} ", source="en", target="de"),
                         {"translatedText": f"\n {first}\n\n\t{second} "})
        self.assertEqual(self.server.form("/translate", q=" \n", source="en", target="de"), {"translatedText": " \n"})

    def test_gives_alternatives(self):
        found = self.server.form("/translate", q=LINES[0], source="en", target="de", alternatives=2)
        listed = translated(LINES[:1], "--n-best", 3)
        self.assertEqual([found["translatedText"], *found["alternatives"]], [l.split(" ||| ")[1] for l in listed])

    def test_keeps_markup(self):
        found = self.server.form("/translate", q=f"<p>{LINES[0]}</p><p>the <b>red</b> car is <i>new</i></p>", source="en",
                                 target="de", format="html")["translatedText"]
        first, second = translated([LINES[0], "the red car is new"])
        self.assertEqual(re.findall(r"</?\w+>", found)[:2], ["<p>", "</p>"])
        self.assertEqual(sorted(re.findall(r"</?\w+>", found)), sorted("<p> </p> <p> </p> <b> </b> <i> </i>".split()))
        self.assertEqual(re.sub("<p>", "", re.sub(r"</p>", "\n", re.sub(r"</?[bi]>", "", found))), f"{first}\n{second}\n")

    def test_cuts_a_line_into_sentences(self):
        found = self.server.form("/translate", q=f"{LINES[0]}. T{LINES[1][1:]}!  ", source="en", target="de")
        first, second = translated([f"{LINES[0]}.", f"T{LINES[1][1:]}!"])
        self.assertEqual(found["translatedText"], f"{first} {second}  ")

    def test_tells_the_source_if_it_is_auto(self):
        found = self.server.form("/translate", q=LINES[0], source="auto", target="de")
        self.assertEqual(found["detectedLanguage"], {"confidence": 100, "language": "en"})
        self.assertEqual(self.server.form("/detect", q="x"), [{"confidence": 100, "language": "en"}])

    def test_describes_itself(self):
        self.assertEqual(self.server.json("GET", "/languages"),
                         [{"code": "de", "name": "German", "targets": []},
                          {"code": "en", "name": "English", "targets": ["de"]}])
        settings = self.server.json("GET", "/frontend/settings")
        self.assertEqual((settings["charLimit"], settings["keyRequired"], settings["language"]["source"]["code"]),
                         (100_000, False, "en"))
        self.assertEqual(self.server.json("GET", "/health"), {"status": "ok"})
        self.assertEqual(self.server.json("GET", "/spec")["openapi"][:2], "3.")

    def test_says_what_is_wrong(self):
        for fields, message in (({"source": "en", "target": "de"}, "missing q"), ({"q": "a", "target": "de"}, "missing source"),
                                ({"q": "a", "source": "xx", "target": "de"}, "xx is not supported"),
                                ({"q": "a", "source": "de", "target": "en"}, "not supported"),
                                ({"q": "a", "source": "en", "target": "de", "format": "pdf"}, "pdf format"),
                                ({"q": "a", "source": "en", "target": "de", "alternatives": "many"}, "must be a number"),
                                ({"q": "a", "source": "en", "target": "de", "alternatives": 11}, "<= 10"),
                                ({"q": "a" * 100_001, "source": "en", "target": "de"}, "exceeds text limit (100000)")):
            self.assertIn(message, self.server.form("/translate", 400, **fields)["error"])
        for body in (b"{", b"[]", b'{"q":"\xff"}', b"[" * 10_000, b'{"q":{}}', b'{"q":[1]}'):
            self.server.json("POST", "/translate", body, 400, Content_Type="application/json")
        self.assertIn("no /nowhere", self.server.json("GET", "/nowhere", status=404)["error"])
        status, headers, _ = self.server.call("GET", "/translate")
        self.assertEqual((status, headers["Allow"]), (405, "POST"))

    def test_works_with_libretranslatepy(self):
        try:
            from libretranslatepy import LibreTranslateAPI
        except ImportError:
            self.skipTest("libretranslatepy is not installed")
        api = LibreTranslateAPI(f"http://127.0.0.1:{self.server.port}/")
        self.assertEqual(api.translate(LINES[4], "en", "de"), translated(LINES[4:5])[0])
        self.assertEqual(api.detect(LINES[4])[0]["language"], "en")
        self.assertIn({"code": "en", "name": "English", "targets": ["de"]}, api.languages())

    def test_works_with_deep_translator(self):
        try:
            from deep_translator import LibreTranslator
        except ImportError:
            self.skipTest("deep-translator is not installed")
        translator = LibreTranslator("en", "de", custom_url=f"http://127.0.0.1:{self.server.port}/", api_key="none")
        self.assertEqual(translator.translate(LINES[5]), translated(LINES[5:6])[0])


class Page(Served):
    def test_allows_nothing_from_elsewhere(self):
        for path, kind in (("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")):
            status, headers, content = self.server.call("GET", path)
            self.assertEqual((status, headers["Content-Type"]), (200, f"{kind}; charset=utf-8"))
            self.assertIn("default-src 'none'; script-src 'self'", headers["Content-Security-Policy"])
            self.assertNotRegex(content, rb"https?://")

    @unittest.skipUnless(NODE, "Node.js is not installed")
    def test_translates_with_models_that_align_and_with_others(self):
        """Chooses a target, and shows the translation."""
        toy_server.train(serve_case.BINARY, serve_case.FOLDER, "alone.safetensors", "--type", "decoder-only")
        models = {"de": "a", "fr": "alone"}
        with serving(models=[f"en-{target}={model}.safetensors" for target, model in models.items()]) as server:
            self.assertEqual(server.json("GET", "/v1/models")["models"],
                             [{"source": "en", "target": "de", "alignment": True},
                              {"source": "en", "target": "fr", "alignment": False}])
            for target, model in models.items():
                self.assertEqual(self.shown(server, target), ["", translated(LINES[:1], model=model)[0], target == "de"])

    @unittest.skipUnless(NODE, "Node.js is not installed")
    def test_translates_with_a_model_that_no_longer_aligns(self):
        """The model is replaced while the page is open."""
        toy_server.train(serve_case.BINARY, serve_case.FOLDER, "other.safetensors", "--type", "decoder-only")
        other, served = serve_case.FOLDER / "other.safetensors", serve_case.FOLDER / "served.safetensors"
        expected = translated(LINES[:1], model="other")[0]
        shutil.copy(serve_case.FOLDER / "a.safetensors", served)
        with serving(models=[served.name]) as server:
            replace = f"""if (path === 'v1/translate' && !replaced) {{
                replaced = true;
                require('fs').renameSync({json.dumps(str(other))}, {json.dumps(str(served))});
                const done = await real('http://127.0.0.1:{server.port}/v1/reload',
                  {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}});
                if (!done.ok) throw new Error(await done.text());
              }}"""
            self.assertEqual(self.shown(server, "und", replace), ["", expected, False])

    @unittest.skipUnless(NODE, "Node.js is not installed")
    def test_translates_with_a_model_of_several_languages(self):
        """Both are chosen, or one, as the other is given to the server."""
        serve_case.make_multilingual()
        long = ("--min-length", "6")
        expected = translated(LINES[:1], *long, "--source-lang", "de", "--target-lang", "fr", model="m2m100")
        for given, target in (((), "fr"), (("--target-lang", "fr"), "und"), (("--source-lang", "de"), "fr"),
                              (("--source-lang", "de", "--target-lang", "fr"), "und")):
            with serving(*long, *given, models=("m2m100",)) as server:
                self.assertEqual(self.shown(server, target)[:2], ["", expected[0]], given)

    def shown(self, server, target, before=""):
        """State, translation and whether its words are marked; the browser is a stub, its requests are real."""
        browser = f"""
            class Element {{
              classList = {{toggle() {{}}, add() {{}}}};
              set textContent(text) {{ this.text = text; }}
              replaceChildren(...children) {{
                this.value = (children.find(c => c.selected) ?? children[0])?.value;
                this.text = children.map(c => c.text ?? c).join('');
                this.words = children.filter(c => c.text).length;
              }}
            }}
            class Option {{
              constructor(text, value, standard, selected) {{ Object.assign(this, {{value, selected}}); }}
            }}
            const elements = {{}};
            const document = {{addEventListener() {{}}, createElement: () => new Element(),
                               getElementById: id => elements[id] ??= new Element()}};
            const location = {{hash: {json.dumps("#" + LINES[0])}}};
            const real = globalThis.fetch;
            let replaced = false;
            const fetch = async (path, options) => {{
              {before}
              return real('http://127.0.0.1:{server.port}/' + path, options);
            }};
            process.on('exit', () => process.stdout.write(JSON.stringify(
              [$('state').text, $('translation').text, $('translation').words > 0])));
            process.nextTick(async () => {{
              while (!$('target').onchange) await new Promise(resolve => setTimeout(resolve, 10));
              $('target').value = '{target}';
              $('target').onchange();
            }});"""
        script = server.call("GET", "/page.js")[2].decode()
        done = subprocess.run([NODE, "-e", f"{{{browser}\n{script}}}"], timeout=60, check=False, encoding="utf-8",
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipUnless(NODE, "Node.js is not installed")
    def test_takes_what_a_link_brings(self):
        script = self.server.call("GET", "/page.js")[2].decode()
        for link, text in (("#100%25%20a", "100% a"), ("#100%", "100%"), ("", "")):
            browser = f"""
                const elements = {{}};
                const document = {{addEventListener() {{}},
                                   getElementById: id => elements[id] ??= {{classList: {{toggle() {{}}}}}}}};
                const location = {{hash: {json.dumps(link)}}};
                const fetch = async () => {{ throw new Error('there is no server'); }};"""
            done = subprocess.run([NODE, "-e", f"{browser}\n{script}\nprocess.stdout.write($('text').value);"], timeout=60,
                                  check=False, encoding="utf-8", capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (0, text), done.stderr)

    @unittest.skipUnless(BROWSER, "no browser is installed")
    def test_translates_what_a_link_brings(self):
        text = f"{LINES[0]}\n<b>&{LINES[1]}"
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                                   "--virtual-time-budget=60000", "--dump-dom",
                                   f"http://127.0.0.1:{self.server.port}/#{urllib.parse.quote(text)}"],
                                  timeout=120, check=False, encoding="utf-8", capture_output=True)
        found = re.search(r'<div id="translation"[^>]*>(.*?)</div>', done.stdout, re.S)
        self.assertIsNotNone(found, done.stderr[-2000:])
        shown = html.unescape(re.sub(r"</?span[^>]*>", "", found[1]))
        self.assertEqual(shown, "\n".join(translated(text.split("\n"))))
        self.assertIn("<span>", found[1], "words that show what they look at")
        self.assertGreater(len(re.findall(r"<li>", done.stdout)), 0, "alternatives")


if __name__ == "__main__":
    serve_case.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
