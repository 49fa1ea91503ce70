import { expect } from 'chai';
import { createEpochWatch } from './epoch-watch.ts';

describe('the watch over epochs', () => {
  function heard(...calls: readonly (readonly [path: string, body: string, answer: string])[]): readonly string[] {
    const watch = createEpochWatch();
    for (const [path, body, answer] of calls) watch.heard(path, Buffer.from(body), 200, Buffer.from(answer));
    return watch.violations();
  }
  const claim = (epoch: number) => ['/epoch', '{"cluster":"c"}', `{"epoch":${String(epoch)}}`] as const;
  const call = (epoch: number, end: string) =>
    ['/boxes/shop/apply', `{"cluster":"c","epoch":${String(epoch)}}`, end] as const;

  it('tells of a call that was done under an epoch that is over', () => {
    expect(heard(claim(1), claim(2), call(1, '{"config_version":5}'))).to.have.length(1);
  });

  it('tells of no call that was refused, or of the present epoch', () => {
    expect(heard(claim(1), claim(2), call(1, '{"code":"fenced"}'), call(2, '{"config_version":5}'))).to.deep.equal([]);
  });
});
