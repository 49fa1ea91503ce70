import type { Candidate, Desired } from './desired.ts';
import { declaredResource, validate, type ValidatedObject } from './validate.ts';
import type { BoxDatabase, BoxQuota, DeniedHosts, HostGrants, Listing, Tenancy } from './source.ts';
import { fingerprint } from './declared.ts';
import type { Resource } from '../../crds/validate.ts';
import { DATABASE_ANNOTATION, DATABASE_NAME } from '../../crds/kind.ts';
import { wordHint } from '../../crds/did-you-mean.ts';
import { HIGHEST_QUOTA, isQuotaName, QUOTA_ANNOTATION, QUOTA_DEFAULTS, type Quota } from '../../crds/quota.ts';

/** Facts that objects are validated with. */
interface Validation extends Pick<Listing, 'definitions'> {
  /** By object key: the last results under the same definitions. */
  readonly known: ReadonlyMap<string, Desired>;
  readonly defaultIssuer: string;
}

/**
 * Validates the objects of a listing; a Box keeps only what its namespace grants. An object that has not changed keeps
 * its result in `known`, which has the last ones under the same definitions by object key.
 */
export function candidatesOf(
  { objects, tenancy, definitions }: Listing,
  known: ReadonlyMap<string, Desired>,
  defaultIssuer: string,
): readonly Candidate[] {
  const validation = { definitions, known, defaultIssuer };
  return objects.map((object) =>
    object.kind === 'Box' && tenancy !== undefined
      ? boxCandidate(object, tenancy.hosts, validation)
      : permitted(candidate(object, validation), tenancy, known),
  );
}

/** Returns the issuer that the Box of a listing declares. */
export function issuerOf(candidates: readonly Candidate[]): string | undefined {
  for (const { validated } of candidates) if (validated.traits.kind === 'Box') return validated.traits.issuer;
  return undefined;
}

function validatedNow(object: Candidate['object'], { definitions }: Validation): Candidate['validated'] {
  return validate(object, definitions?.get(object.kind)?.newer);
}

/** Checks the metadata each time: the Namespace may change without the object. Reuses an equal earlier result. */
function permitted(one: Candidate, tenancy: Tenancy | undefined, known: ReadonlyMap<string, Desired>): Candidate {
  if (tenancy === undefined) return one;
  const whole = one.validated.whole ?? one.validated;
  const validated = permittedMetadata(whole, tenancy.secretMetadata ?? none);
  const before = known.get(one.object.key)?.validated;
  const isSame = before?.whole === whole && String(before.notPermitted) === String(validated.notPermitted);
  if (isSame) return one.validated === before ? one : { object: one.object, validated: before };
  return validated === one.validated ? one : { object: one.object, validated };
}

const none: readonly string[] = [];

/** Validates a Box each time: its grants may change while the object does not. */
function boxCandidate(object: Candidate['object'], hosts: HostGrants, validation: Validation): Candidate {
  const plain = validatedNow(object, validation);
  const validated =
    plain.faults.length > 0
      ? plain
      : withGrantedHosts(plain, declaredResource(object, plain), hosts, validation.defaultIssuer);
  const before = validation.known.get(object.key);
  if (before?.object.uid !== object.uid || before.validated.content !== validated.content) return { object, validated };
  return before.object === object && validated.faults.length === 0 ? before : { object, validated };
}

function candidate(object: Candidate['object'], validation: Validation): Candidate {
  const before = validation.known.get(object.key);
  if (before?.object === object) return before;
  const isSame = before?.object.resourceVersion === object.resourceVersion && before.object.uid === object.uid;
  return { object, validated: isSame ? before.validated : validatedNow(object, validation) };
}

/** Returns a validated Box without hosts and issuer that its namespace does not grant; the same Box if it gets all. */
function withGrantedHosts(
  validated: ValidatedObject,
  resource: Resource,
  hosts: HostGrants,
  defaultIssuer: string,
): ValidatedObject {
  const denied = deniedFrom(resource, hosts, defaultIssuer);
  if (denied === undefined || resource.resourceType !== 'Box' || validated.traits.kind !== 'Box') return validated;
  const issuer = denied.issuer ? undefined : resource.issuer;
  const content = fingerprint({ content: validated.content, denied });
  return { ...validated, content, denied, traits: { ...validated.traits, issuer } };
}

/** Returns the resource to send: a Box without the hosts and issuer that it does not get. */
export function withoutDenied(resource: Resource, { denied }: ValidatedObject): Resource {
  if (resource.resourceType !== 'Box' || denied === undefined) return resource;
  const { hosts = [], issuer, ...rest } = resource;
  const left = hosts.filter((host) => !denied.hosts.includes(host.toLowerCase()));
  return {
    ...rest,
    ...(left.length === 0 ? {} : { hosts: left }),
    ...(issuer === undefined || denied.issuer ? {} : { issuer }),
  };
}

