import { isUnconditional } from '../crds/unconditional-rule.ts';
import { isObject } from '../api/client/apply-answer.ts';
import type { Adoption } from '../api/client/desired-state.ts';
import type { ServiceAccount } from '../crds/client.ts';
import type { Fault } from '../crds/fault.ts';
import type { Link } from '../crds/links.ts';
import { checkManifest } from '../crds/manifest.ts';
import type { Kind } from '../crds/kind.ts';
import { manifestSchemas, type Manifest } from '../crds/manifest-schema.ts';
import { schemaNode } from '../crds/schema-node.ts';
import { withoutUndeclared, type Reduced } from '../crds/undeclared-fields.ts';
import { keyFaults } from '../crds/public-keys.ts';
import { LONGEST_RESOURCE, sizeFaults, tooLong } from '../crds/resource-size.ts';
import { notInForce } from '../crds/not-in-force.ts';
import { objectKey, type Declared } from './declared.ts';
import { fingerprint } from './digest.ts';
import { resourceOf, type Resource } from './resource.ts';
import { secretSource, type SecretSource } from './secret-source.ts';
import type { Withheld } from './tenancy.ts';

/** What the statuses of an object, and of those it is linked with, need to know of its spec. */
export type Traits =
  | { readonly kind: 'Client'; readonly grants: readonly string[]; readonly hasJwksUri: boolean }
  | {
      readonly kind: 'AccessPolicy';
      readonly engine: string;
      readonly subjects: 'linked' | 'authenticated' | 'anyone';
      readonly links: readonly Link[];
      /** Its rule has no condition. */
      readonly grantsEverything: boolean;
    }
  | {
      readonly kind: 'Box';
      readonly issuer: string | undefined;
      /** Email of its first admin. */
      readonly admin: string | undefined;
    }
  | { readonly kind: 'unknown' };

/** What is known of one object by itself: small, because it is kept until the object changes. */
export interface Judged {
  /** Of the row it declares; of a faulty object the best guess. */
  readonly id: string;
  /** Names that row: `Client/app`. */
  readonly rowKey: string;
  /** What is wrong with it, from the root of the object (`spec.auth…`); empty when it can be applied. */
  readonly faults: readonly Fault[];
  readonly suspended: boolean;
  /** Its fields that have no effect in this version, for people. */
  readonly notInForce: readonly string[];
  /** Its fields that only the definition in the cluster knows, below `spec`: they are ignored, and a policy grants nothing. */
  readonly newer: readonly string[];
  readonly secret: SecretSource;
  /** Whether ServiceAccounts authenticate the client, and nothing else does. */
  readonly serviceAccounts: 'none' | 'beside' | 'alone';
  /** The entries of a client's `service_accounts`. */
  readonly accounts: readonly ServiceAccount[];
  readonly traits: Traits;
  /** Which row of its id that is there before it is taken over. */
  readonly adopt: Adoption | undefined;
  /** Its row goes on without an owner when the object goes. */
  readonly retain: boolean;
  /** The data of its box go with it. */
  readonly purge: boolean;
  /** Of a Box: what it asks for and its namespace does not grant. */
  readonly withheld?: Withheld;
  /** Of a Client: keys of labels and annotations that its generated Secret does not get, because the namespace permits none of them. */
  readonly notPermitted?: readonly string[];
  /** With `notPermitted`: the same object with all of them. */
  readonly whole?: Judged;
  /** Fingerprint of the resource, without its secret, and of what its row is to know of the object. */
  readonly content: string;
}

/** Shared: of ten thousand objects nearly all have none. */
const none: readonly never[] = [];

/**
 * Judges one object as an API server would. Pure; never throws: an object that our own code cannot cope with is faulty, and
 * the others of its box go on.
 */
export function judge(object: Declared, newer: ReadonlySet<string> = nothing): Judged {
  try {
    const { tooLarge } = object;
    if (tooLarge !== undefined) return faulty(object, object.body(), [tooLong('spec', tooLarge, LONGEST_RESOURCE)]);
    return judgeBody(object, object.body(), newer);
  } catch (error) {
    const reason = error instanceof Error ? error.name : 'something was thrown';
    return faulty(object, {}, [{ path: '', message: `cannot be judged by this version (${reason})` }]);
  }
}

const nothing: ReadonlySet<string> = new Set();

function judgeBody(object: Declared, body: unknown, newer: ReadonlySet<string>): Judged {
  const { value, dropped } = understood(object.kind, body, newer);
  const checked = checkManifest(value);
  if (!checked.ok) return faulty(object, body, checked.faults);
  const { manifest } = checked;
  const resource = resourceOf(manifest, object.namespace);
  const unfit = resource.resourceType === 'Client' ? keyFaults(resource.jwks) : none;
  const faults = [...sizeFaults({ ...resource }), ...unfit];
  if (faults.length > 0) return faulty(object, body, faults.map(belowSpec));
  const lifecycle = lifecycleOf(manifest);
  const idle = notInForce(manifest.kind, manifest.spec, object.place !== '');
  // Mostly the name of the object: then it is that very string.
  const id = resource.id === object.name ? object.name : resource.id;
  const { adopt, retain, purge } = lifecycle;
  // Written out: a spread takes half as much memory again, and there may be twenty thousand.
  return {
    id,
    rowKey: rowKeyOf(object, id),
    faults: none,
    suspended: manifest.spec.suspend === true,
    notInForce: idle.length === 0 ? none : idle,
    newer: dropped.length === 0 ? none : dropped,
    secret: secretSource(manifest),
    serviceAccounts: serviceAccountsOf(manifest),
    accounts: resource.resourceType === 'Client' ? (resource.service_accounts ?? none) : none,
    traits: traitsOf(resource, adminOf(manifest).admin),
    adopt,
    retain,
    purge,
    content: fingerprint(lifecycle === letGo ? resource : { resource, ...lifecycle, ...adminOf(manifest) }),
  };
}

