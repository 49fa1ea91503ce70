import { KINDS, type Kind } from './kind.ts';
import { manifestRules } from './manifest-rules.ts';
import { manifestSchemas } from './manifest-schema.ts';
import { NOT_IN_FORCE } from './not-in-force.ts';
import { schemaNode, type SchemaNode } from './schema-node.ts';

/** The page docs/resources.md: every field of every custom resource, and the rules between fields. */
export function resourceReference(): string {
  const kinds = Object.values(KINDS).map(({ kind }) => section(kind));
  return [INTRODUCTION, ...kinds, notInForceSection()].join('\n\n').concat('\n');
}

const INTRODUCTION = `# Resources

<!-- Made from the schemas in crds/*.ts by \`make generate\`. Do not edit. -->

Every field of \`spec\`, by its dotted name. Fields in snake_case are those of the resource itself and have the same name over
REST; fields in camelCase mean something only in a manifest. Over REST a resource also has \`resourceType\` and must have \`id\`.
A field that is not listed here is refused. Some are accepted and do nothing yet: [the last section](#not-in-force-in-this-version)
lists them, and the status of an object that has one says so.`;

function notInForceSection(): string {
  const entries = Object.values(KINDS).flatMap(({ kind }) => NOT_IN_FORCE[kind].map((entry) => ({ kind, ...entry })));
  const table = entries.map(({ kind, field, value, missing }) => {
    const name = value === undefined ? field : `${field}: ${String(value)}`;
    return `| ${kind} | \`${name}\` | ${missing} |`;
  });
  return [
    '## Not in force in this version',
    NOT_YET,
    ['| kind | field | |', '| --- | --- | --- |', ...table].join('\n'),
  ].join('\n\n');
}

const NOT_YET = `These fields, and what is below them, are accepted and checked, so that manifests need not change when they come into force,
and have no effect yet. An object that has one of them carries the condition \`NotInForce\` with their names. A client that
has nothing but \`jwks\`, \`jwks_uri\` or \`service_accounts\` to authenticate itself is not Ready (\`CredentialNotSupported\`), and a
request with a \`client_assertion\` is 401.`;

function section(kind: Kind): string {
  const spec = schemaNode(manifestSchemas[kind].properties.spec);
  const { plural, shortName } = KINDS[kind];
  const rules = manifestRules[kind].map(({ path, message }) => `- \`${path}\` ${cell(message)}.`);
  return [
    `## ${kind}`,
    `\`kubectl get ${plural}\`, or \`${shortName}\`.`,
    ['| field | type | meaning |', '| --- | --- | --- |', ...rows('', spec)].join('\n'),
    `Rules between the fields of a ${kind}:`,
    rules.join('\n'),
  ].join('\n\n');
}

function rows(parent: string, node: SchemaNode): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    const isRequired = node.required?.includes(name) ?? false;
    const type = isRequired ? `${typeOf(field)}, required` : typeOf(field);
    const row = `| \`${path}\` | ${type} | ${cell(field.description ?? '')} |`;
    return [row, ...rows(field.items === undefined ? path : `${path}[]`, field.items ?? field)];
  });
}

function typeOf(node: SchemaNode): string {
  const { items, additionalProperties } = node;
  if (items !== undefined) return `list of ${typeOf(items)}${limits(node)}`;
  if (additionalProperties) return `map of ${typeOf(additionalProperties)}${limits(node)}`;
  const values = node['enum'];
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ');
  return `${node['format'] === 'date-time' ? 'time' : (node.type ?? '')}${limits(node)}`;
}

/** What a reader can get wrong: numbers out of range, text and lists that are too long. */
function limits(node: SchemaNode): string {
  const { minimum, maximum, maxLength, maxItems } = node;
  if (typeof minimum === 'number' && typeof maximum === 'number') return ` ${minimum} to ${maximum}`;
  if (typeof maxItems === 'number') return `, at most ${maxItems} of them`;
  if (typeof maxLength === 'number' && node['format'] === undefined) return `, at most ${maxLength} characters`;
  return '';
}

/** Text for a cell of a table: what would be markup is none, but within code, where nothing is. */
function cell(text: string): string {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;') : part));
  return parts.join('`').replaceAll('|', '\\|');
}
