import type { RequestChecks } from '../../api/oauth/client-auth/context.ts';

/** Checks of a request that needs none: no limit, no listener, no user with a password. */
export const NO_CHECKS: RequestChecks = {};
