import { useRef, useState } from 'preact/hooks';
import { isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import type { Answer, Faults } from '../connection/answer.ts';
import { apiPath } from '../connection/api-path.ts';
import { findUser } from '../connection/find-user.ts';
import { objectsOf, referenceText, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Messages } from '../messages/messages.ts';
import { goTo } from '../place.ts';
import { TextField, JsonField, jsonFaults } from '../record/field.tsx';
import { Hindered } from '../record/answer-alert.tsx';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head'] as const;

const PATH = apiPath`/AccessPolicy/$explain`;

interface Question {
  readonly client: string;
  readonly user: string;
  readonly app: string;
  readonly method: string;
  readonly uri: string;
  readonly body: string;
}

/** A form that asks the policies "may X do Y?", and the verdict of every candidate. */
export function PolicyQuestion() {
  const { say, request } = useUi();
  const [question, setQuestion] = useState<Question>({
    client: '',
    user: '',
    app: '',
    method: 'get',
    uri: '/users',
    body: '',
  });
  const [answer, setAnswer] = useState<Answer>();
  const [hindrance, setHindrance] = useState<Answer>();
  const [faults, setFaults] = useState<Faults>({});
  const asking = useRef<AbortController | undefined>(undefined);
  /** Drops the answer to the last question, also if it is still to come. */
  const drop = (): void => {
    asking.current?.abort();
    setAnswer(undefined);
    setHindrance(undefined);
    setFaults({});
  };
  const set = (some: Partial<Question>): void => {
    drop();
    setQuestion((last) => ({ ...last, ...some }));
  };
  const ask = async (signal: AbortSignal): Promise<void> => {
    const text = question.user.trim();
    const user = text === '' ? undefined : await findUser(text, request, signal);
    if (signal.aborted) return;
    const isUnknown = user !== undefined && user.id === undefined && user.hindrance === undefined;
    const found = {
      ...(isUnknown && { user: [say.noSuchUser(text)] }),
      ...jsonFaults('body', question.body, say, true),
    };
    setFaults(found);
    setHindrance(user?.hindrance);
    if (Object.keys(found).length > 0 || user?.hindrance !== undefined) return;
    const body = JSON.stringify(asked(question, user?.id));
    setAnswer(await request({ method: 'POST', path: PATH, body, signal }));
  };
  const submit = (): void => {
    drop();
    asking.current = new AbortController();
    // It rejects only when it was aborted.
    ask(asking.current.signal).catch(() => undefined);
  };
  return (
    <section class="detail" aria-labelledby="question">
      <h2 id="question">{say.question}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField id="client" label={say.clientId} value={question.client} set={(client) => set({ client })} />
        <TextField
          id="user"
          label={say.userId}
          value={question.user}
          set={(user) => set({ user })}
          faults={faults['user']}
        />
        <TextField id="app" label={say.app} value={question.app} set={(app) => set({ app })} hint={say.appHint} />
        <label for="method">{say.method}</label>
        <select id="method" value={question.method} onChange={(event) => set({ method: event.currentTarget.value })}>
          {METHODS.map((method) => (
            <option key={method} value={method}>
              {method.toUpperCase()}
            </option>
          ))}
        </select>
        <TextField id="uri" label={say.path} value={question.uri} set={(uri) => set({ uri })} required />
        <JsonField
          id="body"
          label={say.body}
          rows={3}
          value={question.body}
          set={(body) => set({ body })}
          faults={faults['body']}
          optional
        />
        <div class="actions">
          <button type="submit">{say.ask}</button>
        </div>
      </form>
      {hindrance === undefined ? null : <Hindered answer={hindrance} method="GET" path="/users" />}
      {answer === undefined ? null : <Verdict answer={answer} />}
    </section>
  );
}

function asked({ client, app, method, uri, body }: Question, user: number | undefined): object {
  const subject = {
    ...(client !== '' && { client }),
    ...(user !== undefined && { user }),
  };
  const sent = body.trim() === '' ? {} : { body: parseJson(body) };
  return {
    ...(app !== '' && { app }),
    ...(Object.keys(subject).length > 0 && { subject }),
    request: { 'request-method': method, uri, ...sent },
  };
}

function Verdict({ answer }: { readonly answer: Answer }) {
  const { say } = useUi();
  if (answer.kind !== 'done' || !isObject(answer.body)) return <Hindered answer={answer} method="POST" path={PATH} />;
  const policy = textOf(answer.body, 'policy');
  const candidates = objectsOf(answer.body['candidates']);
  const others = objectsOf(answer.body['would_grant']);
  const assumed = textOf(answer.body, 'assumed_client');
  return (
    <div role="status">
      <p class={policy === '' ? 'alert' : 'note'}>{policy === '' ? say.denied : say.granted(policy)}</p>
      {assumed === '' ? null : <p>{say.assumedClient(assumed)}</p>}
      {candidates.length === 0 ? (
        <p>{say.noCandidates}</p>
      ) : (
        <table>
          <caption>{say.candidates}</caption>
          <thead>
            <tr>
              <th scope="col">{say.policy}</th>
              <th scope="col">{say.engine}</th>
              <th scope="col">{say.verdict}</th>
            </tr>
          </thead>
          <tbody>
            {candidates.map((candidate) => (
              <tr key={textOf(candidate, 'policy')}>
                <td>
                  <PolicyLink id={textOf(candidate, 'policy')} />
                </td>
                <td>{textOf(candidate, 'engine')}</td>
                <td>{verdictText(candidate, say)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {others.map((other) => (
        <p key={textOf(other, 'policy')}>
          <PolicyLink id={textOf(other, 'policy')} />{' '}
          {say.wouldGrant(objectsOf(other['link']).map(referenceText).join(', '))}
        </p>
      ))}
    </div>
  );
}

function PolicyLink({ id }: { readonly id: string }) {
  return (
    <button type="button" class="link" onClick={() => goTo('policies', id)}>
      {id}
    </button>
  );
}

function verdictText(candidate: JsonObject, say: Messages): string {
  if (candidate['granted'] === true) return say.grants;
  const { lacks } = candidate;
  const wanted = isObject(lacks) ? say.lacks(textOf(lacks, 'path'), shortened(lacks['wants'])) : '';
  return [say.doesNotGrant, wanted, textOf(candidate, 'fault')].filter(Boolean).join(' ');
}

function shortened(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length > LONGEST_WANTED ? `${text.slice(0, LONGEST_WANTED)} …` : text;
}

/** Characters of what a rule wants; the whole is in the policy. */
const LONGEST_WANTED = 200;
