import { authorizationCode } from './authorization-code.ts';
import { clientCredentials } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import { password } from './password.ts';
import { refreshToken } from './refresh-token.ts';

/** The grants that are built, by the `grant_type` that asks for them; the metadata lists no other. */
export const grants: ReadonlyMap<string, Grant> = new Map(
  [clientCredentials, authorizationCode, refreshToken, password].map((grant) => [grant.name, grant]),
);
