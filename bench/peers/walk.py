"""One HSN training step written directly from the paper's equations in eager PyTorch: every transition matrix is a
tensor of its own, [batch, steps, K, K]. One JSON request a line in, one JSON answer a line out."""

import json
import sys
import time

import torch
import torch.nn.functional as F

from memory import peak_mb

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)


class Direct(torch.nn.Module):
    def __init__(self, symbols, length, vocabulary, width, heads, hidden, blocks, dropout, p):
        super().__init__()
        self.K, self.L, self.p = symbols, length, p
        self.embedding = torch.nn.Embedding(vocabulary, width)
        layer = torch.nn.TransformerEncoderLayer(width, heads, hidden, dropout, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, blocks)
        self.scores = torch.nn.Linear(width, symbols)
        self.left = torch.nn.Embedding(symbols, 256)
        self.right = torch.nn.Embedding(symbols, 256)
        self.link = torch.nn.Linear(256, 1)
        self.bags = torch.zeros(symbols, vocabulary)
        for k in range(symbols):
            self.bags[k, [2 * k % vocabulary, (2 * k + 1) % vocabulary]] = 0.5
        self.rows, self.columns = torch.triu_indices(symbols, symbols, 1)

    def sample_graph(self):
        forward = self.link(F.relu(self.left(self.rows) + self.right(self.columns)))
        backward = self.link(F.relu(self.left(self.columns) + self.right(self.rows)))
        logits = 0.5 * (forward + backward).squeeze(1)
        u = torch.rand_like(logits).clamp(1e-7, 1 - 1e-7)
        soft = torch.sigmoid((logits + u.log() - (1 - u).log()) / 0.75)
        links = (soft > 0.5).float() - soft.detach() + soft
        A = torch.zeros(self.K, self.K).index_put((self.rows, self.columns), links)
        q = torch.sigmoid(logits)
        kl = q * (q / self.p).log() + (1 - q) * ((1 - q) / (1 - self.p)).log()
        return A + A.t(), kl.sum()

    def forward(self, tokens):
        B = tokens.shape[0]
        h = self.scores(self.encoder(self.embedding(tokens)))
        A, kl_graph = self.sample_graph()
        rho, f = h[:, 0].softmax(-1), h[:, 1:].exp()
        weighted = f.unsqueeze(2) * A  # [B, L-1, from, to]
        Q = weighted / weighted.sum(-1, keepdim=True).clamp_min(1e-8)
        P = A / A.sum(-1, keepdim=True).clamp_min(1e-8)
        z = [self.sample(rho)]
        for i in range(self.L - 1):
            z.append(self.sample(torch.bmm(z[-1].unsqueeze(1), Q[:, i]).squeeze(1)))
        table = (self.bags * 0.999 + 0.001 / self.bags.shape[1]).log()
        likelihood = (torch.stack(z, 1) @ table).gather(2, tokens.unsqueeze(2)).sum() / B
        mean_start, mean_Q = rho.mean(0), Q.mean(0)
        kl = (mean_start * (mean_start * self.K).log()).sum()
        position = mean_start
        for i in range(self.L - 1):
            ratio = (mean_Q[i] + 1e-8).log() - (P + 1e-8).log()
            kl = kl + (position.unsqueeze(1) * mean_Q[i] * ratio).sum()
            position = position @ mean_Q[i]
        return -likelihood + kl + kl_graph / B

    def sample(self, probabilities):
        gumbel = -(-(torch.rand_like(probabilities) + 1e-20).log() + 1e-20).log()
        soft = (((probabilities + 1e-12).log() + gumbel) / 0.75).softmax(-1)
        hard = F.one_hot(soft.argmax(-1), self.K).float()
        return hard - soft.detach() + soft


models = {}
idle_mb = peak_mb()


def step(repeat, batch, **sizes):
    key = json.dumps(sizes)
    if key not in models:
        models.clear()
        model = Direct(**sizes)
        models[key] = (model, torch.optim.Adam(model.parameters(), lr=1e-4))
    model, optimiser = models[key]
    tokens = torch.randint(sizes["vocabulary"], (batch, sizes["length"]))
    start = time.perf_counter()
    for _ in range(repeat):
        optimiser.zero_grad(set_to_none=True)
        model(tokens).backward()
        optimiser.step()
    seconds = (time.perf_counter() - start) / repeat
    return {"seconds": seconds, "peakMB": peak_mb(), "idleMB": idle_mb}


for line in sys.stdin:
    request = json.loads(line)
    request.pop("do", None)
    print(json.dumps(step(**request)), flush=True)
