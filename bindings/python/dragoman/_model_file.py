from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterable

from . import _dragoman
from ._arguments import Path, file_name, file_names, languages
from ._dragoman import Vocabulary

if TYPE_CHECKING:
    import numpy


class ModelFile:
    """The content of a model file, of dragoman or of another program (converted in memory)."""

    def __init__(
        self,
        path: Path,
        *,
        vocabs: Iterable[Path] = (),
        source_lang: str | None = None,
        target_lang: str | None = None,
    ) -> None:
        self._file = _dragoman.ModelFile(
            file_name(path, "path"), vocabs=file_names(vocabs, "vocabs"), **languages(source_lang, target_lang)
        )

    @property
    def config(self) -> dict[str, Any]:
        """The configuration, with the names of docs/model_format.md."""
        config: dict[str, Any] = json.loads(self._file.config_json)
        return config

    @property
    def source_vocabulary(self) -> Vocabulary:
        """That of the texts to translate."""
        return self._file.source_vocabulary

    @property
    def target_vocabulary(self) -> Vocabulary:
        """That of the translations."""
        return self._file.target_vocabulary

    @property
    def weights(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """By name, as read-only numpy views of the file; bfloat16 is converted to float32."""
        return {tensor.name: _array(tensor) for tensor in self._file.weights()}


_numpy_types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1"}


def _array(tensor: _dragoman.FileTensor) -> numpy.ndarray[Any, Any]:
    import numpy

    values: numpy.ndarray[Any, Any]
    if tensor.dtype == "BF16":  # the upper half of a float32
        bits = numpy.frombuffer(memoryview(tensor), "<u2").astype("<u4") << 16
        values = bits.view("<f4").reshape(tensor.shape)
    else:
        values = numpy.frombuffer(memoryview(tensor), _numpy_types[tensor.dtype]).reshape(tensor.shape)
    return values
