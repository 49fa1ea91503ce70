import { parse, stringify } from 'yaml';
import { isObject } from '../../../crds/path.ts';
import { obtainTraefik } from './obtain-traefik.ts';
import { replaced } from '../../support/page-block.ts';
import { describeGateway } from '../gateway-stories.ts';

describe('Traefik itself', () => {
  before(async function () {
    this.timeout(0);
    await obtainTraefik(process.env, (line) => process.stderr.write(`${line}\n`));
  });

  describeGateway('traefik', {
    heading: 'Traefik',
    language: 'yaml',
    // Traefik sends the host of the address, so the box is told by the path.
    configure: (block, app, boxgate) =>
      routesBehind(replaced(block, { 'http://boxgate.shop.svc': `${boxgate}/boxes/shop` }), app),
    told: ['x-auth-client', 'x-auth-policy', 'x-auth-scope', 'x-auth-session', 'x-auth-user'],
    // The pinned version has no aliasHeadersStrategy yet; the page says from which one it is there.
    keepsSpellings: true,
    // Traefik forwards the headers of nginx's dialect, which then tell another request than its own.
    forged: [400, 400, 403],
    resolved: '/orders/7?x=1',
    down: 500,
  });
});

/** Returns the file of Traefik's provider `file` that sends every request to an app through two Middlewares. */
function routesBehind(middlewares: string, app: string): string {
  const [boxgate, noToken] = middlewares.split('---\n').map((middleware): unknown => {
    const resource: unknown = parse(middleware);
    return resource;
  });
  if (!isObject(boxgate) || !isObject(noToken)) throw new TypeError(middlewares);
  return stringify({
    http: {
      // The fields of the custom resource are those of the file.
      middlewares: { boxgate: boxgate['spec'], 'no-token': noToken['spec'] },
      routers: { orders: { rule: 'PathPrefix(`/`)', service: 'orders', middlewares: ['boxgate', 'no-token'] } },
      services: { orders: { loadBalancer: { servers: [{ url: app }] } } },
    },
  });
}
