import { MOST_ENCRYPTION_KEYS } from '../../program/environment.ts';
import type { SecretChange } from './secret-store.ts';
import { authoritiesOf, certificatesIn, type ServiceCertificate } from './certificate.ts';

/** Everything that `boxgate keys rotate` rotates. */
export const rotations = ['management', 'certificate', 'encryption', 'digest'] as const;

/** One of {@link rotations}. */
export type Rotation = (typeof rotations)[number];

/** A change of the keys that takes one run or several: a rotation, or the removal of the older encryption keys. */
export type KeyChange = Rotation | 'forget-encryption';

/** A step of a rotation. */
export interface RotationStep {
  /** The change of the Secret. */
  readonly change: SecretChange;
  /** Sentence that describes the step. */
  readonly done: string;
  /** Deployments that are restarted afterwards; none if left out. */
  readonly restart?: readonly string[];
  /** Sentence that describes what to do next. */
  readonly next: string;
}

/** The annotation that holds how far a rotation has come. */
export function stepAnnotation(rotation: Rotation): string {
  return `boxgate.dev/rotation-${rotation}`;
}

const api = 'boxgate-api';
const operator = 'boxgate-operator';

/** Returns what follows a step, with the command for the namespace of the installation. */
export function nextOf({ restart, next }: RotationStep, namespace: string): string {
  if (restart === undefined) return next;
  const deployments = restart.map((name) => `deployment/${name}`).join(' ');
  return `kubectl --namespace ${namespace} rollout restart ${deployments}; ${next}`;
}

/**
 * Returns the next step for the management key: `old,new` for the API, `new,old` for both, then `new`. `step` is the
 * value of its annotation.
 */
export function managementStep(value: string, step: string | undefined, fresh: string): RotationStep {
  const [first = '', second] = listed(value);
  const annotation = stepAnnotation('management');
  const change = (keys: readonly string[], to: string | null): SecretChange => ({
    data: { 'management-keys': keys.join(',') },
    annotations: { [annotation]: to },
  });
  if (second === undefined) {
    return {
      change: change([first, fresh], 'added'),
      done: 'step 1 of 3: the API accepts a second management key',
      restart: [api],
      next: 'when it is rolled out, run this command again',
    };
  }
  if (step === 'added') {
    return {
      change: change([second, first], 'first'),
      done: 'step 2 of 3: the operator uses the new management key',
      restart: [api, operator],
      next: 'when both are rolled out, run this command again',
    };
  }
  return {
    change: change([first], null),
    done: 'step 3 of 3: the old management key is removed',
    restart: [api, operator],
    next: 'then the old key is not accepted any more',
  };
}

/**
 * Returns the next step for the encryption key: `old,new`, so that every replica can open what the new one seals, then
 * `new,old`. The old one stays: older signing keys and passwords need it. Throws an Error if there are as many keys as
 * the API reads, or if the key of the first step is gone, because another key must not take its place.
 */
export function encryptionStep(value: string, step: string | undefined, fresh: string): RotationStep {
  const keys = listed(value);
  const annotation = stepAnnotation('encryption');
  const expected = keysAfterFirstStep(step);
  if (expected === undefined) {
    if (keys.length >= MOST_ENCRYPTION_KEYS) {
      const many = `The Secret has ${String(keys.length)} encryption keys, and the API reads no more`;
      throw new Error(`${many}: remove the older ones first (boxgate keys forget encryption)`);
    }
    return {
      change: {
        data: { 'encryption-key': [...keys, fresh].join(',') },
        annotations: { [annotation]: `added-${String(keys.length + 1)}` },
      },
      done: 'step 1 of 2: the API can open what a new encryption key seals',
      restart: [api],
      next: 'when it is rolled out, run this command again',
    };
  }
  if (keys.length < expected) {
    throw new Error(
      `The key that step 1 added is no longer in encryption-key: something else has written the Secret. Put the key back, or remove the annotation ${annotation} and begin again`,
    );
  }
  const newest = keys.slice(-1);
  return {
    change: {
      data: { 'encryption-key': [...newest, ...keys.slice(0, -1)].join(',') },
      annotations: { [annotation]: null },
    },
    done: 'step 2 of 2: the API seals with the new encryption key, and opens with the older ones',
    restart: [api],
    next: 'the older ones stay, as passwords and signing keys that were sealed with them need them',
  };
}

