import { formToken, newBrowserToken } from '../../../api/credentials/browser-token.ts';
import { createUiFiles } from '../../../api/http/ui/ui-files.ts';
import { cookieRequest, formRequest } from '../load/requests.ts';
import type { RouteRow } from './row.ts';
import { authorization, PASSWORD } from '../people.ts';
import { emailOf } from '../stored-users.ts';
import { PEOPLE, type RouteWorld } from './world.ts';

/** Rows of the pages for people. Where argon2 hashes a password, its rate is that of argon2. */
export const pageRows: readonly RouteRow[] = [
  page('GET /', 303),
  {
    route: 'GET /auth/authorize',
    status: 302,
    requests: ({ boxgate, clients, signedIn: [{ cookie }] }) => [
      cookieRequest(boxgate.path(`/auth/authorize?${authorization(clients.app.id, 'token')}`), cookie),
    ],
  },
  {
    route: 'POST /auth/authorize',
    status: 303,
    requests: ({ boxgate, clients, signedIn: [{ cookie }] }) => {
      const fields = Object.fromEntries(new URLSearchParams(authorization(clients.app.id, 'token')));
      return [formRequest(boxgate.path('/auth/authorize'), fields, undefined, cookie)];
    },
  },
  page('GET /auth/signin'),
  {
    route: 'POST /auth/signin',
    status: 303,
    requests: (world) =>
      Array.from({ length: PEOPLE }, (_, nth) =>
        ofStranger(world, '/auth/signin', { email: emailOf(nth + 1), password: PASSWORD }),
      ),
  },
  page('GET /auth/signup'),
  {
    // An address can have no more accounts an hour.
    route: 'POST /auth/signup',
    status: 303,
    isOnce: true,
    requests: (world) =>
      Array.from({ length: 20 }, (_, nth) =>
        ofStranger(world, '/auth/signup', { email: `new-${nth}@shop.example`, password: PASSWORD }),
      ),
  },
  {
    route: 'GET /auth/consent',
    async requests(world) {
      const asked = await world.consents();
      return asked.map(({ id, by }) => cookieRequest(world.boxgate.path(`/auth/consent?id=${id}`), by.cookie));
    },
  },
  {
    route: 'POST /auth/consent',
    status: 302,
    isOnce: true,
    async requests(world) {
      const asked = await world.consents();
      const path = world.boxgate.path('/auth/consent');
      return asked.map(({ id, by }) => {
        const fields = { form_token: formToken(by.browserToken), id, answer: 'deny' };
        return formRequest(path, fields, undefined, by.cookie);
      });
    },
  },
  page('GET /auth/signout'),
  {
    route: 'POST /auth/signout',
    requests: (world) => [ofStranger(world, '/auth/signout', {})],
  },
  page('GET /auth/logout'),
  {
    route: 'POST /auth/logout',
    requests: (world) => [ofStranger(world, '/auth/logout', { state: 'x' })],
  },
  page('GET /ui', 303),
  page('GET /ui/'),
  {
    route: 'GET /ui/:file',
    async requests({ boxgate }) {
      const { script } = await createUiFiles()();
      return [cookieRequest(boxgate.path(`/ui/${script}`), 'none=none')];
    },
  },
];

/** A page as a browser asks for it in which nobody is signed in. */
function page(route: string, status = 200): RouteRow {
  const [, path = ''] = route.split(' ');
  return {
    route,
    status,
    requests: ({ boxgate }) => [cookieRequest(boxgate.path(path), strangersCookie(boxgate.box))],
  };
}

const stranger = newBrowserToken();

function strangersCookie(box: string): string {
  return `boxgate-${box}=${stranger}`;
}

/** A form that such a browser sends. */
function ofStranger({ boxgate }: RouteWorld, path: string, fields: Record<string, string>): string {
  const sent = { form_token: formToken(stranger), ...fields };
  return formRequest(boxgate.path(path), sent, undefined, strangersCookie(boxgate.box));
}
