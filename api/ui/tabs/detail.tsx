import type { ComponentChildren } from 'preact';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { useUi, usePageTitle } from '../context.ts';
import { goTo } from '../place.ts';
import type { Place } from '../place.ts';
import { Hindered } from '../record/answer-alert.tsx';
import { useFetched } from './use-fetched.ts';
import { useEffect, useRef } from 'preact/hooks';
import type { RowSource } from '../rows/row-source.ts';
import { RowTable } from '../rows/row-table.tsx';
import { useRows } from '../rows/use-rows.ts';
import type { Rows } from '../rows/use-rows.ts';

/** Properties of {@link Detail}. */
export interface DetailProps {
  readonly tab: Place['tab'];
  /** Path of the record. */
  readonly path: ApiPath;
  /** Heading of a record; undefined while there is none. */
  readonly heading: (record: JsonObject | undefined) => string;
  readonly children: (record: JsonObject) => ComponentChildren;
}

/** A record that is only read, with the way back to the list of its tab. */
export function Detail({ tab, path, heading, children }: DetailProps) {
  const { say } = useUi();
  const { answer, reload } = useFetched(path);
  const record = answer?.kind === 'done' && isObject(answer.body) ? answer.body : undefined;
  const shownHeading = heading(record);
  usePageTitle(shownHeading);
  return (
    <section class="detail" aria-labelledby="heading">
      <button type="button" class="second back" onClick={() => goTo(tab)}>
        {say.backToList}
      </button>
      <h2 id="heading" tabIndex={-1}>
        {shownHeading}
      </h2>
      {answer === undefined ? (
        <p class="soft">{say.loading}</p>
      ) : (
        <Hindered answer={answer} method="GET" path={path} retry={reload} />
      )}
      {record === undefined ? null : children(record)}
    </section>
  );
}

/** Names and values of a record that is only shown; a fact without a value is left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === '' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** A tab whose records are only read: `children` shows the selected one. */
export function ReadTab(props: {
  readonly place: Place;
  readonly source: RowSource;
  /** What to do where there are no records. */
  readonly empty: string;
  readonly children: (id: string, rows: Rows) => ComponentChildren;
}) {
  const { place, source, empty, children } = props;
  const { say } = useUi();
  const rows = useRows(source);
  const { tab, id } = place;
  return (
    <Columns place={place} isOpen={id !== undefined} title={say.tabs[tab]} rows={rows} empty={empty}>
      {id === undefined ? undefined : children(id, rows)}
    </Columns>
  );
}

/** Properties of {@link Columns}. */
interface ColumnsProps {
  readonly place: Place;
  /** True if a record is shown: a phone then hides the list. */
  readonly isOpen: boolean;
  readonly title: string;
  readonly rows: Rows;
  /** What to do where there are no records. */
  readonly empty: string;
  /** Shown beside the title. */
  readonly above?: ComponentChildren;
  /** The selected record. */
  readonly children?: ComponentChildren;
}

/** A table of records, and the selected one beside it. */
export function Columns({ place, isOpen, title, rows, empty, above, children }: ColumnsProps) {
  const { tab, id } = place;
  // An open record has its own title.
  usePageTitle(isOpen ? undefined : title);
  useFocus(place, isOpen ? 'heading' : 'list-heading');
  return (
    <div class={isOpen ? 'columns open' : 'columns'}>
      <div class="side">
        <div class="title">
          <h2 id="list-heading" tabIndex={-1}>
            {title}
          </h2>
          {above}
        </div>
        <RowTable rows={rows} label={title} empty={empty} selected={id} choose={(chosen) => goTo(tab, chosen)} />
      </div>
      {children}
    </div>
  );
}

/**
 * Focuses a heading when another place is shown and the focused element went with the last one, as a pressed button
 * does: otherwise the keyboard starts again at the top of the page.
 */
function useFocus(place: Place, heading: string): void {
  const last = useRef(place);
  useEffect(() => {
    if (last.current === place) return;
    last.current = place;
    if (document.activeElement === document.body) document.getElementById(heading)?.focus();
  }, [place]);
}
