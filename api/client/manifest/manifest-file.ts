import { isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { Secret } from '../secret.ts';
import { DNS_LABEL, OBJECT_NAME } from '../../../crds/fields.ts';
import { QUOTA_ANNOTATION } from '../../../crds/quota.ts';
import { API_GROUP, API_VERSION, DATABASE_ANNOTATION, KINDS, isKind, type Kind } from '../../../crds/kind.ts';
import { mustBeKind } from '../../../crds/manifest.ts';
import { Unreadable, yamlDocuments } from './yaml-documents.ts';

/** One object of ours as written in a file; its spec is not checked yet. */
export interface ManifestObject {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** Line of the file at which it begins, from 1. */
  readonly line: number;
  /** The object as JSON, for {@link manifestBody}: a tenth of the memory that the parsed one takes. */
  readonly json: string;
  /** Changes when the object does. */
  readonly version: string;
}

/** One Secret as written in a file. */
export interface ManifestSecret {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly entries: ReadonlyMap<string, Secret>;
  readonly line: number;
}

/** A Namespace that sets quotas of its box, or wants a database for it, as written in a file. */
export interface ManifestNamespace {
  readonly namespace: string;
  readonly name: string;
  readonly line: number;
  /** Its annotations. */
  readonly quota: string | undefined;
  readonly database: string | undefined;
}

/** Reason why a file cannot be read as manifests. */
export interface FileFault {
  /** From 1; 0 if it is not about a line. */
  readonly line: number;
  /** A sentence fragment that never shows a value of the file. */
  readonly message: string;
}

/** An object of another API group whose kind has the name of one of ours: perhaps a misspelled `apiVersion`. */
export interface ForeignObject {
  readonly kind: Kind;
  readonly line: number;
}

/** Declarations of a file, or the fault of one that cannot be read. */
export type ManifestFile =
  | {
      readonly ok: true;
      readonly objects: readonly ManifestObject[];
      readonly secrets: readonly ManifestSecret[];
      readonly namespaces: readonly ManifestNamespace[];
      readonly foreign: readonly ForeignObject[];
    }
  | { readonly ok: false; readonly fault: FileFault };

/** The namespace of a manifest that names none, unless the reader knows another. */
const defaultNamespace = 'default';

/**
 * Reads the text of a file: any number of YAML documents (JSON is YAML), each an object of ours, a Secret, a Namespace
 * that sets quotas or wants a database, a List of such, or of a foreign kind, which is skipped. Unquoted words mean the
 * same as to kubectl. Never throws. An object of ours that cannot be identified makes the whole file unreadable:
 * otherwise nobody could tell which one is missing.
 */
export function parseManifests(text: string, fallback = defaultNamespace): ManifestFile {
  const objects: ManifestObject[] = [];
  const secrets: ManifestSecret[] = [];
  const namespaces: ManifestNamespace[] = [];
  const foreign: ForeignObject[] = [];
  try {
    for (const { content, line } of yamlDocuments(text)) {
      for (const value of flattened(content, line)) {
        const found = readObject(value, line, fallback);
        if (found === undefined) {
          const kind = foreignKind(value);
          if (kind !== undefined) foreign.push({ kind, line });
          continue;
        }
        if ('entries' in found) secrets.push(found);
        else if ('quota' in found) namespaces.push(found);
        else objects.push(found);
      }
    }
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, fault: { line: error.line, message: error.message } };
    if (error instanceof RangeError) return { ok: false, fault: { line: 1, message: 'nests too deep to be read' } };
    throw error;
  }
  return { ok: true, objects, secrets, namespaces, foreign };
}

/** Yields the items of a `kind: List`, as `kubectl get -o yaml` writes it, or the value itself. */
function* flattened(value: unknown, line: number): Generator {
  if (isObject(value) && value['apiVersion'] === 'v1' && value['kind'] === 'List') {
    yield* listItems(value['items'], line);
  } else {
    yield value;
  }
}

function listItems(items: unknown, line: number): readonly unknown[] {
  if (Array.isArray(items)) return items;
  throw new Unreadable(line, 'is a List whose items must be a list');
}

function readObject(
  value: unknown,
  line: number,
  fallback: string,
): ManifestObject | ManifestSecret | ManifestNamespace | undefined {
  if (value === null || value === undefined || Array.isArray(value)) return undefined;
  if (!isObject(value)) throw new Unreadable(line, 'must be a mapping with apiVersion, kind, metadata and spec');
  if (value['apiVersion'] === 'v1' && value['kind'] === 'Secret') return readSecret(value, line, fallback);
  if (value['apiVersion'] === 'v1' && value['kind'] === 'Namespace') return readNamespace(value, line);
  const isOurs = group(value['apiVersion']) === API_GROUP;
  if (!isOurs && (value['apiVersion'] !== undefined || !isKind(value['kind']))) return undefined;
  if (value['apiVersion'] !== API_VERSION) throw new Unreadable(line, `apiVersion must be ${API_VERSION}`);
  const { kind } = value;
  if (!isKind(kind)) throw new Unreadable(line, `kind ${mustBeKind(kind)}`);
  const json = compactJson(value, line);
  const version = hash('sha256', json, 'buffer').toString('base64url', 0, 12);
  return { kind: KINDS[kind].kind, ...identity(value, line, fallback), line, json, version };
}

