import { isObject, parseJson } from '../../crds/json-value.ts';
import type { JsonObject } from '../../crds/json-value.ts';
import { readFileSync, rmSync } from 'node:fs';
import { Secret } from '../../api/client/secret.ts';
import { isGeneratedSecret } from '../../crds/generated-secret-text.ts';
import type { KeptSecret, Rotation } from '../../operator/secrets/rotation.ts';
import { replaceFile } from './replace-file.ts';

/** Returns the file next to that of a generated secret which records the state of its rotation; mode 0600. */
export function rotationFile(file: string): string {
  return `${file}.rotation`;
}

/** Reads the state of a secret's rotation; undefined if none is recorded. */
export function readRotation(file: string): KeptSecret | undefined {
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
