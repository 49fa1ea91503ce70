/** Standard scopes of OpenID Connect, which every box knows (Core §5.4, §11). */
const STANDARD_SCOPES = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access'] as const;

/** Scopes that mean the same in every box. Their sentences on the consent page are ours, and no Box declares them. */
export const RESERVED_SCOPES: readonly string[] = [...STANDARD_SCOPES, 'groups', 'boxgate'];
