#!/usr/bin/env python3
"""The corpus of scripts/phrases: its promises, and German grammar worked by hand."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PHRASES = Path(__file__).resolve().parents[2] / "scripts" / "phrases"
sys.path.insert(0, str(PHRASES))

import english  # noqa: E402
import german  # noqa: E402
import grammar  # noqa: E402


def generate(hash_seed):
    """{file name: bytes} of one run of the script."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", PHRASES, folder], check=True, env={"PYTHONHASHSEED": hash_seed})
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = generate("1")
        cls.lines = {name: data.decode("utf-8").splitlines() for name, data in cls.files.items()}

    def test_a_second_run_writes_the_same_bytes(self):
        self.assertEqual(generate("2"), self.files)

    def test_it_is_large_and_its_sides_pair(self):
        self.assertGreaterEqual(len(self.lines["train.en"]), 40_000)
        for split, size in (("train", len(self.lines["train.en"])), ("dev", 1000), ("test", 1000)):
            self.assertEqual([len(self.lines[f"{split}.{side}"]) for side in ("en", "de")], [size, size])

    def test_no_sentence_occurs_twice_within_or_across_the_splits(self):
        for side in ("en", "de"):
            everything = [line for split in ("train", "dev", "test") for line in self.lines[f"{split}.{side}"]]
            self.assertEqual(len(set(everything)), len(everything))

    def test_training_knows_every_word_that_the_test_asks_for(self):
        for side in ("en", "de"):
            known = set(" ".join(self.lines[f"train.{side}"]).split())
            asked = set(" ".join(self.lines[f"test.{side}"]).split())
            self.assertEqual(asked - known, set())

    def test_sentences_are_tidy(self):
        for name, lines in self.lines.items():
            for line in lines:
                self.assertRegex(line, r"^[A-ZÄÖÜ].*[.?!]$", name)
                self.assertNotRegex(line, r"  | [.,?!]|[{}*|…]|\b(zu|von|bei|in|an) dem\b|\bzu der\b", name)


class Patterns(unittest.TestCase):
    def test_there_are_at_least_sixty_and_each_offers_a_choice(self):
        patterns = grammar.load()
        self.assertGreaterEqual(len(patterns), 60)
        for pattern in patterns:
            self.assertGreater(pattern.combinations, 10, pattern.source)

    def test_a_pattern_whose_sides_differ_in_slots_is_refused(self):
        with self.assertRaisesRegex(ValueError, "do not have the same slots"):
            grammar.Pattern("{a} and {b}", "{a}", {"a": [], "b": []})


class German(unittest.TestCase):
    def test_articles_and_adjectives_agree_in_gender_case_and_number(self):
        coat, room = german.Noun("der Mantel, Mäntel"), german.Noun("das Zimmer, Zimmer")
        self.assertEqual(f"{coat:ein acc dunkel}", "einen dunklen Mantel")
        self.assertEqual(f"{coat:dieser dat blau}", "diesem blauen Mantel")
        self.assertEqual(f"{room:ein ruhig}", "ein ruhiges Zimmer")
        self.assertEqual(f"{room:der acc ruhig}", "das ruhige Zimmer")
        self.assertEqual(f"{german.Noun('die Suppe, Suppen'):kein dat warm}", "keiner warmen Suppe")

    def test_dative_plurals_take_n_unless_they_have_n_or_s(self):
        self.assertEqual(f"{german.Noun('das Kind, Kinder'):drei dat klein}", "drei kleinen Kindern")
        self.assertEqual(f"{german.Noun('der Chef, Chefs'):zwei dat}", "zwei Chefs")
        self.assertEqual(f"{german.Noun('die Woche, Wochen'):zwei dat}", "zwei Wochen")

    def test_weak_nouns_have_an_ending_in_all_cases_but_the_nominative(self):
        colleague = german.Noun("der Kollege*, Kollegen")
        self.assertEqual([f"{colleague:mein} {colleague:mein acc} {colleague:mein dat}"],
                         ["mein Kollege meinen Kollegen meinem Kollegen"])

    def test_separable_verbs(self):
        verb = german.Verb("ab|holen, abgeholt")
        self.assertEqual([format(verb, form) for form in ("", "particle", "infinitive", "zu", "participle")],
                         ["holen", "ab", "abholen", "abzuholen", "abgeholt"])

    def test_present_tense(self):
        self.assertEqual([german.conjugate(verb, "er") for verb in ("kommen", "mieten", "laden", "können", "reparieren")],
                         ["kommt", "mietet", "lädt", "kann", "repariert"])
        self.assertEqual([german.conjugate("sein", person) for person in ("ich", "sie", "wir", "plural")],
                         ["bin", "ist", "sind", "sind"])

    def test_clock_times_count_towards_the_next_hour_around_the_half(self):
        times = {(7, 30): "halb acht", (8, 15): "Viertel nach acht", (12, 45): "Viertel vor eins", (1, 0): "ein Uhr",
                 (9, 25): "fünf vor halb zehn", (9, 35): "fünf nach halb zehn", (3, 40): "zwanzig vor vier"}
        self.assertEqual({time: german.clock(*time) for time in times}, times)

    def test_numbers(self):
        self.assertEqual([german.cardinal(n) for n in (1, 16, 21, 30, 77)],
                         ["eins", "sechzehn", "einundzwanzig", "dreißig", "siebenundsiebzig"])
        self.assertEqual([german.ordinal(n) for n in (1, 3, 7, 8, 19, 20)],
                         ["erst", "dritt", "siebt", "acht", "neunzehnt", "zwanzigst"])

    def test_prepositions_contract_with_the_article(self):
        self.assertEqual(german.contract("von dem Hotel bis zu der Kirche an dem Hafen"),
                         "vom Hotel bis zur Kirche am Hafen")


