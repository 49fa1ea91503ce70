import { Ajv } from 'ajv';
import Type, { type Static, type TSchema } from 'typebox';
import { isObject, parseJson } from '../../crds/path.ts';
import { serviceAccountPins, storedHosts, storedSettings } from './cluster.ts';
import * as answers from './desired-state.ts';
import { ManagementError, refusal } from './management-error.ts';

const ajv = new Ajv({ validateSchema: false });

/** An answer of the management port: its content, for a message, and its check. */
export interface Expected<T> {
  readonly what: string;
  readonly is: (answer: unknown) => answer is T;
}

function expected<Schema extends TSchema>(what: string, schema: Schema): Expected<Static<Schema>> {
  return { what, is: ajv.compile<Static<Schema>>(schema) };
}

/** The answers of the management port. */
export const ANSWERS = {
  epoch: expected('an epoch', answers.claimedEpoch),
  settings: expected('a version', storedSettings),
  boxes: expected('a list of boxes', answers.declaredBoxes),
  usage: expected('a usage', answers.boxUsage),
  lastUses: expected('last uses', answers.lastUses),
  hosts: expected('hosts', storedHosts),
  missingLinks: expected('the links that lead nowhere', answers.missingLinks),
  move: expected('the database of a box', answers.movedBox),
  pins: expected('the pins of ServiceAccounts', serviceAccountPins),
} as const;

/** Returns an answer that passes its check. Throws ManagementError for any other. */
export function understood<T>(answer: unknown, { what, is }: Expected<T>): T {
  if (is(answer)) return answer;
  throw new ManagementError('refused', `the API answered without ${what} that is understood`);
}

/** One line of the answer to an apply call. */
export type AnswerLine = answers.ApplyProgress | answers.ApplyResult | answers.Applied;

const isAnswerLine = ajv.compile<AnswerLine>(Type.Union([answers.applyProgress, answers.applyResult, answers.applied]));

/** Reads one line of an answer. Throws ManagementError for the line with the reason of a refusal, and for nonsense. */
export function parseAnswerLine(text: string): AnswerLine {
  const line = parseJson(text);
  if (isObject(line) && 'error' in line) throw refusal(200, line);
  if (isAnswerLine(line)) return line;
  // The text is not shown, because it may contain anything.
  const length = String(text.length);
  throw new ManagementError('refused', `the API answered a line of ${length} characters that is not understood`);
}
