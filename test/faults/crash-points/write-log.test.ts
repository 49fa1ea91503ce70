import { expect } from 'chai';
import { createWriteLog, plansOf, type Plan } from './write-log.ts';

describe('a log of writes', () => {
  const about = (box: string | undefined, what = `POST /boxes/${box ?? 'none'}/apply`) => ({ what, box });

  it('names the writes about its box, or about none, by their count', () => {
    const log = createWriteLog();
    log.meet(about('shop'));
    log.begin('shop');
    for (const write of [about('shop'), about('other'), about(undefined, 'POST /epoch'), about('shop')])
      log.meet(write);
    expect(log.writes).to.deep.equal(['POST /boxes/BOX/apply', 'POST /epoch', 'POST /boxes/BOX/apply #2']);
    log.end();
    log.meet(about('shop'));
    expect(log.writes).to.have.length(3);
  });

  it('names what comes again and again by itself once', () => {
    const log = createWriteLog();
    log.begin('shop');
    for (let nth = 0; nth < 3; nth += 1) log.meet({ what: 'PUT lease', box: undefined, isPeriodic: true });
    expect(log.writes).to.deep.equal(['PUT lease']);
  });

  const write = 'POST /boxes/BOX/apply #2';
  const plans: readonly (readonly [Plan, readonly (string | undefined)[]])[] = [
    [{ write, way: 'before', place: 2 }, [undefined, 'before', undefined]],
    [{ write: 'another', way: 'after', place: 3, byPlace: true }, [undefined, undefined, 'after']],
    [{ write: 'another', way: 'after', place: 3 }, [undefined, undefined, undefined]],
  ];
  for (const [plan, ways] of plans) {
    it(`lets ${String(ways.filter(Boolean).length)} of three meet ${JSON.stringify(plan)}`, () => {
      const log = createWriteLog();
      log.begin('shop', plan);
      expect([1, 2, 3].map(() => log.meet(about('shop')))).to.deep.equal(ways);
      expect(log.isMet).to.equal(ways.some(Boolean));
    });
  }

  it('makes a plan of each write and way', () => {
    expect(plansOf(['a', 'b']).map(({ write, way, place }) => `${String(place)} ${way} ${write}`)).to.deep.equal([
      ...['1 before a', '1 after a', '1 answer lost a', '1 connection cut a'],
      ...['2 before b', '2 after b', '2 answer lost b', '2 connection cut b'],
    ]);
  });
});
