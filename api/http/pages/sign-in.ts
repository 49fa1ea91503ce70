import { signInPage } from '../../pages/sign-in-page.ts';
import type { Page } from '../../pages/page.ts';
import { signedInPage } from '../../pages/signed-in-page.ts';
import { demandsSignIn, afterSignIn } from '../../oauth/authorization/request/prompt.ts';
import { isOpenForSignUp } from '../../users/sign-in/sign-up.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { refusing, requestContextOf } from '../request/request-context.ts';
import { send } from '../server/send.ts';
import { hasAdministrator } from '../../db/group.ts';
import { inBox } from '../../db/core/transaction.ts';
import {
  authorizationHint,
  appRequest,
  firstCookie,
  formView,
  findSignedInUser,
  signOutAddress,
  readPageForm,
  hasRequest,
} from './page-request.ts';
import { pageAnswer, refusedWith, sendOn } from './send.ts';
import { deviceTokenOf, setCookie, setDeviceCookie } from '../cookies/cookie.ts';
import type { PageExchange, PageRequest, PageBox } from './page-request.ts';
import { signIn } from '../../users/sign-in/sign-in.ts';
import type { SignInAttempt } from '../../users/sign-in/sign-in.ts';
import type { SignedIn } from '../../users/sign-in/begin-sign-in.ts';
import { throttlePassword } from '../throttle/password-guess.ts';
import type { Guess } from '../throttle/password-guess.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import { emailKey } from '../../users/email.ts';

/** `GET /auth/signin`: asks for email and password, or shows the signed-in user. */
export function signInPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await appRequest(context, request, response);
    const hint = here.box.isClosed ? 'closed' : await authorizationHint(context, here);
    if (hint === 'untrusted' || hint === 'closed') throw refusedWith(hint, response);
    const signedInUser = await findSignedInUser(context, here);
    if (hint !== undefined && signedInUser !== undefined) {
      const isDemanded = hint.prompt && demandsSignIn(hint.prompt, signedInUser.createdAt, context.oauth.now());
      if (isDemanded !== true) {
        goOn({ context, here, response });
        return;
      }
    }
    const page =
      signedInUser === undefined || hint !== undefined
        ? signInPage({ ...signInView(here), app: hint?.app, email: hint?.email ?? '', failed: false })
        : await signedInPageOf(context, here, signedInUser);
    send(response, pageAnswer(page, { headers: firstCookie(here), leaves: hint !== undefined }), context.onAnswer);
  };
}

/**
 * `POST /auth/signin`: gives the same answer for a wrong password and a missing account. A sign-in sets
 * a new cookie.
 */
export function signInEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await appRequest(context, request, response);
    const { box } = here;
    if (box.isClosed) throw refusedWith('closed', response);
    const { form, signedInSince } = await readPageForm(context, here, request);
    const [email, password] = [(form.get('email') ?? '').trim(), form.get('password') ?? ''];
    const exchange = { context, here, request, response };
    const isDone =
      signedInSince === undefined
        ? await signInWith(exchange, { email, password })
        : goOnAs(signedInSince, email, exchange);
    if (isDone) return;
    const hint = await authorizationHint(context, here);
    const app = hint === 'untrusted' ? undefined : hint?.app;
    const page = signInPage({ ...signInView(here), app, email, failed: signedInSince === undefined });
    send(response, pageAnswer(page, { leaves: hint !== undefined }), context.onAnswer);
  };
}