/**
 * A manifest as this release understands it, while the definitions in the cluster are newer. What a field that nobody here
 * knows would restrict is unknown: a policy with one is linked to nobody, and grants nothing.
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

/** Absent where there is none, so that the fingerprint of a Box without one stays. */
function adminOf({ kind, spec }: Manifest): { readonly admin?: string } {
  return kind === 'Box' && spec.bootstrap_admin !== undefined ? { admin: spec.bootstrap_admin.email } : {};
}

function serviceAccountsOf(manifest: Manifest): Judged['serviceAccounts'] {
  if (manifest.kind !== 'Client' || manifest.spec.service_accounts === undefined) return 'none';
  const { jwks, jwks_uri } = manifest.spec;
  return secretSource(manifest).from === 'nowhere' && jwks === undefined && jwks_uri === undefined ? 'alone' : 'beside';
}

type Lifecycle = Pick<Judged, 'adopt' | 'retain' | 'purge'>;

/** Shared, as nearly every object has it: a row goes with its object, and another's is not taken. */
const letGo: Lifecycle = { adopt: undefined, retain: false, purge: false };
/** Nobody else can have made the row of a Box: one without an owner was retained when the definition of its kind went. */
const ofBox: Lifecycle = { ...letGo, adopt: 'unowned' };
const purging: Lifecycle = { ...ofBox, purge: true };

/**
 * `adoption` and `deletionPolicy` (docs/tenancy.md). Force takes what IfUnowned takes: a row of an object that lives is never
 * taken, that of one that is gone goes with it, and one of another installation may live.
 */
function lifecycleOf({ kind, spec }: Manifest): Lifecycle {
  if (kind === 'Box') return spec.deletionPolicy === 'Delete' ? purging : ofBox;
  const adopt = adoptionOf(spec.adoption);
  const retain = spec.deletionPolicy === 'Retain';
  return adopt !== undefined || retain ? { adopt, retain, purge: false } : letGo;
}

function adoptionOf(adoption: 'Never' | 'IfUnowned' | 'Force' | undefined): Adoption | undefined {
  if (adoption === 'Force') return 'force';
  return adoption === 'IfUnowned' ? 'unowned' : undefined;
}

/** The resource of an object that was judged without faults; made anew each time it is sent, because that is rare. */
export function declaredResource(object: Declared, { newer }: Pick<Judged, 'newer'> = { newer: none }): Resource {
  const checked = checkManifest(understood(object.kind, object.body(), new Set(newer)).value);
  if (!checked.ok) throw new TypeError(`${object.kind} ${object.name} was not judged before it was sent`);
  return resourceOf(checked.manifest, object.namespace);
}

function faulty(object: Declared, body: unknown, faults: readonly Fault[]): Judged {
  const spec = isObject(body) && isObject(body['spec']) ? body['spec'] : {};
  const named = typeof spec['id'] === 'string' ? spec['id'] : object.name;
  const id = object.kind === 'Box' ? object.namespace : named;
  return {
    id,
    rowKey: rowKeyOf(object, id),
    faults,
    suspended: spec['suspend'] === true,
    notInForce: none,
    newer: none,
    secret: { from: 'nowhere' },
    serviceAccounts: 'none',
    accounts: none,
    traits: { kind: 'unknown' },
    ...letGo,
    content: '',
  };
}

/** Mostly the same text as the key of the object: then it is that very string. */
function rowKeyOf({ kind, name, key }: Declared, id: string): string {
  return id === name ? key : objectKey({ kind, name: id });
}

/** Nearly every machine has this one grant. */
const machineGrants: readonly string[] = ['client_credentials'];

function sharedGrants(grants: readonly string[]): readonly string[] {
  return grants.length === 1 && grants[0] === machineGrants[0] ? machineGrants : grants;
}

function traitsOf(resource: Resource, admin: string | undefined): Traits {
  switch (resource.resourceType) {
    case 'Client':
      return {
        kind: 'Client',
        grants: sharedGrants(resource.grant_types),
        hasJwksUri: resource.jwks_uri !== undefined,
      };
    case 'AccessPolicy': {
      const { engine, subjects = 'linked', link = none } = resource;
      // A copy has no room for more.
      return {
        kind: 'AccessPolicy',
        engine,
        subjects,
        links: link.slice(),
        grantsEverything: isUnconditional(resource),
      };
    }
    case 'Box':
      return { kind: 'Box', issuer: resource.issuer, admin };
  }
}
