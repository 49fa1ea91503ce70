import { isList, isObject } from '../../../crds/json-value.ts';
import type { PlanAnswer } from '../../client/plan.ts';
import { CliError, EXIT } from '../cli-error.ts';

/** Reads the answer to a plan. Throws CliError for one of another release. */
export function planAnswerOf(body: unknown): PlanAnswer {
  if (isPlanAnswer(body)) return body;
  throw new CliError(EXIT.unreachable, 'the answer of the box is not a plan: is it of another release?');
}

function isPlanAnswer(body: unknown): body is PlanAnswer {
  if (!isObject(body) || !isObject(body['compared'])) return false;
  const lists = ['resources', 'secrets', 'secrets_not_compared', 'sessions', 'decisions'];
  return lists.every((name) => isList(body[name]));
}

/**
 * Returns the exit code of a plan: 1 if an object is refused, 11 if access is lost, 10 if it is only gained, else 0.
 */
export function planExit({ resources, sessions, decisions }: PlanAnswer): number {
  if (resources.some(({ result }) => result === 'conflict' || result === 'invalid')) return EXIT.refused;
  const isClientDeleted = resources.some(({ kind, result }) => kind === 'Client' && result === 'deleted');
  if (isClientDeleted || sessions.length > 0 || decisions.some(({ effect }) => effect === 'lost')) return EXIT.lost;
  return decisions.length > 0 ? EXIT.gained : EXIT.done;
}
