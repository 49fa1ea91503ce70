import type { NestedRule, SubmittedAccessPolicy } from './access-policy.ts';
import { CLIENT_LINK_ID, USER_LINK_ID, type SubmittedLink } from './links.ts';
import { brokenElements, when, type Draft, type Rule } from './rule.ts';

type Subject = Draft<SubmittedAccessPolicy>;

/** The field that holds the rule of each engine; allow has none, complex has lists. */
const RULE_FIELDS = { 'json-schema': 'schema', matcho: 'matcho', cel: 'expression' } as const;
type RuleEngine = keyof typeof RULE_FIELDS;

const CLIENT_ID = new RegExp(CLIENT_LINK_ID, 'u');
const USER_ID = new RegExp(USER_LINK_ID, 'u');

/** Rules about the fields of an AccessPolicy. */
export const accessPolicyRules: readonly Rule<Subject>[] = [
  engineField('json-schema', 'schema'),
  engineField('matcho', 'matcho'),
  engineField('cel', 'expression'),
  {
    id: 'engine-complex',
    path: 'and',
    message: 'must be given for engine complex, or `or` in its place: not both, and neither for another engine',
    cel: "self.engine == 'complex' ? has(self.and) != has(self.or) : !has(self.and) && !has(self.or)",
    broken: ({ engine, and, or }) => when(engine !== undefined && wrongLists(engine, and, or), 'and'),
  },
  nestedFields('and'),
  nestedFields('or'),
  {
    id: 'link-form',
    path: 'link',
    message: 'must have resourceType and id, or reference alone',
    cel: '!has(self.link) || self.link.all(l, has(l.reference) ? !has(l.resourceType) && !has(l.id) : has(l.resourceType) && has(l.id))',
    broken: ({ link }) => brokenElements(link, 'link', (one) => !hasOneForm(one)),
  },
  {
    id: 'link-client-id',
    path: 'link',
    message: 'must name a Client by its id in the same box: letters, digits and ._~-, not only digits',
    cel: `!has(self.link) || self.link.all(l, !has(l.resourceType) || !has(l.id) || l.resourceType != 'Client' || l.id.matches(r'${CLIENT_LINK_ID}'))`,
    broken: ({ link }) => brokenElements(link, 'link', (one) => wrongId(one, 'Client', CLIENT_ID)),
  },
  {
    id: 'link-user-id',
    path: 'link',
    message: 'must name a User by its number',
    cel: `!has(self.link) || self.link.all(l, !has(l.resourceType) || !has(l.id) || l.resourceType != 'User' || l.id.matches(r'${USER_LINK_ID}'))`,
    broken: ({ link }) => brokenElements(link, 'link', (one) => wrongId(one, 'User', USER_ID)),
  },
];

function engineField(engine: RuleEngine, field: (typeof RULE_FIELDS)[RuleEngine]): Rule<Subject> {
  return {
    id: `engine-${engine}`,
    path: field,
    message: `must be given for engine ${engine} and for no other`,
    cel: `(self.engine == '${engine}') == has(self.${field})`,
    broken: (policy) =>
      when(policy.engine !== undefined && (policy.engine === engine) !== (policy[field] !== undefined), field),
  };
}

function nestedFields(list: 'and' | 'or'): Rule<Subject> {
  const each = Object.entries(RULE_FIELDS).map(([engine, field]) => `(r.engine == '${engine}') == has(r.${field})`);
  return {
    id: `nested-${list}`,
    path: list,
    message: 'must carry the field of its engine (schema, matcho or expression; none for allow) and no other',
    cel: `!has(self.${list}) || self.${list}.all(r, ${each.join(' && ')})`,
    broken: (policy) => brokenElements(policy[list], list, wrongFields),
  };
}

function wrongFields(rule: Draft<NestedRule>): boolean {
  if (rule.engine === undefined) return false;
  return Object.entries(RULE_FIELDS).some(
    ([engine, field]) => (rule.engine === engine) !== (rule[field] !== undefined),
  );
}

function wrongLists(engine: string, and: unknown, or: unknown): boolean {
  const given = [and, or].filter((list) => list !== undefined).length;
  return given !== (engine === 'complex' ? 1 : 0);
}

function hasOneForm({ reference, resourceType, id }: Draft<SubmittedLink>): boolean {
  if (reference !== undefined) return resourceType === undefined && id === undefined;
  return resourceType !== undefined && id !== undefined;
}

function wrongId(link: Draft<SubmittedLink>, type: string, form: RegExp): boolean {
  return link.resourceType === type && link.id !== undefined && !form.test(link.id);
}
