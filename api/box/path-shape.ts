/** Placeholders for segments that name a record, each with a text of that form. */
const SAMPLES = {
  '{number}': '1',
  '{uuid}': '00000000-0000-7000-8000-000000000000',
  '{id}': 'id',
  '{rest}': 'rest',
} as const;

/** Segments of a shape; the ones after them are one `{rest}`. */
const mostSegments = 12;

/** Characters of a literal segment: a longer one names something. */
const longestLiteral = 40;

/**
 * Returns the shape of a path: each segment that names a record is a placeholder, such as `{number}` or `{id}`, so that
 * requests to different records are counted together, and no name of a record is kept. On the own endpoints of a box
 * every second segment names one, unless it is an operation such as `$explain`.
 */
export function pathShape(path: string, isOwnEndpoint: boolean): string {
  const segments = path.split('/', mostSegments + 2);
  const shapes = segments
    .slice(0, mostSegments + 1)
    .map((segment, index) => segmentShape(segment, isOwnEndpoint && index === 2));
  return [...shapes, ...(segments.length > mostSegments + 1 ? ['{rest}'] : [])].join('/');
}

/** Returns a path that has a shape. */
export function sampleOf(shape: string): string {
  return shape
    .split('/')
    .map((segment) => (isPlaceholder(segment) ? SAMPLES[segment] : segment))
    .join('/');
}

function isPlaceholder(segment: string): segment is keyof typeof SAMPLES {
  return Object.hasOwn(SAMPLES, segment);
}

function segmentShape(segment: string, isRecord: boolean): string {
  if (/^\d+$/.test(segment)) return '{number}';
  if (/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(segment)) return '{uuid}';
  if (isRecord && segment !== '' && !segment.startsWith('$')) return '{id}';
  return isName(segment) ? '{id}' : segment;
}

/** Checks whether a segment looks like the name of a record: an email, a key, a hash, or a long text. */
function isName(segment: string): boolean {
  if (segment.length > longestLiteral || segment.includes('@') || /[^\x20-\x7e]/.test(segment)) return true;
  return /^[\da-f]{8,}$/i.test(segment) || (segment.length >= 16 && /\d/.test(segment) && /[A-Za-z]/.test(segment));
}
