import path from 'node:path';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync, readFileSync, renameSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Secret } from '../../api/client/secret.ts';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { secretEntries, resolveKept, type SecretKeeper, type SecretRequest } from '../../operator/secrets/keeper.ts';
import { missing, type ResolvedSecret } from '../../operator/secrets/resolve.ts';
import { nextSecret, type KeptSecret } from '../../operator/secrets/rotation.ts';
import { isObject, parseJson } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { isGeneratedSecret, generatedSecretIn } from '../../crds/generated-secret-text.ts';
import type { Rotation, SecretSituation } from '../../operator/secrets/rotation.ts';

/** Generated secrets in files. */
export interface SecretFiles extends SecretKeeper {
  /** Returns the file of a generated secret, if its content is the complete body of a token request. */
  tokenRequest(box: string, secret: string): string | undefined;
}

/** A secret that was generated just now, and its file. */
export interface CreatedSecret {
  /** Name of its Client. */
  readonly client: string;
  readonly file: string;
}

/** A secret that this process has read or written; small, because there may be ten thousand. */
interface Known {
  readonly client: string;
  readonly uid: string;
  readonly id: string;
  readonly kept: KeptSecret;
  /** Hash of the content, which shows whether the file would be written differently now. */
  readonly mark: string;
  readonly isRequest: boolean;
}

/** Milliseconds of writing after which other work gets its turn. */
const turn = 20;

/**
 * Keeps generated secrets below `root` as `<box>/<secret>.json`, mode 0600, also for the next run. With the client
 * credentials grant and without a template, it is the body of a token request (JSON form). An empty
 * `<secret>.json.released` next to it marks a file that stays without an object. `onCreated` gets the new files.
 */
export function createSecretFiles(
  root: string,
  now: () => Date,
  onCreated: (box: string, created: readonly CreatedSecret[]) => void = () => undefined,
): SecretFiles {
  /** By box, then by the name of the Secret. */
  const boxes = new Map<string, Map<string, Known>>();
  const fileOf = (box: string, secret: string): string => path.join(root, box, `${secret}.json`);
  const markOf = (box: string, secret: string): string => `${fileOf(box, secret)}.released`;
  const knownOf = (box: string): Map<string, Known> => {
    const known = boxes.get(box) ?? new Map<string, Known>();
    boxes.set(box, known);
    return known;
  };

  function resolve(file: string, request: SecretRequest, all: Map<string, Known>): ResolvedSecret {
    const { client, uid, facts, secret } = request;
    const known = all.get(secret);
    if (known !== undefined && known.client !== client) return notOwned(secret, `Client ${known.client}`);
    const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
    const read = isThere && known === undefined ? readSecretFile(file) : undefined;
    if (read?.id !== undefined && read.id !== facts.client_id) return notOwned(secret, `client ${read.id}`);
    const time = now().getTime();
    const { rotation, applied, hadGeneratedSecret, usage } = request;
    const found = isThere ? (known?.kept ?? read) : undefined;
    const { kept } = nextSecret(
      { found, last: known?.kept, applied, hadGeneratedSecret, rotation, usage, now: time },
      () => {
        return new Secret(generateClientSecret());
      },
    );
    writeRotation(file, kept, rotation, known?.kept);
    const content = contentOf(request, kept.value);
    const mark = hash('sha256', content, 'buffer').toString('base64url', 0, 9);
    if (!isThere) writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
    else if (known?.mark !== mark && read?.text !== content) replaceFile(file, content);
    all.set(secret, { client, uid, id: facts.client_id, kept, mark, isRequest: isTokenRequest(request) });
    return resolveKept(kept, '', request, time);
  }

  return {
    tokenRequest(box, secret) {
      return knownOf(box).get(secret)?.isRequest === true ? fileOf(box, secret) : undefined;
    },
    async keep(box, requests, signal) {
      const resolved = new Map<string, ResolvedSecret>();
      const created: CreatedSecret[] = [];
      mkdirSync(path.join(root, box), { recursive: true, mode: 0o700 });
      let began = performance.now();
      try {
        for (const request of requests) {
          if (request.adopt) rmSync(markOf(box, request.secret), { force: true });
          const file = fileOf(box, request.secret);
          const wasThere = existsSync(file);
          const secret = resolve(file, request, knownOf(box));
          resolved.set(request.client, secret);
          if (!wasThere && secret.state === 'ready') created.push({ client: request.client, file });
          if (performance.now() - began < turn) continue;
          await setImmediate(undefined, { signal });
          began = performance.now();
        }
      } finally {
        if (created.length > 0) onCreated(box, created);
      }
      return resolved;
    },
    // A sweep detects changes by hand to a file.
    version: () => '',
    async names(box) {
      const files = new Set(unlessMissing(() => readdirSync(path.join(root, box))));
      const names = [...files].filter((name) => name.endsWith('.json') && !files.has(`${name}.released`));
      return names.map((file) => {
        const name = file.slice(0, -5);
        const { uid, id = readSecretFile(fileOf(box, name)).id } = knownOf(box).get(name) ?? {};
        return { name, ...(uid === undefined ? {} : { uid }), ...(id === undefined ? {} : { id }) };
      });
    },
    async release(box, kept) {
      for (const { name } of kept) {
        knownOf(box).delete(name);
        writeFileSync(markOf(box, name), '', { mode: 0o600 });
      }
      return [];
    },
    async forget(box, kept) {
      for (const { name } of kept) {
        knownOf(box).delete(name);
        for (const file of [fileOf(box, name), markOf(box, name), rotationFile(fileOf(box, name))]) {
          rmSync(file, { force: true });
        }
      }
    },
  };
}

