import { celFunc, celMethod, CelScalar, objectType } from '@bufbuild/cel';
import type { CelFunc } from '@bufbuild/cel';
import { create } from '@bufbuild/protobuf';
import { timestampDate, TimestampSchema } from '@bufbuild/protobuf/wkt';

const TIMESTAMP = objectType(TimestampSchema);

/** Readers of a date whose UTC fields are the fields to read (CEL language definition, "Date/time functions"). */
const FIELDS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};
const DAY = 86_400_000;

/**
 * Returns the functions that read a timestamp, and `timestamp(int)`. They take the place of the library's: those create
 * a formatter for each call with a time zone (150 microseconds), and take an int for milliseconds, not for seconds.
 */
export function timeFunctions(): CelFunc[] {
  const zones = new Zones();
  return [
    celFunc('timestamp', [CelScalar.INT], TIMESTAMP, timestampOf),
    ...Object.entries(FIELDS).flatMap(([name, read]) => [
      celMethod(name, TIMESTAMP, [], CelScalar.INT, function inUtc() {
        return BigInt(read(timestampDate(this.message)));
      }),
      celMethod(name, TIMESTAMP, [CelScalar.STRING], CelScalar.INT, function inZone(zone) {
        return BigInt(read(zones.shifted(timestampDate(this.message), zone)));
      }),
    ]),
  ];
}

/** First and last second of CEL's timestamps: of the years 1 and 9999. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800n, 253_402_300_799n];

function timestampOf(seconds: bigint) {
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw new Error('the number is no timestamp of years 1 to 9999');
  return create(TimestampSchema, { seconds });
}

/** Time zones by name, with a bounded number of formatters: the name may come from a request. */
class Zones {
  readonly #formatters = new Map<string, Intl.DateTimeFormat>();

  constructor() {
    // The first formatter of a process loads its data: 12 ms, nearly all the time of the decision that needed it.
    this.#formatter('UTC');
  }

  /** Returns the date whose UTC fields are those of `date` in the zone. Throws an Error for an unknown zone. */
  shifted(date: Date, zone: string): Date {
    const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
    if (hours !== undefined) {
      const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
      return new Date(date.getTime() + (sign === '-' ? -offset : offset));
    }
    const parts = this.#formatter(zone).formatToParts(date);
    const [year = 0, month = 1, ...rest] = UNITS.map((unit) => Number(parts.find(({ type }) => type === unit)?.value));
    return new Date(Date.UTC(year, month - 1, ...rest, date.getUTCMilliseconds()));
  }

  #formatter(zone: string): Intl.DateTimeFormat {
    const known = this.#formatters.get(zone);
    if (known !== undefined) return known;
    const created = new Intl.DateTimeFormat('en-US', { ...FORMAT, timeZone: zone });
    if (this.#formatters.size >= MOST_FORMATTERS) this.#formatters.clear();
    this.#formatters.set(zone, created);
    return created;
  }
}

const MOST_FORMATTERS = 32;
const UNITS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;
const FORMAT = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;
