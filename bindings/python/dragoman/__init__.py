"""Neural machine translation: train models, translate, score and evaluate, also with models of other programs."""

from ._dragoman import MetricScore, ScoredPair, Translation, Vocabulary, __version__
from ._error import Error
from ._evaluate import evaluate
from ._model_file import ModelFile
from ._model_tools import QuantizeResult, TranslationQuality, average, convert, quantize
from ._run_event import (
    RunDecay,
    RunEnd,
    RunEvent,
    RunFigure,
    RunReport,
    RunRollback,
    RunSave,
    RunSkip,
    RunStarted,
    RunValidation,
)
from ._scorer import Scorer
from ._train import StopTraining, TrainResult, train
from ._translator import SearchKeywords, Translator

__all__ = [
    "Error",
    "MetricScore",
    "ModelFile",
    "QuantizeResult",
    "RunDecay",
    "RunEnd",
    "RunEvent",
    "RunFigure",
    "RunReport",
    "RunRollback",
    "RunSave",
    "RunSkip",
    "RunStarted",
    "RunValidation",
    "ScoredPair",
    "Scorer",
    "SearchKeywords",
    "StopTraining",
    "TrainResult",
    "Translation",
    "TranslationQuality",
    "Translator",
    "Vocabulary",
    "__version__",
    "average",
    "convert",
    "evaluate",
    "quantize",
    "train",
]
