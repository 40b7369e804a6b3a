"""English inflection, the counterpart of german.py: words inflect themselves through format()."""

import re

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " \
       "seventeen eighteen nineteen".split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
            "twelve": "twelfth"}

POSSESSIVE = {"I": "my", "he": "his", "she": "her", "we": "our", "they": "their"}
DETERMINERS = ("a", "the", "this", "no", "my", "your", "his", "her", "our", "their")
INVARIABLE = ("can", "must", "should", "would")
PARTICIPLES = {"bring": "brought", "buy": "bought", "find": "found", "forget": "forgotten", "meet": "met",
               "pay": "paid", "send": "sent", "take": "taken", "wake": "woken"}


def plural(noun):
    if noun.endswith(("child", "knife")):
        return noun[:-5] + {"child": "children", "knife": "knives"}[noun[-5:]]
    if re.search("(s|x|ch|sh)$", noun):
        return noun + "es"
    return re.sub("([^aeiou])y$", r"\1ie", noun) + "s"


def conjugate(verb, person):
    """Present tense of the first word: 'pick up the key' and 'he' give 'picks up the key'."""
    first, *rest = verb.split(" ", 1)
    if first == "be":
        first = {"I": "am", "he": "is", "she": "is"}.get(person, "are")
    elif person in ("he", "she") and first not in INVARIABLE:
        first = {"have": "has", "do": "does", "go": "goes"}.get(first) or plural(first)
    return " ".join([first, *rest])


def participle(verb):
    """Past participle of the first word; no verb of the lexicon doubles its consonant but these."""
    first, *rest = verb.split(" ", 1)
    if first in PARTICIPLES:
        first = PARTICIPLES[first]
    elif re.search("[^aeiou]y$", first):
        first = first[:-1] + "ied"
    else:
        first += "d" if first.endswith("e") else "ed"
    return " ".join([first, *rest])


class Noun:
    """'key' or 'child, children'.  Format spec: a determiner or a number, adjectives."""

    def __init__(self, entry):
        self.singular, _, self.plural = entry.partition(", ")
        self.plural = self.plural or plural(self.singular)

    def __format__(self, spec):
        words = spec.split()
        words.append(self.plural if words and words[0] in NUMBER_WORDS else self.singular)
        if words[0] == "a":
            words[0] = "an" if words[1][0] in "aeiou" else "a"
        return " ".join(words)


class Action:
    """A verb and its object, '…' in the verb or behind it.  Format spec: a determiner (else 'the'), 'participle'."""

    def __init__(self, verb, thing):
        self.verb, self.thing = verb if "…" in verb else verb + " …", thing

    def __format__(self, spec):
        words = spec.split()
        determiner = next((word for word in words if word in DETERMINERS), "the")
        verb = participle(self.verb) if "participle" in words else self.verb
        return verb.replace("…", format(self.thing, determiner))


class Subject:
    """'my brother (he)'.  Format spec: nothing (the subject) or a verb phrase (its present tense)."""

    def __init__(self, entry):
        self.text, self.person = re.fullmatch(r"(?:(.+) )?\((\w+)\)", entry).groups()
        self.text = self.text or self.person
        self.possessive = POSSESSIVE[self.person]

    def __format__(self, spec):
        return conjugate(spec, self.person) if spec else self.text


def cardinal(n):
    if n < 20:
        return ONES[n]
    ten, one = divmod(n, 10)
    return TENS[ten] + ("-" + ONES[one] if one else "")


NUMBER_WORDS = {cardinal(n) for n in range(2, 100)}


def ordinal(n):
    *ten, one = cardinal(n).split("-")
    return "-".join([*ten, ORDINALS.get(one) or re.sub("y$", "ie", one) + "th"])


def clock(hour, minute):
    if minute == 0:
        return ONES[hour] + " o'clock"
    name = {15: "a quarter", 30: "half"}
    if minute <= 30:
        return name.get(minute, cardinal(minute)) + " past " + ONES[hour]
    return name.get(60 - minute, cardinal(60 - minute)) + " to " + ONES[hour % 12 + 1]
