import { authoritiesOf, certificatesIn, type ServiceCertificate } from './certificate.ts';
import type { RotationStep } from './rotation.ts';

/** Keys of the Secret that hold the next certificate between the first step and the second. */
const nextCertificate = 'next-tls.crt';
const nextKey = 'next-tls.key';

const wait = 'wait two minutes until every pod has the changed files (kubelet), then run this command again';

/**
 * Returns the next step for the certificate of the management port: the operator trusts both authorities, then the API
 * shows the new certificate, then the old authority is removed. The files take effect without a restart. `create` makes
 * a certificate; it is called for the first step only. Throws an Error of one sentence if no authority signed what is
 * shown.
 */
export async function certificateStep(
  data: Readonly<Record<string, string>>,
  create: () => Promise<ServiceCertificate>,
): Promise<RotationStep> {
  const authorities = data['ca.crt'] ?? '';
  const next = { certificate: data[nextCertificate] ?? '', key: data[nextKey] ?? '' };
  if (next.certificate !== '' && next.key !== '') {
    return {
      change: {
        data: { 'tls.crt': next.certificate, 'tls.key': next.key, [nextCertificate]: null, [nextKey]: null },
        annotations: {},
      },
      done: 'step 2 of 3: the management port shows the new certificate',
      next: wait,
    };
  }
  if (certificatesIn(authorities).length > 1) {
    const needed = authoritiesOf(data['tls.crt'] ?? '', authorities);
    if (needed.length === 0) throw new Error('No authority in ca.crt signed the certificate in tls.crt: restore both');
    return {
      change: { data: { 'ca.crt': needed.join('') }, annotations: {} },
      done: 'step 3 of 3: the operator trusts the authority of the new certificate only',
      next: 'nothing more is to do',
    };
  }
  const { certificate, key, authority } = await create();
  return {
    change: {
      data: { 'ca.crt': `${authorities.trimEnd()}\n${authority}`, [nextCertificate]: certificate, [nextKey]: key },
      annotations: {},
    },
    done: 'step 1 of 3: the operator trusts the authority of a new certificate too',
    next: wait,
  };
}
