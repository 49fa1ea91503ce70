import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startTlsProxy } from '../browser/tls-proxy.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { localhostCertificate } from '../support/localhost-certificate.ts';
import { ownPort } from '../support/own-port.ts';
import { portOf } from '../../program/environment.ts';
import { declareAdmin } from './box-admin.ts';
import type { AdminCall } from './box-admin.ts';

/**
 * The box `default` on https, as software of others finds it. This process trusts its certificate until it is closed.
 */
export interface HttpsBox {
  readonly api: TestApi;
  /** `https://localhost:<port>/boxes/default`. */
  readonly issuer: string;
  /** Certificate of its authority, in PEM. */
  readonly ca: string;
  /** The key of that certificate, with which another program can serve on `localhost`. */
  readonly key: string;
  readonly admin: AdminCall;
  /** ID of {@link ann}, whom the administrator has created. */
  readonly user: string;
  /** Serves an app on https until the box is closed. Returns its URL, without a slash at the end. */
  serve(createApp: (url: string) => RequestListener): Promise<string>;
  close(): Promise<void>;
}

/** Credentials of the user of every box. */
export const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };

/** Starts a box for a suite and closes it after its tests. */
export function withHttpsBox(take: (box: HttpsBox) => void): void {
  let close: (() => Promise<void>) | undefined;
  before(async () => {
    const box = await startHttpsBox();
    close = () => box.close();
    take(box);
  });
  after(() => close?.());
}

async function startHttpsBox(): Promise<HttpsBox> {
  const certificate = localhostCertificate();
  const trusted = getCACertificates('default');
  // The same as NODE_EXTRA_CA_CERTS, which is read only when a process starts.
  setDefaultCACertificates([...trusted, certificate.cert]);
  const port = String(await ownPort());
  const proxy = await startTlsProxy(`http://127.0.0.1:${port}`, certificate);
  const environment = { BOXGATE_PORT: port, BOXGATE_PUBLIC_URL: proxy.url, BOXGATE_TRUSTED_PROXIES: '127.0.0.1' };
  const api = await startApi({ environment });
  await api.declare('default', [{ kind: 'Box', id: 'default' }]);
  const issuer = `${proxy.url}/boxes/default`;
  const admin = await declareAdmin(api, issuer);
  const { id } = await admin('POST', '/users', ann);
  const apps: Server[] = [];
  return {
    api,
    issuer,
    ca: certificate.cert,
    key: certificate.key,
    admin,
    user: String(id),
    async serve(createApp) {
      const server = createServer({ ...certificate });
      apps.push(server);
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `https://localhost:${String(portOf(server))}`;
      server.on('request', createApp(url));
      return url;
    },
    async close() {
      for (const app of apps) {
        app.closeAllConnections();
        app.close();
      }
      await proxy.close();
      await api.stop();
      setDefaultCACertificates(trusted);
    },
  };
}
