import { isObject, parseJson } from '../../../crds/path.ts';
import { Secret } from '../../../api/client/secret.ts';
import { generatedSecretIn, isGeneratedSecret } from '../../../crds/generated-secret-text.ts';
import { API_GROUP, API_VERSION } from '../../../crds/kind.ts';
import { secretEntries } from '../../secrets/keeper.ts';
import { CLIENT_SECRET_LABEL } from '../../secrets/resolve.ts';
import type { KeptSecret, SecretSituation } from '../../secrets/rotation.ts';
import type { SecretRequest } from '../../secrets/keeper.ts';
import { MANAGED_BY } from '../client/kube-object.ts';
import { brief, type SecretContent, type SecretOwner, type StoredSecret, textOfData } from './stored-secret.ts';

/** Annotation: the id of the client that the secret belongs to. */
export const CLIENT_ID = 'boxgate.dev/client-id';
/** Annotations: the time when the secret was generated, and the end of the previous one's validity (RFC 3339). */
const MADE_AT = 'boxgate.dev/made-at';
const PREVIOUS_UNTIL = 'boxgate.dev/previous-until';
/** Annotation: the operator's own entries, labels and annotations, so that it removes those no longer wanted. */
const WRITTEN = 'boxgate.dev/written';
/** Entries: a leading dot hides them where a Secret is mounted, and keeps them out of the environment. */
const NEXT = '.boxgate-next';
const PREVIOUS = '.boxgate-previous';

/** Type of a generated Secret: programs that look for their own types or for Opaque ones do not take it. */
export const SECRET_TYPE = 'boxgate.dev/client-credentials';

type Texts = Readonly<Record<string, string>>;

/** The parts of a Secret that belong to the operator. */
interface OwnParts {
  readonly labels: Texts;
  readonly annotations: Texts;
  /** Base64. */
  readonly data: Texts;
}

/** Returns a new Secret as it is created. */
export function newSecretBody(request: SecretRequest, kept: KeptSecret): object {
  const { labels, annotations, data } = ownParts(request, kept);
  const metadata = { name: request.secret, labels, annotations, ownerReferences: [ownerReference(request)] };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: SECRET_TYPE, data };
}

/**
 * Returns the changes of a Secret, as a merge patch that is refused if the Secret is another one or has changed;
 * undefined if there are none. Content of others stays.
 */
export function secretPatch(stored: StoredSecret, request: SecretRequest, kept: KeptSecret): object | undefined {
  const { content, uid, resourceVersion } = stored;
  const own = ownParts(request, kept);
  const before = writtenIn(content.annotations[WRITTEN]);
  const labels = difference(content.labels, own.labels, before.labels);
  const annotations = difference(content.annotations, own.annotations, before.annotations);
  const data = difference(content.data, own.data, before.entries);
  const isOwned = content.owners.some((owner) => owner.uid === request.uid);
  if (isOwned && [labels, annotations, data].every((part) => part === undefined)) return undefined;
  // An object has one controller: that of an adopted Secret is gone.
  const others = content.owners.filter(({ controller }) => !controller);
  const owners = isOwned ? {} : { ownerReferences: [...others, ownerReference(request)] };
  return { metadata: { uid, resourceVersion, labels, annotations, ...owners }, data };
}

/** Returns the patch that removes the Client from the owners of a Secret, so that the Secret outlives it. */
export function releasePatch({ content, uid, resourceVersion }: StoredSecret, client: string): object {
  return {
    metadata: { uid, resourceVersion, ownerReferences: content.owners.filter((owner) => owner.uid !== client) },
  };
}

/** Returns the secret in a Secret that the operator created, and the state of its rotation. */
export function secretIn({ data, annotations, created }: SecretContent): NonNullable<SecretSituation['found']> {
  const names = ['client_secret', ...writtenIn(annotations[WRITTEN]).entries].filter((name) => !isHidden(name));
  const text = names.flatMap((name) => (Object.hasOwn(data, name) ? textOfData(data[name] ?? '') : [])).join('\n');
  const value = generatedSecretIn(text);
  const [next, previous] = [hidden(data[NEXT]), hidden(data[PREVIOUS])];
  const until = timeIn(annotations[PREVIOUS_UNTIL]);
  return {
    // Copied: the found text is a part of all texts together, and would keep them in memory.
    value: value === undefined ? undefined : new Secret(Buffer.from(value).toString()),
    made: timeIn(annotations[MADE_AT]) ?? timeIn(created) ?? 0,
    ...(next === undefined ? {} : { next }),
    ...(until === undefined ? {} : { previous: { ...(previous === undefined ? {} : { value: previous }), until } }),
  };
}

