/** A session's id is a UUIDv7 (RFC 9562 §5.7): its first 48 bits are the time of its creation in milliseconds. */
const latest = 2 ** 48 - 1;

/** When a session was created, by its id; milliseconds since 1970. */
export function sessionTime(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/** The lowest id that a session created at a time can have; times beyond what an id can hold count as the next that it can. */
export function firstIdAt(time: number): string;
export function firstIdAt(time: number | undefined): string | undefined;
export function firstIdAt(time: number | undefined): string | undefined {
  if (time === undefined) return undefined;
  const hex = Math.min(Math.max(Math.ceil(time), 0), latest)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
