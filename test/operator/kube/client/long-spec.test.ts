import { expect } from 'chai';
import { withoutLongSpec } from '../../../../operator/kube/client/long-spec.ts';
import { seededRandom, type Random } from '../../../support/random.ts';

const metadata = { name: 'app', managedFields: [{ f: { 'f:spec': { 'f:details': {} } } }] };

/** Returns the bytes of an event as the API server writes it: it replaces some signs by their codes. */
function eventOf(spec: unknown): Buffer {
  const event = { type: 'MODIFIED', object: { kind: 'Client', metadata, spec, status: { spec: 1 } } };
  const codes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };
  return Buffer.from(JSON.stringify(event).replace(/[<>&]/g, (sign) => codes[sign] ?? sign));
}

function shortened(spec: unknown, longest: number): readonly [event: unknown, specLength: number | undefined] {
  const { text, specLength } = withoutLongSpec(eventOf(spec), longest);
  return [JSON.parse(text), specLength];
}

describe('the spec of an object in a watch', () => {
  it('R-53 loses its long members if it is too long, and nothing else changes', () => {
    const spec = { id: 'an "id" <é>', details: { text: 'x'.repeat(3_000), list: ['}', '\\"', ']'] }, suspend: true };
    const [event, length] = shortened(spec, 2_999);
    const object = { kind: 'Client', metadata, spec: { id: spec.id, suspend: true }, status: { spec: 1 } };
    expect(event).to.deep.equal({ type: 'MODIFIED', object });
    expect(length).to.equal(JSON.stringify(spec).length);
  });

  it('stays whole up to the limit', () => {
    const spec = { text: '<'.repeat(3_000) };
    const { length } = JSON.stringify(spec);
    expect(shortened(spec, length)).to.deep.equal([JSON.parse(eventOf(spec).toString()), undefined]);
    expect(shortened(spec, length - 1)[1]).to.equal(length);
  });

  it('may be missing, empty, or no object: then nothing is left out', () => {
    for (const spec of [undefined, {}, [], 'x'.repeat(5_000), 7, null]) {
      expect(shortened(spec, 10)).to.deep.equal([JSON.parse(eventOf(spec).toString()), undefined]);
    }
  });

  const random = seededRandom();
  it(`has as many characters as its JSON, whatever it is, seed ${String(random.seed)}`, () => {
    for (let round = 0; round < 500; round += 1) {
      const spec = { first: 'y'.repeat(20), ...objectOf(random, 3) };
      const [event, length] = shortened(spec, 20);
      expect(length).to.equal(JSON.stringify(spec).length);
      expect(event).to.deep.equal(JSON.parse(eventOf(spec).toString()));
    }
  });

  it('is read from no other text than the API server writes: another one stays whole', () => {
    const event = { type: 'ADDED', object: { spec: { text: 'x'.repeat(100) } } };
    for (const text of [
      JSON.stringify(event, null, 1),
      '{"object":{"spec":{"a":"x',
      '{"object":{"spec":{"a":{"b":[',
      'BOOKMARK'.repeat(9),
    ]) {
      expect(withoutLongSpec(Buffer.from(text), 10)).to.deep.equal({ text });
    }
  });

  it('is refused if it is not UTF-8', () => {
    expect(() => withoutLongSpec(Buffer.from([0x7b, 0xff, 0x7d]), 10)).to.throw(TypeError);
  });
});

const signs = ['a', '"', '\\', '\n', '\u0001', '<', '&', 'é', '€', '😀', '\u2028', '/', '}', '{', ',', ':'];

function textOf(random: Random): string {
  return Array.from({ length: random.below(6) }, () => signs[random.below(signs.length)] ?? '').join('');
}

/** Makes an object of random members, nested so deep at most. */
function objectOf(random: Random, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, (_, nth) => [`${String(nth)}${textOf(random)}`, valueOf(random, depth)]),
  );
}

function valueOf(random: Random, depth: number): unknown {
  const kind = random.below(depth > 0 ? 7 : 5);
  if (kind === 5) return Array.from({ length: random.below(4) }, () => valueOf(random, depth - 1));
  if (kind === 6) return objectOf(random, depth - 1);
  return [textOf(random), random.below(1_000) - 500, 1.5, true, null][kind];
}
