import { readFile } from 'node:fs/promises';

const { BOX_URL, CLIENT_ID, SERVICE_ACCOUNT_TOKEN } = process.env;

/**
 * Exchanges the pod's ServiceAccount token for a token of the box (RFC 7523 §2.2). The file is read each time: the
 * kubelet replaces the token long before it expires.
 */
async function accessToken() {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: CLIENT_ID,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await readFile(SERVICE_ACCOUNT_TOKEN, 'utf8'),
  });
  const response = await fetch(`${BOX_URL}/auth/token`, { method: 'POST', body });
  const answer = await response.json();
  if (!response.ok) throw new Error(`no token: ${answer.error}: ${answer.error_description}`);
  return answer.access_token;
}

const token = await accessToken();
const response = await fetch(`${BOX_URL}/Session`, { headers: { Authorization: `Bearer ${token}` } });
console.log(`GET /Session ${response.status}`);
