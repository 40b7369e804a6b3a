"""German inflection, as much as travel phrases need: present tense, three cases, numbers, clock times.

Words know how to inflect themselves through format(): '{place:ein acc {colour}}' in a pattern calls
Noun.__format__('ein acc rot') and gives 'einen roten Mantel'.
"""

import re

CASES = ("nom", "acc", "dat")
# Endings in the order of CASES.  "der" is also the pattern of "dieser", "ein" that of "kein", "mein", "Ihr" and so on.
DEFINITE = {"m": "der den dem", "f": "die die der", "n": "das das dem", "pl": "die die den"}
DIESER = {"m": "er en em", "f": "e e er", "n": "es es em", "pl": "e e en"}
EIN = {"m": "- en em", "f": "e e er", "n": "- - em", "pl": "e e en"}
ADJECTIVE = {
    "weak": {"m": "e en en", "f": "e e en", "n": "e e en", "pl": "en en en"},  # after der, dieser
    "mixed": {"m": "er en en", "f": "e e en", "n": "es es en", "pl": "en en en"},  # after ein, mein
    "strong": {"m": "er en em", "f": "e e er", "n": "es es em", "pl": "e e en"},  # after nothing or a number
}
EIN_WORDS = ("ein", "kein", "mein", "sein", "ihr", "unser", "Ihr")
CONTRACTIONS = {"an dem": "am", "an das": "ans", "bei dem": "beim", "in dem": "im", "in das": "ins",
                "von dem": "vom", "zu dem": "zum", "zu der": "zur"}

ONES = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn " \
       "siebzehn achtzehn neunzehn".split()
TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()

POSSESSIVE = {"ich": "mein", "er": "sein", "sie": "ihr", "wir": "unser", "plural": "ihr"}
REFLEXIVE = {"ich": "mich", "er": "sich", "sie": "sich", "wir": "uns", "plural": "sich"}
# infinitive: the forms for ich and for er; all others are those of the infinitive
IRREGULAR = {
    "sein": ("bin", "ist"), "haben": ("habe", "hat"), "hätten": ("hätte", "hätte"), "möchten": ("möchte", "möchte"),
    "können": ("kann", "kann"), "müssen": ("muss", "muss"), "wollen": ("will", "will"), "sollten": ("sollte", "sollte"),
    "dürfen": ("darf", "darf"), "fahren": ("fahre", "fährt"), "nehmen": ("nehme", "nimmt"), "geben": ("gebe", "gibt"),
    "laden": ("lade", "lädt"), "treffen": ("treffe", "trifft"), "vergessen": ("vergesse", "vergisst"),
    "sprechen": ("spreche", "spricht"),
}


def pick(endings, gender, case):
    return endings[gender].split()[CASES.index(case)].replace("-", "")


def conjugate(infinitive, person):
    """Present tense: person is ich, er, sie (she), wir, or plural."""
    if person in ("wir", "plural"):
        return "sind" if infinitive == "sein" else infinitive
    if infinitive in IRREGULAR:
        return IRREGULAR[infinitive][person != "ich"]
    stem = re.sub("e?n$", "", infinitive)
    if person == "ich":
        return stem + "e"
    return stem + ("et" if stem[-1] in "td" else "t")


def adjective(stem, ending):
    """teuer + e = teure, dunkel + e = dunkle."""
    return re.sub("e([lr])$", r"\1", stem) + ending if stem in ("teuer", "dunkel") else stem + ending