/** Returns the kind of an object of another product that is named like one of ours. Kubernetes has none such. */
function foreignKind(value: unknown): Kind | undefined {
  if (!isObject(value) || !isKind(value['kind'])) return undefined;
  return kubernetesGroup.test(group(value['apiVersion'])) ? undefined : KINDS[value['kind']].kind;
}

/** API groups of Kubernetes itself: `v1`, `apps`, `rbac.authorization.k8s.io`. */
const kubernetesGroup = /^[^.]*$|\.k8s\.io$/;

function group(apiVersion: unknown): string {
  return typeof apiVersion === 'string' ? (apiVersion.split('/')[0] ?? '') : '';
}

const label = new RegExp(DNS_LABEL, 'u');
const objectName = new RegExp(OBJECT_NAME, 'u');

function identity({ metadata }: JsonObject, line: number, fallback: string): { namespace: string; name: string } {
  if (!isObject(metadata)) throw new Unreadable(line, 'metadata must be given, with a name');
  const { name, namespace = fallback } = metadata;
  if (typeof name !== 'string' || name.length > 253 || !objectName.test(name)) {
    throw new Unreadable(line, 'metadata.name must be lower-case letters, digits, - and . (an RFC 1123 subdomain)');
  }
  if (typeof namespace !== 'string' || namespace.length > 63 || !label.test(namespace)) {
    throw new Unreadable(line, 'metadata.namespace must be lower-case letters, digits and - (an RFC 1123 label)');
  }
  return { namespace: namespace === defaultNamespace ? defaultNamespace : ownText(namespace), name: ownText(name) };
}

/** Copies ASCII text into memory of its own: a part of a larger text would keep all of that. */
function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Prefix of the JSON of an object that has more than the usual members. */
const whole = '!';

/** Returns the object behind a {@link ManifestObject}, ready to be checked. */
export function manifestBody(
  { kind, namespace, name }: Omit<ManifestObject, 'json' | 'version' | 'line'>,
  json: string,
): unknown {
  if (json.startsWith(whole)) return parseJson(json.slice(whole.length));
  return { apiVersion: API_VERSION, kind, metadata: { namespace, name }, spec: parseJson(json) };
}

/** Returns only the spec of a usual object: the rest is known, or (labels, annotations) means nothing to us. */
function compactJson(value: JsonObject, line: number): string {
  const { spec, metadata } = value;
  const isUsual = hasOnly(value, usualMembers) && isObject(metadata) && hasOnly(metadata, usualMetadata);
  return isUsual && spec !== undefined ? jsonOf(spec, line) : `${whole}${jsonOf(value, line)}`;
}

const usualMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec']);
const usualMetadata: ReadonlySet<string> = new Set(['name', 'namespace', 'labels', 'annotations']);

function hasOnly(value: JsonObject, names: ReadonlySet<string>): boolean {
  return Object.keys(value).every((name) => names.has(name));
}

/** Returns JSON. Throws Unreadable for infinity, which JSON writes as null, and null means "not given". */
function jsonOf(value: unknown, line: number): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (typeof member === 'number' && !Number.isFinite(member))
      throw new Unreadable(line, `${key} must be a finite number`);
    return member;
  });
}

/** Reads a Namespace that sets quotas or wants a database; returns undefined for others. */
function readNamespace(value: JsonObject, line: number): ManifestNamespace | undefined {
  const { metadata } = value;
  const annotations = isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const [quota, database] = [QUOTA_ANNOTATION, DATABASE_ANNOTATION].map((name) => {
    const text = annotations[name];
    return text === undefined || typeof text === 'string' ? text : JSON.stringify(text);
  });
  if (quota === undefined && database === undefined) return undefined;
  const { name } = identity(value, line, defaultNamespace);
  if (!label.test(name)) throw new Unreadable(line, 'metadata.name must be lower-case letters, digits and -');
  return { namespace: name, name, line, quota, database };
}

function readSecret(value: JsonObject, line: number, fallback: string): ManifestSecret {
  const { metadata, type, data, stringData } = value;
  const labels = isObject(metadata) && isObject(metadata['labels']) ? metadata['labels'] : {};
  return {
    ...identity(value, line, fallback),
    line,
    type: typeof type === 'string' ? type : 'Opaque',
    labels: Object.fromEntries(Object.entries(labels).map(([name, text]) => [name, labelText(name, text, line)])),
    entries: new Map([...entries(data, 'data', line, decoded), ...entries(stringData, 'stringData', line, plain)]),
  };
}

/** Returns the text of a label. kubectl refuses one that YAML makes a flag or a number; null is empty text. */
function labelText(name: string, value: unknown, line: number): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  throw new Unreadable(line, `metadata.labels.${name} must be a string: quote it`);
}

function entries(
  map: unknown,
  field: string,
  line: number,
  read: (text: string) => string | undefined,
): [string, Secret][] {
  if (map === undefined || map === null) return [];
  if (!isObject(map)) throw new Unreadable(line, `${field} must be a mapping`);
  return Object.entries(map).map(([name, value]) => {
    const text = typeof value === 'string' ? read(value) : undefined;
    if (text !== undefined) return [name, new Secret(text)];
    const must = field === 'data' ? 'base64' : 'a string: quote it';
    throw new Unreadable(line, `${field}.${name} must be ${must}`);
  });
}

function plain(text: string): string {
  return text;
}

/** Decodes an entry of a Secret. Bytes that are not text (a keystore) become characters that no client secret has. */
function decoded(base64: string): string | undefined {
  const text = base64.replaceAll(/\s/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}
