import type { Answer } from '../connection/answer.ts';
import { useUi } from '../context.ts';
import { AnswerAlert } from './answer-alert.tsx';
import { missingPolicy } from './missing-policy.ts';

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
