import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isObject } from '../../crds/path.ts';
import { integer, SCHEMAS, type Schema } from './value-schemas.ts';

/** One setting of the chart: its type, its default, and a sentence for people. */
interface Value {
  readonly schema: Schema;
  readonly initial: unknown;
  readonly description: string;
}

/** Settings under one name, in their order. */
interface Section {
  readonly title: string;
  readonly members: Members;
}

/** Settings, and sections of settings, by name. */
export type Members = Readonly<Record<string, Value | Section>>;

/** Checks whether a member is a section. */
export function isSection(member: Value | Section): member is Section {
  return 'members' in member;
}

/** Every setting of the chart, as values.yaml has it: the comment above one is its description. */
export const chartValues: Members = readValues();

function readValues(): Members {
  const text = readFileSync(new URL('../../charts/boxgate/values.yaml', import.meta.url), 'utf8');
  const descriptions = new Map<string, string>();
  let names: readonly string[] = [];
  for (const [, indent = '', description = '', name = ''] of text.matchAll(/^( *)# (.*)\n *(\w+):/gm)) {
    names = [...names.slice(0, indent.length / 2), name];
    descriptions.set(names.join('.'), description);
  }
  const values: unknown = parse(text);
  return membersOf(values, '', descriptions);
}

function membersOf(values: unknown, prefix: string, descriptions: ReadonlyMap<string, string>): Members {
  return Object.fromEntries(
    Object.entries<unknown>(isObject(values) ? values : {}).map(([name, initial]): [string, Members[string]] => {
      const path = `${prefix}${name}`;
      const description = descriptions.get(path);
      if (description === undefined) throw new Error(`values.yaml has no comment above ${path}`);
      const schema = schemaOfValue(path, initial);
      if (schema !== undefined) return [name, { schema, initial, description }];
      return [name, { title: description, members: membersOf(initial, `${path}.`, descriptions) }];
    }),
  );
}

/** Returns the schema of a value; undefined for a section. Throws an Error if nothing says what the value may be. */
function schemaOfValue(path: string, initial: unknown): Schema | undefined {
  const names = path.split('.');
  const known = names.map((_, from) => SCHEMAS[names.slice(from).join('.')]).find((schema) => schema !== undefined);
  if (known !== undefined) return known;
  if (typeof initial === 'number') return integer(1);
  if (typeof initial === 'string' || typeof initial === 'boolean') return { type: typeof initial };
  if (isObject(initial)) return undefined;
  throw new Error(`tools/chart/value-schemas.ts has no schema for ${path}`);
}

/** Returns values.schema.json: a misspelled name is an error in every section. */
export function valuesSchema(): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Values of the Boxgate chart' };
  return `${JSON.stringify({ ...schema, ...schemaOf(chartValues) }, null, 2)}\n`;
}

function schemaOf(members: Members): Schema {
  const properties = Object.entries(members).map(([name, member]) => [
    name,
    isSection(member)
      ? { description: member.title, ...schemaOf(member.members) }
      : { description: member.description, ...member.schema },
  ]);
  const required = Object.keys(members).filter((name) => isRequired(members[name]));
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties), required };
}

/** Checks whether null, which takes a value away, is refused. An absent list or map is an empty one. */
function isRequired(member: Members[string] | undefined): boolean {
  if (member === undefined || isSection(member)) return member !== undefined;
  return member.initial !== null && (typeof member.initial !== 'object' || 'minItems' in member.schema);
}

/** Returns the table of the README: a row for each setting. */
export function valuesTable(): string {
  return ['| value | default | meaning |', '|---|---|---|', ...rowsOf(chartValues, '')].join('\n');
}

function rowsOf(members: Members, prefix: string): readonly string[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    if (isSection(member))
      return [`| **\`${path}\`** | | **${member.title}** |`, ...rowsOf(member.members, `${path}.`)];
    return [`| \`${path}\` | \`${JSON.stringify(member.initial)}\` | ${member.description} |`];
  });
}
