import { isObject } from '../../crds/path.ts';
import { listsIdleRefresh, policyTraits, type PolicyTraits } from '../../crds/warnings.ts';
import type { Adoption } from '../../api/client/desired-state.ts';
import { deletedWithObject, lifecycleOf, resourceOf } from '../../api/client/manifest/resource.ts';
import type { ServiceAccount } from '../../crds/client.ts';
import type { Fault } from '../../crds/fault.ts';
import { checkManifest } from '../../crds/manifest.ts';
import type { Kind } from '../../crds/kind.ts';
import { manifestSchemas, type Manifest } from '../../crds/manifest-schema.ts';
import { schemaNode } from '../../crds/schema-node.ts';
import { withoutUndeclared, type Reduced, unimplementedFields } from '../../crds/unimplemented-fields.ts';
import { keyFaults } from '../../crds/public-keys.ts';
import { LONGEST_RESOURCE, sizeFaults, tooLong } from '../../crds/resource-size.ts';
import { objectKey, type Declared, fingerprint } from './declared.ts';
import { rowIdOf, type Resource } from '../../crds/validate.ts';
import { secretSource, type SecretSource } from '../secrets/resolve.ts';
import type { DeniedHosts } from './source.ts';

/** Properties of an object's spec that its status, and those of linked objects, depend on. */
export type Traits =
  | {
      readonly kind: 'Client';
      readonly grants: readonly string[];
      readonly hasJwksUri: boolean;
      /** True if it lists `refresh_token` and none of its grants issues a refresh token. */
      readonly listsIdleRefresh: boolean;
    }
  | ({ readonly kind: 'AccessPolicy' } & PolicyTraits)
  | {
      readonly kind: 'Box';
      readonly issuer: string | undefined;
      /** Email of its first admin. */
      readonly admin: string | undefined;
    }
  | { readonly kind: 'Group' }
  | { readonly kind: 'unknown' };

/** Result of validating one object by itself: small, because it is kept until the object changes. */
export interface ValidatedObject {
  /** Id of the row that it declares; for a faulty object the best guess. */
  readonly id: string;
  /** Key of that row: `Client/app`. */
  readonly rowKey: string;
  /** Faults, with paths from the root of the object (`spec.auth…`); empty if it can be applied. */
  readonly faults: readonly Fault[];
  readonly suspended: boolean;
  /** True if the fault is its size. */
  readonly isTooLarge?: true;
  /** Fields without effect in this version, for people. */
  readonly unimplementedFields: readonly string[];
  /** Fields below `spec` that only the definition in the cluster knows: ignored, and a policy grants nothing. */
  readonly newer: readonly string[];
  readonly secret: SecretSource;
  /** Use of ServiceAccounts to authenticate the client: not at all, next to something else, or alone. */
  readonly serviceAccounts: 'none' | 'beside' | 'alone';
  /** Entries of a client's `service_accounts`. */
  readonly accounts: readonly ServiceAccount[];
  readonly traits: Traits;
  /** Sort of existing row with its id that the object takes over. */
  readonly adopt: Adoption | undefined;
  /** True if its row stays, without an owner, when the object is deleted. */
  readonly retain: boolean;
  /** True if the data of its box are deleted with it. */
  readonly purge: boolean;
  /** Hosts and issuer that a Box requests and its namespace does not grant. */
  readonly denied?: DeniedHosts;
  /** Keys of labels and annotations that the namespace does not permit in a Client's generated Secret. */
  readonly notPermitted?: readonly string[];
  /** The same object with all labels and annotations; set together with `notPermitted`. */
  readonly whole?: ValidatedObject;
  /** Fingerprint of the resource without its secret, and of the facts about the object that its row stores. */
  readonly content: string;
}

/** Shared: nearly all of ten thousand objects have none. */
const none: readonly never[] = [];

/**
 * Validates one object as an API server would. Pure; never throws: an object that our own code cannot handle is faulty,
 * and does not affect the others of its box.
 */
export function validate(object: Declared, newer: ReadonlySet<string> = nothing): ValidatedObject {
  try {
    const { tooLarge } = object;
    if (tooLarge !== undefined) return oversized(object, object.body(), [tooLong('spec', tooLarge, LONGEST_RESOURCE)]);
    return validateBody(object, object.body(), newer);
  } catch (error) {
    const reason = error instanceof Error ? error.name : 'something was thrown';
    return faulty(object, {}, [{ path: '', message: `cannot be validated by this version (${reason})` }]);
  }
}

const nothing: ReadonlySet<string> = new Set();