function notOwned(secret: string, owner: string): ResolvedSecret {
  return missing('SecretNotOwned', `Secret ${secret} belongs to ${owner}; give generateSecret.name another one`);
}

function isTokenRequest({ grants, template }: SecretRequest): boolean {
  return template === undefined && grants.includes('client_credentials');
}

function contentOf(request: SecretRequest, value: Secret): string {
  const entries = Object.fromEntries(secretEntries(request.template, request.facts, value.reveal()));
  const content = isTokenRequest(request) ? { grant_type: 'client_credentials', ...entries } : entries;
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Returns the file next to that of a generated secret which records the state of its rotation; mode 0600. */
function rotationFile(file: string): string {
  return `${file}.rotation`;
}

/** Reads the state of a secret's rotation; undefined if none is recorded. */
function readRotation(file: string): KeptSecret | undefined {
  const text = unlessMissing(() => readFileSync(rotationFile(file), 'utf8'));
  const fields = text === undefined ? undefined : parseJson(text);
  if (!isObject(fields)) return undefined;
  const { value, made, next, until, previous } = fields;
  const present = secretOf(value);
  if (present === undefined || typeof made !== 'number') return undefined;
  const [following, former] = [secretOf(next), secretOf(previous)];
  return {
    value: present,
    made,
    ...(following === undefined ? {} : { next: following }),
    ...(former === undefined || typeof until !== 'number' ? {} : { previous: { value: former, until } }),
  };
}

/** Records the state of a secret's rotation, if it has one or two secrets are valid; `before` is the last record. */
function writeRotation(file: string, kept: KeptSecret, { every, at }: Rotation, before: KeptSecret | undefined): void {
  const { value, made, next, previous } = kept;
  const isNeeded = (every ?? at ?? next ?? previous) !== undefined;
  if (!isNeeded) {
    // A secret that never rotated has no such file: ten thousand system calls are saved.
    if (before?.previous !== undefined || before?.next !== undefined) rmSync(rotationFile(file), { force: true });
    return;
  }
  const fields: JsonObject = {
    value: value.reveal(),
    made,
    next: next?.reveal(),
    previous: previous?.value?.reveal(),
    until: previous?.until,
  };
  const content = `${JSON.stringify(fields)}\n`;
  if (unlessMissing(() => readFileSync(rotationFile(file), 'utf8')) !== content)
    replaceFile(rotationFile(file), content);
}

/** Returns what `read` returns; undefined if there is no such file. */
function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function secretOf(value: unknown): Secret | undefined {
  return typeof value === 'string' && isGeneratedSecret(value) ? new Secret(value) : undefined;
}

/** Writes a draft of mode 0600 and renames it: a kill in between must not lose the only copy of a secret. */
function replaceFile(file: string, content: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

/** Contents of a generated secret's file. */
type SecretFile = NonNullable<SecretSituation['found']> & {
  readonly text: string;
  /** Id of its client, if the file names it. */
  readonly id: string | undefined;
};

/** Reads the file of a generated secret. A secret carries a checksum: half of one, left by a kill, is ignored. */
function readSecretFile(file: string): SecretFile {
  const text = readFileSync(file, 'utf8');
  const parsed = parseJson(text);
  const id = isObject(parsed) && typeof parsed['client_id'] === 'string' ? parsed['client_id'] : undefined;
  const found = generatedSecretIn(text);
  const value = found === undefined ? undefined : new Secret(found);
  const rotation = readRotation(file);
  if (rotation === undefined || !knows(rotation, found)) {
    return { text, id, value, made: statSync(file).mtimeMs };
  }
  return { ...rotation, text, id };
}

/** Checks whether the record belongs to the secret found: it is written first, and a kill may have come in between. */
function knows({ value, previous }: KeptSecret, found: string | undefined): boolean {
  return found !== undefined && [value, previous?.value].some((one) => one?.reveal() === found);
}
