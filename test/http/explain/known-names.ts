/** The clients that random policies and requests name; the last does not exist. */
export const clients = ['orders', 'web', 'target', 'nobody'] as const;

/** The groups that random policies name; the last does not exist. */
export const groupNames = ['staff', 'others', 'missing'] as const;

/** Types of the records that paths address. */
export const resourceTypes = ['Client', 'AccessPolicy', 'Session', 'Group', 'Grant', 'User'] as const;

/** Parameters of a query, some of which the endpoints know. */
export const parameterNames = ['_count', '_sort', 'q', 'id'] as const;

/** Values of the header `X-Team`. */
export const headerValues = ['red', 'blue', ''] as const;

/** The people and groups of the box in which requests are made. */
export interface People {
  readonly users: readonly [number, ...number[]];
  readonly groups: readonly [number, ...number[]];
  readonly issuer: string;
}
