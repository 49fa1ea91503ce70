/**
 * Checks whether a field holds an ID, or a list of them. The ID of a user or group is a number, and its decimal text
 * where OAuth or a path demands text (docs/guides/policies.md): comparisons of these fields treat both forms as equal.
 */
export function isIdField(name: string): boolean {
  return ID_FIELDS.has(name);
}

/** Returns the text of an ID that is a number, and any other value as it is. */
export function idText(value: unknown): unknown {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
}

const ID_FIELDS: ReadonlySet<string> = new Set(['id', 'sub', 'group-ids']);
