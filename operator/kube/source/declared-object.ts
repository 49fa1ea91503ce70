import { isObject, parseJson } from '../../../crds/path.ts';
import { hash } from 'node:crypto';
import { API_VERSION, type Kind } from '../../../crds/kind.ts';
import { isLimited, LONGEST_RESOURCE } from '../../../crds/resource-size.ts';
import { type Declared, type Identity, objectKey } from '../../desired/declared.ts';
import { identityOf, metadataOf } from '../client/kube-object.ts';
import type { Kept, Novelty, ObjectStore } from '../client/object-store.ts';

/** Finalizer that holds the deletion of an object until nobody can use what it declared. */
export const FINALIZER = 'boxgate.dev/finalizer';

/** Stored part of one of our custom resources. */
export interface DeclaredObject extends Kept {
  readonly declared: DeclaredSpec;
  /** True if its deletion was requested and a finalizer holds it. */
  readonly isGoing: boolean;
  /** All finalizers, including those of others. */
  readonly finalizers: readonly string[];
  /** The status as it is in the cluster, as JSON. */
  readonly status: string;
}

/** The declaration of an object, as the cluster shows it. */
export interface DeclaredSpec extends Declared {
  readonly length: number;
  /** Checks whether another one has the same spec. */
  hasSpecOf(other: DeclaredSpec): boolean;
}

/**
 * Novelty of custom resources: only a change of the spec, or of whether the object exists, is new, not a status or an
 * annotation. So is the removal of our finalizer from an object that stays. Another definition shows another spec of
 * the same generation: a field that it does not know is left out.
 */
export const novelty: Novelty<DeclaredObject> = {
  isSame: (known, next) =>
    known.declared.generation === next.declared.generation &&
    known.declared.hasSpecOf(next.declared) &&
    known.isGoing === next.isGoing &&
    (next.isGoing || !isHeld(known) || isHeld(next)),
  carry: ({ declared }, { resourceVersion, isGoing, finalizers, status }) =>
    keptOf({ declared, resourceVersion, isGoing, finalizers, status }),
};

/** Checks whether an object has our finalizer. */
export function isHeld({ finalizers }: DeclaredObject): boolean {
  return finalizers.includes(FINALIZER);
}

/** Checks whether an object is still there, with a status about its current generation. */
export function isReported({ uid }: Pick<Declared, 'uid'>, there: DeclaredObject | undefined): boolean {
  if (there?.uid !== uid) return false;
  const status = parseJson(there.status);
  return isObject(status) && status['observedGeneration'] === there.declared.generation;
}

/** Returns the part of a custom resource that the operator reads; undefined if the value is not one. */
export function declaredObject(kind: Kind, value: unknown): DeclaredObject | undefined {
  const metadata = metadataOf(value);
  const identity = identityOf(metadata);
  if (identity === undefined) return undefined;
  const { namespace, name, uid, resourceVersion } = identity;
  const { spec, status } = isObject(value) ? value : {};
  const { generation, creationTimestamp, deletionTimestamp, finalizers } = metadata;
  const created = typeof creationTimestamp === 'string' ? creationTimestamp : '';
  const numbered = typeof generation === 'number' ? generation : 0;
  const of = { namespace, name, uid, created, generation: numbered };
  const declared = new CustomResource(kind, of, spec);
  return keptOf({
    declared,
    resourceVersion,
    isGoing: typeof deletionTimestamp === 'string',
    finalizers: finalizersOf(finalizers),
    status: JSON.stringify(status ?? {}),
  });
}

/** Stored part without the names that its declaration has. */
type Unnamed = Omit<DeclaredObject, 'namespace' | 'name' | 'uid'>;

/** Builds the stored form, which shares the names of the declaration. No spread: it takes half as much memory again. */
function keptOf({ declared, resourceVersion, isGoing, finalizers, status }: Unnamed): DeclaredObject {
  const { namespace, name, uid } = declared;
  return { namespace, name, uid, resourceVersion, declared, isGoing, finalizers, status };
}

/** Metadata of a declaration. */
interface DeclaredMetadata extends Identity {
  readonly created: string;
  readonly generation: number;
}

/** A custom resource with its spec as JSON: there may be twenty thousand. Printing it shows nothing of the spec. */
class CustomResource implements DeclaredSpec {
  readonly key: string;
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly generation: number;
  readonly place = '';
  readonly tooLarge: number | undefined;
  readonly length: number;
  readonly #spec: string | undefined;

  constructor(kind: Kind, metadata: DeclaredMetadata, spec: unknown) {
    const { namespace, name, uid, created, generation } = metadata;
    this.key = objectKey({ kind, name });
    this.kind = kind;
    this.namespace = namespace;
    this.name = name;
    this.uid = uid;
    this.created = created;
    this.generation = generation;
    const text = spec === undefined ? undefined : JSON.stringify(spec);
    const length = text?.length ?? 0;
    this.length = length;
    this.tooLarge = isLimited(kind) && length > LONGEST_RESOURCE ? length : undefined;
    // A tenant must not fill the operator's memory with specs that are never applied.
    this.#spec = this.tooLarge === undefined ? text : JSON.stringify(withoutContent(spec));
  }

  /** Returns the generation with a hash of the spec: nothing else is read, and one generation may show several. */
  get resourceVersion(): string {
    return `${String(this.generation)} ${hash('sha256', this.#spec ?? '', 'base64url')}`;
  }

  hasSpecOf(other: DeclaredSpec): boolean {
    return other instanceof CustomResource && other.#spec === this.#spec && other.tooLarge === this.tooLarge;
  }

  body(): unknown {
    const { kind, name, namespace, uid } = this;
    const spec: unknown = this.#spec === undefined ? undefined : JSON.parse(this.#spec);
    return {
      apiVersion: API_VERSION,
      kind,
      metadata: { name, namespace, uid },
      ...(spec === undefined ? {} : { spec }),
    };
  }
}

/** Returns the fields that tell which row an object means, and whether it is suspended. */
function withoutContent(spec: unknown): unknown {
  const { id, suspend } = isObject(spec) ? spec : {};
  return {
    ...(typeof id === 'string' && id.length <= longestId ? { id } : {}),
    ...(suspend === true ? { suspend } : {}),
  };
}

/** Limit of an id, in characters. */
const longestId = 128;

/** Shared: nearly every object has one of these lists. */
const none: readonly string[] = [];
const ours: readonly string[] = [FINALIZER];

function finalizersOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) return none;
  const names = value.filter((one) => typeof one === 'string');
  return names.length === 1 && names[0] === FINALIZER ? ours : names;
}

/**
 * Checks whether a Client had this generated Secret, by its traces in the cluster: our finalizer, which is added once
 * there is a row, and the status. Its conditions prove nothing: they describe the present, and a Secret that is not
 * read yet is missing.
 */
export function hadGeneratedSecret(
  clients: Pick<ObjectStore<DeclaredObject>, 'get'> | undefined,
  { namespace, name, uid }: Identity,
  secret: string,
): boolean {
  const client = clients?.get(namespace, name);
  if (client?.uid !== uid || !isHeld(client)) return false;
  const status = parseJson(client.status);
  return isObject(status) && status['secret'] === 'generated' && status['secretName'] === secret;
}
