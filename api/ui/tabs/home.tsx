import { useMemo } from 'preact/hooks';
import { endpointsOf } from '../client/programs.ts';
import { apiPath } from '../connection/api-path.ts';
import { DAY, hourly, objectsOf, textOf, timeText } from '../connection/members.ts';
import { useUi, usePageTitle } from '../context.ts';
import type { Tab } from '../messages/messages.ts';
import { fragmentOf } from '../place.ts';
import { CopyField } from '../record/copy.tsx';
import { AnswerAlert } from '../record/answer-alert.tsx';
import { nextPage } from '../rows/row-source.ts';
import { unusedIn, withoutAccess } from './attention.ts';
import { usePolicyUse } from './last-use.ts';
import { useFetched } from './use-fetched.ts';

/** The first page for people with rights: what the box is, what happened, and what needs attention. */
export function Home() {
  const { say, rights } = useUi();
  usePageTitle(say.tabs.home);
  const isOfClients = rights.has('clients') && rights.has('policies');
  return (
    <div class="home">
      <h2>{say.tabs.home}</h2>
      {rights.has('audit') ? <LastDay /> : null}
      {isOfClients ? <Clients /> : null}
      <Endpoints />
    </div>
  );
}

/** What the clients and policies of the box need: the first steps in an empty one, later what is unusual. */
function Clients() {
  const { say, language } = useUi();
  const { answer } = useFetched(CLIENTS);
  const policies = useFetched(POLICIES).answer;
  const unused = unusedIn(usePolicyUse(), Date.now());
  if (answer?.kind !== 'done') return null;
  const clients = objectsOf(answer.body);
  // Of more policies than one page, one that is not read may concern a client.
  const isWhole = policies?.kind === 'done' && nextPage(POLICIES, policies.headers.get('Link')) === undefined;
  const rotating = clients.filter((client) => textOf(client, 'previous_secret_until') !== '');
  return (
    <>
      {clients.length === 0 ? <NextSteps /> : null}
      <Attention
        title={say.withoutAccess}
        tab="clients"
        ids={isWhole ? withoutAccess(clients, objectsOf(policies.body)) : []}
      />
      <Attention
        title={say.rotating}
        tab="clients"
        ids={rotating.map((client) => textOf(client, 'id'))}
        textOf={(nth) => say.previousUntil(timeText(textOf(rotating[nth] ?? {}, 'previous_secret_until'), language))}
      />
      <Attention title={say.unusedPolicies} tab="policies" ids={unused} />
    </>
  );
}

const CLIENTS = apiPath`/Client?_result=array&_count=1000&_elements=id,grant_types,active,previous_secret_until&_total=none`;
const POLICIES = apiPath`/AccessPolicy?_result=array&_count=1000&_elements=id,link,subjects&_total=none`;

/** The three steps to a token, in a box without clients. */
function NextSteps() {
  const { say, issuer } = useUi();
  const command = `curl ${endpointsOf(issuer).token} -u '<id>:<secret>' -d grant_type=client_credentials`;
  return (
    <section class="wide" aria-labelledby="steps">
      <h3 id="steps">{say.nextSteps}</h3>
      <ol>
        <li>
          <a href={fragmentOf('clients', '+')}>{say.declareClient}</a>
        </li>
        <li>
          <a href={fragmentOf('policies', '+')}>{say.givePolicy}</a>
        </li>
        <li>
          <CopyField id="first-token" label={say.getToken} value={command} />
        </li>
      </ol>
    </section>
  );
}

/** What was signed in and refused in each of the last 24 hours. */
function LastDay() {
  const { say } = useUi();
  const end = useMemo(() => Date.now(), []);
  const since = new Date(end - DAY).toISOString();
  const path = (field: string, value: string) =>
    apiPath`/AuditEvent?_result=array&_count=1000&_total=none&_elements=created_at,count&created_at=ge${since}&${field}=${value}`;
  const signedIn = useFetched(path('event', 'user.signed_in')).answer;
  const refused = useFetched(path('result', 'refused')).answer;
  const counted = (answer: typeof signedIn): readonly number[] =>
    hourly(answer?.kind === 'done' ? objectsOf(answer.body) : [], end);
  return (
    <>
      {signedIn === undefined ? null : <AnswerAlert answer={signedIn} />}
      <Count title={say.signedInToday} hours={counted(signedIn)} tone="good" />
      <Count title={say.refusedToday} hours={counted(refused)} tone="bad" />
    </>
  );
}

function Count(props: { readonly title: string; readonly hours: readonly number[]; readonly tone: 'good' | 'bad' }) {
  const { title, hours, tone } = props;
  const { say } = useUi();
  const total = hours.reduce((sum, count) => sum + count, 0);
  const most = Math.max(...hours, 1);
  return (
    <section>
      <h3>{title}</h3>
      <p class="total">{total}</p>
      <svg
        class={tone}
        viewBox="0 0 240 48"
        preserveAspectRatio="none"
        role="img"
        aria-label={say.perHour(title, hours.join(', '))}
      >
        {hours.map((count, nth) => {
          const height = count === 0 ? 1 : 3 + (45 * count) / most;
          return <rect key={nth} x={nth * 10} y={48 - height} width="8" height={height} rx="1" />;
        })}
      </svg>
    </section>
  );
}

/** Records that somebody should look at, each with a link; nothing where there are none. */
function Attention(props: {
  readonly title: string;
  readonly tab: Tab;
  readonly ids: readonly string[];
  readonly textOf?: (nth: number) => string;
}) {
  const { title, tab, ids } = props;
  if (ids.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {ids.map((id, nth) => (
          <li key={id}>
            <a href={fragmentOf(tab, id)}>{id}</a> <span class="soft">{props.textOf?.(nth)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The addresses that an app is told, each with a button that copies it. */
function Endpoints() {
  const { say, issuer } = useUi();
  const { token, authorization, introspection, userinfo, keys, discovery } = endpointsOf(issuer);
  return (
    <section class="wide" aria-labelledby="endpoints">
      <h3 id="endpoints">{say.endpoints}</h3>
      <div class="connection">
        <CopyField id="issuer" label={say.issuer} value={issuer} />
        <CopyField id="discovery" label={say.discovery} value={discovery} />
        <CopyField id="token" label={say.tokenEndpoint} value={token} />
        <CopyField id="authorization" label={say.authorizationEndpoint} value={authorization} />
        <CopyField id="introspection" label={say.introspectionEndpoint} value={introspection} />
        <CopyField id="userinfo" label={say.userinfoEndpoint} value={userinfo} />
        <CopyField id="keys" label={say.keysEndpoint} value={keys} />
      </div>
    </section>
  );
}
