-- The records of a box are counted once for all pages of it in a statement, as its sessions are since migration 0043. A count of
-- thousands of records takes a millisecond, and was most of such a page. Each page has a total of its own snapshot, as before.
CREATE OR REPLACE FUNCTION boxgate.audit_events_before(p_box text[], p_before uuid[], p_limit integer[], p_most integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, state text, id uuid, event text, result text, client text,
               user_id bigint, remote_addr text, operator text, session uuid, request_id text, target text, member bigint,
               changed text[], count integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  filled integer[] := filled_partitions('audit_event');
  counts bigint[] := array_fill(0, ARRAY[cardinality(p_box)]);
  oldest uuid[] := array_fill('00000000-0000-0000-0000-000000000000'::uuid, ARRAY[cardinality(p_box)]);
  found_nth bigint[] := '{}';
  found_id uuid[] := '{}';
  found boxgate.audit_event[] := '{}';
  boxes text[];
  starts bigint[];
  counted bigint[];
  mosts integer[];
  here record;
BEGIN
  SELECT array_agg(CASE WHEN NOT b.discarding THEN n.box END ORDER BY n.nth), array_agg(b.records_from ORDER BY n.nth)
    INTO boxes, starts
    FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) LEFT JOIN box b ON b.box = n.box;
  SELECT c.counted, c.mosts INTO counted, mosts FROM counted_pages(p_box, p_most) c;
  FOR place IN REVERSE cardinality(filled)..1 LOOP
    EXECUTE format(
      'SELECT array_agg(n.nth) AS nths, array_agg(f.id) AS ids, array_agg(f.e) AS rows
         FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS n (box, start, before, rows, oldest, nth)
        CROSS JOIN LATERAL (SELECT e.id, e::boxgate.audit_event AS e FROM boxgate.%I e
                             WHERE e.box = n.box AND e.version >= n.start AND e.id < n.before AND e.id > n.oldest
                             ORDER BY e.id DESC LIMIT n.rows + 1) f',
      'audit_event_' || filled[place]) INTO here USING boxes, starts, p_before, p_limit, oldest;
    IF here.nths IS NOT NULL THEN
      found_nth := found_nth || here.nths;
      found_id := found_id || here.ids;
      found := found || here.rows;
      oldest := oldest_of_pages(found_nth, found_id, p_limit);
    END IF;
    IF (SELECT bool_or(c.most > 0 AND c.count <= c.most) FROM unnest(mosts, counts) AS c (most, count)) THEN
      EXECUTE format(
        'SELECT array_agg(n.count + c.count ORDER BY n.nth)
           FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS n (box, start, most, count, nth)
          CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%I e WHERE e.box = n.box %s
                                                     LIMIT CASE WHEN n.most > 0 THEN n.most + 1 - n.count ELSE 0 END) AS l) c',
        'audit_event_' || filled[place],
        -- Where no data was ever discarded, the index alone is read.
        CASE WHEN 0 < ANY (starts) THEN 'AND e.version >= n.start' ELSE '' END) INTO counts USING boxes, starts, mosts, counts;
    END IF;
  END LOOP;
  RETURN QUERY
  SELECT r.nth, r.is_large, counts[counted[r.nth]], CASE WHEN r.place = 1 THEN b.records_from || ':' || filled::text END,
         r.id, r.event, r.result, r.client, r.user_id, r.remote_addr, r.operator, r.session, r.request_id, r.target, r.member,
         r.changed, r.count
    FROM (SELECT p.*,
                 sum(coalesce(pg_column_size(p.changed), 0) + coalesce(pg_column_size(p.target), 0)) OVER page > 16384
                   OR bool_or(pg_column_compression(p.changed) IS NOT NULL) OVER page AS is_large
            FROM (SELECT f.*, row_number() OVER (PARTITION BY f.nth ORDER BY f.id DESC) AS place
                    FROM ROWS FROM (unnest(found_nth), unnest(found)) AS f (nth)) AS p
           WHERE p.place <= p_limit[p.nth] + 1
          WINDOW page AS (PARTITION BY p.nth)) AS r
    JOIN box b ON b.box = r.box
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY r.nth, r.place;
  is_large := true;
  FOR nth IN SELECT n.nth FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) JOIN box b ON b.box = n.box AND b.discarding LOOP
    RETURN NEXT;
  END LOOP;
EXCEPTION WHEN undefined_table THEN
  -- A partition has just been dropped.
  is_large := true;
  FOR nth IN SELECT n FROM generate_series(1, cardinality(p_box)) n LOOP
    RETURN NEXT;
  END LOOP;
END
$$;
