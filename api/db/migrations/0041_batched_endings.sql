-- Sessions are ended by a statement that many requests share: a transaction for each took twenty times as long as to issue a
-- token. As the other functions of batches, it waits for no lock of a row: what cannot be done at once is left to a transaction.

-- Ends active sessions without a refresh family, and returns each as it is afterwards. An item names up to three buckets that may
-- hold its session, the likeliest first. `p_record` is the record of the audit trail of each: it is stored if the session was
-- ended here, and only then. Times in milliseconds since 1970. Of two items for one session, one is done.
-- Left to a transaction: a session with a family, since both end together; one that a revocation concerns; one whose row somebody
-- holds; one that has ended, was discarded, is in another bucket, or does not exist.
-- The row is locked and then changed in one statement, so another end of it comes wholly before or wholly after. That statement
-- names the partition: it locks and plans no other. LATERAL with OFFSET 0 is a probe of the primary key for each. The update finds
-- the rows by their place (ctid), which they keep while they are locked: by the key it took twice as long, and read a small
-- partition as a whole. A box without revocations costs no look-up of them.
CREATE FUNCTION boxgate.end_sessions(
  p_box text[], p_id uuid[], p_first integer[], p_second integer[], p_third integer[], p_as text[], p_now bigint[],
  p_record jsonb[]
) RETURNS TABLE (nth bigint, id uuid, bucket integer, type "char", client text, user_id bigint, scope text, audience text[],
                 expires_at timestamptz, family uuid, parent uuid, remote_addr text, user_agent text, ended_at timestamptz,
                 ended_as text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
#variable_conflict use_column
DECLARE
  part record;
  done bigint[] := '{}';
BEGIN
  FOR attempt IN 1..3 LOOP
    FOR part IN
      SELECT n.bucket, array_agg(n.box) AS boxes, array_agg(n.id) AS ids, array_agg(n.ended_as) AS ways,
             array_agg(n.now) AS times, array_agg(n.nth) AS nths, array_agg(b.records_from) AS versions,
             array_agg(EXISTS (SELECT FROM revocation r WHERE r.box = n.box)) AS checks
        FROM unnest(p_box, p_id, CASE attempt WHEN 1 THEN p_first WHEN 2 THEN p_second ELSE p_third END, p_as, p_now)
             WITH ORDINALITY AS n (box, id, bucket, ended_as, now, nth)
        JOIN box b ON b.box = n.box
       WHERE n.bucket IS NOT NULL AND n.nth <> ALL (done)
       GROUP BY n.bucket HAVING to_regclass('boxgate.session_' || n.bucket) IS NOT NULL
    LOOP
      FOR nth, id, bucket, type, client, user_id, scope, audience, expires_at, family, parent, remote_addr, user_agent,
          ended_at, ended_as IN EXECUTE format($statement$
        WITH good AS MATERIALIZED (
          SELECT n.nth, n.ended_as, n.now, s.place
            FROM unnest($1, $2, $3, $4, $5, $6, $7) AS n (box, id, ended_as, now, nth, oldest, checked)
           CROSS JOIN LATERAL (
             SELECT x.ctid AS place, x.client, x.user_id, x.version, x.expires_at FROM boxgate.%1$I x
              WHERE x.box = n.box AND x.id = n.id AND x.version >= n.oldest
                AND x.family IS NULL
                AND x.ended_at IS NULL
                AND x.expires_at > to_timestamp(n.now / 1000.0)
                FOR UPDATE SKIP LOCKED OFFSET 0) s
           WHERE NOT n.checked
              OR (boxgate.ending_of(n.box, n.id, s.client, s.user_id, s.version, NULL, NULL, NULL, s.expires_at)).how IS NULL
        )
        UPDATE boxgate.%1$I s SET ended_at = to_timestamp(g.now / 1000.0), ended_as = g.ended_as
          FROM good g WHERE s.ctid = g.place
        RETURNING g.nth, s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
                  host(s.remote_addr), s.user_agent, s.ended_at, s.ended_as
        $statement$, 'session_' || part.bucket)
        USING part.boxes, part.ids, part.ways, part.times, part.nths, part.versions, part.checks
      LOOP
        done := done || nth;
        RETURN NEXT;
      END LOOP;
    END LOOP;
    EXIT WHEN cardinality(done) = cardinality(p_id);
  END LOOP;
  IF p_record IS NOT NULL THEN
    INSERT INTO audit_event (id, version, created_at, day, count, box, event, result, client, user_id, remote_addr, operator,
                             session, request_id, target, member, changed)
    SELECT e.id, b.config_version, e.created_at, d.day, e.count, b.box, e.event, e.result, e.client, e.user_id, e.remote_addr,
           e.operator, e.session, e.request_id, e.target, e.member, e.changed
      FROM unnest(p_box, p_record) WITH ORDINALITY AS n (box, record, nth)
      JOIN box b ON b.box = n.box
      JOIN (SELECT m.box, audit_day(m.box) FROM (SELECT DISTINCT unnest(p_box)) AS m (box)) AS d (box, day) ON d.box = n.box
     CROSS JOIN LATERAL jsonb_to_record(n.record) AS e (id uuid, created_at timestamptz, count integer, event text, result text,
           client text, user_id bigint, remote_addr text, operator text, session uuid, request_id text, target text,
           member bigint, changed text[])
     WHERE n.record IS NOT NULL
       AND n.nth = ANY (done);
  END IF;
END
$$;
