import { KINDS, type Kind } from './kind.ts';
import { manifestSchemas } from './manifest-schema.ts';
import { UNIMPLEMENTED_FIELDS } from './unimplemented-fields.ts';
import type { UnimplementedField } from './unimplemented-fields.ts';
import { schemaNode, type SchemaNode } from './schema-node.ts';

/** Returns docs/reference/custom-resources.md: every field of every custom resource. */
export function resourceReference(): string {
  const kinds = Object.values(KINDS).map(({ kind }) => section(kind));
  return [INTRODUCTION, ...kinds, notInForceSection()].join('\n\n').concat('\n');
}

const INTRODUCTION = `# Custom resources

<!-- Made from the schemas in crds/*.ts by \`make generate\`. Do not edit. -->

Every field of \`spec\`, by its dotted name. A number in parentheses is the most characters of a string, or the most elements of a list.
Fields in snake_case have the same name over REST; fields in camelCase mean something only in a manifest. A field that is not listed here is
refused, and so is a combination of fields that breaks a rule: the message names field and rule. Some do nothing yet: [the last section](#not-in-force-in-this-version).

## Words without quotes in YAML

kubectl, \`boxgate dev\` and REST read words without quotes as YAML 1.1. \`y\`, \`yes\`, \`on\` and \`true\` are true; \`n\`, \`no\`, \`off\` and
\`false\` are false; \`0123\` is 83 and \`1_000\` is 1000. So \`active: no\` disables a client, and \`secret: yes\` is refused: quote it. The same holds for
names of fields: in a key of \`jwks\`, quote \`"y"\` and \`"n"\`. Text in quotes is always text.

Anchors, aliases and merge keys (\`<<: *base\`) are for manifests: a body over REST may have none of them, nor more than one document.

## Annotations of a Namespace

| annotation | meaning for the box |
| --- | --- |
| \`boxgate.dev/database\` | The database that it is placed on, one of \`BOXGATE_DATABASES\`. Without it a new box is in \`BOXGATE_DEFAULT_DATABASE\`, and another one stays where it is. When it changes, the box is moved; until then the Box has the condition \`NotInForce\` with the reason \`Moving\`. An unknown name is \`DatabaseUnknown\`, and nothing of the box is applied. \`status.database\` of the Box is where it is. |
| \`boxgate.dev/accept-data-loss\` | [What is left of it in a database that was restored from a backup](../guides/scale.md#restore-a-database) is served: the version that the status names. |
| \`boxgate.dev/hosts\` | [The hosts that it may have](../guides/tenancy.md#hosts). |
| \`boxgate.dev/quota\` | [Its quotas](limits.md#quotas). |
| \`boxgate.dev/secret-metadata\` | [Labels and annotations that its generated Secrets may have](../guides/tenancy.md#what-the-right-to-write-clients-includes). |
| \`boxgate.dev/adopt-uid\`, \`boxgate.dev/discard-uid\` | [What happens to the data of an earlier namespace of its name](../guides/tenancy.md#deleting). |

In a folder, \`boxgate.dev/database\` and \`boxgate.dev/quota\` are on a \`Namespace\` manifest.`;

function notInForceSection(): string {
  const entries = Object.values(KINDS).flatMap(({ kind }) =>
    UNIMPLEMENTED_FIELDS[kind].map((entry) => ({ kind, ...entry })),
  );
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
and have no effect yet. An object that has one of them carries the condition \`NotInForce\` with their names.`;

function section(kind: Kind): string {
  const spec = schemaNode(manifestSchemas[kind].properties.spec);
  const { plural, shortName } = KINDS[kind];
  const table = joined(fieldsOf(spec).map((field) => [`\`${field.path}\``, row(kind, field)] as const));
  return [
    `## ${kind}`,
    `\`kubectl get ${plural}\`, or \`${shortName}\`.`,
    [
      '| field | type | meaning |',
      '| --- | --- | --- |',
      ...table.map(([names, cells]) => `| ${names} | ${cells}`),
    ].join('\n'),
  ].join('\n\n');
}

/** Joins the names of entries with the same text, so that the text is written once, where the first of them is. */
function joined(entries: readonly (readonly [name: string, text: string])[]): readonly (readonly [string, string])[] {
  return [...Map.groupBy(entries, ([, text]) => text)].map(([text, same]) => [
    same.map(([name]) => name).join(', '),
    text,
  ]);
}

/** A field of a spec. */
export interface SpecField {
  /** Dotted, below `spec`; members of a list as `field[].member`. */
  readonly path: string;
  readonly node: SchemaNode;
  readonly isRequired: boolean;
  /** True if there are no fields below it. */
  readonly isLeaf: boolean;
}

/** Returns every field below a schema, in its order. */
export function fieldsOf(node: SchemaNode, parent = ''): readonly SpecField[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    const below = fieldsOf(field.items ?? field, field.items === undefined ? path : `${path}[]`);
    const isRequired = node.required?.includes(name) ?? false;
    return [{ path, node: field, isRequired, isLeaf: below.length === 0 }, ...below];
  });
}

/** Returns the cells of a field's row behind its name. */
function row(kind: Kind, { path, node, isRequired }: SpecField): string {
  const type = isRequired ? `${typeOf(node)}, required` : typeOf(node);
  const description = node.description ?? '';
  return `${type} | ${noteOf(kind, path)}${cell(description)} |`;
}

/** Returns the note on a field that has no effect, in this version or under `boxgate dev`; empty for all others. */
function noteOf(kind: Kind, path: string): string {
  const entry = unimplementedAt(kind, path);
  if (entry === undefined) return '';
  return entry.inFiles === true ? 'No effect under `boxgate dev`. ' : 'Not in force. ';
}

/** Checks whether no value of a field has an effect in this version. */
export function isNotInForce(kind: Kind, path: string): boolean {
  return unimplementedAt(kind, path) !== undefined;
}

function unimplementedAt(kind: Kind, path: string): UnimplementedField | undefined {
  const plain = path.replaceAll('[]', '');
  return UNIMPLEMENTED_FIELDS[kind].find(({ field, value }) => {
    const isBelow = plain === field || plain.startsWith(`${field}.`);
    return isBelow && (value === undefined || value === true);
  });
}

function typeOf(node: SchemaNode): string {
  const { items, additionalProperties } = node;
  if (items !== undefined) return `list${limits(node)} of ${typeOf(items)}`;
  if (additionalProperties) return `map${limits(node)} of ${typeOf(additionalProperties)}`;
  const values = node['enum'];
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ');
  return `${node['format'] === 'date-time' ? 'time' : (node.type ?? '')}${limits(node)}`;
}

/** Returns the limits that a reader can exceed: the range of a number, the length of a text or a list. */
function limits(node: SchemaNode): string {
  const { minimum, maximum, maxLength, maxItems } = node;
  if (typeof minimum === 'number' && typeof maximum === 'number') return ` ${minimum} to ${maximum}`;
  if (typeof maxItems === 'number') return ` (${maxItems})`;
  if (typeof maxLength === 'number' && node['format'] === undefined) return ` (${maxLength})`;
  return '';
}

/** Escapes text for a cell of a table: `<` outside of code, `|` everywhere. */
function cell(text: string): string {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;') : part));
  return parts.join('`').replaceAll('|', '\\|');
}
