"""Reads model files with the standard library only (docs/model_format.md)."""
import json
import os

from process import Failed


class ModelFile:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.header_bytes = int.from_bytes(file.read(8), "little")
            fits = self.header_bytes <= os.fstat(file.fileno()).st_size
            header = file.read(self.header_bytes) if fits else b""
        try:
            self.tensors = json.loads(header)
        except ValueError:
            raise Failed(f"{path} is not a model file of dragoman: it does not begin with a header in JSON") from None

    def place(self, name):
        """Offset of a tensor in the file, and its size in bytes."""
        begin, end = self.tensors[name]["data_offsets"]
        return 8 + self.header_bytes + begin, end - begin

    def weights(self):
        """Total size of all float32 tensors in bytes."""
        return sum(self.place(name)[1] for name, tensor in self.tensors.items() if tensor.get("dtype") == "F32")

    def save_vocabulary(self, side, path):
        begin, size = self.place(f"vocabulary.{side}")
        with open(self.path, "rb") as file, open(path, "wb") as out:
            file.seek(begin)
            out.write(file.read(size))
