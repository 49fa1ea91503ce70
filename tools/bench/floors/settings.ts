/** Settings that a floor shares with the product, so that neither wins by a larger pool or batch. */
export type FloorSettings = { databaseUrl: string; pool: number; statements: number; batch: number };

/** Reads `FLOOR_DATABASE_URL`, `FLOOR_POOL`, `FLOOR_STATEMENTS` and `FLOOR_BATCH`. */
export function floorSettings(): FloorSettings {
  return {
    databaseUrl: process.env['FLOOR_DATABASE_URL'] ?? '',
    pool: Number(process.env['FLOOR_POOL'] ?? 4),
    statements: Number(process.env['FLOOR_STATEMENTS'] ?? 2),
    batch: Number(process.env['FLOOR_BATCH'] ?? 256),
  };
}
