import { useMemo } from 'preact/hooks';
import { checkJson } from '../json/check-json.ts';
import { useUi } from '../context.ts';
import { describedBy, FieldFaults } from './field.tsx';

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
  const faultOf = (text: string) => (optional && text.trim() === '' ? undefined : checkJson(text));
  const fault = faultOf(value);
  const isUntouched = value === '' && faults === undefined;
  const typed = fault === undefined || isUntouched ? [] : [say.notJson(fault)];
  /** The text that was sent, which `faults` are about. */
  const sent = useMemo(() => ({ text: value, isJson: faultOf(value) === undefined }), [faults]);
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
