import type pg from 'pg';

/**
 * A database's schema as text, from the catalogs: what a person reviews in a diff, and what two databases are compared
 * by. Partitions are left out, which come and go with the days; the API's role goes by `api`.
 */
export async function schemaText(owner: pg.Client | pg.Pool, apiRole: string): Promise<string> {
  const parts = await Promise.all(
    [tables, policies, functions, grants].map(async (part) => {
      const { rows } = await owner.query<{ line: string }>(part(apiRole.replaceAll("'", "''")));
      return rows.map(({ line }) => line).join('\n');
    }),
  );
  return `${parts.join('\n\n')}\n`;
}

/** Tables of the schema itself. */
const ownTables = `SELECT c.oid, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity FROM pg_class c
   WHERE c.relnamespace = 'boxgate'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT c.relispartition`;

function tables(): string {
  return `
    WITH own AS (${ownTables}), lines AS (
      SELECT relname, 0 AS part, 0 AS nth, format('%s %s%s', CASE relkind WHEN 'r' THEN 'table' WHEN 'p'
               THEN 'partitioned table' ELSE format('relation of kind %s', relkind) END, relname,
               CASE WHEN relrowsecurity THEN ', row-level security' ELSE '' END
               || CASE WHEN relforcerowsecurity THEN ', forced' ELSE '' END) AS line FROM own
      UNION ALL
      SELECT relname, 1, a.attnum, format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
               CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, COALESCE(' default ' || pg_get_expr(d.adbin, d.adrelid), ''))
        FROM own JOIN pg_attribute a ON a.attrelid = own.oid AND a.attnum > 0 AND NOT a.attisdropped
             LEFT JOIN pg_attrdef d ON d.adrelid = own.oid AND d.adnum = a.attnum
      UNION ALL
      SELECT relname, 2, row_number() OVER (ORDER BY k.conname COLLATE "C"), format('  constraint %s %s', k.conname, pg_get_constraintdef(k.oid))
        FROM own JOIN pg_constraint k ON k.conrelid = own.oid AND k.contype <> 'n'
      UNION ALL
      SELECT relname, 3, row_number() OVER (ORDER BY i.indexrelid::regclass::text COLLATE "C"), '  ' || pg_get_indexdef(i.indexrelid)
        FROM own JOIN pg_index i ON i.indrelid = own.oid
      UNION ALL
      SELECT relname, 4, row_number() OVER (ORDER BY t.tgname COLLATE "C"), '  ' || pg_get_triggerdef(t.oid)
        FROM own JOIN pg_trigger t ON t.tgrelid = own.oid AND NOT t.tgisinternal
    ) SELECT line FROM lines ORDER BY relname COLLATE "C", part, nth`;
}

function policies(): string {
  return `
    SELECT format('policy %s on %s %s for %s to %s using (%s) with check (%s)', policyname, tablename, lower(permissive),
                  lower(cmd), array_to_string(roles, ', '), qual, COALESCE(with_check, 'the same')) AS line
      FROM pg_policies WHERE schemaname = 'boxgate' ORDER BY tablename COLLATE "C", policyname COLLATE "C"`;
}

function functions(): string {
  return `
    SELECT format(E'function %s(%s)\\n  returns %s\\n  %s %s%s%s, body %s', p.proname, pg_get_function_arguments(p.oid),
                  pg_get_function_result(p.oid), l.lanname,
                  CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END,
                  CASE WHEN p.prosecdef THEN ', security definer' ELSE '' END,
                  COALESCE(', ' || array_to_string(p.proconfig, ', '), ''), md5(p.prosrc)) AS line
      FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
     WHERE p.pronamespace = 'boxgate'::regnamespace AND p.proname !~ '^check_sessions_[0-9]+$'
     ORDER BY p.proname COLLATE "C", p.oid::regprocedure::text COLLATE "C"`;
}

/** Returns the query for the grants of the API's role and of PUBLIC; the owner has every right. */
function grants(apiRole: string): string {
  const grantee = `CASE WHEN g.grantee = 0 THEN 'public' ELSE replace(pg_get_userbyid(g.grantee), '${apiRole}', 'api') END`;
  return `
    WITH given AS (
      SELECT 'schema ' || n.nspname AS name, g.* FROM pg_namespace n, aclexplode(n.nspacl) g WHERE n.nspname = 'boxgate'
      UNION ALL
      SELECT 'table ' || c.relname, g.* FROM pg_class c, aclexplode(c.relacl) g
       WHERE c.relnamespace = 'boxgate'::regnamespace
      UNION ALL
      SELECT format('column %s.%s', a.attrelid::regclass, a.attname), g.* FROM pg_attribute a
             JOIN pg_class c ON c.oid = a.attrelid, aclexplode(a.attacl) g WHERE c.relnamespace = 'boxgate'::regnamespace
      UNION ALL
      SELECT 'function ' || p.proname, g.* FROM pg_proc p, aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) g
       WHERE p.pronamespace = 'boxgate'::regnamespace
    )
    SELECT format('grant %s on %s to %s', string_agg(lower(g.privilege_type), ', ' ORDER BY g.privilege_type COLLATE "C"), g.name,
                  ${grantee}) AS line
      FROM given g WHERE g.grantee <> g.grantor GROUP BY g.name, g.grantee ORDER BY g.name COLLATE "C", 1`;
}
