import { authorizationCode } from './authorization-code.ts';
import { clientCredentials } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import { password } from './password.ts';
import { refreshToken } from './refresh-token.ts';

/** Supported grants by their `grant_type`; the metadata lists no other. */
export const grants: ReadonlyMap<string, Grant> = new Map(
  [clientCredentials, authorizationCode, refreshToken, password].map((grant) => [grant.name, grant]),
);
