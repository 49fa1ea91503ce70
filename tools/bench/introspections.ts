import type { Boxgate } from './boxgate.ts';
import { formRequest, type Credentials } from './load/requests.ts';

/** Issues so many tokens of a client, and returns a request for the introspection of each by the client itself. */
export async function introspections(boxgate: Boxgate, client: Credentials, count: number): Promise<string[]> {
  const tokens = await boxgate.issue(client, count);
  return tokens.map((token) => formRequest(boxgate.path('/auth/introspect'), { token }, client));
}
