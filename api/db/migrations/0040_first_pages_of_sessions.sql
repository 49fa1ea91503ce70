-- First pages of sessions, of records of the audit trail, both newest first, and of grants, as those of migration 0039. No row has
-- their totals. A page is counted up to `p_most` rows of its box, and is left to a transaction if there are more. Of sessions and
-- records `p_most` may be 0: then the total of the box is known to be large as long as its `state` stays the same
-- (api/db/core/long-lists.ts). It names what such rows can disappear with: the partitions that hold rows, and the version from
-- which the box has its records.

-- Numbers of the partitions of a table that hold rows, in ascending order: the digits at the end of their names.
CREATE FUNCTION boxgate.filled_partitions(p_parent regclass) RETURNS integer[]
LANGUAGE plpgsql STABLE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  -- MATERIALIZED: the planner looked at the size of every table of the database (13 ms).
  RETURN (WITH part AS MATERIALIZED (SELECT i.inhrelid AS oid FROM pg_inherits i WHERE i.inhparent = p_parent)
          SELECT coalesce(array_agg(n.number ORDER BY n.number), '{}')
            FROM part p JOIN pg_class c ON c.oid = p.oid
           CROSS JOIN LATERAL (SELECT substring(c.relname FROM '[0-9]+$')::integer) AS n (number)
           WHERE pg_relation_size(p.oid) > 0);
END
$$;

-- Sessions. A partition is named in its statement, which is planned in half the time of one that names the parent. Each is asked
-- only for sessions newer than the page has by then. `left_out` boxes have records that are being deleted.
CREATE FUNCTION boxgate.first_sessions(p_box text[], p_limit integer[], p_most integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, state text, id uuid, bucket integer, type "char", client text,
               user_id bigint, scope text, audience text[], expires_at bigint, family uuid, parent uuid, remote_addr text,
               user_agent text, ended_at bigint, ended_as text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  filled integer[] := filled_partitions('session');
  boxes text[];
  oldest uuid[] := array_fill('00000000-0000-0000-0000-000000000000'::uuid, ARRAY[cardinality(p_box)]);
  counts bigint[] := array_fill(0, ARRAY[cardinality(p_box)]);
  found_nth bigint[] := '{}';
  found_id uuid[] := '{}';
  found session[] := '{}';
  here record;
BEGIN
  SELECT array_agg(CASE WHEN NOT b.discarding THEN n.box END ORDER BY n.nth) INTO boxes
    FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) LEFT JOIN box b ON b.box = n.box;
  FOR place IN REVERSE cardinality(filled)..1 LOOP
    EXECUTE format(
      'SELECT array_agg(n.nth) AS nths, array_agg(f.id) AS ids, array_agg(f.s) AS sessions
         FROM unnest($1, $2, $3) WITH ORDINALITY AS n (box, rows, oldest, nth)
        CROSS JOIN LATERAL (SELECT s.id, s::boxgate.session AS s FROM boxgate.%I s
                             WHERE s.box = n.box AND s.id > n.oldest ORDER BY s.id DESC LIMIT n.rows + 1) f',
      'session_' || filled[place]) INTO here USING boxes, p_limit, oldest;
    IF here.nths IS NOT NULL THEN
      found_nth := found_nth || here.nths;
      found_id := found_id || here.ids;
      found := found || here.sessions;
      oldest := last_of_pages(found_nth, found_id, p_limit);
    END IF;
    IF (SELECT bool_or(c.count <= c.most AND c.most > 0) FROM unnest(counts, p_most) AS c (count, most)) THEN
      EXECUTE format(
        'SELECT array_agg(n.count + c.count ORDER BY n.nth)
           FROM unnest($1, $2, $3) WITH ORDINALITY AS n (box, most, count, nth)
          CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%I s WHERE s.box = n.box
                                                     LIMIT CASE WHEN n.most > 0 THEN n.most + 1 - n.count ELSE 0 END) AS l) c',
        'session_' || filled[place]) INTO counts USING boxes, p_most, counts;
    END IF;
  END LOOP;
  RETURN QUERY
  SELECT r.nth, r.is_large, counts[r.nth], CASE WHEN r.place = 1 THEN b.records_from || ':' || filled::text END,
         r.id, r.bucket, r.type, r.client, r.user_id, r.scope, r.audience, (extract(epoch FROM r.expires_at) * 1000)::bigint,
         r.family, r.parent, host(r.remote_addr), r.user_agent, (extract(epoch FROM e.at) * 1000)::bigint, e.how
    FROM (SELECT p.*, sum(pg_column_size(p.scope) + pg_column_size(p.audience) + pg_column_size(p.user_agent)) OVER page > 32768
            FROM (SELECT f.*, row_number() OVER (PARTITION BY f.nth ORDER BY f.id DESC) AS place
                    FROM ROWS FROM (unnest(found_nth), unnest(found)) AS f (nth)) AS p
           WHERE p.place <= p_limit[p.nth] + 1) AS r
    JOIN box b ON b.box = r.box;
EXCEPTION WHEN undefined_table THEN
  -- A partition has just been dropped.
  RETURN QUERY SELECT n.nth, true FROM unnest(p_box) WITH ORDINALITY AS n (box, nth);
END
$$;
