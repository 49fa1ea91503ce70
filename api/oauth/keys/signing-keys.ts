import { generateKeyPair } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import type { Box } from '../../../crds/box.ts';
import type { KeySealing } from '../../credentials/key-sealing.ts';
import { bumpVersion } from '../../db/box/box.ts';
import type { Connections } from '../../db/core/pool.ts';
import { deleteKey, extendKey, insertKey, readSigningKeys, retireKey } from '../../db/client-auth/signing-key.ts';
import type { NewSigningKey } from '../../db/client-auth/signing-key.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { sealedFor } from '../../box/key-ring.ts';
import type { SigningAlgorithm } from '../../box/key-ring.ts';
import { planKeys } from './plan-keys.ts';
import type { KeyStep, MissingKey } from './plan-keys.ts';

/** The signing keys of the boxes, in Postgres. */
export interface SigningKeys {
  /**
   * Creates, rotates and deletes the keys of a box as {@link planKeys} says, one replica at a time (the box's row is
   * locked); returns whether anything changed. `now` in milliseconds. Throws Outage.
   */
  upkeep(box: string, settings: Box, now: number, needed?: MissingKey): Promise<boolean>;
}

type Plan = (connection: Connection) => Promise<readonly KeyStep[]>;

/** Creates the access to the keys in the database of a pool, their private parts sealed. */
export function createSigningKeys(pool: Connections, sealing: KeySealing): SigningKeys {
  const underWay = new Map<string, Promise<boolean>>();

  /** Lets calls wait for a running one: an RSA key takes a thread for a second, and all other work waits for it. */
  async function upkeep(box: string, settings: Box, now: number, needed?: MissingKey): Promise<boolean> {
    const plan: Plan = async (connection) => planKeys(await readSigningKeys(connection, box), settings, needed, now);
    for (;;) {
      const foreseen = await inBox(pool, box, 'snapshot', plan);
      if (foreseen.length === 0) return false;
      const running = underWay.get(box);
      if (running === undefined) {
        const changing = change(box, plan, foreseen).finally(() => underWay.delete(box));
        underWay.set(box, changing);
        return changing;
      }
      // The running call most likely makes the missing key. If it fails, all waiting calls fail.
      await running;
    }
  }

  async function change(box: string, plan: Plan, foreseen: readonly KeyStep[]): Promise<boolean> {
    // Before the lock, which all refreshes of the box wait for.
    const pairs = new Map<SigningAlgorithm, KeyPair>();
    for (const step of foreseen) {
      if (step.do === 'create') pairs.set(step.algorithm, await generateSigningKey(step.algorithm));
    }
    return inBox(pool, box, 'write', async (connection) => {
      await bumpVersion(connection, box);
      // Another replica may have been first: plan again, now that the row is ours.
      const steps = await plan(connection);
      for (const step of steps) await carryOut(connection, box, step, pairs);
      return steps.length > 0;
    });
  }

  async function carryOut(
    connection: Connection,
    box: string,
    step: KeyStep,
    pairs: ReadonlyMap<SigningAlgorithm, KeyPair>,
  ): Promise<void> {
    switch (step.do) {
      case 'create': {
        const pair = pairs.get(step.algorithm) ?? (await generateSigningKey(step.algorithm));
        await insertKey(connection, await newSigningKey(box, pair, step, sealing));
        return;
      }
      case 'retire':
        await retireKey(connection, box, step.kid, step.at);
        return;
      case 'extend':
        await extendKey(connection, box, step.kid, step.signedUntil);
        return;
      case 'delete':
        await deleteKey(connection, box, step.kid);
    }
  }

  return { upkeep };
}

/** Both parts of a key, in memory. */
export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const generate = promisify(generateKeyPair);

/** RSA has 3072 bits: 2048 are below 128 bits of security (OWASP ASVS 5.0 §11.2.3). */
const generators = {
  ES256: () => generate('ec', { namedCurve: 'P-256' }),
  RS256: () => generate('rsa', { modulusLength: 3072 }),
  EdDSA: () => generate('ed25519'),
} as const satisfies Record<SigningAlgorithm, () => Promise<KeyPair>>;

/** Makes a key pair; one of RSA takes a second. */
function generateSigningKey(algorithm: SigningAlgorithm): Promise<KeyPair> {
  return generators[algorithm]();
}

/** Returns a pair as its row holds it, the private part sealed for the box; its id is its thumbprint (RFC 7638). */
async function newSigningKey(
  box: string,
  { publicKey, privateKey }: KeyPair,
  life: Pick<NewSigningKey, 'algorithm' | 'activeFrom' | 'signedUntil'>,
  sealing: KeySealing,
): Promise<NewSigningKey> {
  const { algorithm, activeFrom, signedUntil } = life;
  const kid = await calculateJwkThumbprint(publicKey);
  const plain = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    box,
    kid,
    algorithm,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' },
    privateKey: sealing.seal(plain, sealedFor(box, kid)),
    activeFrom,
    signedUntil,
  };
}
