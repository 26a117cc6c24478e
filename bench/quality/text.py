"""The tokens that corpus.py wrote, on the device, and the order in which a run sees them."""
import json

import numpy
import torch

VALIDATION_TOKENS = 2_097_152  # used of those kept


class Text:
    """The tokens on the device, cut into sequences."""

    def __init__(self, cache, sequence, device):
        self.facts = json.loads((cache / "corpus.json").read_text())
        self.sequence = sequence
        self.train, self.validation = (self.load(cache / f"{part}.bin", device) for part in ("train", "validation"))
        self.steps = torch.arange(sequence + 1, device=device)

    @staticmethod
    def load(path, device):
        return torch.from_numpy(numpy.fromfile(path, dtype=numpy.uint16).astype(numpy.int32)).to(device)

    def order(self, seed, count, device):
        """Where the first `count` sequences of this order start: every sequence once before any comes again."""
        whole = (len(self.train) - 1) // self.sequence
        generator, starts = numpy.random.default_rng(seed), numpy.zeros(0, dtype=numpy.int64)
        while len(starts) < count:
            starts = numpy.concatenate((starts, generator.permutation(whole)))
        return torch.from_numpy(starts[:count] * self.sequence).to(device)

    def pieces(self, tokens, starts):
        return tokens[starts[:, None] + self.steps].long()

    def validation_batches(self, batch):
        count = min(VALIDATION_TOKENS, len(self.validation) - 1) // (batch * self.sequence)
        starts = torch.arange(max(1, count) * batch, device=self.steps.device) * self.sequence
        return [self.pieces(self.validation, part) for part in starts.split(batch)]
