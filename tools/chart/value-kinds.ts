/** A JSON Schema, as far as the chart uses it. */
export type Schema = Readonly<Record<string, unknown>>;

/** One setting of the chart: its type, its default, and a sentence for people. */
export interface Value {
  readonly schema: Schema;
  readonly initial: unknown;
  readonly description: string;
}

/** Settings under one name, in their order. */
export interface Section {
  readonly title: string;
  readonly members: Members;
}

/** Settings, and sections of settings, by name. */
export type Members = Readonly<Record<string, Value | Section>>;

/** Checks whether a member is a section. */
export function isSection(member: Value | Section): member is Section {
  return 'members' in member;
}

/** Returns a section. */
export function section(title: string, members: Members): Section {
  return { title, members };
}

/** Returns a setting that is text; `pattern` is a regular expression that it has to match. */
export function text(initial: string, description: string, pattern?: string): Value {
  return { schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }) }, initial, description };
}

/** Returns a setting that is one of a few words. */
export function word(initial: string, words: readonly string[], description: string): Value {
  return { schema: { enum: words }, initial, description };
}

/** Returns a setting that is true or false. */
export function flag(initial: boolean, description: string): Value {
  return { schema: { type: 'boolean' }, initial, description };
}

/** Returns a setting that is an integer of at least `minimum`, and of at most `maximum`. */
export function integer(initial: number, minimum: number, description: string, maximum = 2 ** 31 - 1): Value {
  return { schema: { type: 'integer', minimum, maximum }, initial, description };
}

/** Returns a setting of a program that is an integer; null: the default of the program. */
export function programInteger(minimum: number, maximum: number, description: string): Value {
  return { schema: { type: ['integer', 'null'], minimum, maximum }, initial: null, description };
}

/** Returns a setting that is a list of texts, each of which matches `pattern`, a regular expression. */
export function texts(description: string, pattern: string): Value {
  const items = { type: 'string', pattern };
  return { schema: { type: 'array', items, uniqueItems: true }, initial: [], description };
}

/** Returns a setting that is a list of objects of Kubernetes, whose members the API server checks. */
export function objects(initial: readonly object[], description: string, items: Schema = {}): Value {
  return { schema: { type: 'array', items: { type: 'object', ...items } }, initial, description };
}

/** Returns a setting that is an object of Kubernetes, whose members the API server checks. */
export function object(initial: object, description: string, schema: Schema = {}): Value {
  return { schema: { type: 'object', ...schema }, initial, description };
}

/** Returns the schema of an object of Kubernetes that has these members and no others. */
export function closed(members: readonly string[], required: readonly string[] = []): Schema {
  const properties = Object.fromEntries(members.map((member) => [member, {}]));
  return { additionalProperties: false, properties, ...(required.length > 0 && { required }) };
}

const keyOfMetadata = '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$';
const labelText = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$';

/** Returns a setting that maps names to texts, such as annotations. */
export function map(description: string): Value {
  const schema = { propertyNames: { pattern: keyOfMetadata }, additionalProperties: { type: 'string' } };
  return { schema: { type: 'object', ...schema }, initial: {}, description };
}

/** Returns a setting that is a map of labels. */
export function labels(description: string, initial: object = {}): Value {
  const schema = {
    propertyNames: { pattern: keyOfMetadata },
    additionalProperties: { type: 'string', pattern: labelText },
  };
  return { schema: { type: 'object', ...schema }, initial, description };
}
