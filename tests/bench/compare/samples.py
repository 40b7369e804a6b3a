"""Figures of several rounds, in which programs alternate."""
import statistics
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Measure:
    name: str
    show: Callable[[float], str]
    best: Callable  # max or min


TOKENS = Measure("target tokens/s", "{:,.0f}".format, max)
WORDS = Measure("source words/s", "{:,.0f}".format, max)
FIRST = Measure("start to first result, ms", "{:,.0f}".format, min)
SINGLE = Measure("single sentence, ms", "{:,.2f}".format, min)
PEAK = Measure("peak memory, MiB", "{:,.0f}".format, min)
GPU_PEAK = Measure("peak memory of the GPU, MiB", "{:,.0f}".format, min)
MFU = Measure("MFU, %", "{:.1f}".format, max)
BLEU = Measure("BLEU", "{:.2f}".format, max)


class Samples:
    """The figures of one program: {setting: {measure: [value of each round]}}."""

    def __init__(self):
        self.settings = {}

    def add(self, setting, values):
        for measure, value in values.items():
            self.settings.setdefault(setting, {}).setdefault(measure, []).append(value)

    def measures(self):
        return list(dict.fromkeys(measure for values in self.settings.values() for measure in values))

    def best(self, measure):
        """The setting with the best median over the rounds, and its values."""
        settings = {setting: values[measure] for setting, values in self.settings.items() if measure in values}
        if not settings:
            return "", []
        setting = measure.best(settings, key=lambda s: statistics.median(settings[s]))
        return setting, settings[setting]


def collect(programs, rounds, measure):
    """Returns {program: Samples}; measure(program, setting) returns {measure: value}. Every other round runs in reverse order, so
    that no program always runs after the same one."""
    samples = {program: Samples() for program in programs}
    turns = [(program, setting) for program in programs for setting in program.settings()]
    for i in range(rounds):
        for program, setting in turns[::-1 if i % 2 else 1]:
            samples[program].add(setting, measure(program, setting))
    return samples