function validateBody(object: Declared, body: unknown, newer: ReadonlySet<string>): ValidatedObject {
  const { value, dropped } = understood(object.kind, body, newer);
  const checked = checkManifest(value);
  if (!checked.ok) return faulty(object, body, checked.faults);
  const { manifest } = checked;
  const resource = resourceOf(manifest, object.namespace);
  const sizes = sizeFaults({ ...resource });
  if (sizes.length > 0) return oversized(object, body, sizes.map(belowSpec));
  const unfit = resource.resourceType === 'Client' ? keyFaults(resource.jwks) : none;
  if (unfit.length > 0) return faulty(object, body, unfit.map(belowSpec));
  const lifecycle = lifecycleOf(manifest);
  const idle = unimplementedFields(manifest.kind, manifest.spec, object.place !== '');
  // Usually the name of the object: then the same string is shared.
  const rowId = rowIdOf(resource);
  const id = rowId === object.name ? object.name : rowId;
  const { adopt, retain, purge } = lifecycle;
  // No spread: it takes half as much memory again, and there may be twenty thousand objects.
  return {
    id,
    rowKey: rowKeyOf(object, id),
    faults: none,
    suspended: manifest.spec.suspend === true,
    unimplementedFields: idle.length === 0 ? none : idle,
    newer: dropped.length === 0 ? none : dropped,
    secret: secretSource(manifest),
    serviceAccounts: serviceAccountsOf(manifest),
    accounts: resource.resourceType === 'Client' ? (resource.service_accounts ?? none) : none,
    traits: traitsOf(resource, adminOf(manifest).admin),
    adopt,
    retain,
    purge,
    content: fingerprint(lifecycle === deletedWithObject ? resource : { resource, ...lifecycle, ...adminOf(manifest) }),
  };
}

/**
 * Returns a manifest as this release understands it, while the definitions in the cluster are newer. Nobody here knows
 * what an unknown field would restrict: a policy with one is linked to nobody, and grants nothing.
 */
function understood(kind: Kind, body: unknown, newer: ReadonlySet<string>): Reduced {
  if (newer.size === 0 || !isObject(body)) return { value: body, dropped: none };
  const schema = schemaNode(manifestSchemas[kind].properties.spec);
  const { value, dropped } = withoutUndeclared(body['spec'], schema, (path) => newer.has(path));
  if (dropped.length === 0) return { value: body, dropped };
  const spec = kind === 'AccessPolicy' && isObject(value) ? { ...value, subjects: 'linked', link: [] } : value;
  return { value: { ...body, spec }, dropped: dropped.toSorted() };
}

function belowSpec({ path, message }: Fault): Fault {
  return { path: path === '' ? 'spec' : `spec.${path}`, message };
}

/** Returns the first admin; no member if there is none, so that the fingerprint of a Box without one stays the same. */
function adminOf({ kind, spec }: Manifest): { readonly admin?: string } {
  return kind === 'Box' && spec.bootstrap_admin !== undefined ? { admin: spec.bootstrap_admin.email } : {};
}

function serviceAccountsOf(manifest: Manifest): ValidatedObject['serviceAccounts'] {
  if (manifest.kind !== 'Client' || manifest.spec.service_accounts === undefined) return 'none';
  const { jwks, jwks_uri } = manifest.spec;
  return secretSource(manifest).from === 'nowhere' && jwks === undefined && jwks_uri === undefined ? 'alone' : 'beside';
}

/** Returns the resource of an object that was validated without faults; built for each send, because that is rare. */
export function declaredResource(
  object: Declared,
  { newer }: Pick<ValidatedObject, 'newer'> = { newer: none },
): Resource {
  const checked = checkManifest(understood(object.kind, object.body(), new Set(newer)).value);
  if (!checked.ok) throw new TypeError(`${object.kind} ${object.name} was not validated before it was sent`);
  return resourceOf(checked.manifest, object.namespace);
}

function oversized(object: Declared, body: unknown, faults: readonly Fault[]): ValidatedObject {
  return { ...faulty(object, body, faults), isTooLarge: true };
}

function faulty(object: Declared, body: unknown, faults: readonly Fault[]): ValidatedObject {
  const spec = isObject(body) && isObject(body['spec']) ? body['spec'] : {};
  const given = spec[object.kind === 'Group' ? 'name' : 'id'];
  const named = typeof given === 'string' ? given : object.name;
  const id = object.kind === 'Box' ? object.namespace : named;
  return {
    id,
    rowKey: rowKeyOf(object, id),
    faults,
    suspended: spec['suspend'] === true,
    unimplementedFields: none,
    newer: none,
    secret: { from: 'nowhere' },
    serviceAccounts: 'none',
    accounts: none,
    traits: { kind: 'unknown' },
    ...deletedWithObject,
    content: '',
  };
}

/** Returns the row key: usually the text of the object's key, and then that same string. */
function rowKeyOf({ kind, name, key }: Declared, id: string): string {
  return id === name ? key : objectKey({ kind, name: id });
}

/** Shared: nearly every machine client has only this grant. */
const machineGrants: readonly string[] = ['client_credentials'];

function sharedGrants(grants: readonly string[]): readonly string[] {
  return grants.length === 1 && grants[0] === machineGrants[0] ? machineGrants : grants;
}

/** Shared by every group. */
const groupTraits: Traits = { kind: 'Group' };

function traitsOf(resource: Resource, admin: string | undefined): Traits {
  switch (resource.resourceType) {
    case 'Client':
      return {
        kind: 'Client',
        grants: sharedGrants(resource.grant_types),
        hasJwksUri: resource.jwks_uri !== undefined,
        listsIdleRefresh: listsIdleRefresh(resource),
      };
    case 'AccessPolicy':
      return { kind: 'AccessPolicy', ...policyTraits(resource) };
    case 'Box':
      return { kind: 'Box', issuer: resource.issuer, admin };
    case 'Group':
      return groupTraits;
  }
}
