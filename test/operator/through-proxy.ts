import { readFile, writeFile } from 'node:fs/promises';
import type { OperatorRig } from './operator-rig.ts';

/** Path of the operator's kubeconfig with a proxy on this loopback port in the place of the API server. */
export async function throughProxy({ plane, credentials }: OperatorRig, port: number): Promise<string> {
  const text = await readFile(credentials.kubeconfig, 'utf8');
  const file = `${credentials.kubeconfig}.${String(port)}`;
  await writeFile(file, text.replaceAll(plane.url, `https://127.0.0.1:${String(port)}`));
  return file;
}
