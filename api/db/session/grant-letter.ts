/** The grants that start a session: a refreshed session came from the grant of its family. */
export const FIRST_GRANTS = ['c', 'i', 'a', 'p'] as const;
/** A grant that starts a session. */
export type FirstGrant = (typeof FIRST_GRANTS)[number];

/** Every grant that a session can come from. */
export const GRANT_LETTERS = [...FIRST_GRANTS, 'r'] as const;
/** The grant a session came from, as its column holds it. */
export type GrantLetter = (typeof GRANT_LETTERS)[number];
