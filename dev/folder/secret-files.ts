import { isObject, parseJson } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { readFileSync, rmSync, renameSync, writeFileSync, statSync } from 'node:fs';
import { Secret } from '../../api/client/secret.ts';
import { isGeneratedSecret, generatedSecretIn } from '../../crds/generated-secret-text.ts';
import type { KeptSecret, Rotation, SecretSituation } from '../../operator/secrets/rotation.ts';

/** Returns the file next to that of a generated secret which records the state of its rotation; mode 0600. */
export function rotationFile(file: string): string {
  return `${file}.rotation`;
}

/** Reads the state of a secret's rotation; undefined if none is recorded. */
function readRotation(file: string): KeptSecret | undefined {
  const text = read(rotationFile(file));
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
export function writeRotation(
  file: string,
  kept: KeptSecret,
  { every, at }: Rotation,
  before: KeptSecret | undefined,
): void {
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
  if (read(rotationFile(file)) !== content) replaceFile(rotationFile(file), content);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function secretOf(value: unknown): Secret | undefined {
  return typeof value === 'string' && isGeneratedSecret(value) ? new Secret(value) : undefined;
}

/** Writes a draft of mode 0600 and renames it: a kill in between must not lose the only copy of a secret. */
export function replaceFile(file: string, content: string): void {
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
export function readSecretFile(file: string): SecretFile {
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
