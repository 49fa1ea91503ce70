import { useUi } from '../context.ts';
import { FieldFaults } from '../record/field.tsx';
import { Hindered } from '../record/answer-alert.tsx';
import { titleOf, united } from '../rows/row-source.ts';
import type { Row } from '../rows/row-source.ts';
import { useRows } from '../rows/use-rows.ts';
import { groupSource } from './groups.tsx';

/** Groups that are shown at once; with more of them there is a filter. */
const MOST = 20;

/** The groups of a user as check boxes, where the box has groups. */
export function GroupChoice(props: {
  readonly chosen: readonly number[];
  readonly choose: (groups: readonly number[]) => void;
  readonly faults: readonly string[] | undefined;
}) {
  const { chosen, choose, faults } = props;
  const { say } = useUi();
  const rows = useRows(groupSource);
  const isChosen = ({ id }: Row): boolean => chosen.includes(Number(id));
  const shown = rows.shown.filter((row) => !isChosen(row)).slice(0, MOST);
  const isMany = rows.filter !== '' || rows.shown.length > MOST;
  // A chosen group stays where it is not read, or not to be seen.
  const first = chosen.map((id) => rows.shown.find((row) => row.id === String(id)) ?? unknownGroup(id));
  return (
    <fieldset>
      <legend>{say.groupIds}</legend>
      <FieldFaults id="group-ids" faults={faults} />
      {rows.problem === undefined ? null : (
        <Hindered answer={rows.problem} method="GET" path={rows.path} retry={rows.retry} />
      )}
      {isMany ? (
        <>
          <label for="group-filter">{say.filterGroups}</label>
          <input
            id="group-filter"
            type="search"
            autocomplete="off"
            maxLength={256}
            value={rows.filter}
            onInput={(event) => rows.setFilter(event.currentTarget.value)}
            // Otherwise Enter submits the form of the user.
            onKeyDown={(event) => {
              if (event.key === 'Enter') event.preventDefault();
            }}
          />
        </>
      ) : null}
      {rows.shown.length === 0 && first.length === 0 && rows.problem === undefined && !isMany ? (
        <p class="soft">{rows.isReading ? say.loading : say.noGroups}</p>
      ) : null}
      {(isMany ? [...first, ...shown] : united(rows.shown, first)).map((row) => (
        <label key={row.id} class="choice">
          <input type="checkbox" checked={isChosen(row)} onChange={() => choose(toggled(chosen, Number(row.id)))} />
          <span>
            {titleOf(row)} <span class="soft">{row.id}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function unknownGroup(id: number): Row {
  return { id: String(id), cells: [] };
}

function toggled(chosen: readonly number[], id: number): readonly number[] {
  return chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id];
}
