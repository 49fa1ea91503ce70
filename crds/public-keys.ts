import { isObject } from './path.ts';
import { createPublicKey, type JsonWebKey as ImportedKey } from 'node:crypto';
import type { Fault } from './fault.ts';

/** Members that a public key of each type must have (RFC 7518 §6.2.1, §6.3.1; RFC 8037 §2). */
export const KEY_MEMBERS = {
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
  RSA: ['n', 'e'],
} as const satisfies Record<KeyType, readonly string[]>;

/** A type of key that can verify an assertion. */
export type KeyType = 'EC' | 'OKP' | 'RSA';

/** A member that some key must have. */
export type KeyMember = (typeof KEY_MEMBERS)[KeyType][number];

/** Algorithms by the curve of a key (RFC 7518 §3.4, RFC 8037 §3.1). */
const CURVES: Readonly<Record<'EC' | 'OKP', Readonly<Record<string, readonly string[]>>>> = {
  EC: { 'P-256': ['ES256'], 'P-384': ['ES384'], 'P-521': ['ES512'] },
  OKP: { Ed25519: ['EdDSA'] },
};
const OF_RSA: readonly string[] = ['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];
const SIGNATURES: ReadonlySet<string> = new Set([
  ...OF_RSA,
  ...Object.values(CURVES).flatMap((algorithms) => Object.values(algorithms).flat()),
]);

/** The faults of members called `true` and `false`, which are the names of no member of a key. */
export const UNQUOTED = {
  true: 'must be "y" in quotes: YAML 1.1, which kubectl reads, takes an unquoted y for true',
  false: 'must be "n" in quotes: YAML 1.1, which kubectl reads, takes an unquoted n for false',
} as const;

/**
 * Returns the faults that make the keys of a client useless for verifying an assertion: one for each key that cannot be
 * imported, at `jwks.keys[1]` or the member at fault, and one for a set of keys that are all meant for something else.
 * Encryption keys in the same set are left alone. A CRD cannot check this. A stored client that has such a key stays in
 * force.
 */
export function keyFaults(jwks: { readonly keys: readonly unknown[] } | undefined): readonly Fault[] {
  if (jwks === undefined) return [];
  const keys = jwks.keys.map((key, index) => ({ key: isObject(key) ? key : {}, path: `jwks.keys[${String(index)}]` }));
  const verifying = keys.filter(({ key }) => isMeantToVerify(key));
  if (verifying.length === 0) {
    const message = 'must have a key that verifies signatures: each of these has another use, key_ops or alg';
    return [{ path: 'jwks.keys', message }];
  }
  return verifying.flatMap(({ key, path }) => keyFault(key, path) ?? []);
}

/** Checks whether a key is meant to verify signatures (RFC 7517 §4.2 to §4.4). */
function isMeantToVerify({ use, key_ops, alg }: Readonly<Record<string, unknown>>): boolean {
  if (use !== undefined && use !== 'sig') return false;
  if (Array.isArray(key_ops) && !key_ops.includes('verify')) return false;
  return alg === undefined || (typeof alg === 'string' && SIGNATURES.has(alg));
}

function keyFault(key: Readonly<Record<string, unknown>>, path: string): Fault | undefined {
  const { kty } = key;
  for (const [name, message] of Object.entries(UNQUOTED)) {
    if (Object.hasOwn(key, name)) return { path: `${path}.${name}`, message };
  }
  if (kty !== 'EC' && kty !== 'OKP' && kty !== 'RSA') return { path: `${path}.kty`, message: 'must be RSA, EC or OKP' };
  const missing = KEY_MEMBERS[kty].find((member) => typeof key[member] !== 'string');
  if (missing !== undefined) return { path: `${path}.${missing}`, message: missingMember(kty, missing) };
  return algorithmFault(key, kty, path) ?? operationsFault(key, path) ?? importFault(key, kty, path);
}

function missingMember(kty: KeyType, member: string): string {
  return `must be given as a string: a key whose kty is ${kty} has ${KEY_MEMBERS[kty].join(', ')}${member === 'y' || member === 'n' ? ` ("${member}" in quotes in YAML)` : ''}`;
}

function algorithmFault(
  { alg, crv }: Readonly<Record<string, unknown>>,
  kty: KeyType,
  path: string,
): Fault | undefined {
  const curves = kty === 'RSA' ? undefined : CURVES[kty];
  const algorithms = curves === undefined ? OF_RSA : own(curves, String(crv));
  if (algorithms === undefined) {
    return { path: `${path}.crv`, message: `must be ${Object.keys(curves ?? {}).join(', ')} where kty is ${kty}` };
  }
  if (alg === undefined || algorithms.some((algorithm) => algorithm === alg)) return undefined;
  return { path: `${path}.alg`, message: `must be ${algorithms.join(', ')} for this key, or left out` };
}

function own(table: Readonly<Record<string, readonly string[]>>, name: string): readonly string[] | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Rejects other operations: a public key only verifies, and with another operation listed it is not imported. */
function operationsFault({ key_ops }: Readonly<Record<string, unknown>>, path: string): Fault | undefined {
  if (key_ops === undefined || (Array.isArray(key_ops) && key_ops.length === 1)) return undefined;
  return { path: `${path}.key_ops`, message: 'must be ["verify"], or left out' };
}

/**
 * Imports the key with the cryptography of Node, on which jose is built: jose itself is asynchronous, and objects are
 * checked synchronously. A test compares the two.
 */
function importFault(key: Readonly<Record<string, unknown>>, kty: KeyType, path: string): Fault | undefined {
  if (kty === 'RSA' && !isExponent(String(key['e']))) {
    return { path: `${path}.e`, message: 'must be an odd number above 1 in base64url, nearly always AQAB' };
  }
  const members: ImportedKey = { kty };
  for (const member of KEY_MEMBERS[kty]) members[member] = String(key[member]);
  try {
    createPublicKey({ key: members, format: 'jwk' });
    return undefined;
  } catch {
    return { path, message: NOT_IMPORTED[kty](String(key['crv'])) };
  }
}

const NOT_IMPORTED: Readonly<Record<KeyType, (curve: string) => string>> = {
  EC: (curve) =>
    `must be a key that can be imported: its x and y are no point of ${curve}. Export the public key again`,
  OKP: (curve) => `must be a key that can be imported: its x is no point of ${curve}. Export the public key again`,
  RSA: () => 'must be a key that can be imported: its n and e are no RSA key. Export the public key again',
};

/** Checks an exponent of RSA: odd, and at least 3 (RFC 8017 §3.1). */
function isExponent(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  const isOne = bytes.length > 0 && bytes.every((byte, index) => byte === (index === bytes.length - 1 ? 1 : 0));
  return (bytes.at(-1) ?? 0) % 2 === 1 && !isOne;
}
