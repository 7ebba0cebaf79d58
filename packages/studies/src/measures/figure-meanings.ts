// Without imports: the page takes these too.

/** A figure's name, what it is, and digits after the point. */
export type FigureMeaning = readonly [name: string, meaning: string, digits: number];

/** Of a hidden graph that is known, in the order shown. */
export const syntheticMeanings = [
  ['auc', 'ROC AUC of link probabilities', 4],
  ['average_precision', 'average precision', 4],
  ['edges_truth', 'links of the true graph', 0],
  ['edges_expected', 'links expected under q(A)', 1],
  ['edges_sampled', 'links of sampled graphs', 1],
  ['edges_walked', 'links that walks of test sentences use', 0],
  ['frobenius_truth', '|G* - q(A)|, pairs', 3],
  ['frobenius_random', '|G^rand - q(A)|, pairs', 3],
  ['frobenius_truth_sampled', '|G* - G|, G sampled', 3],
  ['frobenius_random_sampled', '|G^rand - G|, G sampled', 3],
  ['nll', 'negative log-likelihood (nats a sentence)', 3],
  ['nll_authors', "the same in the authors' convention", 3],
  ['kl_walk', 'KL of the aggregated walks', 3],
  ['kl_walk_sentence', "mean KL of each sentence's walk", 3],
  ['kl_graph', 'KL of the graph', 2],
  ['hits', 'symbols read correctly', 4],
] as const satisfies readonly FigureMeaning[];

/** Of a model of texts. */
export const languageMeanings = [
  ['perplexity', 'importance-weighted, per token', 2],
  ['perplexity_error', 'its standard error', 2],
  ['perplexity_wide', 'the same by walks drawn less surely as well: the closest estimate', 2],
  ['perplexity_wide_error', 'its standard error', 2],
  ['perplexity_paper', "the paper's Eq. 34: the graph weighs in every sentence", 2],
  ['baseline_perplexity', 'of the same decoder without symbols', 2],
  ['perplexity_bound', 'of the bound, which no draws improve', 2],
  ['perplexity_reconstruction', 'were walks, or latents, for free', 2],
  ['perplexity_ratio', 'perplexity to that of the decoder alone', 3],
  ['perplexity_wide_ratio', 'the same of the closest estimate', 3],
  ['efficiency', 'nats that a walk saves the decoder, for each nat it tells', 3],
  ['efficiency_paid', 'the same for each nat it costs', 3],
  ['information_sentences', 'sentences that information and divergences are over', 0],
  ['mutual_information', "I(z; x) by the paper's estimator (nats)", 3],
  ['mutual_information_exact', 'I(z; x) of these sentences, exactly', 3],
  ['mutual_information_bound', 'the most that so many sentences can have', 3],
  ['reconstruction', '-E log p(x|z) (nats a sentence)', 3],
  ['kl', "mean KL of each sentence's latent", 3],
  ['kl_aggregated', 'KL of the aggregated latents', 3],
  ['active_units', 'dimensions whose means differ between sentences', 0],
  ['kl_walk', "mean KL of each sentence's walk", 3],
  ['kl_walk_aggregated', 'KL of the aggregated walks', 3],
  ['kl_graph', 'KL of the graph', 2],
  ['symbols_used', 'symbols, or codes, that these sentences use', 0],
] as const satisfies readonly FigureMeaning[];

/** Coherence in the texts themselves, which hardly follows people, comes last. */
export const symbolMeanings = [
  ['nmi', 'first symbols against labels: normalised mutual information', 3],
  ['ami', 'the same, adjusted for chance', 3],
  ['purity', 'texts whose label is the commonest of their first symbol', 3],
  ['reader', 'labels that a linear reader of walks gets right', 3],
  ['reader_weighed', 'the same where it knows how much of the text each symbol tells', 3],
  ['stability', 'agreement of first symbols with those of another seed (AMI)', 3],
  ['walk_information', 'what walks tell of texts (nats)', 3],
  ['walk_information_bound', 'the most that so many texts allow', 3],
  ['told_apart', 'texts with a walk of their own', 3],
  ['links', 'links of probability above one half', 0],
  ['density', 'their share of all pairs', 3],
  ['linked_moves', 'moves of walks along them', 4],
  ['diversity', 'different words among the first ten of all symbols', 3],
  ['npmi_reference', "coherence of symbols' words in the other corpus (NPMI, ten words in a row)", 3],
  ['embedding_coherence', "coherence of symbols' words by their vectors of the run's own encoder", 3],
  ['npmi', 'and in the texts themselves (NPMI)', 3],
  ['cv', 'the same by C_v', 3],
] as const satisfies readonly FigureMeaning[];
