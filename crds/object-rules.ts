import { when, type Draft, type Rule } from './rule.ts';

/** Parts of a whole object that its rules read. */
export interface NamedObject {
  metadata: { name: string };
  spec: { id?: string };
}

type Subject = Draft<NamedObject>;

/** Rules that tie the id of a resource to the name of its object; `self` is the whole object. */
export const identityRules: readonly Rule<Subject>[] = [
  {
    id: 'name-fits-id',
    path: 'metadata.name',
    message: 'must have at most 128 characters, or spec.id must be given',
    cel: 'has(self.spec.id) || self.metadata.name.size() <= 128',
    broken: ({ metadata, spec }) =>
      when(spec?.id === undefined && (metadata?.name ?? '').length > 128, 'metadata.name'),
  },
  {
    id: 'id-immutable',
    path: 'spec.id',
    message: 'must stay as it is: delete the object and make another',
    cel: '(has(self.spec.id) ? self.spec.id : self.metadata.name) == (has(oldSelf.spec.id) ? oldSelf.spec.id : oldSelf.metadata.name)',
    broken: (object, old) => when(old !== undefined && idOf(object) !== idOf(old), 'spec.id'),
  },
];

/** The id of a client is never only digits, even if it comes from the name of the object. */
export const clientNameRules: readonly Rule<Subject>[] = [
  {
    id: 'client-name-not-a-number',
    path: 'metadata.name',
    message: 'must not be only digits, or spec.id must be given: a number is the id of a user (RFC 9700 section 4.15)',
    cel: "has(self.spec.id) || !self.metadata.name.matches('^[0-9]+$')",
    broken: ({ metadata, spec }) =>
      when(spec?.id === undefined && /^[0-9]+$/.test(metadata?.name ?? ''), 'metadata.name'),
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

function idOf({ metadata, spec }: Subject): string | undefined {
  return spec?.id ?? metadata?.name;
}
