import { FieldFaults } from './field.tsx';

/** Properties of {@link Cards}. */
interface CardsProps<Value extends string> {
  /** Name of the group of radio buttons, unique on the page. */
  readonly name: string;
  readonly legend: string;
  readonly options: readonly { readonly value: Value; readonly title: string; readonly text: string }[];
  readonly chosen: Value | undefined;
  readonly choose: (value: Value) => void;
  readonly readOnly?: boolean;
  readonly faults?: readonly string[] | undefined;
}

/** A choice of one of some things that need a sentence each, as radio buttons. */
export function Cards<Value extends string>(props: CardsProps<Value>) {
  const { name, legend, options, chosen, choose, readOnly = false, faults } = props;
  return (
    <fieldset>
      <legend>{legend}</legend>
      <FieldFaults id={name} faults={faults} />
      <div class="cards">
        {options.map(({ value, title, text }) => (
          <label key={value} class="card">
            <input
              type="radio"
              name={name}
              checked={value === chosen}
              disabled={readOnly}
              onChange={() => choose(value)}
            />
            <span>
              <b>{title}</b>
              <span class="soft">{text}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
