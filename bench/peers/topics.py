"""Topic models of others on given texts and vectors, one JSON line each: first ten words of each topic, the topic of
each text (-1 for none; of several topics the largest), and wall and processor seconds of the fit. A model that fails
has a line with its name and the error.

    python3 -m venv DIR && DIR/bin/pip install bertopic turftopic scikit-learn sentence-transformers safetensors
    DIR/bin/python bench/peers/topics.py --texts texts.tsv --vectors vectors.npy --encoder MODEL_FOLDER > topics.jsonl

Texts: one a line, after the last tab. Vectors: .npy, or .safetensors with one tensor or one named "vectors".
KeyNMF, Topeax and SensTopic need the encoder the vectors are made with, which embeds words: a folder or name for
sentence-transformers, or --words and --word-vectors, a vocabulary of one word a line and the vectors that the encoder
gave it. A vocabulary is then that of all models but BERTopic's defaults. Topeax finds the number of topics itself.
"""

import argparse
import contextlib
import importlib
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


def largest(weights):
    """The largest topic of each text; -1 where it has none."""
    weights = np.asarray(weights)
    return np.where(weights.max(1) > 0, weights.argmax(1), -1)


def bertopic(texts, vectors, options, **parts):
    from bertopic import BERTopic
    from umap import UMAP

    # BERTopic's own default, with a seed.
    places = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=options.seed)
    model = BERTopic(embedding_model=None, umap_model=places, top_n_words=WORDS, **parts)
    clusters, _ = model.fit_transform(texts, vectors)
    topics = [[word for word, _ in model.get_topic(k) if word] for k in sorted(set(clusters) - {-1})]
    return topics, clusters


def bertopic_kmeans(texts, vectors, options):
    from sklearn.cluster import KMeans

    clusters = KMeans(options.topics, random_state=options.seed)
    _, counting = given_words(options, CountVectorizer(stop_words="english"))
    return bertopic(texts, vectors, options, hdbscan_model=clusters, vectorizer_model=counting)


class GivenVectors:
    """An encoder of words that are known beforehand."""

    def __init__(self, words, vectors):
        self.places = {word: place for place, word in enumerate(words)}
        self.vectors = vectors

    def encode(self, words):
        return self.vectors[[self.places[word] for word in words]]


def given_words(options, counting):
    """What encodes words, and what counts them: of the vocabulary that is given, else as asked."""
    if not options.words:
        return options.encoder, counting
    words = read_texts(options.words)
    return GivenVectors(words, read_vectors(options.word_vectors)), CountVectorizer(vocabulary=words)


def of_turftopic(name, counted=True):
    """A model of turftopic on given vectors; `counted` where the number of topics is asked for."""

    def fit(texts, vectors, options):
        import turftopic

        encoder, vectorizer = given_words(options, CountVectorizer(**VOCABULARY))
        parts = {"encoder": encoder, "vectorizer": vectorizer, "random_state": options.seed}
        if counted:
            parts["n_components"] = options.topics
        model = getattr(turftopic, name)(**parts)
        weights = model.fit_transform(texts, embeddings=vectors)
        return words_of_rows(model.components_, model.get_vocab()), largest(weights)

    return fit


def nmf(texts, vectors, options):
    from sklearn.decomposition import NMF

    vectorizer = TfidfVectorizer(**VOCABULARY)
    model = NMF(options.topics, random_state=options.seed)
    weights = model.fit_transform(vectorizer.fit_transform(texts))
    return words_of_rows(model.components_, vectorizer.get_feature_names_out()), largest(weights)


def lda(texts, vectors, options):
    from sklearn.decomposition import LatentDirichletAllocation

    vectorizer = CountVectorizer(**VOCABULARY)
    model = LatentDirichletAllocation(options.topics, random_state=options.seed)
    weights = model.fit_transform(vectorizer.fit_transform(texts))
    return words_of_rows(model.components_, vectorizer.get_feature_names_out()), weights.argmax(1)


MODELS = {
    "bertopic": (bertopic, "bertopic"),
    "bertopic-kmeans": (bertopic_kmeans, "bertopic"),
    "keynmf": (of_turftopic("KeyNMF"), "turftopic"),
    "topeax": (of_turftopic("Topeax", counted=False), "turftopic"),
    "senstopic": (of_turftopic("SensTopic"), "turftopic"),
    "gmm": (of_turftopic("GMM"), "turftopic"),
    "fastopic": (of_turftopic("FASTopic"), "turftopic"),
    "nmf": (nmf, "scikit-learn"),
    "lda": (lda, "scikit-learn"),
}


NEED_WORD_VECTORS = {"keynmf", "topeax", "senstopic"}


def processor_seconds():
    """Of this process and of those it started and ended."""
    return sum(os.times()[:4])


def measured(name, texts, vectors, options):
    fit, package = MODELS[name]
    # Loading a library is no part of a fit.
    for library in {"bertopic": ["bertopic", "umap"], "turftopic": ["turftopic"]}.get(package, []):
        importlib.import_module(library)
    start, used = time.perf_counter(), processor_seconds()
    # Some print their progress where only JSON lines belong.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            words, clusters = fit(texts, vectors, options)
        except Exception as error:  # one model that fails leaves the others
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            return {"name": name, "error": f"{type(error).__name__}: {reason}"}
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
    parser.add_argument("--encoder", help="that embeds words")
    parser.add_argument("--words", help="a vocabulary, in place of an encoder")
    parser.add_argument("--word-vectors", help="of --words")
    parser.add_argument("--models", default=",".join(MODELS), help=f"some of {','.join(MODELS)}")
    options = parser.parse_args()
    names = options.models.split(",")
    for name in names:
        if name not in MODELS:
            parser.error(f"--models: one of {', '.join(MODELS)} is expected, got {name}")
    needy = [name for name in names if name in NEED_WORD_VECTORS]
    if needy and not (options.encoder or (options.words and options.word_vectors)):
        parser.error(f"{needy[0]} needs --encoder, which the vectors are made with, or --words and --word-vectors")
    texts, vectors = read_texts(options.texts), read_vectors(options.vectors)
    if len(texts) != len(vectors):
        parser.error(f"as many vectors as texts are expected, got {len(vectors)} and {len(texts)}")
    for name in names:
        print(json.dumps(measured(name, texts, vectors, options)), flush=True)


if __name__ == "__main__":
    main()
