import { generateKeyPairSync } from 'node:crypto';
import { quotaOf } from '../../crds/quota.ts';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';
import type { ConfigChanges, ResourceRow, SigningKeyRow } from '../../api/db/box/config-changes.ts';
import { sealedFor } from '../../api/box/key-ring.ts';

/** The sealing of the samples. */
export const sampleSealing = createKeySealing([Buffer.alloc(32, 1)]);

/** A change of a box that changes nothing but its version. */
export function changes(version: number, over: Partial<ConfigChanges> = {}): ConfigChanges {
  return {
    version,
    complete: false,
    sessionsFrom: 0,
    revokedBefore: undefined,
    locked: false,
    quota: quotaOf(),
    sessionsFull: false,
    leaving: false,
    builtInFrom: 0,
    resources: over.changed?.length ?? 0,
    bytes: 100 * (over.changed?.length ?? 0),
    changed: [],
    deleted: [],
    keys: [],
    ...over,
  };
}

/** The row of a client. */
export function clientRow(id: string, over: Partial<ResourceRow> = {}): ResourceRow {
  const body = { resourceType: 'Client', id, grant_types: ['client_credentials'] };
  const none = { secrets: [], previous: undefined, revokedBefore: undefined };
  return { kind: 'Client', id, version: 1, sessionsFrom: 0, body, isManaged: true, ...none, ...over };
}

/** The row of a signing key, made and sealed. */
export function keyRow(kid: string, over: Partial<SigningKeyRow> = {}, box = 'default'): SigningKeyRow {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    kid,
    algorithm: 'ES256',
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' },
    privateKey: sampleSealing.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), sealedFor(box, kid)),
    activeFrom: 0,
    retiredAt: undefined,
    signedUntil: 0,
    ...over,
  };
}
