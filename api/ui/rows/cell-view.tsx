import { timeText } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Cell, Tone } from './row-source.ts';

/** A value of a table. */
export function CellView({ cell }: { readonly cell: Cell }) {
  if (typeof cell === 'string') return <>{cell}</>;
  return 'time' in cell ? <Time at={cell.time} /> : <Chip text={cell.chip} tone={cell.tone} />;
}

/** A state, such as `active`; nothing for ''. */
function Chip({ text, tone }: { readonly text: string; readonly tone: Tone }) {
  return text === '' ? null : <span class={`chip ${tone}`}>{text}</span>;
}

/** Says how long ago a time of the API is, or how far ahead; the exact one under the mouse. */
function Time({ at }: { readonly at: string }) {
  const { language } = useUi();
  if (at === '') return null;
  return (
    <time dateTime={at} title={timeText(at, language)}>
      {relativeTime(at, Date.now(), language)}
    </time>
  );
}

/** Units of {@link relativeTime}, and their milliseconds. */
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Days after which a date says more. */
const MOST_DAYS = 30;

/** Returns a time as people say it: `3 min. ago`, `in 2 hr.`, and the date of one that is a month away. */
function relativeTime(time: string, now: number, language: string): string {
  const ahead = Date.parse(time) - now;
  const [unit, length] = units.find(([, each]) => Math.abs(ahead) >= each) ?? ['second', 1000];
  if (unit === 'day' && Math.abs(ahead) > MOST_DAYS * length)
    return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(new Date(time));
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  // Within a minute it is now.
  return format.format(unit === 'second' ? 0 : Math.trunc(ahead / length), unit);
}
