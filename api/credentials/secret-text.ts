import { generatedSecretText } from '../../crds/generated-secret-text.ts';
import { fillRandom } from './random.ts';

/** Creates a client secret with 256 random bits. */
export function generateClientSecret(): string {
  const bytes = Buffer.allocUnsafe(32);
  fillRandom(bytes, 0, 32);
  return generatedSecretText(bytes);
}
