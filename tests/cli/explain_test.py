#!/usr/bin/env python3
"""End-to-end test of `--alignment` of translate and score, and of `dragoman explain`, with a model that has learned to
transliterate words. The page is tested in explain_page_test.py.

    explain_test.py BINARY
"""

import json
import os
import random
import re
import subprocess

import command_case
from command_case import CommandCase

SMALL = ("--dim-emb 32 --transformer-heads 1 --transformer-dim-ffn 64 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 512 --learn-rate 0.01 --lr-warmup 30 --after 400u --cpu-threads 1 --quiet").split()
LATIN, GREEK = "abgdezhiklmnxoprstufqw", "αβγδεζηικλμνξοπρστυφχω"


class Explaining(CommandCase):
    @classmethod
    def setUpClass(cls):
        """A folder with text (s, t), a piece a letter, and a model of it (m)."""
        super().setUpClass()
        draw = random.Random(1)
        cls.lines = ["".join(draw.sample(LATIN, draw.randint(3, 8))) for _ in range(600)]
        cls.greek = [line.translate(str.maketrans(LATIN, GREEK)) for line in cls.lines]
        (cls.folder / "s").write_text("\n".join(cls.lines) + "\n", encoding="utf-8")
        (cls.folder / "t").write_text("\n".join(cls.greek) + "\n", encoding="utf-8")
        cls.succeed("vocab train --input s t --model v --size 305")
        cls.succeed("train -t s t -v v v -m m", *SMALL)

    def translate(self, lines, *options):
        return self.succeed("translate --quiet -m m", *options, text="".join(f"{l}\n" for l in lines)).splitlines()

    def pieces(self, lines):
        """How many each line has, with </s>."""
        text = self.succeed("vocab encode -m v", text="".join(f"{l}\n" for l in lines))
        return [len(line.split()) + 1 for line in text.splitlines()]

    def test_lack_of_memory_for_tensors_is_no_error_of_the_user(self):
        (self.folder / "long").write_text("red house " * 600 + "\n", encoding="utf-8")
        command = 'ulimit -v 300000 && exec "$0" explain -m m -t long long --max-length 10000 --cpu-threads 1 -o never'
        done = subprocess.run(["bash", "-c", command, self.BINARY], cwd=self.folder, capture_output=True, check=False,
                              encoding="utf-8")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr, r"(?m)^error: out of memory: a tensor .*\n  hint: .*ulimit -v")

    def test_hard_has_a_pair_for_each_target_piece_and_changes_no_translation(self):
        plain, aligned = self.translate(self.lines[:50]), self.translate(self.lines[:50], "--alignment")
        self.assertEqual([line.split(" ||| ")[0] for line in aligned], plain)
        for line, source, scores in zip(aligned, self.pieces(self.lines), self.translate(
                self.lines[:50], "--word-scores")):
            pairs = [tuple(map(int, pair.split("-"))) for pair in line.split(" ||| ")[1].split()]
            self.assertEqual(pairs, sorted(pairs))
            predicted = len(scores.split("WordScores= ")[1].split())
            self.assertEqual(sorted(target for _, target in pairs), list(range(predicted)))
            self.assertTrue(all(0 <= s < source for s, _ in pairs), line)

    def test_soft_has_rows_that_sum_to_one_and_agree_with_hard_and_a_threshold(self):
        lines = self.lines[:20]
        soft, hard, above = (self.translate(lines, "--alignment", how) for how in ("soft", "hard", "0.3"))
        for line, best, some, source in zip(soft, hard, above, self.pieces(lines)):
            rows = [[float(w) for w in row.split(",")] for row in line.split(" ||| ")[1].split()]
            for row in rows:
                self.assertEqual(len(row), source)
                self.assertAlmostEqual(sum(row), 1, delta=1e-4)
            links = lambda text: set(text.split(" ||| ")[1].split())
            self.assertEqual(links(best), {f"{row.index(max(row))}-{j}" for j, row in enumerate(rows)})
            self.assertEqual(links(some), {f"{i}-{j}" for j, row in enumerate(rows)
                                           for i, weight in enumerate(row) if weight > 0.3})

    def test_what_was_learned_letter_by_letter_stands_on_the_diagonal(self):
        diagonal = total = 0
        (self.folder / "some.s").write_text("\n".join(self.lines[:100]) + "\n", encoding="utf-8")
        (self.folder / "some.t").write_text("\n".join(self.greek[:100]) + "\n", encoding="utf-8")
        for line in self.succeed("score -m m -t some.s some.t --alignment").splitlines():
            for source, target in re.findall(r"(\d+)-(\d+)", line.split(" ||| ")[1]):
                diagonal, total = diagonal + (abs(int(source) - int(target)) <= 1), total + 1
        self.assertGreater(diagonal / total, 0.7)

    def test_a_line_is_aligned_the_same_in_any_batch(self):
        for precision in ("float32", "int8"):
            options = ("--alignment", "soft", "--precision", precision)
            together = self.translate(self.lines[:30], *options)
            self.assertEqual(self.translate(self.lines[:30], *options, "--mini-batch-words", "1"), together)
            self.assertEqual(self.translate(self.lines[7:8], *options), together[7:8])

    def test_scoring_a_translation_aligns_it_as_translating_did(self):
        for how in ("hard", "soft"):
            found = self.translate(self.lines[:30], "--alignment", how)
            (self.folder / "few").write_text("\n".join(self.lines[:30]) + "\n", encoding="utf-8")
            (self.folder / "out").write_text("".join(l.split(" ||| ")[0] + "\n" for l in found), encoding="utf-8")
            scored = self.succeed("score -m m -t few out --alignment", how).splitlines()
            same = [self.close(a.split(" ||| ")[1], b.split(" ||| ")[1], how) for a, b in zip(found, scored)]
            self.assertGreater(sum(same), 25)  # the text may be segmented differently from the model's output

    @staticmethod
    def close(a, b, how):
        """Whether alignments are the same. A search and a forced pass add up weights in different orders."""
        if how == "hard":
            return a == b
        a, b = ([[float(w) for w in row.split(",")] for row in text.split()] for text in (a, b))
        return [len(row) for row in a] == [len(row) for row in b] and all(
            abs(x - y) < 1e-5 for of_a, of_b in zip(a, b) for x, y in zip(of_a, of_b))

    def test_lists_have_alignments_before_scores_and_can_be_scored_again(self):
        lists = self.translate(self.lines[:3], "--n-best", "--alignment", "--word-scores")
        self.assertEqual(len(lists), 15)
        for line in lists:
            self.assertRegex(line, r"^[012] \|\|\| .* \|\|\| (\d+-\d+ ?)+ \|\|\| WordScores= .* \|\|\| F0= .* \|\|\| ")
        (self.folder / "list").write_text("".join(f"{l}\n" for l in lists), encoding="utf-8")
        again = self.succeed("score -m m -t s list --n-best").splitlines()
        self.assertEqual([re.sub(r" Score= \S+", "", line) for line in again], lists)
        soft = self.succeed("score -m m -t s list --n-best --alignment soft").splitlines()
        self.assertRegex(soft[0].split(" ||| ")[2], r"^[\d.e-]+(,[\d.e-]+)+ ")

    def test_empty_lines_and_long_ones_keep_their_places(self):
        line = "a b g d " * 10
        found = self.translate(["", "abg", line], "--alignment", "--max-length", "8", "--max-length-factor", "1")
        self.assertEqual(len(found), 3)
        self.assertEqual(found[0], " ||| ")
        pairs = re.findall(r"(\d+)-(\d+)", found[2].split(" ||| ")[1])
        self.assertGreater(max(int(source) for source, _ in pairs), 16)  # positions count across segments
        self.assertEqual(len({target for _, target in pairs}), len(pairs))

    # The text has 40 MB.
    def test_soft_alignments_of_a_long_line_take_little_memory(self):
        (self.folder / "long").write_text("a b g d " * 1000 + "\n", encoding="utf-8")
        memory = []
        for style in ("hard", "soft"):
            command = f"translate -m m -i long -o aligned --quiet --alignment {style} --max-length 20 --max-length-factor 1 -b 1"
            process = subprocess.Popen([self.BINARY, *command.split()], cwd=self.folder)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            memory.append(used.ru_maxrss // 1024)
        self.assertGreater((self.folder / "aligned").stat().st_size, 35 << 20)
        self.assertLess(memory[1], memory[0] + 20)

    def explain(self, lines, *options):
        """The objects of --format json."""
        text = self.succeed("explain --quiet -m m --format json", *options, text="".join(f"{l}\n" for l in lines))
        return [json.loads(line) for line in text.splitlines()]

    def test_explained_is_the_translation_with_the_weights_that_alignments_have(self):
        found = self.explain(self.lines[:10])
        aligned = self.translate(self.lines[:10], "--alignment", "soft")
        for number, (e, line, source) in enumerate(zip(found, aligned, self.lines), 1):
            translation, soft = line.split(" ||| ")
            self.assertEqual((e["line"], e["method"]), (number, "raw"))
            self.assertEqual("".join(e["source"]).removesuffix("</s>").replace("▁", " ").strip(), source)
            self.assertEqual("".join(e["predicted"]).removesuffix("</s>").replace("▁", " ").strip(), translation)
            self.assertEqual(e["read"], ["<s>"] + e["predicted"][:-1])
            cross = next(a for a in e["attention"] if a["site"] == "cross")
            self.assertEqual((cross["name"], cross["layer"], cross["heads"]), ("decoder.0.cross_attention", 0, [0]))
            explained = " ".join(",".join(str(w) for w in row) for row in cross["weights"][0])
            self.assertTrue(self.close(explained, soft, "soft"))

    def test_pairs_are_explained_as_they_are(self):
        (self.folder / "one.s").write_text("abg\n\n", encoding="utf-8")
        (self.folder / "one.t").write_text("ω\n\n", encoding="utf-8")
        found = self.explain([], "-t", "one.s", "one.t")
        self.assertEqual("".join(found[0]["predicted"]), "▁ω</s>")
        self.assertEqual((found[1]["source"], found[1]["predicted"]), (["</s>"], ["</s>"]))
        self.assertEqual([a["weights"] for a in found[1]["attention"]], [[[[1]]]] * 3)

    def test_rollout_has_shares_of_all_that_was_put_in(self):
        for e in self.explain(self.lines[:5], "--method", "rollout"):
            maps = {a["site"]: a for a in e["attention"]}
            self.assertEqual(maps["cross"]["heads"], ["mean"])
            for row in maps["encoder-self"]["weights"][0]:
                self.assertAlmostEqual(sum(row), 1, delta=1e-4)
            for read, source in zip(maps["decoder-self"]["weights"][0], maps["cross"]["weights"][0]):
                self.assertAlmostEqual(sum(read) + sum(source), 1, delta=1e-4)

    def test_gradients_are_zero_where_weights_are_and_take_both_signs(self):
        raw, found = self.explain(self.lines[:3]), self.explain(self.lines[:3], "--method", "gradient")
        flat = lambda e: [w for a in e["attention"] for row in a["weights"][0] for w in row]
        for weights, gradients in zip(map(flat, raw), map(flat, found)):
            self.assertTrue(all(g == 0 for w, g in zip(weights, gradients) if w == 0))
            self.assertLess(min(gradients), 0)
            self.assertGreater(max(gradients), 0)

    def test_what_is_chosen_is_shown(self):
        for options, names in ((["--sites", "cross"], ["decoder.0.cross_attention"]),
                               (["--sites", "encoder-self,cross", "--layers", "-1"],
                                ["encoder.0.self_attention", "decoder.0.cross_attention"])):
            self.assertEqual([a["name"] for a in self.explain(["abg"], *options)[0]["attention"]], names)
        self.assertEqual(self.explain(["abg"], "--average")[0]["attention"][0]["heads"], ["mean"])

    def test_lines_that_are_too_long_or_too_many_are_named(self):
        done = self.call("explain -m m --format json --max-length 6 --max-lines 3", text="ab\n" + "a b " * 10 + "\nab\nab\n")
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(["missing" in e for e in found], [False, True, False])
        self.assertRegex(done.stderr, r"line 2: \d+ source pieces, more than --max-length 6")
        self.assertIn("Only the first 3 lines are explained", done.stderr)
        done = self.call("explain -m m --format json --max-lines 1", text="ab\nab\n")
        self.assertIn("Only the first line is explained", done.stderr)

    def test_max_length_counts_the_pieces_of_a_line_without_its_end_as_in_score(self):
        pieces = self.pieces(["abgd"])[0] - 1
        (self.folder / "long").write_text("abgd\n", encoding="utf-8")
        (self.folder / "short").write_text("a\n", encoding="utf-8")
        for command, text in (("explain -m m --format json", "abgd\n"), ("explain -m m --format json -t long short", ""),
                              ("explain -m m --format json -t short long", ""), ("score -m m -t long short", ""),
                              ("score -m m -t short long", "")):
            done = self.call(f"{command} --max-length {pieces}", text=text)
            self.assertEqual((done.returncode, done.stderr.count("--max-length")), (0, 0), done.stderr)
            done = self.call(f"{command} --max-length {pieces - 1}", text=text)
            self.assertRegex(done.stderr, f"{pieces} (source |target |)pieces, more than --max-length {pieces - 1}", command)

    def test_the_last_line_that_is_explained_waits_for_no_other(self):
        with subprocess.Popen([self.BINARY, *"explain -m m --format json --max-lines 1".split()], cwd=self.folder, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as explainer:
            explainer.stdin.write("ab\n")
            explainer.stdin.flush()
            try:
                self.assertEqual(explainer.wait(60), 0)  # stdin is still open
            finally:
                explainer.kill()
            self.assertEqual(json.loads(explainer.stdout.read())["line"], 1)

    def test_text_shows_the_mean_of_the_last_layer_in_shades(self):
        text = self.succeed("explain --quiet -m m", text="abgd\n")
        self.assertTrue(text.startswith("░ 0.05, ▒ 0.15, ▓ 0.4, █ 0.7 and more\n"))
        self.assertEqual(re.findall(r"line 1, (\S+), mean of heads", text),
                         ["encoder.0.self_attention", "decoder.0.self_attention", "decoder.0.cross_attention"])
        self.assertIn("██", text)

    def test_text_of_a_layer_or_head_alone_leaves_the_other_as_it_is(self):
        for options, heads in (("--layers 0", "mean of heads"), ("--heads 0", "head 0"), ("--layers 0 --heads 0", "head 0")):
            text = self.succeed("explain --quiet -m m --sites cross", *options.split(), text="abgd\n")
            self.assertEqual(re.findall(r"line 1, (\S+), (.*)", text), [("decoder.0.cross_attention", heads)], options)

    def test_the_name_of_the_output_says_how_it_is_written(self):
        for name, begin in (("x.html", "<!DOCTYPE html>"), ("x.json", '{"line":1'), ("x.jsonl", '{"line":1'),
                            ("x.txt", "░")):
            self.succeed("explain --quiet -m m -o", name, text="abg\n")
            self.assertTrue((self.folder / name).read_text(encoding="utf-8").startswith(begin), name)

    def test_the_page_is_for_scripts_of_other_directions_too(self):
        page = self.succeed("explain --quiet -m m --format html", text="abg\n")
        self.assertRegex(page, r"thead th \{ writing-mode: vertical-rl; text-orientation: sideways; transform: rotate\(180deg\)")
        self.assertIn("`\\u2068${piece}\\u2069`", page)  # isolates

    def places(self, *options):
        return [json.loads(line) for line in self.succeed("explain --positions --format json", *options).splitlines()]

    def test_positions_are_those_of_the_model(self):
        [sines] = self.places("-m", "m", "--max-length", "3")
        self.assertEqual((sines["name"], [len(row) for row in sines["vectors"]]), ("sinusoidal", [32] * 3))
        self.assertEqual(sines["vectors"][0], [0] * 16 + [1] * 16)
        [paper] = self.places("--max-length", "2")
        self.assertEqual((paper["name"], len(paper["vectors"][1])), ("interleaved", 128))
        self.assertAlmostEqual(paper["vectors"][1][0], 0.841471, delta=1e-5)  # sin(1)
        few = "--transformer-positions learned --transformer-max-positions 9 --max-length 8 --after 2u".split()
        self.succeed("train -t s t -v v v -m learned", *SMALL, *few)
        for table, name in zip(self.places("-m", "learned"), ("encoder.positions", "decoder.positions")):
            self.assertEqual((table["name"], [len(row) for row in table["vectors"]]), (name, [32] * 9))
        for kind in ("rotary", "none"):
            self.succeed(f"train -t s t -v v v -m {kind} --transformer-positions {kind}", *SMALL, "--after", "1u")
            done = self.call(f"explain -m {kind} --positions -o kept")
            self.assertIn(f"{kind} has no position embeddings, its positions are {kind}", done.stderr)
            self.assertFalse((self.folder / "kept").exists())
        self.assertTrue(self.succeed("explain --positions").startswith("<!DOCTYPE html>"))

    def test_options_that_make_no_sense_are_refused(self):
        for command, message in (("explain -m m --layers 1", "--layers 1: the model has 1 layer, numbered 0"),
                                 ("explain -m m --heads 0 --method rollout", "--heads contradicts --method rollout"),
                                 ("explain -m m -i s -t s t", "--input and --train-sets: give one"),
                                 ("explain -m m -t s t -b 2", "--beam-size 2 is for --input"),
                                 ("explain -m m -i s -o s", "--output and --input are both s: its content would be lost"),
                                 ("explain -i s", "--model is missing"),
                                 ("explain -m m --positions -i s", "--input contradicts --positions"),
                                 ("explain -m m --positions --source-lang en", "--source-lang contradicts --positions"),
                                 ("explain -m m --positions --target-lang de", "--target-lang contradicts --positions"),
                                 ("explain --positions --format text", "--format text contradicts --positions"),
                                 ("translate -m m --alignment=weich", "not hard, soft, none"),
                                 ("translate -m m --alignment 1.5", "not hard, soft, none"),
                                 ("score -m m -t s t --alignment --summary", "--alignment contradicts --summary")):
            done = self.call(command)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    command_case.main()
