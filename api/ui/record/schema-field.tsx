import type { SchemaNode } from '../../../crds/schema-node.ts';
import { LONGEST_LIFETIME } from '../../../crds/fields.ts';
import type { JsonObject } from '../../../crds/path.ts';
import type { Faults } from '../connection/answer.ts';
import { scalarText } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Messages } from '../messages/messages.ts';
import { FieldFaults, TextField, describedBy } from './field.tsx';
import { Hint, ListField, withCode } from './list-field.tsx';
import type { FieldProps } from './list-field.tsx';
import { memberAt, stringsOf, withMember } from './json-draft.ts';

/** Properties of the form of a client or policy. */
export interface FormProps extends Omit<FormValue, 'schema'> {
  readonly isNew: boolean;
}

/** A value in a form, and what is known about its fields. */
export interface FormValue {
  readonly schema: SchemaNode;
  readonly value: JsonObject;
  readonly change: (value: JsonObject) => void;
  readonly faults: Faults;
  readonly readOnly: boolean;
}

/** Properties of {@link SchemaField}. */
interface SchemaFieldProps {
  readonly form: FormValue;
  /** Dotted path of the field. */
  readonly path: string;
  /** That of the schema by default. */
  readonly hint?: string;
  /** Shows a flag as a check box: the value that it has where it is absent. */
  readonly flagDefault?: boolean;
}

/** The field for a member of a record, as its schema wants it. Renders nothing for a type that has no field. */
export function SchemaField({ form, path, hint, flagDefault }: SchemaFieldProps) {
  const { say } = useUi();
  const node = schemaAt(form.schema, path);
  if (node === undefined || !hasField(node)) return null;
  const { value, change, readOnly, faults } = form;
  const label = labelOf(path, say);
  const set = (member: unknown): void => {
    change(withMember(value, path, member));
  };
  const found = memberAt(value, path);
  const common = { id: path, label, hint: hint ?? node.description ?? '', readOnly };
  const own = { ...common, faults: faults[path] };
  switch (node.type) {
    case 'array':
      return node.items?.['enum'] === undefined ? (
        <ListField {...common} values={stringsOf(found)} set={(list) => set(orNothing(list))} faults={faults} />
      ) : (
        <ChoiceList {...own} options={stringsOf(node.items['enum'])} chosen={stringsOf(found)} set={set} />
      );
    case 'boolean':
      return flagDefault === undefined ? (
        <Choice {...own} options={FLAGS(say)} value={scalarText(found)} set={(text) => set(flagIn(text))} />
      ) : (
        <Flag
          {...own}
          checked={(found ?? flagDefault) === true}
          set={(flag) => set(flag === flagDefault ? undefined : flag)}
        />
      );
    case 'integer':
      return (
        <TextField
          {...own}
          hint={withCode([common.hint, durationText(found, node, say)].filter(Boolean).join(' '))}
          type="numeric"
          value={scalarText(found)}
          set={(text) => set(numberIn(text))}
        />
      );
    case undefined:
    default: {
      const options = stringsOf(node['enum']).map((word): Option => [word, word]);
      return options.length > 0 ? (
        <Choice {...own} options={options} value={scalarText(found)} set={(text) => set(text || undefined)} />
      ) : (
        <TextField
          {...own}
          hint={common.hint === '' ? undefined : withCode(common.hint)}
          value={scalarText(found)}
          set={(text) => set(text || undefined)}
        />
      );
    }
  }
}

/** Returns the schema of a member. */
export function schemaAt(schema: SchemaNode, path: string): SchemaNode | undefined {
  return path.split('.').reduce<SchemaNode | undefined>((node, name) => node?.properties?.[name], schema);
}

/** Checks whether a member of this schema has a field: text, a number, a flag, or a list of texts. */
function hasField({ type = '', items }: SchemaNode): boolean {
  return ['string', 'integer', 'boolean'].includes(type) || (type === 'array' && items?.type === 'string');
}

function labelOf(path: string, { fields }: Messages): string {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const labels = new Map<string, string>(Object.entries(fields));
  return labels.get(name) ?? name;
}

function orNothing(list: readonly unknown[]): readonly unknown[] | undefined {
  return list.length === 0 ? undefined : list;
}

function flagIn(text: string): boolean | undefined {
  return text === '' ? undefined : text === 'true';
}

/** Returns a whole number; other text as it is: the API says what is wrong with it. */
function numberIn(text: string): number | string | undefined {
  if (text === '') return undefined;
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Says what a lifetime in seconds is in larger units: `= 15 minutes`. */
function durationText(value: unknown, { maximum }: SchemaNode, say: Messages): string {
  if (typeof value !== 'number' || maximum !== LONGEST_LIFETIME) return '';
  const unit = UNITS.find(([, seconds]) => value % seconds === 0 && value > 0);
  if (unit === undefined) return '';
  const [name, seconds] = unit;
  const format = new Intl.NumberFormat(document.documentElement.lang, {
    style: 'unit',
    unit: name,
    unitDisplay: 'long',
  });
  return say.seconds(format.format(value / seconds));
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** A value and its text. */
type Option = readonly [value: string, text: string];

const FLAGS = (say: Messages): readonly Option[] => [
  ['true', say.yes],
  ['false', say.no],
];

interface FaultyProps extends FieldProps {
  readonly faults: readonly string[] | undefined;
}

/** A field for one of some values, or for none. */
export function Choice(
  props: FaultyProps & {
    readonly options: readonly Option[];
    readonly value: string;
    /** The text for no value. */
    readonly none?: string;
    readonly set: (text: string) => void;
  },
) {
  const { say } = useUi();
  const { id, label, hint, readOnly, faults, options, value, none = say.settingDefault, set } = props;
  return (
    <>
      <label for={id}>{label}</label>
      <FieldFaults id={id} faults={faults} />
      <Hint id={id} text={hint} />
      <select
        id={id}
        value={value}
        disabled={readOnly}
        onChange={(event) => set(event.currentTarget.value)}
        {...describedBy(id, faults, hint !== '')}
      >
        <option value="">{none}</option>
        {options.map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </>
  );
}

function Flag(props: FaultyProps & { readonly checked: boolean; readonly set: (flag: boolean) => void }) {
  const { id, label, hint, readOnly, faults, checked, set } = props;
  return (
    <div class="flag">
      <label class="choice">
        <input
          id={id}
          type="checkbox"
          checked={checked}
          disabled={readOnly}
          onChange={() => set(!checked)}
          {...describedBy(id, faults, hint !== '')}
        />
        <span>{label}</span>
      </label>
      <FieldFaults id={id} faults={faults} />
      <Hint id={id} text={hint} />
    </div>
  );
}

/** Check boxes for any of some values. */
function ChoiceList(
  props: FaultyProps & {
    readonly options: readonly string[];
    readonly chosen: readonly string[];
    readonly set: (list: readonly string[]) => void;
  },
) {
  const { id, label, hint, readOnly, faults, options, chosen, set } = props;
  return (
    <fieldset>
      <legend>{label}</legend>
      <FieldFaults id={id} faults={faults} />
      <Hint id={id} text={hint} />
      {options.map((option) => (
        <label key={option} class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            disabled={readOnly}
            onChange={() => set(chosen.includes(option) ? chosen.filter((one) => one !== option) : [...chosen, option])}
          />
          <span>{option}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Returns the paths of the members of an object that have a field. */
export function pathsWithFields(schema: SchemaNode, prefix = ''): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, node]) => (hasField(node) ? [prefix + name] : []));
}
