import type { BoxPass } from '../reconcile/box-pass.ts';
import type { Candidate } from '../desired/desired.ts';
import { NEXT_STEPS } from './reasons.ts';

/**
 * Records a Warning event when the quota annotation of a Namespace cannot be read, once for each mistake: about its
 * Box, or if there is none about its oldest object.
 */
export function recordQuotaFault({ box, listing, candidates, memory, context: { events } }: BoxPass): void {
  const fault = listing.quota?.fault;
  if (fault === memory.quotaFault) return;
  const object = (candidates.find((one) => one.object.kind === 'Box') ?? oldest(candidates))?.object;
  if (object === undefined) return;
  memory.quotaFault = fault;
  if (fault === undefined) return;
  const { kind, name, uid } = object;
  const message = `${fault}. ${NEXT_STEPS.QuotaNotReadable}`;
  events.record({ object: { kind, namespace: box, name, uid }, type: 'Warning', reason: 'QuotaNotReadable', message });
}

function oldest(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.reduce<Candidate | undefined>(
    (first, one) => (first === undefined || one.object.created < first.object.created ? one : first),
    undefined,
  );
}
