import { clientSchema } from '../../../crds/client.ts';
import { clientRules } from '../../../crds/client-rules.ts';
import { ruleFaults } from '../../../crds/rule.ts';
import { schemaNode } from '../../../crds/schema-node.ts';
import { scalarText, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { TextField } from '../record/field.tsx';
import { memberAt, stringsOf, withMember } from '../record/json-draft.ts';
import { ListField } from '../record/list-field.tsx';
import { SchemaField, pathsWithFields, schemaAt } from '../record/schema-field.tsx';
import type { FormProps, FormValue } from '../record/schema-field.tsx';
import { Cards } from '../record/cards.tsx';
import { APP_TYPES, appTypeOf, needsSecret, withAppType } from './app-type.ts';

const SCHEMA = schemaNode(clientSchema);

/** Grants with settings, in the order of the form. */
const GRANTS = ['client_credentials', 'authorization_code', 'implicit'] as const;

/** Settings of a grant that are shown first; the others are under "More settings". */
const TOKEN_FIELDS = [
  'access_token_expiration',
  'token_format',
  'audience',
  'refresh_token',
  'refresh_token_expiration',
];

/** Fields of every client that are shown by themselves. */
const FIRST_FIELDS = ['name', 'allowed_origins', 'post_logout_redirect_uris', 'scope', 'active', 'secret'];

/** Names of the fields whose faults the form shows. */
export const CLIENT_FIELDS: readonly string[] = [
  'id',
  ...pathsWithFields(SCHEMA),
  ...GRANTS.flatMap((grant) => pathsWithFields(schemaAt(SCHEMA, `auth.${grant}`) ?? SCHEMA, `auth.${grant}.`)),
];

/** A client as a form: the type of app chooses its grant, and the fields that it needs. */
export function ClientForm({ value, change, faults, readOnly, isNew }: FormProps) {
  const { say } = useUi();
  const form: FormValue = { schema: SCHEMA, value, change, faults, readOnly };
  const type = appTypeOf(value);
  const grants = GRANTS.filter((grant) => stringsOf(value['grant_types']).includes(grant));
  const signsIn = grants.some((grant) => grant !== 'client_credentials');
  return (
    <>
      <Cards
        name="app-type"
        legend={say.appType}
        options={APP_TYPES.map((one) => ({ value: one, ...say.appTypes[one] }))}
        chosen={type}
        choose={(one) => change(withAppType(value, one))}
        readOnly={readOnly}
        faults={faults['grant_types']}
      />
      {isNew ? (
        <TextField
          id="id"
          label={say.clientId}
          value={textOf(value, 'id')}
          set={(id) => change({ ...value, id })}
          faults={faults['id']}
          required
        />
      ) : null}
      {isNew && needsSecret(value) ? <p>{say.secretIsGenerated}</p> : null}
      {signsIn ? <SchemaField form={form} path="name" hint="" /> : null}
      {grants.includes('authorization_code') ? <RedirectUris form={form} grant="authorization_code" /> : null}
      {grants.includes('implicit') ? <RedirectUris form={form} grant="implicit" /> : null}
      {type === 'spa' ? <SchemaField form={form} path="allowed_origins" /> : null}
      {isNew ? null : <SchemaField form={form} path="active" hint={say.activeHint} flagDefault />}
      {grants.length === 0 ? null : <SchemaField form={form} path="scope" />}
      {grants.map((grant) => (
        <details
          key={grant}
          open={hasFault(
            form,
            TOKEN_FIELDS.map((name) => `auth.${grant}.${name}`),
          )}
        >
          <summary>{grants.length === 1 ? say.tokens : `${say.tokens}: ${grant}`}</summary>
          {TOKEN_FIELDS.map((name) => (
            <SchemaField
              key={name}
              form={form}
              path={`auth.${grant}.${name}`}
              {...(name === 'refresh_token' && { flagDefault: false })}
            />
          ))}
        </details>
      ))}
      <MoreSettings form={form} grants={grants} signsIn={signsIn} isSpa={type === 'spa'} />
    </>
  );
}

function hasFault({ faults }: FormValue, paths: readonly string[]): boolean {
  return Object.keys(faults).some((fault) => paths.some((path) => fault.startsWith(path)));
}

/** All other fields of the schema that have one. */
function MoreSettings(props: {
  readonly form: FormValue;
  readonly grants: readonly string[];
  readonly signsIn: boolean;
  readonly isSpa: boolean;
}) {
  const { form, grants, signsIn, isSpa } = props;
  const { say } = useUi();
  const shown = new Set(
    [...(signsIn ? FIRST_FIELDS : ['scope', 'active', 'secret'])].filter((name) => isSpa || name !== 'allowed_origins'),
  );
  const paths = [
    ...pathsWithFields(SCHEMA).filter((path) => !['id', 'resourceType'].includes(path) && !shown.has(path)),
    ...(signsIn ? ['post_logout_redirect_uris'] : []),
    ...grants.flatMap((grant) =>
      pathsWithFields(schemaAt(SCHEMA, `auth.${grant}`) ?? SCHEMA)
        .filter((name) => !TOKEN_FIELDS.includes(name) && !name.startsWith('redirect_uri'))
        .map((name) => `auth.${grant}.${name}`),
    ),
  ];
  return (
    <details open={hasFault(form, paths)}>
      <summary>{say.moreSettings}</summary>
      {paths.map((path) => (
        <SchemaField key={path} form={form} path={path} />
      ))}
    </details>
  );
}

/** The redirect URIs of a grant as one list, wherever the client has them. */
function RedirectUris({
  form,
  grant,
}: {
  readonly form: FormValue;
  readonly grant: 'authorization_code' | 'implicit';
}) {
  const { say } = useUi();
  const { value, change, faults, readOnly } = form;
  const [one, list] = [`auth.${grant}.redirect_uri`, `auth.${grant}.redirect_uris`];
  const single = memberAt(value, one);
  // The implicit grant demands the single one (crds/client-rules.ts).
  const hasSingle = single !== undefined || grant === 'implicit';
  const values = [...(single === undefined ? [] : [scalarText(single)]), ...stringsOf(memberAt(value, list))];
  const set = (uris: readonly string[]): void => {
    const [first, ...others] = hasSingle ? uris : [undefined, ...uris];
    change(withMember(withMember(value, one, first), list, others.length === 0 ? undefined : others));
  };
  const pathOf = (nth: number): string =>
    hasSingle && nth === 0 ? one : `${list}[${String(hasSingle ? nth - 1 : nth)}]`;
  // Without any address, the fault is at the single one.
  const isMissing = !hasSingle && values.length === 0 && faults[one] !== undefined;
  const shown = isMissing ? { ...faults, [pathOf(0)]: faults[one] ?? [] } : faults;
  return (
    <ListField
      id={list}
      label={grant === 'implicit' ? `${say.fields.redirect_uris} (implicit)` : say.fields.redirect_uris}
      hint={say.redirectHint}
      values={values}
      set={set}
      faults={shown}
      pathOf={pathOf}
      check={redirectFaults}
      readOnly={readOnly}
    />
  );
}

/** Returns what is wrong with one redirect URI, by the rules that the API has; the same for every grant. */
function redirectFaults(uri: string): readonly string[] {
  const faults = ruleFaults(clientRules, { post_logout_redirect_uris: [uri] });
  return faults.flatMap(({ path, message }) => (path === 'post_logout_redirect_uris[0]' ? [`${uri} ${message}.`] : []));
}
