"""The sizes of Transformers to compare, as in --task of `dragoman train`."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Shape:
    layers: int
    dim: int
    feed_forward: int
    heads: int
    dropout: float
    decoder_layers: int = 0  # 0: as many as in the encoder
    pre_norm: bool = False

    def options(self):
        """Options of `dragoman train`."""
        layers = {"enc-depth": self.layers, "dec-depth": self.decoder_layers or self.layers}
        sizes = {"dim-emb": self.dim, "transformer-dim-ffn": self.feed_forward, "transformer-heads": self.heads,
                 "transformer-dropout": self.dropout}
        return [word for name, value in (layers | sizes).items() for word in (f"--{name}", str(value))]


SHAPES = {
    "toy": Shape(1, 16, 32, 2, 0.1),  # for trying programs out
    "tiny": Shape(4, 128, 256, 4, 0.3),
    "base": Shape(6, 512, 2048, 8, 0.1),
    "big": Shape(6, 1024, 4096, 16, 0.3),
}
