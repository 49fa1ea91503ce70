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

/** Returns a setting that is an integer of at least `minimum`. */
export function integer(initial: number, minimum: number, description: string): Value {
  return { schema: { type: 'integer', minimum }, initial, description };
}

/** Returns a setting of a program that is an integer; null: the default of the program. */
export function programInteger(minimum: number, maximum: number, description: string): Value {
  return { schema: { type: ['integer', 'null'], minimum, maximum }, initial: null, description };
}

/** Returns a setting that is a list of texts. */
export function texts(description: string): Value {
  return { schema: { type: 'array', items: { type: 'string', minLength: 1 } }, initial: [], description };
}

/** Returns a setting that is a list of objects of Kubernetes, which the API server checks. */
export function objects(initial: readonly object[], description: string): Value {
  return { schema: { type: 'array', items: { type: 'object' } }, initial, description };
}

/** Returns a setting that is an object of Kubernetes, which the API server checks. */
export function object(initial: object, description: string): Value {
  return { schema: { type: 'object' }, initial, description };
}

/** Returns a setting that maps names to texts, such as labels. */
export function map(description: string): Value {
  return { schema: { type: 'object', additionalProperties: { type: 'string' } }, initial: {}, description };
}
