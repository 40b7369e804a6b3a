"""Neural machine translation: translate, score and evaluate with models of dragoman and of other programs."""

from ._dragoman import MetricScore, ScoredPair, Translation, Vocabulary, __version__
from ._error import Error
from ._evaluate import evaluate
from ._model_file import ModelFile
from ._scorer import Scorer
from ._translator import SearchKeywords, Translator

__all__ = [
    "Error",
    "MetricScore",
    "ModelFile",
    "ScoredPair",
    "Scorer",
    "SearchKeywords",
    "Translation",
    "Translator",
    "Vocabulary",
    "__version__",
    "evaluate",
]
