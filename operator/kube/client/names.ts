/** Our name among those that write into objects. */
export const FIELD_MANAGER = 'boxgate';

/** Label of objects that we have created: `app.kubernetes.io/managed-by`. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'boxgate' } as const;