function ownParts(request: SecretRequest, { value, made, next, previous }: KeptSecret): OwnParts {
  const entries = new Map(secretEntries(request.template, request.facts, value.reveal()));
  if (next !== undefined) entries.set(NEXT, next.reveal());
  if (previous?.value !== undefined) entries.set(PREVIOUS, previous.value.reveal());
  const labels = { ...request.labels, [CLIENT_SECRET_LABEL]: 'true', ...MANAGED_BY };
  const times = {
    [MADE_AT]: new Date(made).toISOString(),
    ...(previous === undefined ? {} : { [PREVIOUS_UNTIL]: new Date(previous.until).toISOString() }),
  };
  const annotations = { ...request.annotations, [CLIENT_ID]: request.facts.client_id, ...times };
  const written: Written = {
    entries: [...entries.keys()],
    labels: Object.keys(request.labels),
    annotations: [...Object.keys(request.annotations), PREVIOUS_UNTIL],
  };
  const data = [...entries].map(([name, text]) => [name, Buffer.from(text).toString('base64')] as const);
  return {
    labels,
    annotations: { ...annotations, [WRITTEN]: JSON.stringify(written) },
    data: Object.fromEntries(data),
  };
}

function ownerReference({ client, uid }: SecretRequest): object {
  return { apiVersion: API_VERSION, kind: 'Client', name: client, uid, controller: true };
}

/** Returns changed or missing texts, and null for ours that are no longer wanted; undefined if there are none. */
function difference(
  there: Texts,
  wanted: Texts,
  before: readonly string[],
): Readonly<Record<string, string | null>> | undefined {
  const changed = Object.entries(wanted).filter(([key, text]) => there[key] !== brief(text));
  const over = before.filter((key) => !Object.hasOwn(wanted, key) && Object.hasOwn(there, key));
  if (changed.length + over.length === 0) return undefined;
  return Object.fromEntries([...changed, ...over.map((key) => [key, null] as const)]);
}

interface Written {
  readonly entries: readonly string[];
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/** Reads the names in the annotation, which may contain anything. */
function writtenIn(text: string | undefined): Written {
  const value = text === undefined ? undefined : parseJson(text);
  const names = (part: string): readonly string[] => {
    const list: unknown = isObject(value) ? value[part] : undefined;
    return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
  };
  return { entries: names('entries'), labels: names('labels'), annotations: names('annotations') };
}

function isHidden(name: string): boolean {
  return name === NEXT || name === PREVIOUS;
}

function hidden(data: string | undefined): Secret | undefined {
  const text = data === undefined ? '' : textOfData(data);
  return isGeneratedSecret(text) ? new Secret(text) : undefined;
}

function timeIn(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Ownership of a Secret. `ours`: this very Client has it. `released`: it was a retained client's, which this one takes
 * over, or that of the earlier object whose row it inherits. Otherwise the reason why it is not touched.
 */
export type Ownership = 'ours' | 'released' | { readonly refused: string };

/** Decides by uid who owns the Secret that a Client wants generated: a Client of its name may be another one. */
export function ownership({ owners, labels, annotations }: SecretContent, request: SecretRequest): Ownership {
  const controller = controllerOf(owners);
  const isReleased = isManaged(labels) && annotations[CLIENT_ID] === request.facts.client_id;
  if (controller === undefined) {
    if ((request.adopt || request.inherits) && isReleased) return 'released';
    if (!isReleased) return { refused: `Secret ${request.secret} exists, and was not generated for this client` };
    return {
      refused: `Secret ${request.secret} was generated for a client of this ID and belongs to nobody, as after a restore: spec.adoption: IfUnowned of the Client takes it over with its value`,
    };
  }
  if (!isClient(controller))
    return { refused: `Secret ${request.secret} belongs to ${controller.kind} ${controller.name}` };
  if (controller.uid === request.uid) return 'ours';
  const isEarlier = controller.name === request.client;
  if (isEarlier && request.inherits && isReleased) return 'released';
  const owner = isEarlier ? `an earlier Client ${controller.name}, which is gone` : `Client ${controller.name}`;
  return { refused: `Secret ${request.secret} belongs to ${owner}` };
}

/** Returns the uid of the Client that a Secret belongs to. */
export function clientOf({ owners }: Pick<SecretContent, 'owners'>): string | undefined {
  const controller = controllerOf(owners);
  return controller !== undefined && isClient(controller) ? controller.uid : undefined;
}

function controllerOf(owners: readonly SecretOwner[]): SecretOwner | undefined {
  return owners.find(({ controller }) => controller);
}

function isClient({ apiVersion, kind }: SecretOwner): boolean {
  return kind === 'Client' && apiVersion.startsWith(`${API_GROUP}/`);
}

function isManaged(labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(MANAGED_BY).every(([key, value]) => labels[key] === value);
}
