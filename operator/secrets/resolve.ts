import { isCostlyHash, PASSWORD_BYTES, SECRET_LENGTH, SECRET_TEXT, storedForm } from '../../crds/secret-text.ts';
import type { DeclaredSecret } from '../desired/declared.ts';
import type { PreviousSecret } from './rotation.ts';
import { needsSecret } from '../../api/client/manifest/resource.ts';
import { Secret } from '../../api/client/secret.ts';
import type { Manifest } from '../../crds/manifest-schema.ts';
import type { BoxSpec, ClientSpec } from '../../crds/specs.ts';
import { rotationOf, type Rotation } from './rotation.ts';

/** Source of a client's secret, or of the password of a box's first admin. */
export type SecretSource =
  | {
      readonly from: 'nowhere';
      /** Authentication of a client instead of a secret, for people; absent of other objects. */
      readonly instead?: 'public' | 'keys' | 'accounts';
    }
  | { readonly from: 'inline'; readonly value: Secret }
  | {
      readonly from: 'reference';
      readonly name: string;
      readonly key: string;
      /** True if it is a person's password, not a client's secret. */
      readonly isPassword?: true;
    }
  | {
      readonly from: 'generated';
      /** Name of the Secret that holds it; undefined: the name of the Client. */
      readonly name: string | undefined;
      readonly template: Texts | undefined;
      readonly labels: Texts;
      readonly annotations: Texts;
      readonly rotation: Rotation;
    };

type Texts = Readonly<Record<string, string>>;

/**
 * Returns the source of a declared object's secret (docs/reference/custom-resources.md); `nowhere` if it needs none.
 */
export function secretSource(manifest: Manifest): SecretSource {
  if (manifest.kind === 'Box') return passwordSource(manifest.spec);
  if (manifest.kind !== 'Client') return nowhere;
  const { secret, secretRef, generateSecret } = manifest.spec;
  if (secret !== undefined) return { from: 'inline', value: new Secret(secret) };
  if (secretRef !== undefined) return { from: 'reference', name: secretRef.name, key: secretRef.key };
  if (generateSecret === undefined && !needsSecret(manifest.spec)) return withoutSecret(manifest.spec);
  if (generateSecret === undefined && manifest.spec.rotation === undefined) return generated;
  const { name, template, labels = none, annotations = none } = generateSecret ?? {};
  return { from: 'generated', name, template, labels, annotations, rotation: rotationOf(manifest.spec) };
}

function passwordSource({ bootstrap_admin }: BoxSpec): SecretSource {
  if (bootstrap_admin === undefined) return nowhere;
  const { name, key } = bootstrap_admin.passwordSecretRef;
  return { from: 'reference', name, key, isPassword: true };
}

// Shared: there may be ten thousand clients.
const nowhere: SecretSource = { from: 'nowhere' };
const publicClient: SecretSource = { from: 'nowhere', instead: 'public' };
const byKeys: SecretSource = { from: 'nowhere', instead: 'keys' };
const byAccounts: SecretSource = { from: 'nowhere', instead: 'accounts' };
const none: Texts = {};
const generated: SecretSource = {
  from: 'generated',
  name: undefined,
  template: undefined,
  labels: none,
  annotations: none,
  rotation: rotationOf({}),
};

/** Returns the name of the Secret that holds a client's secret; undefined if there is none. */
export function secretName(source: SecretSource, client: string): string | undefined {
  if (source.from === 'reference') return source.name;
  return source.from === 'generated' ? (source.name ?? client) : undefined;
}

function withoutSecret({ jwks, jwks_uri, service_accounts }: ClientSpec): SecretSource {
  if (jwks !== undefined || jwks_uri !== undefined) return byKeys;
  return service_accounts === undefined ? publicClient : byAccounts;
}

/** Returns the text of the column SECRET; empty if nothing is known of the object. */
export function secretColumn(source: SecretSource): string {
  if (source.from !== 'nowhere') return source.from;
  return source.instead === undefined ? '' : `none (${source.instead})`;
}

/** Reason why a secret is missing. */
export type SecretProblem =
  | 'SecretNotFound'
  | 'SecretNotRead'
  | 'SecretForbidden'
  | 'SecretKeyNotFound'
  | 'SecretNotLabelled'
  | 'SecretNotAllowed'
  | 'SecretNotUsable'
  | 'SecretNotOwned'
  | 'SecretNotMade'
  | 'SecretRefused'
  | 'NamespaceTerminating';

