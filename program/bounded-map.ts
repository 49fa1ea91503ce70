/** Stores an entry of a map as its newest one, and drops the oldest one if there are more than `most`. */
export function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > most ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
