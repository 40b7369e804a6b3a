#!/usr/bin/env python3
"""Makes python.safetensors beside it: a file by Python's safetensors with each type that dragoman reads."""
import pathlib

import torch
from safetensors.torch import save_file

save_file(
    {
        "f64": torch.tensor([[1.5, -2.0, 0.1]], dtype=torch.float64),
        "f32": torch.tensor([[0.5], [-0.25]], dtype=torch.float32),
        "bf16": torch.tensor([1.0, -2.0], dtype=torch.bfloat16),
        "f16": torch.tensor([1.0, -2.0], dtype=torch.float16),
        "i64": torch.tensor([-1, 2**40]),
        "i32": torch.tensor([[[7]], [[-8]]], dtype=torch.int32),
        "i8": torch.tensor([-128, 0, 127], dtype=torch.int8),
        "u8": torch.tensor([0, 127, 255], dtype=torch.uint8),
        "number": torch.tensor(2.75),
        "nothing": torch.zeros(0, 4),
    },
    pathlib.Path(__file__).parent / "python.safetensors",
    {"what": 'Grüße, "you"'},
)
