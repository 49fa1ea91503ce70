import { LARGE_OBJECT } from '../../desired/declared.ts';
import { rowKey, type Desired } from '../../desired/desired.ts';
import type { LargeTurn } from '../large-turns.ts';
import type { Removal } from './plan.ts';

/** Changes that the API takes in one call or not at all. */
export interface Step {
  readonly remove: readonly Removal[];
  readonly declare: readonly Desired[];
}

/** Characters of the lines of one apply call: it ends with the step that reaches them. */
export const PORTION = 1_048_576;

/** The policy and the group of the first admin: the API stores each with a Box unless the box has one of this name. */
const ofAdmins: readonly string[] = ['AccessPolicy/admins', 'Group/admins'];

/**
 * Orders a plan into steps: first the pure removals, then the Box, then each object, the oldest first. Beyond a quota
 * of the box the API refuses the later ones. A row that passes from one object to another is one step, so that it never
 * disappears. Pure.
 */
export function stepsOf(remove: readonly Removal[], declare: readonly Desired[]): readonly Step[] {
  const leaving = new Map(remove.map((one) => [rowKey(one.row), one]));
  const step = (declared: readonly Desired[]): Step => ({
    remove: declared.flatMap(({ validated }) => leaving.get(validated.rowKey) ?? []),
    declare: declared,
  });
  const wanted = new Set(declare.map(({ validated }) => validated.rowKey));
  const gone = remove.filter(({ row }) => !wanted.has(rowKey(row)));
  const sorted = oldestFirst(declare);
  const hasBox = sorted.some(isBox);
  const first = hasBox ? sorted.filter((one) => isBox(one) || ofAdmins.includes(one.validated.rowKey)) : [];
  const others = hasBox ? sorted.filter((one) => !first.includes(one)) : sorted;
  return [
    ...(gone.length === 0 ? [] : [{ remove: gone, declare: [] }]),
    ...(first.length === 0 ? [] : [step(first)]),
    ...others.map((one) => step([one])),
  ];
}

function isBox({ object }: Desired): boolean {
  return object.kind === 'Box';
}

function oldestFirst(declare: readonly Desired[]): readonly Desired[] {
  const age = ({ object }: Desired): string => object.created;
  return [...declare].sort((one, other) => (age(one) < age(other) ? -1 : age(one) > age(other) ? 1 : 0));
}

/**
 * Returns the steps that a pass may carry out: those before the first one whose large objects are not in its turn.
 * Later ones wait too, because the API counts the oldest objects first against a quota.
 */
export function stepsInTurn(steps: readonly Step[], turn: LargeTurn | undefined): readonly Step[] {
  if (turn === undefined) return steps;
  const end = steps.findIndex((step) => !turn.take(largeLength(step)));
  return end === -1 ? steps : steps.slice(0, end);
}

/** Returns the characters of the large objects of a step. */
function largeLength({ declare }: Step): number {
  const lengths = declare.map(({ object }) => object.length ?? 0);
  return lengths.filter((length) => length > LARGE_OBJECT).reduce((sum, length) => sum + length, 0);
}

/** Lines of one call, and the changes that they carry. */
export interface Portion<Line> {
  /** Removals first. */
  readonly lines: readonly Line[];
  readonly declare: readonly Desired[];
  readonly remove: readonly Removal[];
}

/** Builders of the lines of a step. */
export interface LineMaker<Line> {
  readonly removal: (one: Removal) => Line;
  readonly declaration: (one: Desired) => Line;
}

/** Yields steps in portions of about {@link PORTION} characters; the lines of each are built when requested. */
export function* portionsOf<Line>(
  steps: readonly Step[],
  { removal, declaration }: LineMaker<Line>,
): Generator<Portion<Line>> {
  let remove: Removal[] = [];
  let declare: Desired[] = [];
  let lines: Line[] = [];
  let length = 0;
  const portion = (): Portion<Line> => ({ remove, declare, lines: [...remove.map(removal), ...lines] });
  for (const step of steps) {
    remove.push(...step.remove);
    declare.push(...step.declare);
    for (const one of step.declare) {
      const line = declaration(one);
      length += one.object.length ?? JSON.stringify(line).length;
      lines.push(line);
    }
    if (length < PORTION) continue;
    yield portion();
    [remove, declare, lines, length] = [[], [], [], 0];
  }
  if (remove.length + declare.length > 0) yield portion();
}
