#!/usr/bin/env python3
"""Tests the page of `dragoman explain` in a headless browser (chromium, google-chrome); skipped if there is none.

    explain_page_test.py BINARY
"""

import html
import json
import re
import shutil
import subprocess
import unittest

import command_case
from command_case import CommandCase

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SMALL = ("--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 16 --enc-depth 2 --dec-depth 2 --after 2u "
         "--cpu-threads 1 --quiet").split()
EVIL = "</script><b>&\"' \u2028 ~"

# Needs no waiting: the page changes only on events. The result of `probe` is written to an element.
PROBE = """<script>
const event = name => new PointerEvent(name, { pointerType: 'mouse', bubbles: true });
const texts = selector => [...document.querySelectorAll(selector)].map(e => e.textContent);
const count = selector => document.querySelectorAll(selector).length;
const report = element(document.body, 'output', { id: 'probe' });
report.textContent = JSON.stringify((() => { PROBE })());
</script></body>"""


def isolated(piece):
    """As the page writes it beside numbers, whose order a right-to-left piece would change."""
    return f"\u2068{piece}\u2069"


@unittest.skipUnless(BROWSER, "no browser is installed")
class Page(CommandCase):
    @classmethod
    def setUpClass(cls):
        """A folder with a model (m) and pairs of lines (s, t)."""
        super().setUpClass()
        (cls.folder / "s").write_text(f"a b c\n{EVIL}\n{'a ' * 60}\n", encoding="utf-8")
        (cls.folder / "t").write_text(f"d e\nx\ny\n", encoding="utf-8")
        cls.succeed("vocab train --input s t --model v --size 40 --no-byte-fallback")
        cls.succeed("train -t s t -v v v -m m", *SMALL)
        cls.succeed("explain -m m -t s t -o page.html --max-length 50 --quiet")
        cls.json = [json.loads(line) for line in
                    cls.succeed("explain -m m -t s t --format json --max-length 50 --quiet").splitlines()]

    def probe(self, script, page="page.html"):
        text = (self.folder / page).read_text(encoding="utf-8")
        (self.folder / "probe.html").write_text(text.replace("</body>", PROBE.replace("PROBE", script)),
                                                encoding="utf-8")
        done = subprocess.run(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
             "--dump-dom", f"file://{self.folder}/probe.html"],
            timeout=120, check=False, encoding="utf-8", capture_output=True)
        found = re.search(r'<output id="probe">(.*?)</output>', done.stdout, re.S)
        self.assertIsNotNone(found, done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

    def weights(self, line, name, head):
        attention = next(a for a in self.json[line]["attention"] if a["name"] == name)
        return attention["weights"][head]

    def test_shows_the_last_cross_attention_first_with_all_its_heads(self):
        found = self.probe("""return { lines: texts('#pairs option'), sites: texts('#sites label'),
            title: texts('#title')[0], queries: texts('#queries button'), keys: texts('#keys button'),
            cells: count('td.cell'), heads: texts('.head'), canvases: count('canvas') };""")
        pair = self.json[0]
        self.assertEqual(found["lines"][0], "1: a b c")
        self.assertIn("60 source pieces, more than --max-length 50", found["lines"][2])
        self.assertEqual(found["sites"], ["encoder self", "decoder self", "cross"])
        self.assertEqual(found["title"], "cross, layer 1, mean")
        self.assertEqual((found["queries"], found["keys"]), (pair["predicted"], pair["source"]))
        self.assertEqual(found["cells"], len(pair["predicted"]) * len(pair["source"]))
        self.assertEqual(found["heads"], ["mean", "head 0", "head 1"] * 2)
        self.assertEqual(found["canvases"], 6)

    def test_a_piece_that_is_pointed_at_shows_where_it_looks(self):
        found = self.probe("""
            document.querySelectorAll('.head')[5].click();
            const piece = document.querySelectorAll('#queries button')[1];
            piece.dispatchEvent(event('pointerenter'));
            const tints = [...document.querySelectorAll('#keys button')].map(b => +b.style.background.match(/[\\d.]+(?=\\))/)[0]);
            const before = { status: texts('#status')[0], title: texts('#title')[0], tints, row: texts('tr.at th'),
              bands: count('.band') };
            piece.dispatchEvent(event('pointerleave'));
            return { ...before, after: texts('#status')[0], left: count('.band') };""")
        row, source = self.weights(0, "decoder.1.cross_attention", 1)[1], self.json[0]["source"]
        self.assertEqual(found["title"], "cross, layer 1, head 1")
        most = source[row.index(max(row))]
        self.assertTrue(found["status"].startswith(f"{isolated(self.json[0]['predicted'][1])} looks at {isolated(most)} "),
                        found["status"])
        for tint, weight in zip(found["tints"], row):
            self.assertAlmostEqual(tint, weight ** 0.6, delta=0.01)
        self.assertEqual(found["row"], [self.json[0]["predicted"][1]])
        self.assertEqual((found["bands"], found["left"]), (6, 0))  # one on each head's picture
        self.assertEqual(found["after"], "Point at a piece, or tap it.")

    def test_a_piece_that_is_looked_at_shows_by_whom(self):
        found = self.probe("""document.querySelectorAll('#keys button')[0].dispatchEvent(event('pointerenter'));
            return { status: texts('#status')[0], column: texts('th.at') };""")
        self.assertTrue(found["status"].startswith(f"{isolated(self.json[0]['source'][0])} is looked at by \u2068"),
                        found["status"])
        self.assertEqual(found["column"], [self.json[0]["source"][0]])

    def test_keys_reach_what_the_pointer_reaches(self):
        found = self.probe("""
            const key = name => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
            document.querySelector('#queries button').focus();
            key('ArrowRight');
            const first = texts('#queries .at')[0];
            key('Escape');
            return { first, at: count('.at'), tabs: count('#queries [tabindex="0"]') };""")
        self.assertEqual(found, {"first": self.json[0]["predicted"][1], "at": 0, "tabs": 1})

    def test_a_tap_pins_a_piece(self):
        found = self.probe("""const piece = document.querySelector('#queries button');
            piece.click(); piece.dispatchEvent(event('pointerleave'));
            const pinned = texts('#queries .at'); piece.click();
            return { pinned, loose: texts('#queries .at') };""")
        self.assertEqual(found, {"pinned": self.json[0]["predicted"][:1], "loose": []})

    def test_every_site_and_line_can_be_shown(self):
        found = self.probe("""const shown = [];
            for (const radio of document.querySelectorAll('#sites input')) {
              radio.click();
              shown.push([texts('#title')[0], count('#queries button'), count('#keys button')]);
            }
            const select = document.getElementById('pairs');
            select.value = 2; select.dispatchEvent(new Event('change'));
            return { shown, hidden: document.querySelector('main').hidden, why: texts('#legend')[0] };""")
        pair = self.json[0]
        S, T = len(pair["source"]), len(pair["predicted"])
        self.assertEqual(found["shown"], [["encoder self, layer 1, mean", S, S], ["decoder self, layer 1, mean", T, T],
                                          ["cross, layer 1, mean", T, S]])
        self.assertTrue(found["hidden"])
        self.assertIn("more than --max-length 50", found["why"])

    def test_text_stays_text_whatever_it_holds(self):
        found = self.probe("""const select = document.getElementById('pairs');
            select.value = 1; select.dispatchEvent(new Event('change'));
            return { keys: texts('#keys button'), bold: count('b') };""")
        self.assertEqual(found["keys"], self.json[1]["source"])
        self.assertEqual(found["bold"], 0)

    def test_needs_nothing_but_itself(self):
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertNotRegex(page, r"https?://|@import|url\(|<link|src=")

    def test_gradients_have_two_colours_and_a_scale_of_their_own(self):
        self.succeed("explain -m m -t s t -o gradient.html --method gradient --max-length 50 --quiet")
        found = self.probe("""return { legend: texts('#legend span'),
            inks: ['ink', 'against'].map(ink => count(`td.cell[style*="--${ink})"]`)) };""", "gradient.html")
        low, high = map(float, found["legend"])
        self.assertEqual(low, -high)
        self.assertGreater(high, 0)
        self.assertGreater(min(found["inks"]), 0)

    def test_positions_are_drawn_with_their_cosines(self):
        self.succeed("explain --positions -o positions.html --max-length 12 -m m")
        found = self.probe("""const [matrix, cosines] = document.querySelectorAll('canvas');
            const pixel = (x, y) => [...cosines.getContext('2d').getImageData(x, y, 1, 1).data];
            const box = matrix.getBoundingClientRect();
            matrix.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: box.right - 1, clientY: box.top + 1 }));
            const first = texts('.status')[0];
            matrix.dispatchEvent(event('pointerleave'));
            return { title: texts('#title')[0], head: texts('h2')[0], first, after: texts('.status')[0],
              sizes: [matrix, cosines].map(c => [c.width, c.height]), self: pixel(3, 3)[3], far: pixel(11, 0)[3] };""",
                           "positions.html")
        self.assertEqual(found["title"], "m")
        self.assertTrue(found["head"].startswith("sinusoidal positions 0 to 11 down, 16 dimensions across"), found["head"])
        self.assertEqual((found["first"], found["after"]), ("position 0, dimension 15: 1", ""))  # cos(0)
        self.assertEqual(found["sizes"], [[16, 12], [12, 12]])
        self.assertEqual(found["self"], 255)  # the cosine with itself
        self.assertLess(found["far"], 255)


if __name__ == "__main__":
    command_case.main()
