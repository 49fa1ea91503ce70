import type { Client } from './client.ts';
import type { Fault } from './fault.ts';

/** Checks whether a client can authenticate itself: it has a secret, keys or service accounts (RFC 6749 §2.1). */
export function isConfidential(client: Client, hasStoredSecret: boolean): boolean {
  const hasSecret = client.secret === undefined ? hasStoredSecret : client.secret !== null;
  return (
    hasSecret || client.jwks !== undefined || client.jwks_uri !== undefined || client.service_accounts !== undefined
  );
}

/**
 * Returns the fault of a client over REST that lists `client_credentials` and cannot authenticate itself (RFC 6749
 * §4.4). A custom resource without a secret has no such fault: it gets a generated one. `hasStoredSecret`: a submitted
 * client without `secret` keeps the stored one.
 */
export function confidentialFault(client: Client, hasStoredSecret: boolean): Fault | undefined {
  if (!client.grant_types.includes('client_credentials') || isConfidential(client, hasStoredSecret)) return undefined;
  return {
    path: 'secret',
    message:
      'must be given: only confidential clients (with secret, jwks, jwks_uri or service_accounts) may use client_credentials',
  };
}
