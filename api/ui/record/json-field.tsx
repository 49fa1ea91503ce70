import { checkJson } from '../json/check-json.ts';
import { useUi } from '../context.ts';
import { describedBy, FieldFaults } from './field.tsx';

/** A field for JSON, checked while it is typed. */
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
  const fault = optional && value.trim() === '' ? undefined : checkJson(value);
  const isUntouched = value === '' && faults === undefined;
  const typed = fault === undefined || isUntouched ? [] : [say.notJson(fault)];
  // The API would say the same of JSON that is not valid.
  const all = typed.length > 0 ? typed : (faults ?? []);
  return (
    <>
      <label for={id}>{label}</label>
      <FieldFaults id={id} faults={all} />
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