class English(unittest.TestCase):
    def test_nouns(self):
        self.assertEqual(f"{english.Noun('umbrella'):a} {english.Noun('umbrella'):a red}", "an umbrella a red umbrella")
        self.assertEqual([english.plural(noun) for noun in ("child", "bus", "city", "day", "knife")],
                         ["children", "buses", "cities", "days", "knives"])

    def test_verbs(self):
        self.assertEqual([english.conjugate(verb, "he") for verb in ("be", "have to", "carry on", "would like to")],
                         ["is", "has to", "carries on", "would like to"])
        self.assertEqual(english.participle("take it along"), "taken it along")

    def test_clock_times_and_ordinals(self):
        self.assertEqual([english.clock(7, 30), english.clock(12, 45), english.ordinal(12), english.ordinal(21)],
                         ["half past seven", "a quarter to one", "twelfth", "twenty-first"])


class WholeSentences(unittest.TestCase):
    """What a pattern makes of chosen words; the German is written by hand."""

    @classmethod
    def setUpClass(cls):
        cls.patterns = {pattern.source: pattern for pattern in grammar.load()}

    def check(self, pattern, source, target):
        pairs = filter(None, map(self.patterns[pattern].fill, range(self.patterns[pattern].combinations)))
        self.assertEqual(next((pair.german for pair in pairs if pair.english == source), None), target)

    def test_the_verb_comes_second_and_its_particle_last(self):
        self.check("{when} {who} will {errand}.", "On Monday my brother will pick up the parcel.",
                   "Am Montag holt mein Bruder das Paket ab.")

    def test_the_verb_comes_last_in_a_subordinate_clause(self):
        self.check("I do not know whether {other} will {errand} {when}.",
                   "I do not know whether she will fill in the form tomorrow.",
                   "Ich weiß nicht, ob sie morgen das Formular ausfüllt.")
        self.check("please {handling} before {other} {other:come} back.",
                   "Please close the window before the children come back.",
                   "Bitte machen Sie das Fenster zu, bevor die Kinder zurückkommen.")

    def test_zu_stands_between_particle_and_verb(self):
        self.check("please do not forget to {action} {when}.", "Please do not forget to turn off the heating today.",
                   "Bitte vergessen Sie nicht, heute die Heizung auszuschalten.")

    def test_time_comes_before_manner_before_place(self):
        self.check("{who} {who:be} travelling to {city} by {vehicle} {when}.",
                   "We are travelling to Vienna by train tomorrow.", "Wir fahren morgen mit dem Zug nach Wien.")

    def test_prepositions_take_the_dative_for_a_place_and_the_accusative_for_a_direction(self):
        self.check("{small:your} is {spot} {furniture:the}.", "Your letter is on the table.",
                   "Ihr Brief liegt auf dem Tisch.")
        self.check("please put {small:the} {spot} {furniture:the}.", "Please put the letter on the table.",
                   "Bitte legen Sie den Brief auf den Tisch.")

    def test_relative_pronouns_agree(self):
        self.check("{who} {who:need} {helper:a} who speaks {language}.", "I need a nurse who speaks English.",
                   "Ich brauche eine Krankenschwester, die Englisch spricht.")

    def test_persons_stand_in_the_dative_with_verbs_that_ask_for_it(self):
        self.check("{person:my}'s {body} has been hurting for {unit:{few}}.",
                   "My sister's knee has been hurting for three days.",
                   "Meiner Schwester tut seit drei Tagen das Knie weh.")
        self.check("did {person:your} like {dish:the}?", "Did your colleague like the soup?",
                   "Hat Ihrem Kollegen die Suppe geschmeckt?")

    def test_possessives_follow_the_subject(self):
        self.check("{who} lost {belonging:{who.possessive}} at {site:the} {past}.",
                   "My wife lost her umbrella at the station yesterday.",
                   "Meine Frau hat gestern ihren Regenschirm am Bahnhof verloren.")


if __name__ == "__main__":
    unittest.main()
