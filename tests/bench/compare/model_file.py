"""Model files read with the standard library alone (docs/model_format.md)."""
import json
import shutil

END = 2  # </s>


class ModelFile:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.header_bytes = int.from_bytes(file.read(8), "little")
            self.tensors = json.loads(file.read(self.header_bytes))
        self.metadata = self.tensors.pop("__metadata__")

    def place(self, name):
        """Where a tensor begins in the file, and its bytes."""
        begin, end = self.tensors[name]["data_offsets"]
        return 8 + self.header_bytes + begin, end - begin

    def save_vocabulary(self, side, path):
        begin, size = self.place(f"vocabulary.{side}")
        with open(self.path, "rb") as file, open(path, "wb") as out:
            file.seek(begin)
            out.write(file.read(size))

    def output(self):
        """The name of the matrix (V, D) that logits are computed with."""
        names = ("output.weight", "embedding.weight", "target_embedding.weight", "source_embedding.weight")
        return next(name for name in names if name in self.tensors)

    def save_endless(self, path):
        """A copy whose </s> has the logit 0, which is never the best of thousands around 0: an untrained model then
        writes as many pieces as it may. The checksum goes, as the weights are others."""
        shutil.copyfile(self.path, path)
        metadata = {key: value for key, value in self.metadata.items() if key != "checksum"}
        header = json.dumps({"__metadata__": metadata, **self.tensors}, ensure_ascii=False, separators=(",", ":"))
        begin, size = self.place(self.output())
        row = size // self.tensors[self.output()]["shape"][0]
        with open(path, "r+b") as file:
            file.seek(8)
            file.write(header.encode().ljust(self.header_bytes))
            file.seek(begin + END * row)
            file.write(bytes(row))
