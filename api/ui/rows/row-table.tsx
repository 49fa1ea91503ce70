import type { TargetedClipboardEvent, TargetedKeyboardEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useUi } from '../context.ts';
import { Hindered } from '../record/answer-alert.tsx';
import { CellView } from './cell-view.tsx';
import type { Row } from './row-source.ts';
import type { Rows } from './use-rows.ts';

/** Rows that are shown at once. */
const PORTION = 100;

/** Longest text of a filter: an address has at most 254 characters, and a longer text blocks a browser. */
const LONGEST_FILTER = 256;

/** Properties of {@link RowTable}. */
interface RowTableProps {
  readonly rows: Rows;
  readonly label: string;
  /** What to do where there are no records. */
  readonly empty: string;
  readonly selected: string | undefined;
  readonly choose: (id: string) => void;
}

/** Shows a table with its filter; `choose` is called for the row that the user selects. */
export function RowTable({ rows, label, empty, selected, choose }: RowTableProps) {
  const { say } = useUi();
  const [most, setMost] = useState(PORTION);
  useEffect(() => {
    setMost(PORTION);
  }, [rows.filter]);
  useMinutes();
  const portion = rows.shown.slice(0, most);
  const isCut = rows.shown.length > most;
  const isEmpty = rows.shown.length === 0 && !rows.isReading && rows.problem === undefined;
  return (
    <>
      <div class="tools">
        <input
          type="search"
          aria-label={say.filter}
          placeholder={say.filter}
          autocomplete="off"
          spellcheck={false}
          maxLength={LONGEST_FILTER}
          value={rows.filter}
          onInput={(event) => rows.setFilter(event.currentTarget.value)}
          onPaste={(event) => pasteShort(event, rows.setFilter)}
        />
        <p class="soft" role="status">
          {countText()}
        </p>
      </div>
      {rows.problem === undefined ? null : (
        <Hindered answer={rows.problem} method="GET" path={rows.path} retry={rows.retry} />
      )}
      {isEmpty ? (
        <p class="empty">{rows.filter.trim() === '' ? empty : say.nothingMatches(rows.filter.trim())}</p>
      ) : null}
      {portion.length === 0 ? null : (
        <Grid label={label} rows={rows} portion={portion} selected={selected} choose={choose} />
      )}
      {isCut || (rows.hasMore && !rows.isReading && rows.problem === undefined) ? (
        <button
          type="button"
          class="second more"
          onClick={() => {
            setMost(most + PORTION);
            if (!isCut) rows.readMore();
          }}
        >
          {say.more}
        </button>
      ) : null}
    </>
  );

  function countText(): string {
    if (rows.shown.length === 0 && rows.problem !== undefined) return '';
    if (rows.shown.length === 0 && rows.isReading) return say.loading;
    return say.shown(rows.shown.length, rows.hasMore);
  }
}

/** Renders again each minute: the table says how long ago something was. */
function useMinutes(): void {
  const [, setMinutes] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setMinutes((minutes) => minutes + 1), 60_000);
    return () => {
      clearInterval(timer);
    };
  }, []);
}

/** Cuts a long text before the browser puts it into the field, which blocks the page for a text of a megabyte. */
function pasteShort(event: TargetedClipboardEvent<HTMLInputElement>, set: (text: string) => void): void {
  const text = event.clipboardData?.getData('text') ?? '';
  if (text.length <= LONGEST_FILTER) return;
  event.preventDefault();
  set(text.slice(0, LONGEST_FILTER));
}

/** Properties of {@link Grid}. */
interface GridProps {
  readonly label: string;
  readonly rows: Rows;
  readonly portion: readonly Row[];
  readonly selected: string | undefined;
  readonly choose: (id: string) => void;
}

/** The rows as a grid: the arrow keys move through it, Enter selects. */
function Grid({ label, rows, portion, selected, choose }: GridProps) {
  const [active, setActive] = useState<string | undefined>(selected);
  const current = portion.find(({ id }) => id === active) ?? portion.find(({ id }) => id === selected);

  function move(event: TargetedKeyboardEvent<HTMLElement>): void {
    // A key for a header sorts.
    if (event.target !== event.currentTarget) return;
    const at = current === undefined ? -1 : portion.indexOf(current);
    const to = { ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0), Home: 0, End: portion.length - 1 }[event.key];
    if ((event.key === 'Enter' || event.key === ' ') && current !== undefined) choose(current.id);
    const next = to === undefined ? undefined : portion[Math.min(to, portion.length - 1)];
    if (next === undefined && event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    if (next === undefined) return;
    setActive(next.id);
    document.getElementById(rowId(next.id))?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <table
      class="rows"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={current === undefined ? undefined : rowId(current.id)}
      onKeyDown={move}
    >
      <thead>
        <tr>
          {rows.columns.map((_, nth) => (
            <Header key={nth} rows={rows} nth={nth} />
          ))}
        </tr>
      </thead>
      <tbody>
        {portion.map(({ id, cells }) => (
          <tr
            key={id}
            id={rowId(id)}
            class={current?.id === id ? 'active' : undefined}
            aria-selected={id === selected}
            onClick={() => {
              setActive(id);
              choose(id);
            }}
          >
            {cells.map((cell, nth) => (
              <td key={nth} class={rows.columns[nth]?.from}>
                <CellView cell={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Header({ rows, nth }: { readonly rows: Rows; readonly nth: number }) {
  const { say } = useUi();
  const { header, from } = rows.columns[nth] ?? {};
  const isSorted = rows.sort?.column === nth;
  const direction = rows.sort?.isDescending === true ? 'descending' : 'ascending';
  return (
    <th scope="col" class={from} aria-sort={isSorted ? direction : undefined}>
      <button type="button" class="sort" onClick={() => rows.sortBy(nth)}>
        {header?.(say)}
      </button>
    </th>
  );
}

function rowId(id: string): string {
  return `row-${id}`;
}
