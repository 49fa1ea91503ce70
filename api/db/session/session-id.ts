/** Latest time in a session's id, a UUIDv7 (RFC 9562 §5.7): its first 48 bits are its creation in milliseconds. */
const latest = 2 ** 48 - 1;

/** Returns the creation time of a session, from its id; milliseconds since 1970. */
export function sessionTime(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/** Returns the lowest id of a session created at a time; a time outside the range of ids is moved into it. */
export function firstIdAt(time: number): string;
export function firstIdAt(time: number | undefined): string | undefined;
export function firstIdAt(time: number | undefined): string | undefined {
  if (time === undefined) return undefined;
  const hex = Math.min(Math.max(Math.ceil(time), 0), latest)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
