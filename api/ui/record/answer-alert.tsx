import type { Answer } from '../connection/answer.ts';
import { faultsIn } from '../connection/answer.ts';
import { useUi } from '../context.ts';
import type { Messages } from '../messages/messages.ts';
import { missingPolicy } from './missing-policy.ts';

/** Explains in place why a request did not succeed, with a button to repeat it where `retry` is given. */
export function AnswerAlert({ answer, retry }: { readonly answer: Answer; readonly retry?: () => void }) {
  const { say } = useUi();
  if (answer.kind === 'done') return null;
  return (
    <div class="alert" role="alert">
      <p>{sentenceOf(answer, say)}</p>
      {retry === undefined ? null : (
        <button type="button" class="second" onClick={retry}>
          {say.tryAgain}
        </button>
      )}
    </div>
  );
}

function sentenceOf(answer: Exclude<Answer, { kind: 'done' }>, say: Messages): string {
  switch (answer.kind) {
    case 'offline':
      return say.offline;
    case 'unavailable':
      return say.unavailable(answer.seconds);
    case 'signed-out':
      // The bar above all tabs says how to go on.
      return say.signedOutHere;
    case 'refused':
      if (answer.status === 404) return say.gone;
      return Object.values(faultsIn(answer.body)).flat().join(' ') || say.unreadable(answer.status);
    case 'other-user':
      return say.otherUserHere;
    case 'unreadable':
      return say.unreadable(answer.status);
  }
}

/** Explains in place why a request that needs a policy did not succeed: the missing right, or another reason. */
export function Hindered(props: {
  readonly answer: Answer;
  readonly method: string;
  readonly path: string;
  readonly retry?: () => void;
}) {
  const { answer, method, path, retry } = props;
  if (answer.kind === 'refused' && answer.status === 403) return <MissingRight method={method} path={path} />;
  return <AnswerAlert answer={answer} {...(retry && { retry })} />;
}

/** Names the missing right, and shows a policy that grants it. */
function MissingRight({ method, path }: { readonly method: string; readonly path: string }) {
  const { say, box, user } = useUi();
  return (
    <div class="alert" role="alert">
      <p>{say.noRight(method, path)}</p>
      <p>{say.noRightRemedy}</p>
      <pre tabIndex={0} aria-label={say.policy}>
        {missingPolicy({ method, path, box, user })}
      </pre>
    </div>
  );
}
