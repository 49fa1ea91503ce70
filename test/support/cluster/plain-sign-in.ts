import { ClusterConfig } from '../../../operator/kube/client/cluster-config.ts';

/** Signs in at a server that speaks HTTP without TLS, with a token that is asked for now. */
export function plainSignIn(port: number, token: () => string = () => 'token'): ClusterConfig {
  const config = new ClusterConfig();
  config.loadFromClusterAndUser(
    { name: 'plain', server: `http://127.0.0.1:${String(port)}`, skipTLSVerify: true },
    { name: 'user', token: token() },
  );
  return config;
}
