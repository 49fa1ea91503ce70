/** A code verifier and its challenge (RFC 7636 §4.1, §4.2: S256). */
export interface Proof {
  readonly verifier: string;
  readonly challenge: string;
}

/** Creates a verifier of 256 random bits. Rejects without a secure context (https, or http on loopback). */
export async function createProof(): Promise<Proof> {
  const verifier = randomText();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return { verifier, challenge: base64url(new Uint8Array(digest)) };
}

/** Returns 256 random bits as 43 characters. */
export function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
