import { faultSentence } from '../../../crds/fault.ts';
import type { Fault } from '../../../crds/fault.ts';
import { Problem } from '../../problem.ts';

/** Part of a submitted user that the caller may see again: never a password, nor an unknown field. */
export type SubmittedUser = Readonly<Record<string, unknown>>;

/** A submitted user that cannot be stored, with every fault of it. */
export class InvalidUser extends Problem {
  readonly entity: SubmittedUser;

  constructor(faults: readonly Fault[], entity: SubmittedUser) {
    super('invalid', faults);
    this.entity = entity;
  }

  /** Returns the messages by their field; `body` for faults of the whole. */
  get errors(): Readonly<Record<string, readonly string[]>> {
    const grouped = Map.groupBy(this.faults, ({ path }) => fieldOf(path));
    return Object.fromEntries([...grouped].map(([field, faults]) => [field, faults.map(messageOf)]));
  }
}

function fieldOf(path: string): string {
  return path === '' ? 'body' : (path.split(/[.[]/)[0] ?? path);
}

/** Returns the message alone, unless it is about a part of the field. */
function messageOf(fault: Fault): string {
  return fault.path === fieldOf(fault.path) ? fault.message : faultSentence(fault);
}
