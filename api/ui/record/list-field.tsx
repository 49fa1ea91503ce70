import type { ComponentChildren } from 'preact';
import type { Faults } from '../connection/answer.ts';
import { useUi } from '../context.ts';
import { FieldFaults, describedBy } from './field.tsx';

/** Properties that every field has. */
export interface FieldProps {
  readonly id: string;
  readonly label: string;
  /** '' for none. */
  readonly hint: string;
  readonly readOnly: boolean;
}

/** What a field is for. */
export function Hint({ id, text }: { readonly id: string; readonly text: string }) {
  return text === '' ? null : (
    <p class="hint" id={`${id}-hint`}>
      {withCode(text)}
    </p>
  );
}

/** Properties of {@link ListField}. */
interface ListFieldProps extends FieldProps {
  readonly values: readonly string[];
  readonly set: (values: readonly string[]) => void;
  /** Faults of all fields; those of an entry are under the path that `pathOf` returns. */
  readonly faults: Faults;
  readonly pathOf?: (nth: number) => string;
  /** Returns the address of the record that an entry names. */
  readonly hrefOf?: (text: string) => string | undefined;
  /** Returns what is wrong with an entry while it is typed. */
  readonly check?: (text: string) => readonly string[];
}

/** A list of texts, a field each, and an empty one for the next. An entry that is emptied goes when it is left. */
export function ListField(props: ListFieldProps) {
  const { id, label, hint, values, set, faults, readOnly, check, hrefOf } = props;
  const { pathOf = (nth: number) => `${id}[${String(nth)}]` } = props;
  const { say } = useUi();
  const shown = readOnly || values.at(-1) === '' ? values : [...values, ''];
  return (
    <fieldset class="list-field">
      <legend>{label}</legend>
      <FieldFaults id={id} faults={pathOf(0) === id ? undefined : faults[id]} />
      <Hint id={id} text={hint} />
      {shown.map((text, nth) => {
        const [entryId, name] = [`${id}[${String(nth)}]`, say.entry(label, nth + 1)];
        const typed = text === '' ? [] : (check?.(text) ?? []);
        const sent = faultsAt(faults, pathOf(nth));
        const href = hrefOf?.(text);
        const all = typed.length > 0 ? typed : sent;
        return (
          <div key={nth} class="entry">
            <FieldFaults id={entryId} faults={all} isQuiet={sent.length === 0} />
            <input
              id={entryId}
              type="text"
              aria-label={name}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              readOnly={readOnly}
              value={text}
              onInput={(event) => set(replaced(values, nth, event.currentTarget.value))}
              onBlur={() => {
                if (values.includes('')) set(values.filter((one) => one !== ''));
              }}
              {...describedBy(entryId, all)}
            />
            {href === undefined ? null : (
              <a href={href} aria-label={say.openRecord(text)}>
                ↗
              </a>
            )}
            {readOnly || nth >= values.length ? null : (
              <button
                type="button"
                class="second"
                aria-label={say.removeEntry(name)}
                onClick={(event) => {
                  const field = event.currentTarget.parentElement?.querySelector('input');
                  set(values.filter((_, other) => other !== nth));
                  // The button goes; the entry that moves here has its place.
                  field?.focus();
                }}
              >
                ×
              </button>
            )}
          </div>
        );
      })}
    </fieldset>
  );
}

function replaced(values: readonly string[], nth: number, text: string): readonly string[] {
  return nth < values.length ? values.map((one, other) => (other === nth ? text : one)) : [...values, text];
}

/** Returns a text whose words in backticks are code. */
export function withCode(text: string): ComponentChildren {
  return text.split('`').map((part, nth) => (nth % 2 === 1 ? <code key={nth}>{part}</code> : part));
}

/** Returns the faults of a path and of those below it. */
function faultsAt(faults: Faults, path: string): readonly string[] {
  return Object.entries(faults).flatMap(([at, texts]) => (at === path || at.startsWith(`${path}.`) ? texts : []));
}
