/**
 * Returns a value as JSON without what differs from run to run: times become `TIME`, and each text of `names` becomes
 * its placeholder (names of boxes, uids).
 */
export function comparableText(value: unknown, names: ReadonlyMap<string, string>): string {
  // Kubernetes writes times with Z, Postgres with an offset.
  let text = JSON.stringify(value).replace(/\d{4}-\d\d-\d\dT[0-9:.]*(Z|[+-]\d\d:\d\d)/g, 'TIME');
  for (const [name, placeholder] of names) text = text.replaceAll(name, placeholder);
  return text;
}
