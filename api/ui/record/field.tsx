import type { ComponentChildren, TargetedInputEvent } from 'preact';

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
  readonly type?: 'text' | 'email' | 'password';
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
    ...describedBy(id, faults, hint !== undefined),
  } as const;
  return (
    <>
      <label for={id}>{label}</label>
      <FieldFaults id={id} faults={faults} />
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {type === 'password' ? <input type="password" {...common} /> : <input type="text" inputMode={type} {...common} />}
    </>
  );
}