function deniedFrom(resource: Resource, { allowed, refused }: HostGrants, own: string): DeniedHosts | undefined {
  if (resource.resourceType !== 'Box') return undefined;
  const claimed = new Set((resource.hosts ?? []).map((host) => host.toLowerCase()));
  const denied = refused.filter(({ host }) => claimed.has(host));
  const isForeign = resource.issuer !== undefined && resource.issuer !== own && !isOn(resource.issuer, allowed);
  const [first] = denied;
  if (first === undefined && !isForeign) return undefined;
  const issuer = 'spec.issuer is neither the default nor https on a host that the Box has';
  const messages = [...denied.map(({ message }) => message), ...(isForeign ? [issuer] : [])];
  return {
    hosts: denied.map(({ host }) => host),
    issuer: isForeign,
    reason: first?.reason ?? 'HostNotGranted',
    message: messages.join('; '),
  };
}

function isOn(issuer: string, hosts: readonly string[]): boolean {
  const url = URL.parse(issuer);
  return url?.protocol === 'https:' && hosts.includes(url.hostname.toLowerCase());
}

/** Annotation of a Namespace by which an admin permits labels and annotations of generated Secrets. */
export const SECRET_METADATA_ANNOTATION = 'boxgate.dev/secret-metadata';

/**
 * Returns a validated Client whose generated Secret gets only the labels and annotations whose exact keys the namespace
 * permits, with the names of the others; the same Client if all are permitted. Programs such as Helm, Terraform and
 * Grafana take orders from a label, whether its key has a domain or not.
 */
export function permittedMetadata(validated: ValidatedObject, granted: readonly string[]): ValidatedObject {
  const { secret } = validated;
  if (secret.from !== 'generated') return validated;
  const keys = [...Object.keys(secret.labels), ...Object.keys(secret.annotations)];
  const notPermitted = [...new Set(keys.filter((key) => !granted.includes(key)))].sort();
  if (notPermitted.length === 0) return validated;
  const permitted = (texts: Texts): Texts =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => granted.includes(key)));
  const left = { ...secret, labels: permitted(secret.labels), annotations: permitted(secret.annotations) };
  return { ...validated, secret: left, notPermitted, whole: validated };
}

type Texts = Readonly<Record<string, string>>;

/**
 * Reads the quota annotation of a Namespace: `clients=20000,users=5000`, separated by commas or blanks. One mistake
 * makes the whole annotation unreadable: a part of it alone could allow more than intended.
 */
export function readQuota(annotation: string | undefined): BoxQuota {
  const quota: Partial<Record<keyof Quota, number>> = {};
  for (const entry of annotationEntries(annotation)) {
    const [, name = '', digits = ''] = /^([a-z]+)=([0-9]{1,13})$/.exec(entry) ?? [];
    const limit = Number(digits);
    if (digits === '' || limit > HIGHEST_QUOTA) return faulty(`${shown(entry)} is not a name, "=" and a number`);
    if (!isQuotaName(name)) return faulty(noQuota(name));
    if (quota[name] !== undefined) return faulty(`${name} is set twice`);
    quota[name] = limit;
  }
  return { quota };
}

const databaseName = new RegExp(DATABASE_NAME);

/** Reads the database annotation of a Namespace: the name of a database. */
export function readDatabase(annotation: string | undefined): BoxDatabase {
  if (annotation === undefined) return {};
  if (databaseName.test(annotation)) return { name: annotation };
  const form = 'a name is up to 32 of a to z, 0 to 9 and hyphens, begins with a letter and ends without a hyphen';
  return {
    fault: `the annotation ${DATABASE_ANNOTATION} of the Namespace is not the name of a database: ${shown(annotation)}; ${form}`,
  };
}

/** Returns the entries of an annotation, separated by commas or blanks. */
export function annotationEntries(annotation: string | undefined): readonly string[] {
  return (annotation ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
}

function noQuota(name: string): string {
  const known = Object.keys(QUOTA_DEFAULTS);
  return `${shown(name)} is no quota: ${known.join(', ')}${wordHint(name, known)}`;
}

function faulty(what: string): BoxQuota {
  return { fault: `the annotation ${QUOTA_ANNOTATION} of the Namespace cannot be read: ${what}` };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

/**
 * Returns the command by which an admin adds values to an annotation of a Namespace: it keeps what the annotation
 * grants already. `values` are names of hosts or keys of labels, which no shell takes for anything else.
 */
export function grantCommand(namespace: string, annotation: string, values: readonly string[]): string {
  const path = `{.metadata.annotations.${annotation.replaceAll('.', '\\.')}}`;
  const read = `granted=$(kubectl get namespace ${namespace} --output 'jsonpath=${path}')`;
  // Nothing is written if nothing could be read.
  return `${read} && kubectl annotate --overwrite namespace ${namespace} "${annotation}=$granted ${values.join(' ')}"`;
}
