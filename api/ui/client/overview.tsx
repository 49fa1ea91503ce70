import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { isReservedId } from '../../../crds/reserved-ids.ts';
import { BusyButton } from '../bars.tsx';
import { apiPath } from '../connection/api-path.ts';
import { DAY, textOf, timeText } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { Hindered } from '../record/answer-alert.tsx';
import { CopyField, CopyText } from '../record/copy.tsx';
import { loadedFrom } from '../record/loaded.ts';
import { stringsOf } from '../record/json-draft.ts';
import type { OverviewProps } from '../record/record-kind.ts';
import { useChange } from '../tabs/use-fetched.ts';
import { ClientAccess } from './access.tsx';
import { appTypeOf, generatedSecret } from './app-type.ts';
import type { AppType } from './app-type.ts';
import { endpointsOf, programsOf } from './programs.ts';

/** What a developer needs from a client: its secret once, its access, its connection data, and a program. */
export function ClientOverview(props: OverviewProps) {
  const { record, managedBy } = props.loaded;
  const { say, secrets } = useUi();
  const id = textOf(record, 'id');
  const [secret, setSecret] = useState(secrets.get(id));
  const show = (next: string | undefined): void => {
    if (next === undefined) secrets.delete(id);
    else secrets.set(id, next);
    setSecret(next);
  };
  const type = appTypeOf(record);
  const hasOwnSecret = type !== 'spa' && managedBy === undefined && !isReservedId(id);
  return (
    <>
      {secret === undefined ? null : <NewSecret secret={secret} putAway={() => show(undefined)} />}
      <ClientAccess client={id} needsIt={stringsOf(record['grant_types']).includes('client_credentials')} />
      <ConnectionData id={id} type={type}>
        {hasOwnSecret ? <RotateSecret {...props} id={id} show={show} /> : <PreviousSecret record={record} />}
        {type === 'spa' ? <p class="hint">{say.publicClient}</p> : null}
      </ConnectionData>
      <Program key={secret} id={id} type={type ?? 'web'} secret={secret} />
    </>
  );
}

/** A secret that was just made: it is in the memory of the page until it is put away. */
function NewSecret({ secret, putAway }: { readonly secret: string; readonly putAway: () => void }) {
  const { say } = useUi();
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    section.current?.querySelector('input')?.focus();
  }, [secret]);
  return (
    <section class="panel new-secret" aria-label={say.clientSecret} ref={section}>
      <p>{say.secretOnce}</p>
      <CopyField id="client-secret" label={say.clientSecret} value={secret} />
      <button type="button" class="second" onClick={putAway}>
        {say.secretCopied}
      </button>
    </section>
  );
}

function ConnectionData(props: {
  readonly id: string;
  readonly type: AppType | undefined;
  readonly children: ComponentChildren;
}) {
  const { id, type, children } = props;
  const { say, issuer } = useUi();
  const { token, authorization, introspection, discovery } = endpointsOf(issuer);
  const signsIn = type !== 'service' && type !== 'api';
  return (
    <section class="panel" aria-labelledby="connection">
      <h3 id="connection">{say.connection}</h3>
      <div class="connection">
        <CopyField id="connection-client" label={say.clientId} value={id} />
        <CopyField id="connection-issuer" label={say.issuer} value={issuer} />
        {type === 'api' ? null : <CopyField id="connection-token" label={say.tokenEndpoint} value={token} />}
        {signsIn ? (
          <>
            <CopyField id="connection-authorize" label={say.authorizationEndpoint} value={authorization} />
            <CopyField id="connection-discovery" label={say.discovery} value={discovery} />
          </>
        ) : null}
        {type === 'api' ? (
          <CopyField id="connection-introspect" label={say.introspectionEndpoint} value={introspection} />
        ) : null}
      </div>
      {children}
    </section>
  );
}

/** Hours for which a replaced secret can stay valid. */
const OVERLAPS = [0, 1, 24, 7 * 24];

