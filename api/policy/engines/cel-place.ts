/** Places of the parts of an expression, by the IDs that the parser gives to them. */
export class Places {
  readonly #text: string;
  readonly #offsets: Readonly<Record<string, number>>;
  /** A rule may fail on each request, always in the same parts. */
  readonly #known = new Map<bigint, string>();

  constructor(text: string, offsets: Readonly<Record<string, number>>) {
    this.#text = text;
    this.#offsets = offsets;
  }

  /** Returns where a part begins, as `line 2, column 5`; an empty text if nothing tells. */
  of(id: bigint | undefined): string {
    if (id === undefined) return '';
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const place = this.#found(this.#offsets[String(id)]);
    this.#known.set(id, place);
    return place;
  }

  #found(offset: number | undefined): string {
    if (offset === undefined) return '';
    // The library counts the space before an operator as part of it.
    const [before = ''] = SPACE.exec(this.#text.slice(offset)) ?? [];
    const lines = this.#text.slice(0, offset + before.length).split('\n');
    return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  }
}

/** White space and comments. */
const SPACE = /^(?:\s|\/\/.*)*/;
