import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../crds/path.ts';
import { BusyButton } from '../bars.tsx';
import { recordPath } from '../connection/api-path.ts';
import { otherFaults } from '../connection/answer.ts';
import { textOf } from '../connection/members.ts';
import { useUi, usePageTitle } from '../context.ts';
import { Conflict } from './conflict.tsx';
import { Hindered } from './answer-alert.tsx';
import type { RecordKind, View } from './record-kind.ts';
import { useRecord } from './use-record.ts';
import type { EditedRecord } from './use-record.ts';

/** Plural names of the custom resources, as kubectl takes them. */
const plurals: Readonly<Record<string, string>> = {
  Client: 'clients',
  AccessPolicy: 'accesspolicies',
  Group: 'groups',
};

/** Says that a record is declared elsewhere, and how to see it there; `name` is `<namespace>/<name>`. */
function Managed({ resource, name }: { readonly resource: string; readonly name: string }) {
  const { say, folder } = useUi();
  if (folder !== '') {
    return (
      <div class="note" role="note">
        <p>{say.managedInFolder(`${resource} ${name}`, folder)}</p>
      </div>
    );
  }
  const [namespace = '', object = ''] = name.split('/');
  const command = `kubectl get ${plurals[resource] ?? resource}.boxgate.dev ${object} --namespace ${namespace} -o yaml`;
  return (
    <div class="note" role="note">
      <p>{say.managed(`${resource} ${name}`)}</p>
      <pre tabIndex={0} aria-label={say.command}>
        {command}
      </pre>
    </div>
  );
}

/** Properties of {@link Editor}. */
interface EditorProps<Draft> {
  readonly kind: RecordKind<Draft>;
  /** Undefined for a new record. */
  readonly id: string | undefined;
  readonly heading: string;
  /** What the table tells about the record besides its fields. */
  readonly facts: ComponentChildren;
  readonly saved: (record: JsonObject) => void;
  readonly deleted: (record: JsonObject) => void;
  readonly close: () => void;
  /** Called when the record is gone, and is to leave the list. */
  readonly gone: () => void;
  /** Called when what stands below the form has changed the record. */
  readonly changed: (record: JsonObject) => void;
}

/** A record in a form: fields, Save and Delete, and what stands in their way. */
export function Editor<Draft extends object>(props: EditorProps<Draft>) {
  const { kind, id, saved, deleted, close, gone, changed } = props;
  const { say } = useUi();
  const views = kind.views ?? ['form'];
  const [view, setView] = useState<View>('form');
  const edited = useRecord(kind, id);
  const { loaded, refusal, conflict } = edited;
  const path = id === undefined ? kind.path : recordPath(kind.path, id);
  const isShown = id === undefined || loaded !== undefined;
  const heading = loaded === undefined ? props.heading : titleOf(loaded.record, props.heading);
  usePageTitle(heading);

  async function save(): Promise<void> {
    const record = await edited.save();
    if (record !== undefined) saved(record);
  }
  async function remove(): Promise<void> {
    if (loaded !== undefined && (await edited.remove())) deleted(loaded.record);
  }

  async function createAgain(): Promise<void> {
    const record = await edited.createAgain();
    if (record === undefined) return;
    gone();
    saved(record);
  }
  const isGone = id !== undefined && refusal?.answer.kind === 'refused' && refusal.answer.status === 404;

  return (
    <section class="detail" aria-labelledby="heading">
      <button type="button" class="second back" onClick={close}>
        {say.backToList}
      </button>
      <h2 id="heading" tabIndex={-1}>
        {heading}
      </h2>
      {refusal === undefined ? null : (
        <Hindered answer={refusal.answer} method={refusal.method} path={path} {...retryOf(edited, refusal.method)} />
      )}
      {isGone ? (
        <div class="actions">
          {loaded === undefined ? null : (
            <>
              <p>{say.textStays}</p>
              <BusyButton isBusy={edited.isBusy} onClick={() => void createAgain()}>
                {say.createAgain}
              </BusyButton>
            </>
          )}
          <button
            type="button"
            class="second"
            onClick={() => {
              edited.discard();
              gone();
              close();
            }}
          >
            {say.takeFromList}
          </button>
        </div>
      ) : null}
      {conflict === undefined ? null : <Conflict kind={kind} edited={edited} stored={conflict} />}
      {loaded?.managedBy === undefined ? null : <Managed resource={kind.resource} name={loaded.managedBy} />}
      {view === 'form' ? props.facts : null}
      {isShown && views.length > 1 ? <Views views={views} open={view} choose={setView} title={heading} /> : null}
      {view === 'form' && loaded !== undefined && kind.Overview !== undefined ? (
        <kind.Overview loaded={loaded} replace={edited.replace} />
      ) : null}
      {isShown ? (
        <RecordForm kind={kind} edited={edited} isNew={id === undefined} view={view} save={save} remove={remove} />
      ) : refusal === undefined ? (
        <p class="soft">{say.loading}</p>
      ) : null}
      {loaded === undefined || kind.Below === undefined || view !== 'form' ? null : (
        <kind.Below record={loaded.record} changed={changed} replace={edited.replace} />
      )}
    </section>
  );
}

/** A record that could not be read is read again; a change is repeated with Save or Delete. */
function retryOf<Draft>(edited: EditedRecord<Draft>, method: string): { readonly retry?: () => void } {
  return method === 'GET' ? { retry: edited.reload } : {};
}

function titleOf(record: JsonObject, heading: string): string {
  return textOf(record, 'email') || textOf(record, 'name') || textOf(record, 'id') || heading;
}

/** The views of a record, one of which is open. */
function Views(props: {
  readonly views: readonly View[];
  readonly open: View;
  readonly choose: (view: View) => void;
  readonly title: string;
}) {
  const { views, open, choose, title } = props;
  const { say } = useUi();
  return (
    <div class="views" role="group" aria-label={say.viewsOf(title)}>
      {views.map((view) => (
        <button key={view} type="button" class="view" aria-pressed={view === open} onClick={() => choose(view)}>
          {say.views[view]}
        </button>
      ))}
    </div>
  );
}

function RecordForm<Draft>(props: {
  readonly kind: RecordKind<Draft>;
  readonly edited: EditedRecord<Draft>;
  readonly isNew: boolean;
  readonly view: View;
  readonly save: () => Promise<void>;
  readonly remove: () => Promise<void>;
}) {
  const { kind, edited, isNew, view, save, remove } = props;
  const { say } = useUi();
  const { draft, change, faults, isBusy } = edited;
  const readOnly = edited.loaded?.managedBy !== undefined;
  const others = otherFaults(faults, view === 'json' ? ['json'] : kind.fields);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {others.length === 0 ? null : (
        <div class="alert" role="alert">
          {others.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      <kind.Fields draft={draft} change={change} faults={faults} readOnly={readOnly} isNew={isNew} view={view} />
      {readOnly || view === 'yaml' ? null : (
        <div class="actions">
          <BusyButton isBusy={isBusy}>{say.save}</BusyButton>
          {isNew ? null : (
            <BusyButton class="second danger" isBusy={isBusy} onClick={() => void remove()}>
              {say.delete}
            </BusyButton>
          )}
          {edited.isChanged ? (
            <BusyButton class="second" isBusy={isBusy} onClick={edited.discard}>
              {say.discard}
            </BusyButton>
          ) : null}
        </div>
      )}
    </form>
  );
}
