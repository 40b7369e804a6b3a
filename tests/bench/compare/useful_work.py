"""Floating-point operations that training needs, and which share of what a GPU could do in the time they took (MFU).

A product of a row with a (D,K) matrix is 2·D·K operations. The way back costs twice the way forth. Counted are matrix
products and attention, a causal one by half; padding, what is computed twice, and all else count nothing.
"""
TFLOPS = {"H200": 989, "H100": 989, "A100": 312}  # bfloat16 without sparsity, by the maker's data sheets


def pair(shape, vocabulary, source, target):
    """Operations for a pair of so many pieces; encoder and decoder have as many layers."""
    dim, block = shape.dim, 4 * shape.dim ** 2  # the four projections of an attention
    network = 2 * shape.dim * shape.feed_forward
    encoder = source * (block + network) + 2 * source * source * dim
    decoder = target * (block + block / 2 + network) + source * block / 2  # cross-attention's keys are of the source
    attention = target * target * dim + 2 * target * source * dim
    forth = 2 * (shape.layers * (encoder + decoder + attention) + target * dim * vocabulary)
    return 3 * forth


def per_target_token(shape, vocabulary, lengths):
    """The mean over pairs of (source, target) pieces."""
    return sum(pair(shape, vocabulary, s, t) for s, t in lengths) / sum(t for _, t in lengths)


def peak(device_name):
    """Operations a second; None for a GPU that is not known here."""
    return next((1e12 * rate for name, rate in TFLOPS.items() if name in device_name), None)
