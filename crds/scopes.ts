/** Standard scopes (OpenID Connect Core §5.4, §11) and `groups`, which every box has. */
export const STANDARD_SCOPES: readonly string[] = [
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'groups',
  'offline_access',
];

/** Scopes that mean the same in every box. Their sentences on the consent page are ours, and no Box declares them. */
export const RESERVED_SCOPES: readonly string[] = [...STANDARD_SCOPES, 'boxgate'];
