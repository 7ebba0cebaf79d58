"""Topic models of others on given texts and vectors, one JSON line each: first ten words of each topic, the topic of
each text (-1 for an outlier), and wall and processor seconds of the fit.

    python3 -m venv DIR && DIR/bin/pip install bertopic turftopic scikit-learn sentence-transformers
    DIR/bin/python bench/peers/topics.py --texts texts.tsv --vectors vectors.npy --encoder MODEL_FOLDER > topics.jsonl

Texts: one a line, after the last tab. Vectors: .npy, or .safetensors with one tensor or one named "vectors".
KeyNMF alone needs the encoder the vectors are made with, which embeds words: a folder or name for sentence-transformers,
or --words and --word-vectors, a vocabulary of one word a line and the vectors that the encoder gave it.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import sys
import time

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

WORDS = 10
# As hsn does for its own words: no stop words, in at least five texts.
VOCABULARY = {"stop_words": "english", "min_df": 5}


def read_texts(path):
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").rsplit("\t", 1)[-1] for line in lines]


def read_vectors(path):
    if path.endswith(".npy"):
        return np.load(path).astype(np.float32)
    from safetensors.numpy import load_file

    tensors = load_file(path)
    if len(tensors) > 1 and "vectors" not in tensors:
        sys.exit(f'{path}: one tensor, or one named "vectors", is expected, got {", ".join(tensors)}')
    return tensors.get("vectors", next(iter(tensors.values()))).astype(np.float32)


def words_of_rows(components, vocabulary):
    return [[str(vocabulary[at]) for at in np.argsort(-row, kind="stable")[:WORDS]] for row in components]


def bertopic(texts, vectors, options, **parts):
    from bertopic import BERTopic

    model = BERTopic(embedding_model=None, top_n_words=WORDS, **parts)
    clusters, _ = model.fit_transform(texts, vectors)
    topics = [[word for word, _ in model.get_topic(k) if word] for k in sorted(set(clusters) - {-1})]
    return topics, clusters


def bertopic_kmeans(texts, vectors, options):
    from sklearn.cluster import KMeans

    clusters = KMeans(options.topics, random_state=options.seed)
    return bertopic(texts, vectors, options, hdbscan_model=clusters, vectorizer_model=CountVectorizer(stop_words="english"))


class GivenVectors:
    """An encoder of words that are known beforehand."""

    def __init__(self, words, vectors):
        self.places = {word: place for place, word in enumerate(words)}
        self.vectors = vectors

    def encode(self, words):
        return self.vectors[[self.places[word] for word in words]]


def keynmf(texts, vectors, options):
    from turftopic import KeyNMF

    encoder, vectorizer = options.encoder, CountVectorizer(**VOCABULARY)
    if options.words:
        words = read_texts(options.words)
        encoder, vectorizer = GivenVectors(words, read_vectors(options.word_vectors)), CountVectorizer(vocabulary=words)
    model = KeyNMF(options.topics, encoder=encoder, vectorizer=vectorizer, random_state=options.seed)
    weights = model.fit_transform(texts, embeddings=vectors)
    return words_of_rows(model.components_, model.get_vocab()), np.argmax(weights, axis=1)


def nmf(texts, vectors, options):
    from sklearn.decomposition import NMF

    vectorizer = TfidfVectorizer(**VOCABULARY)
    model = NMF(options.topics, random_state=options.seed)
    weights = model.fit_transform(vectorizer.fit_transform(texts))
    clusters = np.where(weights.max(1) > 0, weights.argmax(1), -1)
    return words_of_rows(model.components_, vectorizer.get_feature_names_out()), clusters


def lda(texts, vectors, options):
    from sklearn.decomposition import LatentDirichletAllocation

    vectorizer = CountVectorizer(**VOCABULARY)
    model = LatentDirichletAllocation(options.topics, random_state=options.seed)
    weights = model.fit_transform(vectorizer.fit_transform(texts))
    return words_of_rows(model.components_, vectorizer.get_feature_names_out()), weights.argmax(1)


MODELS = {
    "bertopic": (bertopic, "bertopic"),
    "bertopic-kmeans": (bertopic_kmeans, "bertopic"),
    "keynmf": (keynmf, "turftopic"),
    "nmf": (nmf, "scikit-learn"),
    "lda": (lda, "scikit-learn"),
}


def processor_seconds():
    """Of this process and of those it started and ended."""
    return sum(os.times()[:4])


def measured(name, texts, vectors, options):
    fit, package = MODELS[name]
    start, used = time.perf_counter(), processor_seconds()
    # Some print their progress where only JSON lines belong.
    with contextlib.redirect_stdout(sys.stderr):
        words, clusters = fit(texts, vectors, options)
    return {
        "name": name,
        "version": f"{package} {importlib.metadata.version(package)}",
        "seconds": round(time.perf_counter() - start, 3),
        "processor_seconds": round(processor_seconds() - used, 3),
        "topics": words,
        "clusters": [int(cluster) for cluster in clusters],
    }


def main():
    if sys.argv[1:] == ["--check"]:
        import bertopic  # noqa: F401
        import safetensors  # noqa: F401
        import turftopic  # noqa: F401

        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", required=True)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--encoder", help="for keynmf")
    parser.add_argument("--words", help="for keynmf, in place of an encoder")
    parser.add_argument("--word-vectors", help="of --words")
    parser.add_argument("--models", default=",".join(MODELS), help=f"some of {','.join(MODELS)}")
    options = parser.parse_args()
    names = options.models.split(",")
    for name in names:
        if name not in MODELS:
            parser.error(f"--models: one of {', '.join(MODELS)} is expected, got {name}")
    if "keynmf" in names and not (options.encoder or (options.words and options.word_vectors)):
        parser.error("keynmf needs --encoder, the model that the vectors are made with, or --words and --word-vectors")
    texts, vectors = read_texts(options.texts), read_vectors(options.vectors)
    if len(texts) != len(vectors):
        parser.error(f"as many vectors as texts are expected, got {len(vectors)} and {len(texts)}")
    for name in names:
        print(json.dumps(measured(name, texts, vectors, options)), flush=True)


if __name__ == "__main__":
    main()
