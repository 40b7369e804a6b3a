"""Text files, compressed or not."""
import gzip
import lzma
from pathlib import Path


def read_lines(path):
    with {".xz": lzma.open, ".gz": gzip.open}.get(Path(path).suffix, open)(path, "rt", encoding="utf-8") as file:
        return file.read().removesuffix("\n").split("\n")
