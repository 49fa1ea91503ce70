import type { ApplyResult } from '../../api/client/desired-state.ts';
import type { KnownRow } from '../reconcile/stored-state.ts';
import { declarerOf, type Identity } from '../desired/declared.ts';
import { rowKey, type Desired } from '../desired/desired.ts';
import type { EventRecorder } from './events.ts';

/** A comparison with the database: its results, the rows that are wanted, and those that were known before. */
export interface Comparison {
  readonly results: readonly ApplyResult[];
  readonly wanted: ReadonlyMap<string, Desired>;
  readonly before: ReadonlyMap<string, KnownRow>;
}

/**
 * Records events for rows that somebody changed, added or removed without the service, as found by a comparison with
 * the database. Other code decides on these rows: declared ones are sent again, undeclared ones are removed.
 */
export function recordDrift(box: string, { results, wanted, before }: Comparison, events: EventRecorder): void {
  for (const result of results) {
    const key = rowKey(result);
    const object = identityOf(result, wanted.get(key));
    const message = messageOf(result, wanted.get(key), before.get(key));
    if (object === undefined || message === undefined) continue;
    const { name, uid } = object;
    const about = { kind: result.kind, namespace: box, name, uid };
    events.record({ object: about, type: 'Warning', reason: 'DriftCorrected', message });
  }
}

function identityOf({ owner }: ApplyResult, wanted: Desired | undefined): Identity | undefined {
  if (wanted !== undefined) return wanted.object;
  return owner === undefined ? undefined : declarerOf(owner);
}

function messageOf(result: ApplyResult, wanted: Desired | undefined, before: KnownRow | undefined): string | undefined {
  const row = `the row of ${result.kind} ${result.id}`;
  if (result.changed !== true) {
    // A row that was applied in this form and is needed again has been lost, or a backup was restored.
    const isWhole = before?.digest !== undefined && before.faults.length === 0;
    const isLost = result.result === 'needed' && isWhole && before.digest === wanted?.digest;
    return isLost
      ? `${row} is not there as it was applied: somebody removed it in SQL; it is created again`
      : undefined;
  }
  if (result.result === 'conflict') return `${row} was changed in SQL and no longer names this object as its owner`;
  if (wanted === undefined) return `${row} was created or changed in SQL and no object declares it: it is deleted`;
  const sessions = result.kind === 'Client' ? ', and the sessions of the client are revoked' : '';
  return `${row} was changed in SQL: it is restored as declared${sessions}`;
}
