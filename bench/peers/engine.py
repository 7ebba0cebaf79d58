"""The engine benchmark in plain PyTorch, eager or compiled: one JSON request a line in, one JSON answer a line out."""

import json
import sys
import time

import torch

threads = int(sys.argv[1])
torch.set_num_threads(threads)
torch.manual_seed(0)


def timed(body, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        body()
    return (time.perf_counter() - start) / repeat


def gemm(n, repeat):
    a, b = torch.rand(n, n), torch.rand(n, n)
    with torch.no_grad():
        a @ b
        return {"seconds": timed(lambda: a @ b, repeat)}


def small(grad, repeat):
    a, b = torch.ones(8, requires_grad=grad), torch.ones(8)
    with torch.set_grad_enabled(grad):
        start = time.perf_counter()
        for _ in range(repeat):
            a + b
        return {"seconds": (time.perf_counter() - start) / repeat}


class Encoder:
    """Built once; each request trains it for some steps."""

    def __init__(self, batch, time_steps, width, heads, feed, blocks, dropout, compiled):
        layer = torch.nn.TransformerEncoderLayer(width, heads, feed, dropout, batch_first=True)
        self.model = torch.nn.TransformerEncoder(layer, blocks)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-4)
        self.x = torch.randn(batch, time_steps, width)
        self.loss = self.plain_loss
        if compiled:
            self.loss = torch.compile(self.plain_loss)

    def plain_loss(self):
        return self.model(self.x).square().mean()

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimiser.step()


encoders = {}


def encoder(repeat, compiled=False, **sizes):
    key = json.dumps([compiled, sizes])
    if key not in encoders:
        try:
            encoders[key] = Encoder(compiled=compiled, **sizes)
            encoders[key].step()
        except Exception as fault:
            # An old PyTorch cannot compile, and a new one needs a compiler of C++.
            return {"fault": f"{type(fault).__name__}: {fault}"[:200]}
    chosen = encoders[key]
    count = sum(p.numel() for p in chosen.model.parameters())
    return {"seconds": timed(chosen.step, repeat), "parameters": count}


actions = {"gemm": gemm, "small": small, "encoder": encoder}

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(actions[request.pop("do")](**request)), flush=True)
