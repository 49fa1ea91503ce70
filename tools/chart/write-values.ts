import { stringify } from 'yaml';
import { isSection, type Members, type Schema } from './value-kinds.ts';

const yaml = { lineWidth: 0, singleQuote: true } as const;

/** Returns values.yaml: each setting below a comment that says what it does. */
export function valuesYaml(members: Members): string {
  return `${linesOf(members, '').join('\n')}\n`;
}

function linesOf(members: Members, indent: string): readonly string[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const comment = `${indent}# ${isSection(member) ? member.title : member.description}`;
    if (isSection(member)) return [comment, `${indent}${name}:`, ...linesOf(member.members, `${indent}  `)];
    const value = stringify({ [name]: member.initial }, yaml).trimEnd();
    return [comment, ...value.split('\n').map((line) => `${indent}${line}`)];
  });
}

/** Returns values.schema.json: a misspelled name is an error in every section. */
export function valuesSchema(members: Members): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Values of the Boxgate chart' };
  return `${JSON.stringify({ ...schema, ...schemaOf(members) }, null, 2)}\n`;
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
export function valuesTable(members: Members): string {
  return ['| value | default | meaning |', '|---|---|---|', ...rowsOf(members, '')].join('\n');
}

function rowsOf(members: Members, prefix: string): readonly string[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    if (isSection(member))
      return [`| **\`${path}\`** | | **${member.title}** |`, ...rowsOf(member.members, `${path}.`)];
    return [`| \`${path}\` | \`${JSON.stringify(member.initial)}\` | ${member.description} |`];
  });
}