/** Current state of a client's secret. */
export type ResolvedSecret = { readonly state: 'none' } | ReadySecret | MissingSecret;

/** A secret that exists. */
export interface ReadySecret {
  readonly state: 'ready';
  readonly value: Secret;
  /** The previous secret while both are valid. */
  readonly previous?: PreviousSecret;
  /** True if its keeper continues once the API has it in this form. */
  readonly isStaged?: true;
  /** Its keeper's name for this state of it. */
  readonly version?: string;
  /** Time of the next check, in milliseconds since 1970. */
  readonly look?: number | undefined;
  /** Time of the last use of the previous secret, in milliseconds since 1970. */
  readonly previousLastUsed?: number | undefined;
}

/** A secret that does not exist. */
export interface MissingSecret {
  readonly state: 'missing';
  readonly reason: SecretProblem;
  readonly message: string;
  /** Time of the next check, in milliseconds since 1970; absent: when something changes. */
  readonly look?: number;
}

/** Finds the Secret of a name; returns the problem if nobody can tell, or undefined if there is none. */
export type SecretFinder = (name: string) => DeclaredSecret | MissingSecret | undefined;

/** The label by which the owner of a Secret lets clients use it: a Client must not be a way to read any Secret. */
export const CLIENT_SECRET_LABEL = 'boxgate.dev/client-secret';

const usable = new RegExp(SECRET_TEXT, 'u');

/** Returns the secret of a source; `generated` has the generated ones by the name of their Client. */
export function resolveSecret(
  source: SecretSource,
  client: string,
  find: SecretFinder,
  generated: ReadonlyMap<string, ResolvedSecret>,
): ResolvedSecret {
  switch (source.from) {
    case 'nowhere':
      return { state: 'none' };
    case 'inline':
      return { state: 'ready', value: source.value };
    case 'reference':
      return referred(source, find(source.name));
    case 'generated':
      return generated.get(client) ?? missing('SecretNotMade', `Secret ${source.name ?? client} is not created yet`);
  }
}

function referred(
  { name, key, isPassword }: Extract<SecretSource, { from: 'reference' }>,
  secret: ReturnType<SecretFinder>,
): ResolvedSecret {
  if (secret !== undefined && 'state' in secret) return secret;
  if (secret === undefined) return missing('SecretNotFound', `there is no Secret ${name}`);
  if (secret.labels[CLIENT_SECRET_LABEL] !== 'true') {
    return missing('SecretNotLabelled', `Secret ${name} must carry the label ${CLIENT_SECRET_LABEL}: "true"`);
  }
  if (secret.type === 'kubernetes.io/service-account-token') {
    return missing('SecretNotAllowed', `Secret ${name} is a ServiceAccount token`);
  }
  const value = secret.entries.get(key);
  if (value === undefined) return missing('SecretKeyNotFound', `Secret ${name} has no entry ${key}`);
  const fault = secretFault(value.reveal(), isPassword === true);
  return fault === undefined
    ? { state: 'ready', value }
    : missing('SecretNotUsable', `entry ${key} of Secret ${name} ${fault}`);
}

function secretFault(text: string, isPassword: boolean): string | undefined {
  if (text === '') return 'is empty';
  if (/[\r\n]$/.test(text)) return 'ends with a line break: write it without one (echo -n)';
  if (isPassword && Buffer.byteLength(text) > PASSWORD_BYTES) return `has more than ${PASSWORD_BYTES} bytes`;
  if (!isPassword && text.length > SECRET_LENGTH) return `has more than ${SECRET_LENGTH} characters`;
  const form = storedForm(text);
  if (form === 'elsewhere')
    return 'is the stored form of another system, such as $2b$ or {SSHA}: put the secret itself there';
  if (isPassword) return /\p{Cc}/u.test(text) ? 'has control characters' : undefined;
  if (isCostlyHash(text))
    return 'is an argon2 hash that is not accepted: v=19, m at most 65536, t at most 5, p at most 4';
  return usable.test(text) ? undefined : 'has characters beyond visible ASCII and blanks';
}

/** Returns a missing secret with the reason. */
export function missing(reason: SecretProblem, message: string): MissingSecret {
  return { state: 'missing', reason, message };
}
