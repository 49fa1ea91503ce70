import type { Kind } from './kind.ts';

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  /** 1: only with `-o wide`. */
  readonly priority?: 1;
}

const ready: readonly Column[] = [
  { name: 'READY', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'REASON', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
];
const age: Column = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Columns that `kubectl get` prints for each kind after the name. */
export const COLUMNS = {
  Client: [
    { name: 'ID', type: 'string', jsonPath: '.status.id' },
    { name: 'GRANTS', type: 'string', jsonPath: '.status.grants' },
    { name: 'SECRET', type: 'string', jsonPath: '.status.secret' },
    { name: 'POLICIES', type: 'integer', jsonPath: '.status.policies' },
    ...ready,
    age,
    { name: 'LAST-TOKEN', type: 'date', jsonPath: '.status.lastTokenAt', priority: 1 },
    { name: 'SESSIONS', type: 'integer', jsonPath: '.status.sessions', priority: 1 },
  ],
  AccessPolicy: [
    { name: 'ENGINE', type: 'string', jsonPath: '.spec.engine' },
    { name: 'SUBJECTS', type: 'string', jsonPath: '.status.subjects' },
    ...ready,
    age,
  ],
  Group: [
    { name: 'MEMBERS', type: 'integer', jsonPath: '.status.members' },
    ...ready,
    age,
    { name: 'GROUP', type: 'string', jsonPath: '.status.name', priority: 1 },
  ],
  Box: [
    { name: 'ISSUER', type: 'string', jsonPath: '.status.issuer' },
    { name: 'CLIENTS', type: 'integer', jsonPath: '.status.clients' },
    { name: 'POLICIES', type: 'integer', jsonPath: '.status.policies' },
    { name: 'USERS', type: 'integer', jsonPath: '.status.users' },
    ...ready,
    age,
  ],
} as const satisfies Record<Kind, readonly Column[]>;
