import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { createConnection } from './connection.ts';
import type { Interruption } from './connection.ts';
import type { SignIn } from './connection/sign-in.ts';
import { UiContext } from './context.ts';
import type { Notice, Ui } from './context.ts';
import type { KeptText } from './record/loaded.ts';
import type { Messages } from './messages/messages.ts';
import { InterruptionBar, NoticeBar } from './bars.tsx';
import { Frame } from './frame.tsx';
import { leaveToSignIn, readUser } from './start.ts';
import type { SignedInUser, UiPage } from './start.ts';

/** Properties of {@link App}. */
interface AppProps {
  readonly page: UiPage;
  readonly say: Messages;
  readonly language: string;
  /** True if the sign-in page has just led back: it is not opened again by itself. */
  readonly isBack: boolean;
}

/** The admin UI: it signs in, then shows the tabs. */
export function App({ page, say, language, isBack }: AppProps) {
  const { issuer, box, name, folder } = page;
  const [user, setUser] = useState<SignedInUser>();
  const [result, setResult] = useState<SignIn>();
  const [interruption, setInterruption] = useState<Interruption>();
  const [notice, setNotice] = useState<Notice>();
  const drafts = useRef(new Map<string, KeptText>()).current;
  const secrets = useRef(new Map<string, string>()).current;
  const connection = useMemo(() => createConnection(issuer, setInterruption), [issuer]);

  async function start(): Promise<void> {
    const signIn = await connection.signIn();
    if (signIn.kind === 'signed-out' && user === undefined && !isBack) {
      await leaveToSignIn(issuer);
      return;
    }
    setResult(signIn);
    if (signIn.kind === 'other-user') setInterruption('other-user');
    if (signIn.kind !== 'signed-in') return;
    setUser(await readUser(connection, signIn.subject));
    setInterruption(undefined);
  }

  useEffect(() => {
    void start();
    const leave = (): void => void connection.close();
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('pagehide', leave);
    };
  }, [connection]);
  useWarning(drafts);

  const ui = useMemo<Ui>(
    () => ({
      say,
      language,
      box,
      name,
      issuer,
      folder,
      user: user?.id ?? '',
      email: user?.email ?? '',
      rights: user?.rights ?? new Set(),
      request: connection.request,
      notify: setNotice,
      drafts,
      secrets,
    }),
    [connection, user, language],
  );
  if (user === undefined) return <Entrance page={page} say={say} result={result} retry={() => void start()} />;
  return (
    <UiContext.Provider value={ui}>
      <Frame signOut={() => void signOut()}>
        {interruption === undefined ? null : <InterruptionBar reason={interruption} renew={() => void start()} />}
        <NoticeBar notice={notice} close={() => setNotice(undefined)} />
      </Frame>
    </UiContext.Provider>
  );

  async function signOut(): Promise<void> {
    await connection.close();
    location.assign(`${issuer}/auth/signout`);
  }
}

/** Asks before a page is left that has text which is not saved. */
function useWarning(drafts: ReadonlyMap<string, unknown>): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      if (drafts.size > 0) event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => {
      removeEventListener('beforeunload', warn);
    };
  }, [drafts]);
}

/** The page before somebody is signed in. */
function Entrance(props: {
  readonly page: UiPage;
  readonly say: Messages;
  readonly result: SignIn | undefined;
  readonly retry: () => void;
}) {
  const { page, say, result, retry } = props;
  const seconds = result?.kind === 'unavailable' ? (result.seconds ?? 0) : 0;
  useEffect(() => {
    if (seconds === 0) return undefined;
    const timer = setTimeout(retry, seconds * 1_000);
    return () => {
      clearTimeout(timer);
    };
  }, [result]);
  return (
    <main class="alone">
      <h1>
        {say.administration} · {page.name}
      </h1>
      {result === undefined || result.kind === 'signed-in' ? (
        <p>{say.loading}</p>
      ) : (
        <>
          <p role="alert">{sentenceOf(result, say)}</p>
          {result.kind === 'signed-out' ? (
            <button type="button" onClick={() => void leaveToSignIn(page.issuer)}>
              {say.signIn}
            </button>
          ) : (
            <button type="button" onClick={retry}>
              {say.tryAgain}
            </button>
          )}
        </>
      )}
    </main>
  );
}

function sentenceOf(result: Exclude<SignIn, { kind: 'signed-in' }>, say: Messages): string {
  switch (result.kind) {
    case 'signed-out':
      return say.signedOutHere;
    case 'other-user':
      return say.otherUserHere;
    case 'offline':
      return say.offline;
    case 'unavailable':
      return say.unavailable(result.seconds);
    case 'refused':
      return say.signInRefused(result.reason);
    case 'insecure':
      return say.insecure;
  }
}
