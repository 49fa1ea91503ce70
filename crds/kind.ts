/** Kind of object that users declare: each has one custom resource definition and one REST resource type. */
export type Kind = 'Client' | 'AccessPolicy' | 'Box' | 'Group';

/** The API group of every custom resource. */
export const API_GROUP = 'boxgate.dev';
/** `apiVersion` of every custom resource. */
export const API_VERSION = 'boxgate.dev/v1';

/** Name of a database that boxes are placed on. */
export const DATABASE_NAME = '^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$';
/** Annotation of a Namespace with the name of the database that its box is placed on. */
export const DATABASE_ANNOTATION = 'boxgate.dev/database';

/** The names of a kind in the Kubernetes API. */
export interface KindNames {
  readonly kind: Kind;
  readonly plural: string;
  readonly singular: string;
  readonly shortName: string;
}

/** Names by kind, in the order in which tables and documents list them. */
export const KINDS = {
  Box: { kind: 'Box', plural: 'boxes', singular: 'box', shortName: 'bx' },
  Client: { kind: 'Client', plural: 'clients', singular: 'client', shortName: 'bxc' },
  AccessPolicy: { kind: 'AccessPolicy', plural: 'accesspolicies', singular: 'accesspolicy', shortName: 'bxp' },
  Group: { kind: 'Group', plural: 'groups', singular: 'group', shortName: 'bxg' },
} as const satisfies Record<Kind, KindNames>;

/** Checks whether a word names one of our kinds, exactly as written. */
export function isKind(word: unknown): word is Kind {
  return typeof word === 'string' && Object.hasOwn(KINDS, word);
}
