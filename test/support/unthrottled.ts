/**
 * Settings of an API that holds nobody back who fails often: tests ask before a client is live, and after it is gone.
 */
export const unthrottled = {
  BOXGATE_FAILURES_PER_CLIENT: '1000000',
  BOXGATE_FAILURES_PER_BOX: '1000000',
  BOXGATE_FAILURES_PER_ACCOUNT: '1000000',
  BOXGATE_FAILURES_PER_SECRET: '1000000',
} as const;
