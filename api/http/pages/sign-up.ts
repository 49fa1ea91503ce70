import { browserHash } from '../../credentials/browser-token.ts';
import { isReplaced } from '../../db/authorization/sign-in.ts';
import { inBox } from '../../db/core/transaction.ts';
import { signUpPage, waitingPage } from '../../pages/sign-in-page.ts';
import type { SignUpFaults } from '../../pages/sign-in-page.ts';
import { emailKey } from '../../users/email.ts';
import { shortestPassword } from '../../users/password-faults.ts';
import { isOpenForSignUp, registrationFaults, signUp, signUpObstacle } from '../../users/sign-in/sign-up.ts';
import type { Registration } from '../../users/sign-in/sign-up.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import { hashSharer, servicesOf } from '../throttle/hash-sharer.ts';
import { nothingHere } from '../../problem.ts';
import { send } from '../server/send.ts';
import { goOnAs, goOnSignedIn, signInWith, signedInPageOf } from './sign-in.ts';
import {
  authorizationHint,
  appRequest,
  firstCookie,
  formView,
  findSignedInUser,
  readPageForm,
} from './page-request.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { pageAnswer, refusedWith } from './send.ts';
import type { PageExchange, PageRequest } from './page-request.ts';

/** `GET /auth/signup`: asks for email and password of a new account; 404 if users cannot register themselves. */
export function signUpPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await appRequest(context, request, response);
    demandOpen(here);
    const hint = await authorizationHint(context, here);
    if (hint === 'untrusted') throw refusedWith('untrusted', response);
    const signedInUser = hint === undefined ? await findSignedInUser(context, here) : undefined;
    const page =
      signedInUser === undefined
        ? signUpPage({ ...signUpView(here), app: hint?.app, email: hint?.email ?? '', faults: {} })
        : await signedInPageOf(context, here, signedInUser);
    send(response, pageAnswer(page, { headers: firstCookie(here), leaves: hint !== undefined }), context.onAnswer);
  };
}

/**
 * `POST /auth/signup`: registers a user and signs them in, unless an admin must approve first. The answer reveals that
 * an email is taken (no mail is sent that could tell only its owner), so attempts are counted for each address.
 */
export function signUpEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const early = await appRequest(context, request, response);
    demandOpen(early);
    const { form, signedInSince } = await readPageForm(context, early, request);
    // The form may have taken as long as its sender liked.
    const here = await appRequest(context, request, response);
    demandOpen(here);
    const exchange = { context, here, request, response };
    const { box, browser, language } = here;
    const registration = { email: (form.get('email') ?? '').trim(), password: form.get('password') ?? '' };
    if (signedInSince !== undefined) {
      if (!goOnAs(signedInSince, registration.email, exchange)) await showAgain(exchange, registration, {});
      return;
    }
    const faults = await registrationFaults(registration, box.state.settings);
    const { remoteAddr, requestId } = requestContextOf(response);
    const counted = [box.state.box, '', remoteAddr] as const;
    if (faults !== undefined) {
      // A taken email is reported together with the faults of the password, and counts like any other attempt.
      const obstacle = (): ReturnType<typeof signUpObstacle> =>
        signUpObstacle(context.oauth, box.state.box, registration.email);
      const email = faults.email ?? (await countAttempt(context.throttle.signUps, counted, obstacle));
      await showAgain(exchange, registration, { ...faults, email });
      return;
    }
    const sharer = hashSharer(context.throttle, box.state.box, remoteAddr);
    const outcome = await countAttempt(context.throttle.signUps, counted, () =>
      signUp(servicesOf(context.oauth, sharer, { remoteAddr, requestId }), box.state.box, registration, browser.token),
    );
    if (
      outcome === 'taken' &&
      (await isSentTwice(exchange, registration)) &&
      (await signInWith(exchange, registration))
    ) {
      return;
    }
    if (outcome === 'taken' || outcome === 'full') {
      await showAgain(exchange, registration, { email: outcome });
    } else if (typeof outcome === 'object' && 'faults' in outcome) {
      await showAgain(exchange, registration, outcome.faults);
    } else if (outcome === 'waiting') {
      send(response, pageAnswer(waitingPage(language, box.look)), context.onAnswer);
    } else {
      const account = { user: outcome.user, networks: {} };
      await context.passwordLimits.networks.add(box.state.box, account, remoteAddr);
      goOnSignedIn(exchange, outcome);
    }
  };
}

function demandOpen({ box }: PageRequest): void {
  if (!isOpenForSignUp(box.state.settings)) throw nothingHere();
}

/** Milliseconds in which a form whose button is pressed twice is answered like the first one. */
const twiceTime = 10 * 60_000;

/** Checks whether a form has just registered its user and signed in the browser, which did not get that answer. */
function isSentTwice({ context: { oauth }, here }: PageExchange, { email }: Registration): Promise<boolean> {
  const { box } = here.box.state;
  const browser = browserHash(here.browser.token);
  const replaced = { browser, emailKey: emailKey(email) ?? '', since: oauth.now() - twiceTime };
  return inBox(oauth.pool, box, 'snapshot', (connection) => isReplaced(connection, box, replaced));
}

/** Shows the form with what was typed, and its faults. */
async function showAgain(
  { context, here, response }: PageExchange,
  { email }: Registration,
  faults: SignUpFaults,
): Promise<void> {
  const hint = await authorizationHint(context, here);
  const app = hint === 'untrusted' ? undefined : hint?.app;
  const page = signUpPage({ ...signUpView(here), app, email, faults });
  send(
    response,
    pageAnswer(page, { status: Object.keys(faults).length === 0 ? 200 : 422, leaves: hint !== undefined }),
    context.onAnswer,
  );
}

function signUpView(here: PageRequest) {
  const { box, query } = here;
  const { settings } = box.state;
  return {
    ...formView(here),
    domains: settings.registration?.allowed_email_domains,
    shortestPassword: shortestPassword(settings),
    signInAddress: `${box.issuer}/auth/signin${query}`,
  };
}
