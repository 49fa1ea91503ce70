import { obtainEnvoy } from './obtain-envoy.ts';
import { describeGateway } from '../gateway-stories.ts';
import { envoyPage } from './envoy-page.ts';

describe('Envoy itself', () => {
  before(async function () {
    this.timeout(0);
    await obtainEnvoy(process.env, (line) => process.stderr.write(`${line}\n`));
  });

  describeGateway('envoy', envoyPage);
});
