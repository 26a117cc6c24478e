"""One training step of a decoder: bf16 autocast over fp32 weights, AdamW (0.9, 0.95), gradients clipped to norm 1. Blocks
and head are compiled and the step is a CUDA graph; where either fails, the step goes on without and its notes say so."""
import torch

from model import Decoder


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


class Step:
    """Eager at first, then the replay of a graph."""

    def __init__(self, row, device, compiled):
        torch.manual_seed(row["seed"])
        self.row, self.device, self.graph, self.checked, self.notes = row, device, None, False, []
        self.model = Decoder(row, row["sequence"], device)
        if compiled:
            self.model.compile_parts()
        cuda = device == "cuda"
        groups = self.model.weight_groups(row["hidden"])
        for group in groups:
            group["lr"] = torch.tensor(0.0, device=device) if cuda else 0.0
        kind = {"fused": True, "capturable": True} if cuda else {}
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95), eps=1e-8, **kind)
        self.tokens = torch.zeros(row["batch"], row["sequence"] + 1, dtype=torch.long, device=device)
        self.loss_sum = torch.zeros((), device=device)

    def loss(self, tokens):
        with torch.autocast(self.device, torch.bfloat16, cache_enabled=False):
            return self.model(tokens[:, :-1], tokens[:, 1:])

    def set_rate(self, lr):
        for group in self.optimizer.param_groups:
            value = lr * group["lr_scale"]
            if torch.is_tensor(group["lr"]):
                group["lr"].fill_(value)
            else:
                group["lr"] = value

    def once(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.tokens)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.loss_sum += loss.detach()

    def capture(self):
        """Records the step; on failure the run goes on without a graph."""
        try:
            torch.cuda.synchronize()
            self.optimizer.zero_grad(set_to_none=True)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                self.once()
            self.graph = graph
        except Exception as error:
            self.optimizer.zero_grad(set_to_none=True)
            self.notes.append(f"no graph: {first_line(error)}")

    def run(self, tokens, lr):
        self.tokens.copy_(tokens)
        self.set_rate(lr)
        if not self.graph:
            self.once()
        elif self.checked:
            self.graph.replay()
        else:
            self.check_replay()

    def check_replay(self):
        """The first replay must see the loss that an eager pass sees, and must move the weights."""
        before, summed = self.validate([self.tokens]), float(self.loss_sum)
        self.graph.replay()
        seen, after = float(self.loss_sum) - summed, self.validate([self.tokens])
        self.checked = True
        if abs(seen - before) > 0.01 * before or after == before:
            self.graph = None
            self.notes.append(f"graph dropped: loss {before:.4f}, in the graph {seen:.4f}, after it {after:.4f}")

    def validate(self, batches):
        """Mean loss; with gradients on, so that the compiled forward pass of training serves."""
        total = 0.0
        for tokens in batches:
            total += self.loss(tokens).detach()
        return float(total) / len(batches)


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def made_step(row, device, compiled):
    """A step that has run once, on tokens of no meaning and at a rate of zero: compiled, or with a note why not."""
    notes = []
    for attempt in ([True, False] if compiled else [False]):
        try:
            step = Step(row, device, attempt)
            step.loss(torch.randint(row["vocab"], step.tokens.shape, device=device)).backward()
            synchronize(device)
            step.notes = notes
            return step, attempt
        except torch.cuda.OutOfMemoryError:
            raise
        except Exception as error:
            if not attempt:
                raise
            notes.append(f"not compiled: {first_line(error)}")
            torch._dynamo.reset()
