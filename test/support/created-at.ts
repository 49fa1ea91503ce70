/** Returns `created_at` of a resource as it is shown. Throws unless it is a moment in UTC in the form of RFC 3339. */
export function createdAt(shown: unknown): string {
  const value: unknown = Reflect.get(Object(shown), 'created_at');
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return value;
  throw new Error(`no created_at in ${JSON.stringify(shown)}`);
}
