/** The tabs, in order; the last one is for everybody. */
export const TABS = ['users', 'groups', 'sessions', 'clients', 'policies', 'audit', 'account'] as const;

/** One of {@link TABS}. */
export type Tab = (typeof TABS)[number];
