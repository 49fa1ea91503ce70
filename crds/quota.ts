/** Default quotas of a box, for those that its Namespace does not set. */
export const QUOTA_DEFAULTS = {
  clients: 25_000,
  policies: 25_000,
  users: 2_000_000,
  groups: 25_000,
  bytes: 33_554_432,
  sessions: 10_000_000,
  requests: 2_000,
} as const satisfies Readonly<Record<string, number>>;

/** The name of a quota, as the annotation of a Namespace writes it. */
export type QuotaName = keyof typeof QUOTA_DEFAULTS;

/** The quotas of a box, all of them. */
export type Quota = Readonly<Record<QuotaName, number>>;

/** The annotation of a Namespace that sets quotas of its box: `clients=20000,users=5000`. */
export const QUOTA_ANNOTATION = 'boxgate.dev/quota';

/** The highest value of a quota. */
export const HIGHEST_QUOTA = 1_000_000_000_000;

/** Checks whether a word is the name of a quota. */
export function isQuotaName(word: string): word is QuotaName {
  return Object.hasOwn(QUOTA_DEFAULTS, word);
}

/** Returns all quotas of a box: the given ones, and the default of each that is missing. */
export function quotaOf(given: Partial<Quota> = {}): Quota {
  return { ...QUOTA_DEFAULTS, ...given };
}

const things: Readonly<Record<QuotaName, string>> = {
  clients: 'clients',
  policies: 'access policies',
  users: 'users',
  groups: 'groups',
  bytes: 'bytes of stored configuration',
  sessions: 'active sessions',
  requests: 'requests in flight on each replica',
};

/** Returns the sentence for a caller who exceeds a quota: what is exceeded, and how to change it. */
export function quotaSentence(name: QuotaName, limit: number): string {
  return (
    `exceeds the quota of the box: at most ${String(limit)} ${things[name]}. ${wayOut(name)}, or ask a cluster admin to ` +
    `raise \`${name}\` in the annotation ${QUOTA_ANNOTATION} of the Namespace`
  );
}

function wayOut(name: QuotaName): string {
  if (name === 'requests') return 'Try again later';
  return name === 'sessions' ? 'Close some, wait until some expire' : 'Delete some';
}
