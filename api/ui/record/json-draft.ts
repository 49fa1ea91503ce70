import { isList, isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';

/** A client or policy as it is typed: its JSON. The form and the text are two views of it. */
export interface JsonDraft {
  readonly json: string;
}

/** Checks whether a value is such a text. */
export function isJsonDraft(value: unknown): value is JsonDraft {
  return isObject(value) && typeof value['json'] === 'string';
}

/** Returns the text of a value. */
export function jsonDraft(value: JsonObject): JsonDraft {
  return { json: JSON.stringify(value, null, 2) };
}

/** Returns the value of a text; undefined if it is no object. */
export function draftValue({ json }: JsonDraft): JsonObject | undefined {
  const value = parseJson(json);
  return isObject(value) ? value : undefined;
}

/** Returns what the service lets nobody change. */
export function withoutServiceFields(record: JsonObject): JsonObject {
  const { resourceType: _type, created_at: _time, warnings: _warnings, ...others } = record;
  // It has its own buttons: a text that is saved later must not move it.
  const { previous_secret_until: _until, ...fields } = others;
  return fields;
}

/** Returns the member at a dotted path; undefined if there is none. */
export function memberAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), value);
}

/** Returns a value with another member at a dotted path. Undefined removes it, and objects that are empty then. */
export function withMember(value: JsonObject, path: string, member: unknown): JsonObject {
  const [name = '', ...rest] = path.split('.');
  const old = value[name];
  const inner = rest.length === 0 ? member : withMember(isObject(old) ? old : {}, rest.join('.'), member);
  const { [name]: _removed, ...others } = value;
  const isEmpty = rest.length > 0 && isObject(inner) && Object.keys(inner).length === 0;
  if (inner === undefined || isEmpty) return others;
  return name in value ? { ...value, [name]: inner } : { ...others, [name]: inner };
}

/** Returns the texts in a list; empty if it is none. */
export function stringsOf(value: unknown): readonly string[] {
  return isList(value) ? value.map(String) : [];
}
