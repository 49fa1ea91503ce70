import { needsSecret } from '../../api/client/manifest/needs-secret.ts';
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
