import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import { createServer, get } from 'node:https';
import { certificateStep } from '../../../operator/keys/rotation.ts';
import { authoritiesOf, createCertificate, type ServiceCertificate } from '../../../operator/keys/certificate.ts';
import { portOf } from '../../../program/environment.ts';

const names = ['boxgate-management.boxes.svc', 'boxgate-management'];
const now = Date.now();

/** Returns the status of a request over TLS that trusts `ca` only, or the code of its error. */
async function statusOver(shown: Pick<ServiceCertificate, 'certificate' | 'key'>, ca: string, servername: string) {
  const server = createServer({ cert: shown.certificate, key: shown.key }, (_request, response) => response.end('ok'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await new Promise((resolve) => {
      const request = get({ host: '127.0.0.1', port: portOf(server), ca, servername, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', (error) => resolve('code' in error ? error.code : error.message));
    });
  } finally {
    server.close();
  }
}

describe('the certificate of the management port', () => {
  let first: ServiceCertificate;
  let second: ServiceCertificate;
  before(async () => {
    first = await createCertificate(names, now);
    second = await createCertificate(names, now);
  });

  it('is accepted for each of its names by whoever trusts its authority', async () => {
    for (const name of names) expect(await statusOver(first, first.authority, name)).to.equal(200);
  });

  it('is refused for another name, and by whoever trusts another authority', async () => {
    expect(await statusOver(first, first.authority, 'boxgate-api')).to.equal('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await statusOver(first, second.authority, names[0] ?? '')).to.equal('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it('is valid from an hour ago for ten years, and is no authority itself', () => {
    const { validFromDate, validToDate, ca } = new X509Certificate(first.certificate);
    expect(validFromDate.getTime()).to.be.below(now - 3_590_000);
    expect(validToDate.getTime() - now).to.be.within(3_649 * 86_400_000, 3_651 * 86_400_000);
    expect(ca).to.equal(false);
    expect(new X509Certificate(first.authority).ca).to.equal(true);
  });

  it('is replaced in three steps, at each of which the operator trusts what the API shows before and after it', async () => {
    let data: Record<string, string> = {
      'tls.crt': first.certificate,
      'tls.key': first.key,
      'ca.crt': first.authority,
    };
    const shown: string[] = [first.certificate];
    for (let nth = 0; nth < 3; nth += 1) {
      const before = data;
      const { change } = await certificateStep(data, async () => second);
      const changed = Object.entries({ ...data, ...change.data });
      data = Object.fromEntries(changed.flatMap(([key, text]) => (text === null ? [] : [[key, text]])));
      // The kubelet brings files to pods in any order: old files of one with new files of the other must do.
      for (const [operator, api] of [
        [before, data],
        [data, before],
        [data, data],
      ] as const) {
        const trusted = authoritiesOf(api['tls.crt'] ?? '', operator['ca.crt'] ?? '');
        expect(trusted, `step ${String(nth + 1)}`).not.to.have.lengthOf(0);
      }
      shown.push(data['tls.crt'] ?? '');
    }
    expect(shown).to.deep.equal([first.certificate, first.certificate, second.certificate, second.certificate]);
    expect(data).to.deep.equal({
      'tls.crt': second.certificate,
      'tls.key': second.key,
      'ca.crt': second.authority,
    });
  });

  it('is not rotated where no authority signed it', async () => {
    const broken = { 'tls.crt': first.certificate, 'ca.crt': second.authority + second.authority };
    const step = certificateStep(broken, async () => second);
    expect(await step.catch(String)).to.contain('No authority in ca.crt signed the certificate in tls.crt');
  });
});
