import type { JsonObject } from '../../../crds/path.ts';
import { OBJECT_NAME } from '../../../crds/fields.ts';
import { API_VERSION, type Kind } from '../../../crds/kind.ts';
import { QUOTA_ANNOTATION } from '../../../crds/quota.ts';
import type { LiveRow, LiveState } from './live-state.ts';

/** A manifest as it is written. */
export interface ExportedManifest {
  readonly apiVersion: string;
  readonly kind: Kind | 'Namespace';
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Absent in a Namespace. */
  readonly spec?: JsonObject;
}

const order: readonly Kind[] = ['Box', 'Group', 'Client', 'AccessPolicy'];

/** Name of the entry of a Secret that holds a client's secret. */
const SECRET_KEY = 'client_secret';
/** Secret that holds the password of the first admin. */
const ADMIN_SECRET = { name: 'first-admin', key: 'password' } as const;

/**
 * Returns the manifests of a box: quotas, settings, groups, clients, policies. Each has the name of the object that
 * declares the row. A row that no object declares gets a name made of its ID, and is adopted.
 */
export function manifestsOf({ rows, quota }: LiveState, box: string): readonly ExportedManifest[] {
  const limits = Object.entries(quota).map(([name, limit]) => `${name}=${String(limit)}`);
  const annotations = { [QUOTA_ANNOTATION]: limits.sort().join(',') };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: box, annotations } } as const;
  return [...(limits.length === 0 ? [] : [namespace]), ...objectsOf(rows, box)];
}

function objectsOf(rows: readonly LiveRow[], box: string): readonly ExportedManifest[] {
  return order.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    const taken: Taken = new Map(own.map((row) => [objectName(row) ?? '', 0]));
    return own.map((row) => {
      const name = objectName(row) ?? newName(row, taken);
      return { apiVersion: API_VERSION, kind, metadata: { name, namespace: box }, spec: specOf(row, name) };
    });
  });
}

const namePattern = new RegExp(OBJECT_NAME, 'u');

/** Returns the name of the object that declares a row, unless no object can have it. */
function objectName({ kind, object }: LiveRow): string | undefined {
  if (kind === 'Box') return 'box';
  const name = object?.slice(object.indexOf('/') + 1);
  return name !== undefined && namePattern.test(name) ? name : undefined;
}

/** Names that are taken, each with the highest number that is taken behind it. */
type Taken = Map<string, number>;

/** Takes an unused name for an object that declares a row: its ID as far as Kubernetes permits it. */
function newName({ kind, id }: LiveRow, taken: Taken): string {
  const plain = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  const base = namePattern.test(plain) ? plain : kind.toLowerCase();
  for (let number = (taken.get(base) ?? 0) + 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${String(number)}`;
    if (taken.has(name)) continue;
    taken.set(name, 0).set(base, number);
    return name;
  }
}

function specOf(row: LiveRow, name: string): JsonObject {
  const { kind, id, object, retain, purge, hasSecret, firstAdmin, resource } = row;
  const { resourceType: _type, id: _id, name: shownName, ...fields } = resource;
  switch (kind) {
    case 'Client':
      return {
        ...(id === name ? {} : { id }),
        ...(shownName === undefined ? {} : { name: shownName }),
        ...fields,
        ...(hasSecret ? { secretRef: { name, key: SECRET_KEY } } : {}),
        ...lifecycle(object, retain),
      };
    case 'AccessPolicy':
      return { ...(id === name ? {} : { id }), ...fields, ...lifecycle(object, retain) };
    case 'Group':
      return {
        ...(id === name ? {} : { name: id }),
        ...fields,
        ...(object === undefined || retain ? {} : { deletionPolicy: 'Delete' }),
      };
    case 'Box':
      return {
        ...fields,
        ...(firstAdmin === undefined
          ? {}
          : { bootstrap_admin: { email: firstAdmin, passwordSecretRef: ADMIN_SECRET } }),
        ...(purge ? { deletionPolicy: 'Delete' } : {}),
      };
  }
}

function lifecycle(object: string | undefined, retain: boolean): JsonObject {
  return {
    ...(retain ? { deletionPolicy: 'Retain' } : {}),
    ...(object === undefined ? { adoption: 'IfUnowned' } : {}),
  };
}
