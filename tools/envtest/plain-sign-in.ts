import { Agent } from 'undici';
import type { KubeCredentialsSource } from '../../operator/kube/client/credentials.ts';

/** Signs in at a server that speaks HTTP without TLS, with a token that is asked for each time. */
export function plainSignIn(port: number, token: () => string = () => 'token'): KubeCredentialsSource {
  return async () => ({
    server: `http://127.0.0.1:${String(port)}`,
    headers: { Authorization: `Bearer ${token()}` },
    certificates: '',
    makePool: () => new Agent(),
  });
}
