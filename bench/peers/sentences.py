"""MiniLM by sentence-transformers: one JSON request a line in, one JSON answer a line out."""

import json
import os
import sys
import time

import torch
from sentence_transformers import SentenceTransformer

torch.set_num_threads(int(sys.argv[1]))
model = SentenceTransformer(os.environ["HSN_PEER_MODEL"], device="cpu")


def encode(texts, vectors=False):
    start, spent = time.perf_counter(), time.process_time()
    found = model.encode(texts, batch_size=32, show_progress_bar=False, convert_to_numpy=True)
    answer = {"seconds": time.perf_counter() - start, "processor": time.process_time() - spent}
    return {**answer, "vectors": found.tolist()} if vectors else answer


for line in sys.stdin:
    print(json.dumps(encode(**json.loads(line))), flush=True)
