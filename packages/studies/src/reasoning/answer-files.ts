import fs from 'node:fs';
import { UserError } from '@hidden-schema/base';
import { distinctAnswers } from '../measures/recall.ts';
import { type Answered, mostAnswers } from './answers.ts';

/** What a line must hold, for error messages. */
const expected =
  '{"head", "relation", "references": [texts], "answers": [texts, the best first]}; "tails" for references, and "greedy" and "generations" for answers, are read as well';

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/**
 * Reads the answers of any system: JSON lines with head, relation, references and answers. The lines that COMET's authors
 * publish have tails, greedy and generations: there the greedy answer is the first, and the beam's follow it.
 */
export function readAnswers(file: string): Answered[] {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new UserError(`${file} is not a file; expected JSON lines of ${expected}`);
  const found = new Map<string, Answered>();
  for (const [i, line] of fs.readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue;
    const where = `${file}:${i + 1}`;
    const one = answeredOf(parsed(line, where), where);
    const key = `${one.head}\t${one.relation}`;
    if (found.has(key))
      throw new UserError(
        `${where} asks (${one.head}, ${one.relation}) a second time; each pair stands once`,
      );
    found.set(key, one);
  }
  if (found.size === 0) throw new UserError(`${file} is empty; expected JSON lines of ${expected}`);
  return [...found.values()];
}

function parsed(line: string, where: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below, as any other line that is no object.
  }
  throw new UserError(`${where} is no JSON object; expected ${expected}`);
}

function answeredOf(row: Record<string, unknown>, where: string): Answered {
  const {
    head,
    relation,
    references = row.tails,
    answers = [row.greedy ?? [], row.generations ?? []].flat(),
  } = row;
  const fault = (what: string) => new UserError(`${where} has no ${what}; expected ${expected}`);
  if (!isText(head)) throw fault('head');
  if (!isText(relation)) throw fault('relation');
  if (!isTexts(references) || references.length === 0) throw fault('list of references');
  if (!isTexts(answers)) throw fault('list of answers');
  return { head: head.trim(), relation, references, answers: distinctAnswers(answers, mostAnswers) };
}
