import type { Candidate } from '../desired/desired.ts';
import type { EventRecorder } from './events.ts';
import { NEXT_STEPS } from './reasons.ts';

/** Fault of a quota annotation, the one that the last event told, and where the next event goes. */
export interface QuotaFault {
  readonly fault: string | undefined;
  readonly before: string | undefined;
  readonly events: EventRecorder;
}

/**
 * Records a Warning event when the quota annotation of a Namespace cannot be read, once for each mistake: about its
 * Box, or if there is none about its oldest object. Returns the fault that is told now; without any object, as before.
 */
export function recordQuotaFault(
  box: string,
  candidates: readonly Candidate[],
  { fault, before, events }: QuotaFault,
): string | undefined {
  if (fault === before) return before;
  const object = (candidates.find((one) => one.object.kind === 'Box') ?? oldest(candidates))?.object;
  if (object === undefined) return before;
  if (fault === undefined) return undefined;
  const { kind, name, uid } = object;
  const message = `${fault}. ${NEXT_STEPS.QuotaNotReadable}`;
  events.record({ object: { kind, namespace: box, name, uid }, type: 'Warning', reason: 'QuotaNotReadable', message });
  return fault;
}

function oldest(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.reduce<Candidate | undefined>(
    (first, one) => (first === undefined || one.object.created < first.object.created ? one : first),
    undefined,
  );
}
