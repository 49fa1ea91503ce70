import { RESERVED_ID_PREFIX, isReservedId } from './reserved-ids.ts';
import { when, type Draft, type Rule } from './rule.ts';

/** Parts of a whole object that its rules read. */
export interface NamedObject {
  metadata: { name: string };
  spec: { id?: string; name?: string; generateSecret?: { name?: string } };
}

type Subject = Draft<NamedObject>;

/** The field of a spec that identifies the resource. */
type IdentityField = 'id' | 'name';

/** Rules that tie the id of a resource to the name of its object; `self` is the whole object. */
export const identityRules = identityRulesOf('id');

function identityRulesOf(field: IdentityField): readonly Rule<Subject>[] {
  const given = `has(self.spec.${field})`;
  const before = `(has(oldSelf.spec.${field}) ? oldSelf.spec.${field} : oldSelf.metadata.name)`;
  return [
    {
      id: `name-fits-${field}`,
      path: 'metadata.name',
      message: `must have at most 128 characters, or spec.${field} must be given`,
      cel: `${given} || self.metadata.name.size() <= 128`,
      broken: ({ metadata, spec }) =>
        when(spec?.[field] === undefined && (metadata?.name ?? '').length > 128, 'metadata.name'),
    },
    {
      id: `${field}-immutable`,
      path: `spec.${field}`,
      message: 'must stay as it is: delete the object and create another',
      cel: `(${given} ? self.spec.${field} : self.metadata.name) == ${before}`,
      broken: (object, old) =>
        when(old !== undefined && identityOf(object, field) !== identityOf(old, field), `spec.${field}`),
    },
  ];
}

/** The id of a client is never only digits nor reserved, and its Secret is named after it. */
export const clientNameRules: readonly Rule<Subject>[] = [
  {
    id: 'client-name-not-a-number',
    path: 'metadata.name',
    message: 'must not be only digits, or spec.id must be given: a number is the id of a user (RFC 9700 section 4.15)',
    cel: "has(self.spec.id) || !self.metadata.name.matches('^[0-9]+$')",
    broken: ({ metadata, spec }) =>
      when(spec?.id === undefined && /^[0-9]+$/.test(metadata?.name ?? ''), 'metadata.name'),
  },
  {
    id: 'client-name-not-reserved',
    path: 'metadata.name',
    message: `must not begin with ${RESERVED_ID_PREFIX}, or spec.id must be given: these ids are reserved for built-in clients`,
    cel: `has(self.spec.id) || !self.metadata.name.startsWith('${RESERVED_ID_PREFIX}')`,
    broken: ({ metadata, spec }) => when(spec?.id === undefined && isReservedId(metadata?.name), 'metadata.name'),
  },
  {
    // Programs take some Secrets by their names alone.
    id: 'secret-name-of-client',
    path: 'spec.generateSecret.name',
    message: 'must be metadata.name, or begin with it and a hyphen',
    cel: "!has(self.spec.generateSecret) || !has(self.spec.generateSecret.name) || (self.spec.generateSecret.name + '-').startsWith(self.metadata.name + '-')",
    broken: ({ metadata, spec }) =>
      when(
        !`${spec?.generateSecret?.name ?? metadata?.name ?? ''}-`.startsWith(`${metadata?.name ?? ''}-`),
        'spec.generateSecret.name',
      ),
  },
];

/** Rules about the name of a group, which is never only digits, even if it comes from the name of the object. */
export const groupNameRules: readonly Rule<Subject>[] = [
  ...identityRulesOf('name'),
  {
    id: 'group-object-name-not-a-number',
    path: 'metadata.name',
    message: 'must not be only digits, or spec.name must be given: policies would take it for the id of a group',
    cel: "has(self.spec.name) || !self.metadata.name.matches('^[0-9]+$')",
    broken: ({ metadata, spec }) =>
      when(spec?.name === undefined && /^[0-9]+$/.test(metadata?.name ?? ''), 'metadata.name'),
  },
];

/** A namespace is one box and has one Box. */
export const boxNameRules: readonly Rule<Draft<Pick<NamedObject, 'metadata'>>>[] = [
  {
    id: 'box-name',
    path: 'metadata.name',
    message: 'must be box: a namespace is one box',
    cel: "self.metadata.name == 'box'",
    broken: ({ metadata }) => when(metadata?.name !== undefined && metadata.name !== 'box', 'metadata.name'),
  },
];

function identityOf({ metadata, spec }: Subject, field: IdentityField): string | undefined {
  return spec?.[field] ?? metadata?.name;
}
