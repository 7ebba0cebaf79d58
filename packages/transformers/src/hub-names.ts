import { UserError } from '@hidden-schema/base';

const hubName = /^[A-Za-z0-9][\w.-]{0,95}(?:\/\w[\w.-]{0,95})?$/;
/** What git allows in the name of a branch or tag, less what a folder or an address may read otherwise. */
const revisionName = /^\w[\w.-]*(?:\/\w[\w.-]*)*$/;
const fileName = /^\w[\w.-]*$/;

export const isHubName = (name: string): boolean => hubName.test(name) && !name.includes('..');

export const isFileName = (name: string): boolean => fileName.test(name) && !name.includes('..');

const isRevision = (revision: string): boolean =>
  revision.length <= 200 &&
  revisionName.test(revision) &&
  !revision.includes('..') &&
  !/\.(?:lock)?(?:\/|$)/.test(revision);

/** Refuses, before anything is asked or written, what could lead out of the cache's folder or to another model. */
export function checkHubNames(name: string, revision: string, endpoint: string): void {
  if (!isHubName(name))
    throw new UserError(
      `${JSON.stringify(name)} is no name on the hub; expected name or owner/name of letters, digits, "-", "_" and single ".", such as bert-base-uncased`,
    );
  if (!isRevision(revision))
    throw new UserError(
      `${name}: ${JSON.stringify(revision)} is no revision; expected a branch, a tag or a commit such as main, v1.0 or refs/pr/1`,
    );
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : ''))
    throw new UserError(
      `the hub's address (HF_ENDPOINT) is ${JSON.stringify(endpoint)}; expected one such as https://huggingface.co`,
    );
}

/** The folder of a model below the cache's own; no two models or revisions share one. */
export function hubFolder(name: string, revision: string): [string, string] {
  // "--" stands for the slash alone: hyphens that could be taken for it are written as %2D.
  const parts = name.split('/').map((part) => part.replaceAll(/--+|-$/g, (run) => '%2D'.repeat(run.length)));
  return [parts.join('--'), encodeURIComponent(revision)];
}
