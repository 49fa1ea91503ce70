// `make needs`, before the first test of `make test`: obtains what the tests need and this machine lacks.
import { obtainGo } from '../envtest/go.ts';
import { obtain } from '../envtest/obtain.ts';
import { downloads } from '../envtest/release.ts';
import { obtainCommands, obtainHeadlessShell } from './commands.ts';
import { debian } from './debian.ts';
import { gateways, obtainGateway, pooler } from './gateways.ts';
import { goPeers, obtainGoPeers } from './go-peers.ts';
import { obtainPython } from './python.ts';
import { obtainHelm } from './helm.ts';

const tell = (line: string): boolean => process.stderr.write(`needs: ${line}\n`);

try {
  await obtainHeadlessShell(process.env, tell, debian);
  await obtainCommands(process.env, tell, debian);
  await obtainPython(process.env, tell, debian);
  for (const gateway of [...Object.values(gateways), pooler]) await obtainGateway(gateway, process.env, tell);
  await obtain(process.env, tell);
  await obtainGo(process.env, tell, downloads.toolchain);
  await obtainGoPeers(Object.values(goPeers), process.env, tell);
  await obtainHelm(process.env, tell);
} catch (error) {
  process.stderr.write(`needs: ${error instanceof Error ? error.message : 'unknown'}\n`);
  process.exitCode = 1;
}
