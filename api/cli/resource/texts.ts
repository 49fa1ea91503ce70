import { isList, isObject } from '../../../crds/json-value.ts';
import type { Column } from '../output.ts';
import type { OptionValues } from '../option-values.ts';

/** Returns a value as text for a cell of a table. */
export function cell(value: unknown): string {
  if (isList(value)) return value.map(cell).join(', ');
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Returns a reference as text: `Client/x`. */
export function reference(value: unknown): string {
  return isObject(value) ? `${cell(value['resourceType'])}/${cell(value['id'])}` : '';
}

/** Returns a column that shows a field as it is. */
export function column(heading: string, name: string): Column {
  return { heading, text: (record) => cell(record[name]) };
}

/** Returns the texts that an option was given, in their order. */
export function several(value: OptionValues[string]): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
