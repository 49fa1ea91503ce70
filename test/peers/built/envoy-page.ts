import { replaced } from '../../support/page-block.ts';
import { withoutTokenLine } from '../gateway-stories.ts';
import type { GatewayPage } from '../gateway-stories.ts';

/** The section about Envoy. */
export const envoyPage: GatewayPage = {
  guide: 'gateways-envoy',
  heading: 'Envoy',
  language: 'yaml',
  configure: (block, app, boxgate) =>
    replaced(block, {
      'address: 0.0.0.0, port_value: 8080': 'address: 127.0.0.1, port_value: PORT',
      'address: boxgate-api.boxgate-system.svc, port_value: 80': addressOf(boxgate),
      'address: orders.shop.svc, port_value: 8080': addressOf(app),
    }),
  told: ['x-auth-client', 'x-auth-policy', 'x-auth-scope', 'x-auth-session', 'x-auth-user'],
  // Envoy does not show the box the headers of other dialects.
  forged: [403, 403, 403],
  resolved: '/orders/7?x=1',
  // Envoy redirects to the path without escapes, and asks about that one.
  escaped: 307,
  withToken: withoutTokenLine,
  down: 503,
};

function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `address: ${hostname}, port_value: ${port}`;
}
