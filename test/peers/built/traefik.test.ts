import { parse, stringify } from 'yaml';
import { isObject } from '../../../crds/json-value.ts';
import { obtainTraefik } from '../../../tools/needs/traefik.ts';
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
    told: ['x-auth-client', 'x-auth-policy', 'x-auth-session'],
    // Traefik forwards the headers of nginx's dialect, which then tell another request than its own.
    forged: [400, 400, 403],
    resolved: '/orders/7?x=1',
    down: 500,
  });
});

/** Returns the file of Traefik's provider `file` that sends every request to an app through a Middleware. */
function routesBehind(middleware: string, app: string): string {
  const resource: unknown = parse(middleware);
  if (!isObject(resource)) throw new TypeError(middleware);
  return stringify({
    http: {
      // The fields of the custom resource are those of the file.
      middlewares: { boxgate: resource['spec'] },
      routers: { orders: { rule: 'PathPrefix(`/`)', service: 'orders', middlewares: ['boxgate'] } },
      services: { orders: { loadBalancer: { servers: [{ url: app }] } } },
    },
  });
}
