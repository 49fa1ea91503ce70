/**
 * Checks whether one version of a resource is older than another. Versions of one kind are whole numbers that increase
 * (Kubernetes, API concepts: resource versions); others are not compared, and none of them is older.
 */
export function isOlder(one: string, other: string): boolean {
  if (!isNumber(one) || !isNumber(other)) return false;
  return one.length === other.length ? one < other : one.length < other.length;
}

function isNumber(version: string): boolean {
  return /^[1-9][0-9]*$|^0$/.test(version);
}
