/** The grant a session came from, as its column holds it. */
export type GrantLetter = 'c' | 'r' | 'i' | 'a' | 'p';

/** A grant that starts a session: a refreshed session came from the grant of its family. */
export type FirstGrant = Exclude<GrantLetter, 'r'>;
