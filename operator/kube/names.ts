/** Who we are among those that write into objects. */
export const FIELD_MANAGER = 'boxgate';

/** Says of an object that we have made it: `app.kubernetes.io/managed-by`. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'boxgate' } as const;
