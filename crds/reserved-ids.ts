/** Beginning of the IDs of clients that every box has without declaring them. */
export const RESERVED_ID_PREFIX = 'boxgate.';

/** The client of the admin UI. */
export const UI_CLIENT = 'boxgate.ui';

/** The clients that every box has without declaring them: of the admin UI, and of `boxctl`. */
export const BUILT_IN_CLIENTS = [UI_CLIENT, 'boxgate.cli'] as const;
/** One of {@link BUILT_IN_CLIENTS}. */
export type BuiltInClient = (typeof BUILT_IN_CLIENTS)[number];

/** Returns the ID as that of a built-in client; undefined for any other ID. */
export function builtInName(id: string): BuiltInClient | undefined {
  return BUILT_IN_CLIENTS.find((name) => name === id);
}

/** Reason for refusing such an ID, as the end of a sentence that begins with the field. */
export const RESERVED_ID_MESSAGE = `must not begin with ${RESERVED_ID_PREFIX}: these ids are reserved for built-in clients`;

/** Checks whether an ID is reserved for built-in clients. A client that had one before they were reserved keeps it. */
export function isReservedId(id: string | undefined): boolean {
  return id?.startsWith(RESERVED_ID_PREFIX) === true;
}
