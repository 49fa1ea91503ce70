import { BusyButton } from '../bars.tsx';
import { useUi } from '../context.ts';
import type { Loaded } from './loaded.ts';
import type { RecordKind, ShownField } from './record-kind.ts';
import type { EditedRecord } from './use-record.ts';

/** Shows what somebody else has stored meanwhile next to the user's own text, and lets the user choose. */
export function Conflict<Draft>(props: {
  readonly kind: RecordKind<Draft>;
  readonly edited: EditedRecord<Draft>;
  readonly stored: Loaded;
}) {
  const { kind, edited, stored } = props;
  const { say } = useUi();
  const found = differences(kind.show(edited.draft, say), kind.show(kind.read(stored.record), say));
  return (
    <div class="alert" role="alert">
      <p>{say.conflict}</p>
      {found.length === 0 ? <p>{say.noDifference}</p> : null}
      {found.map(({ label, mine, stored: theirs }) => (
        <dl key={label} class="difference">
          <dt>{say.storedNow(label)}</dt>
          <dd>
            <Lines lines={theirs} />
          </dd>
          <dt>{say.yourText(label)}</dt>
          <dd>
            <Lines lines={mine} />
          </dd>
        </dl>
      ))}
      <div class="actions">
        <BusyButton isBusy={edited.isBusy} onClick={() => edited.settle('mine')}>
          {say.keepMine}
        </BusyButton>
        <BusyButton class="second" isBusy={edited.isBusy} onClick={() => edited.settle('stored')}>
          {say.takeStored}
        </BusyButton>
      </div>
    </div>
  );
}

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <pre>
      {lines.map(({ text, isOnlyHere }, nth) =>
        isOnlyHere ? <mark key={nth}>{`${text}\n`}</mark> : <span key={nth}>{`${text}\n`}</span>,
      )}
    </pre>
  );
}

/** A line of a text; the other text may not have it. */
interface Line {
  readonly text: string;
  readonly isOnlyHere: boolean;
}

/** A field that differs between two versions of a record. */
interface Difference {
  readonly label: string;
  readonly mine: readonly Line[];
  readonly stored: readonly Line[];
}

/** Returns the fields that differ, with their lines. */
function differences(mine: readonly ShownField[], stored: readonly ShownField[]): readonly Difference[] {
  return mine.flatMap(({ label, text }) => {
    const other = stored.find((field) => field.label === label)?.text ?? '';
    if (text === other) return [];
    return [{ label, mine: linesOf(text, other), stored: linesOf(other, text) }];
  });
}

function linesOf(text: string, other: string): readonly Line[] {
  const others = new Set(other.split('\n'));
  return text.split('\n').map((line) => ({ text: line, isOnlyHere: !others.has(line) }));
}
