import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useUi } from '../context.ts';
import { usePageTitle } from '../page-title.ts';
import { goTo } from '../place.ts';
import type { Place } from '../place.ts';
import { RowList } from '../rows/row-list.tsx';
import type { Rows } from '../rows/use-rows.ts';

/** Properties of {@link Columns}. */
export interface ColumnsProps {
  readonly place: Place;
  /** True if a record is shown: a phone then hides the list. */
  readonly isOpen: boolean;
  readonly title: string;
  readonly rows: Rows;
  /** Path of the list, for a person who may not read it. */
  readonly path: string;
  /** Shown between the title and the list. */
  readonly above?: ComponentChildren;
  /** The selected record; a hint by default. */
  readonly children?: ComponentChildren;
}

/** A list of records beside the selected one. */
export function Columns({ place, isOpen, title, rows, path, above, children }: ColumnsProps) {
  const { say } = useUi();
  const { tab, id } = place;
  // An open record has its own title.
  usePageTitle(isOpen ? undefined : title);
  useFocus(place, isOpen ? 'heading' : 'list-heading');
  return (
    <div class={isOpen ? 'columns open' : 'columns'}>
      <div class="side">
        <h2 id="list-heading" tabIndex={-1}>
          {title}
        </h2>
        {above}
        <RowList rows={rows} label={title} path={path} selected={id} choose={(chosen) => goTo(tab, chosen)} />
      </div>
      {children ?? <p class="detail soft">{say.chooseRecord}</p>}
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
