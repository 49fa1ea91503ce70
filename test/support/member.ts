/** Returns a member of a value; undefined if there is none. */
export function member(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}
