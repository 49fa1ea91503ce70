import Type from 'typebox';

/** Form of the ID of a session or of a record of the audit trail: a UUID (RFC 9562). */
export const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** Returns the schema of a time in an answer: RFC 3339 in UTC, with milliseconds. */
export function time(description: string) {
  return Type.String({ description, format: 'date-time' });
}

/** Returns the schema of a member that may be null. */
export function textOrNull(description: string) {
  return Type.Union([Type.String(), Type.Null()], { description });
}

/** Returns the schema of a list of texts that is only read. */
export function texts(description: string) {
  return Type.Unsafe<readonly string[]>({ description, type: 'array', items: { type: 'string' } });
}

/** Returns the schema of a reference to a resource of the same box. */
export function reference<const ResourceType extends string>(resourceType: ResourceType, description: string) {
  return Type.Object(
    { resourceType: Type.Literal(resourceType), id: Type.String() },
    { description, additionalProperties: false },
  );
}

/** Returns the schema of a reference that may be null. */
export function referenceOrNull<const ResourceType extends string>(resourceType: ResourceType, description: string) {
  return Type.Union([reference(resourceType, description), Type.Null()], { description });
}