/** Gives the client its next secret by one click, and ends the previous one. */
function RotateSecret(props: OverviewProps & { readonly id: string; readonly show: (secret: string) => void }) {
  const { id, loaded, replace, show } = props;
  const { say, language } = useUi();
  const { isBusy, refusal, send } = useChange();
  const [hours, setHours] = useState(0);
  const path = apiPath`/Client/${id}`;
  const change = async (fields: JsonObject): Promise<boolean> => {
    const answer = await send({ method: 'PATCH', path, body: JSON.stringify(fields), etag: loaded.etag });
    const stored = answer && loadedFrom(answer);
    if (stored !== undefined) replace(stored);
    return stored !== undefined;
  };
  const rotate = async (): Promise<void> => {
    const secret = generatedSecret();
    const until = hours === 0 ? null : new Date(Date.now() + (hours * DAY) / 24).toISOString();
    if (await change({ secret, previous_secret_until: until })) show(secret);
  };
  const lasting = (length: number): string => {
    const [unit, value] = length < 24 ? (['hour', length] as const) : (['day', length / 24] as const);
    return say.oldStays(new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(value));
  };
  return (
    <div>
      {textOf(loaded.record, 'previous_secret_until') === '' ? null : (
        <div class="actions">
          <PreviousSecret record={loaded.record} />
          <BusyButton class="second" isBusy={isBusy} onClick={() => void change({ previous_secret_until: null })}>
            {say.endPrevious}
          </BusyButton>
        </div>
      )}
      <div class="actions">
        <BusyButton class="second" isBusy={isBusy} describedBy="rotate-hint" onClick={() => void rotate()}>
          {say.rotateSecret}
        </BusyButton>
        <select
          aria-label={say.oldSecret}
          value={hours}
          onChange={(event) => setHours(Number(event.currentTarget.value))}
        >
          {OVERLAPS.map((length) => (
            <option key={length} value={length}>
              {length === 0 ? say.oldEnds : lasting(length)}
            </option>
          ))}
        </select>
      </div>
      <p class="hint" id="rotate-hint">
        {say.rotateHint}
      </p>
      {refusal === undefined ? null : <Hindered answer={refusal} method="PATCH" path={path} />}
    </div>
  );
}

/** Says until when the secret before the present one is valid. */
function PreviousSecret({ record }: { readonly record: JsonObject }) {
  const { say, language } = useUi();
  const until = textOf(record, 'previous_secret_until');
  return until === '' ? null : <p>{say.previousUntil(timeText(until, language))}</p>;
}

/** A ready program in some languages, and for a service whose secret is known a token. */
function Program(props: { readonly id: string; readonly type: AppType; readonly secret: string | undefined }) {
  const { id, type, secret } = props;
  const { say, issuer } = useUi();
  const programs = Object.entries(programsOf(type, { issuer, client: id, secret }));
  const [chosen, setChosen] = useState(programs[0]?.[0]);
  const text = programs.find(([language]) => language === chosen)?.[1] ?? '';
  return (
    <section class="panel" aria-labelledby="program">
      <h3 id="program">{say.program}</h3>
      <CopyText label={`${say.program} (${chosen ?? ''})`} text={text}>
        <div class="views" role="group" aria-labelledby="program">
          {programs.map(([language]) => (
            <button
              key={language}
              type="button"
              class="view"
              aria-pressed={language === chosen}
              onClick={() => setChosen(language)}
            >
              {language}
            </button>
          ))}
        </div>
      </CopyText>
      {text.includes('CLIENT_SECRET') && type !== 'spa' ? <p class="hint">{say.programSecret}</p> : null}
      {type === 'service' && secret !== undefined ? <Token id={id} secret={secret} /> : null}
    </section>
  );
}

/** Gets a token as the client, which shows that everything fits. */
function Token({ id, secret }: { readonly id: string; readonly secret: string }) {
  const { say, issuer } = useUi();
  const [answer, setAnswer] = useState<TokenAnswer>();
  return (
    <>
      <button type="button" onClick={() => void tokenOf(issuer, id, secret).then(setAnswer)}>
        {say.getToken}
      </button>
      {answer === undefined ? null : answer.token === undefined ? (
        <p class="alert" role="alert">
          {answer.problem ?? say.offline}
        </p>
      ) : (
        <div role="status">
          <CopyField id="access-token" label={say.accessToken} value={answer.token} />
        </div>
      )}
    </>
  );
}

interface TokenAnswer {
  readonly token?: string;
  readonly problem?: string;
}

async function tokenOf(issuer: string, id: string, secret: string): Promise<TokenAnswer> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
  try {
    const response = await fetch(endpointsOf(issuer).token, { method: 'POST', body, cache: 'no-store' });
    const answer = parseJson(await response.text());
    const found = isObject(answer) ? answer : {};
    const token = textOf(found, 'access_token');
    return token === '' ? { problem: textOf(found, 'error_description') || textOf(found, 'error') } : { token };
  } catch {
    return {};
  }
}