/** Returns the number of encryption keys that the first step left; undefined if no rotation has begun. */
function keysAfterFirstStep(step: string | undefined): number | undefined {
  const found = /^added(?:-(\d+))?$/.exec(step ?? '');
  return found === null ? undefined : Number(found[1] ?? 2);
}

/** Returns the step that removes the older encryption keys. Throws an Error of one sentence during a rotation. */
export function forgetStep(value: string, step: string | undefined): RotationStep {
  const [first = '', ...older] = listed(value);
  if (keysAfterFirstStep(step) !== undefined) {
    throw new Error('A rotation of the encryption key has begun: run `boxgate keys rotate encryption` first');
  }
  return {
    change: { data: { 'encryption-key': first }, annotations: {} },
    done: `removed ${String(older.length)} older encryption ${older.length === 1 ? 'key' : 'keys'}: passwords that were set under them are lost`,
    restart: [api],
    next: 'then nothing can open what the older ones sealed',
  };
}

/** Returns the only step for the digest key: with another one, everything declared is sent once more. */
export function digestStep(fresh: string): RotationStep {
  return {
    change: { data: { 'digest-key': fresh }, annotations: {} },
    done: 'step 1 of 1: the digest key is replaced',
    restart: [operator],
    next: 'it sends everything declared once more',
  };
}

/**
 * Returns why the commands leave a Secret alone that somebody else provides, and the steps that its owner takes in
 * place of them.
 */
export function providedRefusal(change: KeyChange, secretName: string): string {
  return `The Secret ${secretName} is provided (BOXGATE_KEYS_PROVIDED), so its owner would undo a change made here. Change it at its source: ${stepsOfOwner[change]}; docs/guides/keys.md has the details`;
}

/** The steps of {@link managementStep} and its neighbours, for the owner of a provided Secret. */
const stepsOfOwner = {
  management:
    '1. management-keys `old,new`, restart boxgate-api; 2. `new,old`, restart boxgate-api and boxgate-operator; 3. `new`, restart both; wait for each rollout',
  certificate:
    '1. add the new authority to ca.crt; 2. replace tls.crt and tls.key; 3. remove the old authority from ca.crt; wait two minutes after each step',
  encryption:
    '1. encryption-key `old,new`, restart boxgate-api; 2. `new,old`, restart boxgate-api; wait for each rollout, and keep the old key',
  digest: 'replace digest-key, restart boxgate-operator',
  'forget-encryption':
    'leave only the first key in encryption-key, restart boxgate-api; passwords that were set under the others are lost',
} as const satisfies Record<KeyChange, string>;

function listed(value: string): readonly string[] {
  return value
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
}

/** Keys of the Secret that hold the next certificate between the first step and the second. */
const nextCertificate = 'next-tls.crt';
const nextKey = 'next-tls.key';

const wait = 'wait two minutes until every pod has the changed files (kubelet), then run this command again';

/**
 * Returns the next step for the certificate of the management port: the operator trusts both authorities, then the API
 * shows the new certificate, then the old authority is removed. The files take effect without a restart. `create` makes
 * a certificate; it is called for the first step only. Throws an Error of one sentence if no authority signed what is
 * shown.
 */
export async function certificateStep(
  data: Readonly<Record<string, string>>,
  create: () => Promise<ServiceCertificate>,
): Promise<RotationStep> {
  const authorities = data['ca.crt'] ?? '';
  const next = { certificate: data[nextCertificate] ?? '', key: data[nextKey] ?? '' };
  if (next.certificate !== '' && next.key !== '') {
    return {
      change: {
        data: { 'tls.crt': next.certificate, 'tls.key': next.key, [nextCertificate]: null, [nextKey]: null },
        annotations: {},
      },
      done: 'step 2 of 3: the management port shows the new certificate',
      next: wait,
    };
  }
  if (certificatesIn(authorities).length > 1) {
    const needed = authoritiesOf(data['tls.crt'] ?? '', authorities);
    if (needed.length === 0) throw new Error('No authority in ca.crt signed the certificate in tls.crt: restore both');
    return {
      change: { data: { 'ca.crt': needed.join('') }, annotations: {} },
      done: 'step 3 of 3: the operator trusts the authority of the new certificate only',
      next: 'nothing more is to do',
    };
  }
  const { certificate, key, authority } = await create();
  return {
    change: {
      data: { 'ca.crt': `${authorities.trimEnd()}\n${authority}`, [nextCertificate]: certificate, [nextKey]: key },
      annotations: {},
    },
    done: 'step 1 of 3: the operator trusts the authority of a new certificate too',
    next: wait,
  };
}
