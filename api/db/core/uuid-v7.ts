/** A UUID as it is shown, in lower case: the id of a session or of a record of the audit trail. */
export const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Latest time in a UUIDv7 (RFC 9562 §5.7): its first 48 bits are its creation in milliseconds. */
const latest = 2 ** 48 - 1;

/** Returns the time in a UUIDv7, with or without hyphens; milliseconds since 1970. */
export function uuidV7Time(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

/** Returns the lowest UUIDv7 of a time; a time outside their range is moved into it. */
export function firstIdAt(time: number): string;
export function firstIdAt(time: number | undefined): string | undefined;
export function firstIdAt(time: number | undefined): string | undefined {
  if (time === undefined) return undefined;
  const hex = Math.min(Math.max(Math.ceil(time), 0), latest)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Returns SQL for the lowest UUIDv7 of a time; of a time before 1970, or of none, the lowest of all. */
export function lowestIdAt(time: string): string {
  const milliseconds = `GREATEST(extract(epoch FROM ${time}) * 1000, 0)::bigint`;
  return `rpad(lpad(to_hex(${milliseconds}), 12, '0'), 32, '0')::uuid`;
}
