"""One language HSN training step in plain PyTorch, eager or compiled, at the shapes of BERT-base and GPT-2 small: encoder, queries,
sampled graph and walk, decoder with pseudo-self-attention, cross-entropy and divergences, clipping and AdamW.
One JSON request a line in, one JSON answer a line out."""

import json
import math
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

from memory import peak_mb

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)

WIDTH, HEADS, INNER, LAYERS, DROPOUT = 768, 12, 3072, 12, 0.1
SYMBOLS, STEPS, HIDDEN = 50, 5, 256
BERT_VOCABULARY, GPT_VOCABULARY = 30522, 50257


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(BERT_VOCABULARY, WIDTH)
        self.places = nn.Embedding(512, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, DROPOUT, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS)
        self.queries = nn.Parameter(0.02 * torch.randn(STEPS, WIDTH))
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, DROPOUT, batch_first=True)
        self.rise, self.fall = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.start, self.weights = nn.Linear(WIDTH, SYMBOLS), nn.Linear(WIDTH, SYMBOLS)

    def forward(self, ids, padding):
        places = torch.arange(ids.shape[1])
        x = self.words(ids) + self.places(places) + self.kinds(torch.zeros_like(ids))
        x = self.layers(F.dropout(self.norm(x), DROPOUT), src_key_padding_mask=padding)
        queries = self.queries.expand(ids.shape[0], -1, -1)
        read, _ = self.attention(queries, x, x, key_padding_mask=padding, need_weights=False)
        read = self.norms[0](queries + F.dropout(read, DROPOUT))
        inner = self.fall(F.dropout(self.rise(read).relu(), DROPOUT))
        read = self.norms[1](read + F.dropout(inner, DROPOUT))
        return torch.cat([self.start(read[:, :1]), self.weights(read[:, 1:])], 1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.symbol_keys = nn.Linear(SYMBOLS, WIDTH, bias=False)
        self.symbol_values = nn.Linear(SYMBOLS, WIDTH, bias=False)
        self.rise, self.fall = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, x, schema, places, mask):
        q, k, v = self.qkv(self.norms[0](x)).split(WIDTH, 2)
        k = torch.cat([self.symbol_keys(schema) + places, k], 1)
        v = torch.cat([self.symbol_values(schema) + places, v], 1)
        q, k, v = self.heads(q), self.heads(k), self.heads(v)
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS) + mask
        mixed = F.dropout(scores.softmax(-1), DROPOUT) @ v
        mixed = mixed.transpose(1, 2).reshape(x.shape)
        x = x + F.dropout(self.out(mixed), DROPOUT)
        inner = F.gelu(self.rise(self.norms[1](x)), approximate="tanh")
        return x + F.dropout(self.fall(inner), DROPOUT)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(GPT_VOCABULARY, WIDTH), nn.Embedding(142, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids, schema):
        time_steps = ids.shape[1]
        x = self.words(ids)
        x = x * (torch.rand(ids.shape) >= 0.3).float().unsqueeze(2)
        x = F.dropout(x + self.places.weight[:time_steps], DROPOUT)
        angles = torch.arange(STEPS).unsqueeze(1) / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
        places = torch.stack([angles.sin(), angles.cos()], 2).view(STEPS, WIDTH)
        mask = torch.full((time_steps, STEPS + time_steps), -math.inf).triu(STEPS + 1)
        for block in self.blocks:
            x = block(x, schema, places, mask)
        return self.norm(x) @ self.words.weight.t()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()
        self.left = nn.Linear(SYMBOLS, HIDDEN)
        self.right = nn.Linear(SYMBOLS, HIDDEN, bias=False)
        self.link = nn.Linear(HIDDEN, 1)
        self.symbols = torch.eye(SYMBOLS)

    def graph(self):
        pairs = (self.left(self.symbols).unsqueeze(1) + self.right(self.symbols).unsqueeze(0)).relu()
        logits = self.link(pairs).squeeze(2)
        logits = (0.5 * (logits + logits.t())).triu(1)
        u = torch.rand(SYMBOLS, SYMBOLS).clamp(1e-7, 1 - 1e-7)
        soft = torch.sigmoid((logits + u.log() - (1 - u).log()) / 0.75)
        hard = ((soft > 0.5).float() - soft.detach() + soft).triu(1)
        q = torch.sigmoid(logits)
        kl = q * (q / 0.2).log() + (1 - q) * ((1 - q) / 0.8).log()
        return hard + hard.t(), kl.triu(1).sum()

    def sample(self, probabilities):
        gumbel = -(-(torch.rand_like(probabilities) + 1e-20).log() + 1e-20).log()
        soft = (((probabilities + 1e-12).log() + gumbel) / 0.75).softmax(-1)
        hard = F.one_hot(soft.argmax(-1), SYMBOLS).float()
        return hard - soft.detach() + soft

    def forward(self, ids, targets, padding):
        h = self.encoder(ids, padding)
        A, kl_graph = self.graph()
        rho, f = h[:, 0].softmax(-1), h[:, 1:].exp()
        weighted = f.unsqueeze(2) * A
        Q = weighted / weighted.sum(-1, keepdim=True).clamp_min(1e-8)
        P = A / A.sum(-1, keepdim=True).clamp_min(1e-8)
        z = [self.sample(rho)]
        for i in range(STEPS - 1):
            z.append(self.sample(torch.bmm(z[-1].unsqueeze(1), Q[:, i]).squeeze(1)))
        logits = self.decoder(targets[:, :-1], torch.stack(z, 1))
        wanted = targets[:, 1:].masked_fill(padding[:, 1:], -100)
        nll = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="sum", ignore_index=-100)
        mean_Q, position = Q.mean(0), rho.mean(0)
        kl = (position * (position * SYMBOLS).log()).sum()
        for i in range(STEPS - 1):
            ratio = (mean_Q[i] + 1e-8).log() - (P + 1e-8).log()
            kl = kl + (position.unsqueeze(1) * mean_Q[i] * ratio).sum()
            position = position @ mean_Q[i]
        return nll / ids.shape[0] + kl + kl_graph / 42000


model = Model()
losses = {False: model}
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01)


def step(lengths, width=None, compiled=False):
    width = width or max(lengths)
    ids = torch.randint(BERT_VOCABULARY, (len(lengths), width))
    targets = torch.randint(GPT_VOCABULARY, (len(lengths), width))
    padding = torch.arange(width).unsqueeze(0) >= torch.tensor(lengths).unsqueeze(1)
    if compiled not in losses:
        losses[compiled] = torch.compile(model)
    start = time.perf_counter()
    optimiser.zero_grad(set_to_none=True)
    losses[compiled](ids, targets, padding).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    seconds = time.perf_counter() - start
    count = sum(p.numel() for p in model.parameters())
    return {"seconds": seconds, "peakMB": peak_mb(), "parameters": count}


def answer(request):
    try:
        return step(**request)
    except Exception as fault:
        # An old PyTorch cannot compile, and a new one needs a compiler of C++.
        if not request.get("compiled"):
            raise
        return {"fault": f"{type(fault).__name__}: {fault}"[:200]}


for line in sys.stdin:
    request = json.loads(line)
    request.pop("do", None)
    print(json.dumps(answer(request)), flush=True)
