import { useMemo } from 'preact/hooks';
import { endpointsOf } from '../client/programs.ts';
import { apiPath } from '../connection/api-path.ts';
import { DAY, hourly, objectsOf } from '../connection/members.ts';
import { useUi, usePageTitle } from '../context.ts';
import { fragmentOf } from '../place.ts';
import { CopyField } from '../record/copy.tsx';
import { AnswerAlert } from '../record/answer-alert.tsx';
import { usePolicyUse } from './policy-use.ts';
import { unusedIn } from './unused-policies.ts';
import { useFetched } from './use-fetched.ts';

/** The first page for people with rights: what the box is, what happened, and what needs attention. */
export function Home() {
  const { say, rights } = useUi();
  usePageTitle(say.tabs.home);
  const isOfClients = rights.has('clients') && rights.has('policies');
  return (
    <div class="home">
      <h2>{say.tabs.home}</h2>
      {isOfClients ? <NextSteps /> : null}
      {rights.has('audit') ? <LastDay /> : null}
      {isOfClients ? <UnusedPolicies /> : null}
      <Endpoints />
    </div>
  );
}

/** The three steps to a token, in a box without clients. */
function NextSteps() {
  const { say, issuer } = useUi();
  const { answer } = useFetched(apiPath`/Client?_result=array&_count=1&_elements=id&_total=none`);
  if (answer?.kind !== 'done' || objectsOf(answer.body).length > 0) return null;
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

/** Policies that granted nothing for 90 days. */
function UnusedPolicies() {
  const { say } = useUi();
  const unused = unusedIn(usePolicyUse(), Date.now());
  if (unused.length === 0) return null;
  return (
    <section class="wide" aria-labelledby="unused">
      <h3 id="unused">{say.unusedPolicies}</h3>
      <ul>
        {unused.map((id) => (
          <li key={id}>
            <a href={fragmentOf('policies', id)}>{id}</a>
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
