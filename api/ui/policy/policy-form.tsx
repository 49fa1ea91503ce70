import { useState } from 'preact/hooks';
import { accessPolicySchema } from '../../../crds/access-policy.ts';
import type { Engine } from '../../../crds/access-policy.ts';
import { parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { schemaNode } from '../../../crds/schema-node.ts';
import { objectsOf, referenceText, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { fragmentOf } from '../place.ts';
import { Cards } from '../record/cards.tsx';
import { FieldFaults, JsonField, TextField, describedBy } from '../record/field.tsx';
import { withMember } from '../record/json-draft.ts';
import { ListField } from '../record/list-field.tsx';
import { Choice, SchemaField } from '../record/schema-field.tsx';
import type { FormProps, FormValue } from '../record/schema-field.tsx';

const SCHEMA = schemaNode(accessPolicySchema);

/** The fields that hold the rule of each engine. */
const RULES = {
  allow: [],
  cel: ['expression'],
  matcho: ['matcho'],
  'json-schema': ['schema'],
  complex: ['and', 'or'],
} as const satisfies Readonly<Record<Engine, readonly string[]>>;

const RULE_FIELDS = Object.values(RULES).flat();

/** Names of the fields whose faults the form shows. */
export const POLICY_FIELDS = ['id', 'engine', 'link', 'subjects', 'apps', 'description', ...RULE_FIELDS] as const;

/** Engines in the order of the form, the simplest first. */
const ENGINES_SHOWN = ['allow', 'cel', 'matcho', 'json-schema', 'complex'] as const;

/** A policy as a form: its engine, its rule, and whom it concerns. */
export function PolicyForm({ value, change, faults, readOnly, isNew }: FormProps) {
  const { say } = useUi();
  const form: FormValue = { schema: SCHEMA, value, change, faults, readOnly };
  const engine = ENGINES_SHOWN.find((one) => one === value['engine']);
  const fields = engine === undefined ? [] : RULES[engine];
  return (
    <>
      {isNew ? (
        <TextField
          id="id"
          label={say.policyId}
          value={textOf(value, 'id')}
          set={(id) => change({ ...value, id })}
          faults={faults['id']}
          required
        />
      ) : null}
      <Cards
        name="engine"
        legend={say.engine}
        options={ENGINES_SHOWN.map((one) => ({ value: one, title: one, text: say.engines[one] }))}
        chosen={engine}
        choose={(one) =>
          change({ ...RULE_FIELDS.reduce((left, name) => withMember(left, name, undefined), value), engine: one })
        }
        readOnly={readOnly}
        faults={faults['engine']}
      />
      {fields.map((name) =>
        name === 'expression' ? (
          <Expression key={name} form={form} />
        ) : (
          <JsonMember key={name} form={form} name={name} optional={name === 'and' || name === 'or'} />
        ),
      )}
      <Choice
        id="subjects"
        label={say.fields.subjects}
        hint=""
        readOnly={readOnly}
        faults={faults['subjects']}
        none={say.subjectsOf.linked}
        options={(['authenticated', 'anyone'] as const).map((one) => [one, say.subjectsOf[one]])}
        value={value['subjects'] === 'linked' ? '' : textOf(value, 'subjects')}
        set={(text) => change(withMember(value, 'subjects', text === '' ? undefined : text))}
      />
      <ListField
        id="link"
        label={say.concerns}
        hint={say.concernsHint}
        readOnly={readOnly}
        values={objectsOf(value['link']).map(linkText)}
        set={(texts) => change(withMember(value, 'link', texts.length === 0 ? undefined : texts.map(linkOf)))}
        faults={faults}
        hrefOf={hrefOf}
      />
      <SchemaField form={form} path="apps" />
      <SchemaField form={form} path="description" hint="" />
    </>
  );
}

function linkText(link: JsonObject): string {
  return textOf(link, 'reference') || referenceText(link);
}

const LINK = /^(Client|User|Group)\/(.+)$/;

/** Returns the link that a text means; the API says what is wrong with another text. */
function linkOf(text: string): object {
  const [, resourceType, id] = LINK.exec(text) ?? [];
  return resourceType === undefined ? { reference: text } : { resourceType, id };
}

function hrefOf(text: string): string | undefined {
  const [, type, id] = LINK.exec(text) ?? [];
  if (type === 'Client') return fragmentOf('clients', id);
  if (type === 'User') return fragmentOf('users', id);
  // A group may be linked by its name, which is no address.
  return type === 'Group' && /^\d+$/.test(id ?? '') ? fragmentOf('groups', id) : undefined;
}

function Expression({ form }: { readonly form: FormValue }) {
  const { say } = useUi();
  const { value, change, faults, readOnly } = form;
  return (
    <>
      <label for="expression">{say.fields.expression}</label>
      <FieldFaults id="expression" faults={faults['expression']} />
      <textarea
        id="expression"
        rows={4}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="none"
        readOnly={readOnly}
        value={textOf(value, 'expression')}
        onInput={(event) => change(withMember(value, 'expression', event.currentTarget.value || undefined))}
        {...describedBy('expression', faults['expression'])}
      />
    </>
  );
}

/** A member that is JSON, as text: a text that is not valid is kept as it was typed. */
function JsonMember(props: {
  readonly form: FormValue;
  readonly name: 'matcho' | 'schema' | 'and' | 'or';
  readonly optional: boolean;
}) {
  const { form, name, optional } = props;
  const { value, change, faults, readOnly } = form;
  const { say } = useUi();
  const stored = value[name];
  const [typed, setTyped] = useState('');
  const isTyped = JSON.stringify(parseJson(typed) ?? typed) === JSON.stringify(stored ?? '');
  const text = isTyped ? typed : typeof stored === 'string' ? stored : JSON.stringify(stored, null, 2);
  const own = Object.entries(faults).flatMap(([path, texts]) =>
    path === name || path.startsWith(`${name}[`) ? texts : [],
  );
  return (
    <JsonField
      id={name}
      label={say.fields[name]}
      rows={8}
      value={text}
      set={(next) => {
        setTyped(next);
        change(withMember(value, name, next === '' ? undefined : (parseJson(next) ?? next)));
      }}
      faults={own.length === 0 ? undefined : own}
      readOnly={readOnly}
      optional={optional}
    />
  );
}
