import { isObject, parseJson } from '../../crds/json-value.ts';
import { readFileSync, statSync } from 'node:fs';
import { Secret } from '../../api/client/secret.ts';
import { generatedSecretIn } from '../../crds/generated-secret-text.ts';
import type { KeptSecret, SecretSituation } from '../../operator/secrets/rotation.ts';
import { readRotation } from './rotation-file.ts';

/** Contents of a generated secret's file. */
export type SecretFile = NonNullable<SecretSituation['found']> & {
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
