import type { Group } from './group.ts';
import { when, type Draft, type Rule } from './rule.ts';

/** Rules about the fields of a Group. */
export const groupRules: readonly Rule<Draft<Pick<Group, 'name'>>>[] = [
  {
    id: 'group-name-not-a-number',
    path: 'name',
    message: 'must not be only digits: policies would take it for the id of a group',
    cel: "!has(self.name) || !self.name.matches('^[0-9]+$')",
    broken: ({ name }) => when(name !== undefined && /^[0-9]+$/.test(name), 'name'),
  },
];
