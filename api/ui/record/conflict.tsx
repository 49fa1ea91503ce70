import { BusyButton } from '../busy-button.tsx';
import { useUi } from '../context.ts';
import { differences } from './difference.ts';
import type { Line } from './difference.ts';
import type { Loaded } from './loaded.ts';
import type { RecordKind } from './record-kind.ts';
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
