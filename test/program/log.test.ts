import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { Writable } from 'node:stream';
import { createLog, errorFacts, logFacts } from '../../program/log.ts';

/** The lines that a log writes while something is logged. */
function linesOf(
  level: 'debug' | 'info' | 'warn' | 'error',
  write: (log: ReturnType<typeof createLog>) => void,
): string[] {
  const chunks: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString('utf8'));
      done();
    },
  });
  write(createLog(level, destination));
  return chunks.join('').split('\n').slice(0, -1);
}

describe('the log', () => {
  it('writes one JSON object a line, with its time and level in words, whatever is in it', () => {
    const nasty = 'a\nb\r\nc\u2028d"e\\f\0g';
    const [line = '', ...others] = linesOf('info', (log) => {
      log.warn({ value: nasty, gone: undefined }, nasty);
    });
    expect(others).to.deep.equal([]);
    const written: unknown = JSON.parse(line);
    expect(written).to.have.all.keys('level', 'time', 'value', 'msg');
    expect(written).to.include({ level: 'warn', value: nasty, msg: nasty });
    const time: unknown = Reflect.get(Object(written), 'time');
    expect(new Date(String(time)).toISOString()).to.equal(time);
  });

  it('writes what is at its level and above', () => {
    const levels = ['debug', 'info', 'warn', 'error'] as const;
    for (const [index, level] of levels.entries()) {
      const written = linesOf(level, (log) => {
        for (const one of levels) log[one](one);
      });
      expect(written.map((line) => /"msg":"(\w+)"/.exec(line)?.[1])).to.deep.equal(levels.slice(index));
    }
  });

  it('has the time of each line, also of those that share a millisecond', () => {
    const times = linesOf('info', (log) => {
      for (let nth = 0; nth < 500; nth += 1) log.info('x');
    }).map((line) => Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? ''));
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    expect(Math.abs(Date.now() - (times.at(-1) ?? 0))).to.be.lessThan(60_000);
  });
});

describe('facts in the log', () => {
  const facts = {
    text: 'a\nb\r\nc\u2028d"e\\f\0g',
    long: 'é\u{1f512}\ud800 '.repeat(50),
    gone: undefined,
    empty: '',
    number: 1.25,
    nothing: NaN,
  };
  const withoutTime = (lines: readonly string[]): string[] =>
    lines.map((line) => line.replace(/"time":"[^"]+"/, '"time":0'));

  it('are written as any line is', () => {
    const expected = withoutTime(linesOf('info', (log) => log.info(facts)));
    expect(withoutTime(linesOf('info', (log) => logFacts(log, facts)))).to.deep.equal(expected);
    expect(JSON.parse(expected.join())).to.include({ level: 'info', text: facts.text, number: 1.25, nothing: null });
  });

  it('have their time, and their place among the other lines', () => {
    const lines = linesOf('info', (log) => {
      log.info('first');
      logFacts(log, { nth: 2 });
      log.info('third');
    });
    expect(lines.map((line) => /"(?:msg|nth)":"?(\w+)/.exec(line)?.[1])).to.deep.equal(['first', '2', 'third']);
    expect(Math.abs(Date.now() - Date.parse(/"time":"([^"]+)"/.exec(lines[1] ?? '')?.[1] ?? ''))).to.be.lessThan(
      60_000,
    );
  });

  it('are left out where the level is higher, and belong to a part of the log as its other lines do', () => {
    expect(linesOf('warn', (log) => logFacts(log, facts))).to.deep.equal([]);
    const [line = ''] = linesOf('info', (log) => logFacts(log.child({ part: 'p' }), { nth: 1 }));
    expect(JSON.parse(line)).to.include({ part: 'p', nth: 1 });
  });
});

describe('the log on standard output', () => {
  it('loses no line and no byte at the end of the program, and keeps their order', () => {
    const program = `
      const { createLog, flushLog } = await import('${new URL('../../program/log.ts', import.meta.url).href}');
      const log = createLog('info');
      for (let nth = 0; nth < 2_000; nth += 1) log.info({ nth, text: '\u00e9\u20ac\u{1f512}' });
      await flushLog(log);
      process.exit(0);`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines).to.have.length(2_000);
    lines.forEach((line, nth) => {
      expect(JSON.parse(line)).to.include({ nth, text: 'é€🔒' });
    });
  });
});

describe('an error in the log', () => {
  it('shows its kind, text, place and cause', () => {
    const facts = errorFacts(new TypeError('outer', { cause: new RangeError('inner') }));
    expect(facts).to.include({ error: 'TypeError', message: 'outer', cause: 'RangeError: inner' });
    expect(facts['stack']).to.contain('log.test.ts');
  });

  it('shows nothing else that hangs on it: parameters, details, rows', () => {
    const error = Object.assign(new Error('duplicate key'), {
      parameters: ['canary'],
      detail: 'Key (email)=(canary)',
      where: 'canary',
    });
    expect(JSON.stringify(errorFacts(error))).not.to.contain('canary');
  });

  it('shows the type alone of what is no error', () => {
    expect(errorFacts('canary')).to.deep.equal({ error: 'string' });
    expect(errorFacts(undefined)).to.deep.equal({ error: 'undefined' });
  });
});
