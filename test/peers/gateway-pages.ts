import { replaced } from '../support/page-block.ts';
import { withoutTokenLine } from './gateway-stories.ts';
import type { GatewayPage } from './gateway-stories.ts';

/** The section about nginx. */
export const nginxPage: GatewayPage = {
  heading: 'nginx',
  language: 'nginx',
  configure: (block, app, boxgate) =>
    replaced(block, {
      'proxy_pass       http://orders.shop.svc:8080/;': `proxy_pass ${app}/;`,
      'http://boxgate.shop.svc/': `${boxgate}/`,
    }),
  told: ['x-auth-client', 'x-auth-scope', 'x-auth-user'],
  withToken: withoutTokenLine,
  // The page removes the headers of other dialects.
  forged: [403, 403, 403],
  resolved: '/orders/7?x=1',
  down: 500,
};

/** The section about Caddy. */
export const caddyPage: GatewayPage = {
  heading: 'Caddy',
  language: '',
  configure: (block, app, boxgate) =>
    replaced(block, {
      'orders.example {': 'http://orders.example:PORT {',
      'forward_auth boxgate.shop.svc:80': `forward_auth ${boxgate}`,
      'reverse_proxy orders.shop.svc:8080': `reverse_proxy ${app}`,
    }),
  keepQuery: (configuration) => configuration.replace('/auth/check?', '/auth/check'),
  told: ['x-auth-client', 'x-auth-scope', 'x-auth-user'],
  withToken: withoutTokenLine,
  // Caddy forwards the headers of nginx's dialect, which then tell another request than its own.
  forged: [400, 400, 403],
  resolved: undefined,
  down: 502,
};
