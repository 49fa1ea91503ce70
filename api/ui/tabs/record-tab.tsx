import type { ComponentChildren } from 'preact';
import { isList, isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { useUi } from '../context.ts';
import { goTo } from '../place.ts';
import type { Place } from '../place.ts';
import { Editor } from '../record/editor.tsx';
import type { RecordKind } from '../record/record-kind.ts';
import { CellView } from '../rows/cell-view.tsx';
import { rowOf, titleOf } from '../rows/row-source.ts';
import { useRows } from '../rows/use-rows.ts';
import { Columns, Facts } from './detail.tsx';

/** A tab with a list of records, and the selected one in a form. */
export function RecordTab<Draft extends object>(props: {
  readonly kind: RecordKind<Draft>;
  readonly place: Place;
  readonly newTitle: string;
  /** What to do where there are no records. */
  readonly empty: string;
  /** Shown while no record is selected. */
  readonly otherwise?: ComponentChildren;
}) {
  const { kind, place, newTitle, empty, otherwise } = props;
  const { say, request, notify } = useUi();
  const rows = useRows(kind.source);
  const { tab, id, isNew } = place;

  function saved(record: JsonObject): void {
    const row = rowOf(kind.source, record, say);
    rows.put(row);
    const warnings = isList(record['warnings']) ? record['warnings'].map(String) : [];
    notify({ text: [say.saved(titleOf(row)), ...warnings].join('. ') });
    if (isNew || row.id !== id) goTo(tab, row.id);
  }

  function deleted(record: JsonObject): void {
    const row = rowOf(kind.source, record, say);
    rows.remove(row.id);
    goTo(tab);
    const restoring = kind.restore(record);
    if (restoring === undefined) {
      notify({ text: say.deleted(titleOf(row)) });
      return;
    }
    const undo = async (): Promise<void> => {
      const answer = await request(restoring);
      if (answer.kind !== 'done' || !isObject(answer.body)) {
        notify({ text: say.notRestored(titleOf(row)) });
        return;
      }
      rows.put(rowOf(kind.source, answer.body, say));
      notify({ text: say.restored(titleOf(row)) });
    };
    notify({ text: say.deleted(titleOf(row)), undo });
  }

  const isOpen = id !== undefined || isNew;
  const shown = rows.shown.find((row) => row.id === id);
  const more = rows.columns.map(({ header, isMore }, nth) => {
    const cell = shown?.cells[nth] ?? '';
    return [header(say), isMore !== true || cell === '' ? '' : <CellView cell={cell} />] as const;
  });
  const create = (
    <a class="button" href={`#/${tab}/+`}>
      {newTitle}
    </a>
  );
  return (
    <Columns place={place} isOpen={isOpen} title={say.tabs[tab]} rows={rows} above={create} empty={empty}>
      {isOpen ? (
        <Editor
          key={`${tab}/${id ?? '+'}`}
          kind={kind}
          id={id}
          heading={isNew ? newTitle : (id ?? '')}
          facts={<Facts facts={more} />}
          saved={saved}
          deleted={deleted}
          changed={(record) => rows.put(rowOf(kind.source, record, say))}
          close={() => goTo(tab)}
          gone={() => {
            if (id !== undefined) rows.remove(id);
          }}
        />
      ) : (
        otherwise
      )}
    </Columns>
  );
}
