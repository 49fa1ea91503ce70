import type { TargetedClipboardEvent, TargetedKeyboardEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useUi } from '../context.ts';
import { Hindered } from '../record/answer-alert.tsx';
import type { Row } from './row-source.ts';
import type { Rows } from './use-rows.ts';

/** Rows that are shown at once. */
const PORTION = 100;

/** Longest text of a filter: an address has at most 254 characters, and a longer text blocks a browser. */
const LONGEST_FILTER = 256;

/** Shows a list with its filter; `choose` is called for the row that the user selects. */
export function RowList(props: {
  readonly rows: Rows;
  readonly label: string;
  /** Path of the list, for a person who may not read it. */
  readonly path: string;
  readonly selected: string | undefined;
  readonly choose: (id: string) => void;
}) {
  const { rows, label, path, selected, choose } = props;
  const { say } = useUi();
  const [most, setMost] = useState(PORTION);
  useEffect(() => {
    setMost(PORTION);
  }, [rows.filter]);
  const portion = rows.shown.slice(0, most);
  const isCut = rows.shown.length > most;
  return (
    <div class="list">
      <label for="filter">{say.filter}</label>
      <input
        id="filter"
        type="search"
        autocomplete="off"
        spellcheck={false}
        maxLength={LONGEST_FILTER}
        value={rows.filter}
        onInput={(event) => rows.setFilter(event.currentTarget.value)}
        onPaste={(event) => pasteShort(event, rows.setFilter)}
      />
      <p class="soft count" role="status">
        {countText()}
      </p>
      {rows.problem === undefined ? null : (
        <Hindered answer={rows.problem} method="GET" path={path} retry={rows.retry} />
      )}
      {portion.length === 0 ? null : <Options label={label} rows={portion} selected={selected} choose={choose} />}
      {isCut || (rows.hasMore && !rows.isReading && rows.problem === undefined) ? (
        <button
          type="button"
          class="second"
          onClick={() => {
            setMost(most + PORTION);
            if (!isCut) rows.readMore();
          }}
        >
          {say.more}
        </button>
      ) : null}
    </div>
  );

  function countText(): string {
    if (rows.shown.length === 0 && rows.problem !== undefined) return '';
    if (rows.shown.length === 0 && rows.isReading) return say.loading;
    return say.shown(rows.shown.length, rows.hasMore);
  }
}

/** Cuts a long text before the browser puts it into the field, which blocks the page for a text of a megabyte. */
function pasteShort(event: TargetedClipboardEvent<HTMLInputElement>, set: (text: string) => void): void {
  const text = event.clipboardData?.getData('text') ?? '';
  if (text.length <= LONGEST_FILTER) return;
  event.preventDefault();
  set(text.slice(0, LONGEST_FILTER));
}

/** The rows as a list box: the arrow keys move through it, Enter selects. */
function Options(props: {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly selected: string | undefined;
  readonly choose: (id: string) => void;
}) {
  const { label, rows, selected, choose } = props;
  const [active, setActive] = useState<string | undefined>(selected);
  const current = rows.find(({ id }) => id === active) ?? rows.find(({ id }) => id === selected);

  function move(event: TargetedKeyboardEvent<HTMLElement>): void {
    const at = current === undefined ? -1 : rows.indexOf(current);
    const to = { ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0), Home: 0, End: rows.length - 1 }[event.key];
    if ((event.key === 'Enter' || event.key === ' ') && current !== undefined) choose(current.id);
    const next = to === undefined ? undefined : rows[Math.min(to, rows.length - 1)];
    if (next === undefined && event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    if (next === undefined) return;
    setActive(next.id);
    document.getElementById(optionId(next.id))?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <ul
      class="rows"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={current === undefined ? undefined : optionId(current.id)}
      onKeyDown={move}
    >
      {rows.map(({ id, title, detail }) => (
        <li
          key={id}
          id={optionId(id)}
          role="option"
          class={current?.id === id ? 'row active' : 'row'}
          aria-selected={id === selected}
          onClick={() => {
            setActive(id);
            choose(id);
          }}
        >
          <span>{title}</span>
          {detail === '' ? null : <span class="soft">{detail}</span>}
        </li>
      ))}
    </ul>
  );
}

function optionId(id: string): string {
  return `row-${id}`;
}
