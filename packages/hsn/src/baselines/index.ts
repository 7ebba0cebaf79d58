export * from './baum-welch.ts';
export * from './counting.ts';
export { fitKMeans, type KMeansFit, type KMeansOptions, kMeansTopics } from './k-means.ts';
export { fitLda, type LdaFit, type LdaOptions, ldaTopics } from './lda.ts';
export * from './links.ts';
export * from './lstm.ts';
export { fitNmf, type NmfFit, type NmfOptions, nmfTopics } from './nmf.ts';
export type { TopicModel } from './topic-model.ts';