class Noun:
    """Format spec: a determiner or a number, a case, adjective stems, or 'relative' for the relative pronoun."""

    def __init__(self, entry):
        article, singular, plural = re.fullmatch(r"(der|die|das) ([^,]+)(?:, (.+))?", entry).groups()
        self.gender = {"der": "m", "die": "f", "das": "n"}[article]
        self.weak = singular.endswith("*")  # der Kollege, den Kollegen
        self.singular, self.plural = singular.rstrip("*"), plural

    def __format__(self, spec):
        determiner, case, plural, relative, adjectives = "", "nom", False, False, []
        for word in spec.split():
            if word in CASES:
                case = word
            elif word == "relative":
                relative = True
            elif word in EIN_WORDS or word in ("der", "dieser"):
                determiner = word
            elif word in NUMBER_WORDS:
                determiner, plural = word, True
            else:
                adjectives.append(word)
        gender = "pl" if plural else self.gender
        if relative:
            return pick(DEFINITE, gender, case)
        article, declension = self.determine(determiner, gender, case)
        ending = pick(ADJECTIVE[declension], gender, case)
        return " ".join(filter(None, [article, *(adjective(a, ending) for a in adjectives), self.form(plural, case)]))

    @staticmethod
    def determine(determiner, gender, case):
        if determiner == "der":
            return pick(DEFINITE, gender, case), "weak"
        if determiner == "dieser":
            return "dies" + pick(DIESER, gender, case), "weak"
        if determiner in EIN_WORDS:
            return determiner + pick(EIN, gender, case), "mixed"
        return determiner, "strong"

    def form(self, plural, case):
        if plural:
            return self.plural + ("n" if case == "dat" and self.plural[-1] not in "ns" else "")
        return self.plural if self.weak and case != "nom" else self.singular


class Verb:
    """'ab|holen, abgeholt'.  Format spec: nothing (holen), particle (ab), infinitive, zu (abzuholen), participle."""

    def __init__(self, entry):
        infinitive, self.participle = entry.split(", ")
        self.particle, _, self.base = infinitive.rpartition("|")

    def __format__(self, spec):
        zu = f"{self.particle}zu{self.base}" if self.particle else f"zu {self.base}"
        return {"": self.base, "particle": self.particle, "infinitive": self.particle + self.base, "zu": zu,
                "participle": self.participle}[spec]


class Action:
    """A verb and its object, which German sentences put in different places: {action.verb}, {action.thing:der acc}."""

    def __init__(self, verb, thing):
        self.verb, self.thing = verb, thing


class Subject:
    """'mein Bruder (er)'.  Format spec: nothing (the subject), an infinitive (its form), or 'sich' (the reflexive)."""

    def __init__(self, entry):
        self.text, self.person = re.fullmatch(r"(?:(.+) )?\((\w+)\)", entry).groups()
        self.text = self.text or self.person
        self.possessive = POSSESSIVE[self.person]

    def __format__(self, spec):
        if not spec:
            return self.text
        return REFLEXIVE[self.person] if spec == "sich" else conjugate(spec, self.person)


def cardinal(n):
    """0 to 99: zwei, einundzwanzig."""
    if n < 20:
        return ONES[n]
    ten, one = divmod(n, 10)
    return ("ein" if one == 1 else ONES[one]) + "und" + TENS[ten] if one else TENS[ten]


NUMBER_WORDS = {cardinal(n) for n in range(2, 100)}


def ordinal(n):
    """The stem, which takes adjective endings: dritt, zwanzigst."""
    special = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
    return special.get(n) or cardinal(n) + ("t" if n < 20 else "st")


def clock(hour, minute):
    """Twelve-hour clock in steps of five minutes; from twenty-five past on, German counts towards the next hour."""
    this, following = ONES[hour], ONES[hour % 12 + 1]
    if minute == 0:
        return ("ein" if hour == 1 else this) + " Uhr"
    if minute in (25, 30, 35):
        return {25: "fünf vor ", 30: "", 35: "fünf nach "}[minute] + "halb " + following
    if minute < 30:
        return ("Viertel" if minute == 15 else ONES[minute] if minute < 20 else cardinal(minute)) + " nach " + this
    return ("Viertel" if minute == 45 else cardinal(60 - minute)) + " vor " + following


def contract(sentence):
    """zu dem Bahnhof = zum Bahnhof."""
    return re.sub(rf"\b({'|'.join(CONTRACTIONS)})\b", lambda match: CONTRACTIONS[match[0]], sentence)
