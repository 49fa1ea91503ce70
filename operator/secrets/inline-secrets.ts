import type { Candidate, Desired } from '../desired/desired.ts';
import type { EventRecorder } from '../status/events.ts';
import { NEXT_STEPS } from '../status/reasons.ts';

/**
 * Records an event for each client whose secret is in the object itself: when it appears there, and not again while it
 * stays. `before` has the objects of the last pass, by object key; a new process records the event once more.
 */
export function recordInlineSecrets(
  box: string,
  candidates: readonly Candidate[],
  before: ReadonlyMap<string, Desired>,
  events: EventRecorder,
): void {
  for (const { object, validated } of candidates) {
    if (validated.secret.from !== 'inline') continue;
    const known = before.get(object.key);
    if (known?.object.uid === object.uid && known.validated.secret.from === 'inline') continue;
    const { name, uid } = object;
    events.record({
      object: { kind: 'Client', namespace: box, name, uid },
      type: 'Warning',
      reason: 'InlineSecret',
      message: `spec.secret is for development only. ${NEXT_STEPS.SecretInManifest}`,
      isInStatus: true,
    });
  }
}
