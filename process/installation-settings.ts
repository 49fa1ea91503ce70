import type { EnvironmentReader } from './environment.ts';

/** BOXGATE_MANAGEMENT_KEYS: one, or two while one is being rotated. */
export function readManagementKeys(read: EnvironmentReader): readonly string[] {
  const must = 'must hold a key of 16 visible characters or more, or two of them with a comma between';
  return read.requiredList('BOXGATE_MANAGEMENT_KEYS', 2, isManagementKey, must);
}

/** BOXGATE_PUBLIC_URL: where the public port is reached from outside; without a slash at the end. */
export function readPublicUrl(read: EnvironmentReader): string {
  const must = 'must be an http or https URL without query, such as https://auth.example.com';
  return read.url('BOXGATE_PUBLIC_URL', isPlainUrl, must).href.replace(/\/+$/, '');
}

/** Whether a URL is http or https with nothing in it but where something is. */
export function isPlainUrl(url: URL): boolean {
  return /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '';
}

function isManagementKey(text: string): boolean {
  return /^[\x21-\x7e]{16,}$/.test(text);
}
