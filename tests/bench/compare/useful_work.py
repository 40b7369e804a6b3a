"""Floating-point operations that training needs, and their share of the GPU's peak rate (MFU).

A product of a row with a (D,K) matrix is 2·D·K operations. The backward pass costs twice as much as the forward pass. Only matrix
products and attention count, causal attention half; padding, recomputation and all else do not count.
"""
TFLOPS = {"H200": 989, "H100": 989, "A100": 312}  # bfloat16 without sparsity, from the manufacturer's data sheets


def pair(shape, vocabulary, source, target):
    """Operations for a pair of `source` and `target` tokens; encoder and decoder have the same number of layers."""
    dim, block = shape.dim, 4 * shape.dim ** 2  # the four projections of an attention
    network = 2 * shape.dim * shape.feed_forward
    encoder = source * (block + network) + 2 * source * source * dim
    decoder = target * (block + block / 2 + network) + source * block / 2  # keys and values of cross-attention are of the source
    attention = target * target * dim + 2 * target * source * dim
    forward = 2 * (shape.layers * (encoder + decoder + attention) + target * dim * vocabulary)
    return 3 * forward


def per_target_token(shape, vocabulary, lengths):
    """Mean operations per target token of pairs with these (source, target) lengths."""
    return sum(pair(shape, vocabulary, s, t) for s, t in lengths) / sum(t for _, t in lengths)


def peak(device_name):
    """Peak operations a second; None for an unknown GPU."""
    return next((1e12 * rate for name, rate in TFLOPS.items() if name in device_name), None)
