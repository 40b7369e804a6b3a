"""The dragoman that is measured."""
import re

from machine import missing
from process import run


class Binary:
    name = "dragoman"

    def __init__(self, a):
        self.path, self.threads = a.dragoman, a.threads

    def missing(self):
        return missing(self.path)

    def version(self):
        return ", ".join(run([self.path, "--version"]).out.splitlines())

    def settings(self):
        return [f"{self.threads} threads"]

    def precision(self, command, name):
        """Options for a precision; None if this dragoman does not have it."""
        if name == "float32":
            return []
        described = re.search(r"--precision\b.*?(?=\n +-|\n\n)", run([self.path, "help", command]).out, re.DOTALL)
        return ["--precision", name] if described and name in described[0] else None
