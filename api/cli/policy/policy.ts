import { isList, type JsonObject } from '../../../crds/json-value.ts';
import type { Command, Invocation } from '../command.ts';
import { given } from '../resource/list-options.ts';
import { storedCommands } from '../resource/stored.ts';
import { cell, column, reference, several } from '../resource/texts.ts';
import { LAST_USED, UNUSED, withUse } from './policy-use.ts';

/** `boxctl policy list`, `show`, `new`, `set` and `delete`. */
export const policyCommands: readonly Command[] = storedCommands({
  word: 'policy',
  kind: 'AccessPolicy',
  noun: 'policy',
  columns: [
    column('ID', 'id'),
    column('ENGINE', 'engine'),
    { heading: 'SUBJECTS', text: ({ subjects }) => cell(subjects ?? 'linked') },
    { heading: 'LINKS', text: ({ link }) => (isList(link) ? link.map(reference).join(', ') : '') },
    { heading: 'APPS', text: ({ apps }) => cell(apps) },
  ],
  listColumns: [column('LAST USED', LAST_USED), column('UNUSED FOR 90 DAYS', UNUSED)],
  listed: withUse,
  listOptions: { unused: { type: 'boolean', summary: 'only those that have granted nothing for 90 days' } },
  filters: {
    engine: { type: 'string', value: '<engine>', summary: 'only those of this engine' },
    subjects: { type: 'string', value: '<subjects>', summary: 'only those for these subjects' },
    link: { type: 'string', value: '<Kind/id>', summary: 'only those that link this client, user or group' },
  },
  fields: {
    engine: { type: 'string', value: '<engine>', summary: 'how it decides: allow, cel, matcho, json-schema, complex' },
    subjects: { type: 'string', value: '<subjects>', summary: 'linked, authenticated or anyone' },
    link: { type: 'string', multiple: true, value: '<Kind/id>', summary: 'a client, user or group that it is for' },
    expression: { type: 'string', value: '<CEL>', summary: 'the rule of the engine cel' },
    description: { type: 'string', value: '<text>', summary: 'what it is for' },
  },
  fieldsOf,
  examples: {
    list: ['boxctl policy list', 'boxctl policy list --link Client/orders', 'boxctl policy list --unused'],
    show: ['boxctl policy show readers'],
    new: [
      'boxctl policy new orders --engine allow --link Client/orders',
      'boxctl policy new readers --engine cel --link Group/staff --expression \'request_method == "get"\'',
      'boxctl policy new readers --file policy.yaml',
    ],
    set: ['boxctl policy set readers --link Group/staff --link Client/orders'],
    delete: ['boxctl policy delete readers'],
  },
});

function fieldsOf({ values }: Invocation): JsonObject {
  const texts = given(values, ['engine', 'subjects', 'expression', 'description']);
  // The same option is the filter of a list, which takes one.
  const links = several(values['link']).map((text) => ({ reference: text }));
  return { ...texts, ...(links.length === 0 ? {} : { link: links }) };
}
