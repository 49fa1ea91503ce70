import { isList, isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';

/** Returns a member of a record as text; '' if it is absent or null. */
export function textOf(record: JsonObject, name: string): string {
  return scalarText(record[name]);
}

/** Returns a text, number or flag as text; '' for anything else. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Returns the objects in a list; empty if it is none. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

/** Returns the numbers in a list; empty if it is none. */
export function numbersOf(value: unknown): readonly number[] {
  return isList(value) ? value.filter((one) => typeof one === 'number') : [];
}

/** Returns the ID in a reference `{resourceType, id}`; '' if there is none. */
export function referencedId(record: JsonObject, name: string): string {
  const value = record[name];
  return isObject(value) ? textOf(value, 'id') : '';
}

/** Returns a reference as text: `Client/x`; '' for none. */
export function referenceText(reference: unknown): string {
  if (!isObject(reference)) return '';
  return [textOf(reference, 'resourceType'), textOf(reference, 'id')].filter(Boolean).join('/');
}

/** Formats a time of the API for people in their own time zone; '' for none. */
export function timeText(time: string, language: string): string {
  if (time === '') return '';
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  return format.format(new Date(time));
}

/** Returns bytes in base64url (RFC 4648 §5). */
export function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Milliseconds of a day. */
export const DAY = 86_400_000;

const HOUR = DAY / 24;

/** Returns the number of audit events in each of the 24 hours before `end`. */
export function hourly(events: readonly JsonObject[], end: number): readonly number[] {
  const hours = Array.from({ length: 24 }, () => 0);
  for (const event of events) {
    const nth = 23 - Math.floor((end - Date.parse(textOf(event, 'created_at'))) / HOUR);
    const before = hours[nth];
    // What happened since `end` is of the next hour.
    if (before !== undefined) hours[nth] = before + Number(textOf(event, 'count') || 1);
  }
  return hours;
}
