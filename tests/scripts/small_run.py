"""What the tests of recipes put over a recipe: a model and a run of a few seconds."""

SMALL = """dim-emb: 32
transformer-heads: 2
transformer-dim-ffn: 32
enc-depth: 1
dec-depth: 1
dim-vocabs: 700
mini-batch-words: 256
lr-warmup: 5
lr-decay-updates: 20
after: 20u
save-freq: 5u
precision: float32
quiet: true
"""
