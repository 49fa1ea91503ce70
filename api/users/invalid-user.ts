import { faultSentence } from '../../crds/fault.ts';
import type { Fault } from '../../crds/fault.ts';
import { Problem } from '../problem.ts';

/** What a caller sent of a user and may see again: never a password, nor a field that nobody knows. */
export type SubmittedUser = Readonly<Record<string, unknown>>;

/** A submitted user that cannot be stored, with every fault of it (interface §7). */
export class InvalidUser extends Problem {
  readonly entity: SubmittedUser;

  constructor(faults: readonly Fault[], entity: SubmittedUser) {
    super('invalid', faults);
    this.entity = entity;
  }

  /** The messages by the field they are about; `body` for what is wrong with the whole. */
  get errors(): Readonly<Record<string, readonly string[]>> {
    const grouped = Map.groupBy(this.faults, ({ path }) => fieldOf(path));
    return Object.fromEntries([...grouped].map(([field, faults]) => [field, faults.map(messageOf)]));
  }
}

function fieldOf(path: string): string {
  return path === '' ? 'body' : (path.split(/[.[]/)[0] ?? path);
}

/** The message alone, unless it is about a part of the field. */
function messageOf(fault: Fault): string {
  return fault.path === fieldOf(fault.path) ? fault.message : faultSentence(fault);
}
