import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import { checkJson } from '../check-json.ts';
import type { JsonFault } from '../check-json.ts';
import type { Faults } from '../connection/answer.ts';
import { useUi } from '../context.ts';
import type { Messages } from '../messages/messages.ts';

/** Attributes that connect a field with its faults and hints for a screen reader. */
export interface Described {
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
}

/** Returns the attributes of a field with these faults, and with a hint. */
export function describedBy(id: string, faults: readonly string[] | undefined, hasHint = false): Described {
  const isFaulty = faults !== undefined && faults.length > 0;
  const ids = [...(isFaulty ? [`${id}-fault`] : []), ...(hasHint ? [`${id}-hint`] : [])];
  return { ...(isFaulty && { 'aria-invalid': true }), ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }) };
}

/** The sentences about a field. */
export function FieldFaults(props: {
  readonly id: string;
  readonly faults: readonly string[] | undefined;
  /** True while the user types: an alert would interrupt a screen reader at every key. */
  readonly isQuiet?: boolean;
}) {
  const { id, faults, isQuiet = false } = props;
  if (faults === undefined || faults.length === 0) return null;
  // The key creates the element again: a screen reader announces an alert that appears, not a change of the role.
  return (
    <p key={String(isQuiet)} class="alert" role={isQuiet ? undefined : 'alert'} id={`${id}-fault`}>
      {faults.join(' ')}
    </p>
  );
}

/** Properties of {@link TextField}. */
export interface TextFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly set: (text: string) => void;
  readonly faults?: readonly string[] | undefined;
  readonly hint?: ComponentChildren;
  readonly type?: 'text' | 'email' | 'numeric' | 'password';
  readonly autocomplete?: string;
  readonly readOnly?: boolean;
  readonly required?: boolean;
}

/** A field for one line. */
export function TextField(props: TextFieldProps) {
  const { id, label, value, set, faults, hint, type = 'text', autocomplete = 'off', readOnly = false } = props;
  const { required = false } = props;
  const common = {
    id,
    autocomplete,
    readOnly,
    value,
    autocapitalize: 'none',
    spellcheck: false,
    'aria-required': required,
    onInput: (event: TargetedInputEvent<HTMLInputElement>): void => {
      set(event.currentTarget.value);
    },
    ...describedBy(id, faults, hint !== undefined && hint !== ''),
  } as const;
  return (
    <>
      <label for={id}>{label}</label>
      <FieldFaults id={id} faults={faults} />
      {hint === undefined || hint === '' ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {type === 'password' ? <input type="password" {...common} /> : <input type="text" inputMode={type} {...common} />}
    </>
  );
}

/** A field for JSON, checked while it is typed. Only faults of the text that was last sent are an alert. */
export function JsonField(props: {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly set: (text: string) => void;
  readonly faults?: readonly string[] | undefined;
  readonly readOnly?: boolean;
  readonly rows?: number;
  /** True if an empty field is valid. */
  readonly optional?: boolean;
}) {
  const { id, label, value, set, faults, readOnly = false, rows = 6, optional = false } = props;
  const { say } = useUi();
  const fault = faultOf(value, optional);
  const isUntouched = value === '' && faults === undefined;
  const typed = fault === undefined || isUntouched ? [] : [say.notJson(fault)];
  /** The text that was sent, which `faults` are about. */
  const sent = useMemo(() => ({ text: value, isJson: faultOf(value, optional) === undefined }), [faults]);
  const isSent = faults !== undefined && value === sent.text;
  const ofSent = isSent || sent.isJson ? (faults ?? []) : [];
  // The API would say the same of JSON that is not valid.
  const all = typed.length > 0 ? typed : ofSent;
  return (
    <>
      <label for={id}>{label}</label>
      <FieldFaults id={id} faults={all} isQuiet={!isSent} />
      <textarea
        id={id}
        rows={rows}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="none"
        readOnly={readOnly}
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
        {...describedBy(id, all)}
      />
    </>
  );
}

/** Returns the fault of a field with JSON that must not be sent, in the language of the UI; none if it is valid. */
export function jsonFaults(field: string, text: string, say: Messages, isOptional = false): Faults {
  const fault = faultOf(text, isOptional);
  return fault === undefined ? {} : { [field]: [say.notJson(fault)] };
}

function faultOf(text: string, isOptional: boolean): JsonFault | undefined {
  return isOptional && text.trim() === '' ? undefined : checkJson(text);
}

/** Properties of {@link OldPassword}. */
interface OldPasswordProps {
  readonly value: string;
  readonly set: (text: string) => void;
  /** Undefined: the box has not asked for it so far. */
  readonly faults: readonly string[] | undefined;
}

/** The field for the password so far: only there once the box has asked for it. */
export function OldPassword({ value, set, faults }: OldPasswordProps) {
  const { say } = useUi();
  if (faults === undefined && value === '') return null;
  return (
    <TextField
      id="old_password"
      label={say.oldPassword}
      type="password"
      autocomplete="current-password"
      value={value}
      set={set}
      faults={faults}
    />
  );
}