/** Signs the browser in and redirects it, unless the email or password is wrong; returns whether it did. */
export async function signInWith(
  exchange: PageExchange,
  typed: { readonly email: string; readonly password: string },
): Promise<boolean> {
  const { context, here, request, response } = exchange;
  const { box, browser } = here;
  const requestContext = requestContextOf(response);
  const { remoteAddr, requestId } = requestContext;
  const onRefused = refusing(requestContext);
  const visitor = { address: remoteAddr, onRefused, device: deviceTokenOf(request, box.state.box, box.issuer) };
  const signedIn = await guessPassword(context, box, { ...typed, browser: browser.token }, visitor);
  if (signedIn === undefined) return false;
  const { id } = signedIn.user;
  const origin = { user: id, remoteAddr, requestId };
  const note = (event: 'user.signed_in' | 'user.signed_out', user: number): void => {
    context.oauth.countedEvents.note({ box: box.state.box, event, target: `User/${String(user)}`, origin });
  };
  for (const user of signedIn.signedOut) note('user.signed_out', user);
  note('user.signed_in', id);
  goOnSignedIn(exchange, signedIn);
  return true;
}

/** Returns the page that shows the signed-in user. Throws Outage. */
export async function signedInPageOf(context: ApiContext, here: PageRequest, { person }: SignIn): Promise<Page> {
  const { box } = here.box.state;
  const isAdministrator = await inBox(context.oauth.pool, box, 'snapshot', (connection) =>
    hasAdministrator(connection, box, person.id),
  );
  const view = { ...formView(here), email: person.email, signOutAddress: signOutAddress(here.box) };
  return signedInPage(view, isAdministrator);
}

function signInView(here: PageRequest) {
  const { box, query } = here;
  const signUpAddress = isOpenForSignUp(box.state.settings) ? `${box.issuer}/auth/signup${query}` : undefined;
  return { ...formView(here), signUpAddress };
}

/** The origin of a password. */
interface Visitor {
  readonly address: string;
  readonly onRefused: Guess['onRefused'];
  /** The browser's device token; '' for none. */
  readonly device: string;
}

/** Signs a user in, unless too many passwords failed. Throws Problem `throttled`, Outage. */
function guessPassword(
  context: ApiContext,
  { state }: PageBox,
  attempt: SignInAttempt,
  { address, onRefused, device }: Visitor,
): Promise<SignedIn | undefined> {
  const { box } = state;
  const guess = { box, email: attempt.email, address, onRefused, proof: proofOf(context, box, device) };
  return throttlePassword(context.passwordLimits, guess, (admit) => signIn(context.oauth, state, attempt, admit));
}

/** Returns the check of a browser's proof; undefined for a browser without a device token. */
function proofOf({ deviceTokens }: ApiContext, box: string, device: string): Guess['proof'] {
  if (device === '') return undefined;
  return ({ id, password }) => {
    const found = deviceTokens.find(device, { box, user: id, password });
    return found === undefined ? undefined : `device:${found}`;
  };
}

/** Sends a browser that has just signed in its new cookies, and redirects it to its original target. */
export function goOnSignedIn(
  { context, here, request, response }: PageExchange,
  { browser, lifetime, user }: SignedIn,
): void {
  const { onAnswer, deviceTokens } = context;
  const { box, query } = here;
  const [id, issuer] = [box.state.box, box.issuer];
  const account = { box: id, user: user.id, password: user.password };
  const device = deviceTokens.add(deviceTokenOf(request, id, issuer), account);
  const cookies = [setCookie(id, issuer, browser, lifetime), setDeviceCookie(id, issuer, device)];
  const next = hasRequest(query) ? `/auth/authorize?${afterSignIn(query.slice(1))}` : '/auth/signin';
  sendOn(response, issuer + next, onAnswer, { 'Set-Cookie': cookies });
}

/**
 * Redirects a browser to its original target if the account of an email is the one that is signed in to already;
 * returns whether it is. Never goes on as another account than the one that was typed.
 */
export function goOnAs({ person }: SignIn, email: string, exchange: Omit<PageExchange, 'request'>): boolean {
  if (emailKey(email) !== emailKey(person.email)) return false;
  goOn(exchange);
  return true;
}

/** Redirects a browser whose user is signed in to the app's request, which demands a new sign-in if it needs one. */
function goOn({ context, here: { box, query }, response }: Omit<PageExchange, 'request'>): void {
  sendOn(response, box.issuer + (hasRequest(query) ? `/auth/authorize${query}` : '/auth/signin'), context.onAnswer);
}
