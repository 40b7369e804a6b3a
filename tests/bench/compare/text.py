"""Text files, compressed or not."""
import gzip
import lzma
from pathlib import Path


def read_lines(path):
    with {".xz": lzma.open, ".gz": gzip.open}.get(Path(path).suffix, open)(path, "rt", encoding="utf-8") as file:
        return file.read().removesuffix("\n").split("\n")


def plain_copy(path, folder):
    """The path of the file itself or, if it is compressed, of a decompressed copy in the folder."""
    if Path(path).suffix not in (".xz", ".gz"):
        return Path(path)
    plain = Path(folder) / Path(path).stem
    plain.write_text("\n".join(read_lines(path)) + "\n", encoding="utf-8")
    return plain
