import type { ObjectEvent } from '../status/events.ts';
import type { SecretChange } from './rotation.ts';
import type { SecretWish } from './keeper.ts';

type Telling = Pick<ObjectEvent, 'type' | 'reason' | 'message'>;

/** Returns the event for a change of a generated secret; `isKnown`: the client had one before. */
export function secretEvent(
  box: string,
  { client, uid, secret }: SecretWish,
  change: SecretChange,
  isKnown: boolean,
): ObjectEvent | undefined {
  const telling = TELLINGS[change](`Secret ${secret}`, isKnown);
  return telling && { object: { kind: 'Client', namespace: box, name: client, uid }, ...telling };
}

const overlap = 'the one before is valid until the overlap ends';

const TELLINGS = {
  none: () => undefined,
  // Nobody sees it yet.
  staged: () => undefined,
  made: (secret, isKnown) =>
    isKnown
      ? { type: 'Warning', reason: 'SecretRecreated', message: `${secret} was gone and has a new secret; ${overlap}` }
      : { type: 'Normal', reason: 'SecretCreated', message: `${secret} holds the secret of this client` },
  renewed: (secret) => ({
    type: 'Warning',
    reason: 'SecretRenewed',
    message: `${secret} no longer held the generated secret and has a new one; ${overlap}`,
  }),
  taken: (secret) => ({
    type: 'Warning',
    reason: 'SecretReplaced',
    message: `${secret} holds another secret that somebody put there; ${overlap}`,
  }),
  rotated: (secret) => ({
    type: 'Normal',
    reason: 'SecretRotated',
    message: `${secret} holds a new secret; ${overlap}`,
  }),
  retired: (secret) => ({
    type: 'Normal',
    reason: 'SecretRetired',
    message: `${secret}: the previous secret has expired`,
  }),
} as const satisfies Record<SecretChange, (secret: string, isKnown: boolean) => Telling | undefined>;
