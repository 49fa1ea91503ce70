import { randomBytes } from 'node:crypto';
import {
  certificateStep,
  digestStep,
  encryptionStep,
  forgetStep,
  managementStep,
  nextOf,
  providedRefusal,
  stepAnnotation,
  type KeyChange,
  type RotationStep,
} from './rotation.ts';
import { createCertificate } from './certificate.ts';
import type { KeysConfig } from './config.ts';
import { keyNames, managementNames } from './create-keys.ts';
import type { FoundSecret, SecretStore } from './secret-store.ts';

/**
 * Takes the next step of a rotation, and returns sentences that tell it and what follows. Throws an Error if somebody
 * else provides the Secret, or if it or one of its keys is missing, and KubeError if somebody else changes it at the
 * same time.
 */
export async function rotate(
  store: SecretStore,
  config: KeysConfig,
  rotation: KeyChange,
  now: number,
): Promise<readonly string[]> {
  const { secretName } = config;
  if (config.isProvided) throw new Error(providedRefusal(rotation, secretName));
  const found = await store.read(secretName);
  if (found === undefined) throw new Error(`There is no Secret ${secretName}: run boxgate keys create`);
  const missing = keyNames.filter((key) => (found.data[key] ?? '') === '');
  if (missing.length > 0) {
    throw new Error(`The Secret ${secretName} lacks ${missing.join(', ')}: restore it from a backup first`);
  }
  const step = await stepOf(found, config, rotation, now);
  await store.change(secretName, found, step.change);
  return [step.done, `next: ${nextOf(step, config.namespace)}`];
}

async function stepOf(
  { data, annotations }: FoundSecret,
  config: KeysConfig,
  rotation: KeyChange,
  now: number,
): Promise<RotationStep> {
  switch (rotation) {
    case 'management': {
      const fresh = randomBytes(32).toString('base64url');
      return managementStep(data['management-keys'] ?? '', annotations[stepAnnotation('management')], fresh);
    }
    case 'encryption': {
      const fresh = randomBytes(32).toString('base64');
      return encryptionStep(data['encryption-key'] ?? '', annotations[stepAnnotation('encryption')], fresh);
    }
    case 'forget-encryption':
      return forgetStep(data['encryption-key'] ?? '', annotations[stepAnnotation('encryption')]);
    case 'digest':
      return digestStep(randomBytes(32).toString('base64'));
    case 'certificate':
      return certificateStep(data, () => createCertificate(managementNames(config), now));
  }
}
