-- Active sessions of boxes, counted off the request path, and whether a box has as many as its quota allows.

ALTER TABLE boxgate.box
  -- No session is stored while this is true. Changes under a new version of the box.
  ADD COLUMN sessions_full boolean NOT NULL DEFAULT false;
CREATE INDEX box_sessions_full ON boxgate.box (box) WHERE sessions_full;

-- A table of its own, not columns of box_use: an apply call holds the row of box_use until it ends.
CREATE TABLE boxgate.session_count (
  box        text PRIMARY KEY REFERENCES boxgate.box,
  -- Active sessions at the last count, which stops at the quota; null: not counted yet.
  active     bigint,
  -- Tokens that replicas have issued since. The sum of both is never less than the active sessions that are reported.
  issued     bigint NOT NULL DEFAULT 0,
  -- When the last count began, and the milliseconds that it took.
  counted_at timestamptz,
  took       integer NOT NULL DEFAULT 0
);
ALTER TABLE boxgate.session_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.session_count USING (box = current_setting('boxgate.box', true));

-- Adds what a replica has issued, and gives the caller the boxes that it is to count now, at most `p_most`: those that may
-- have reached their quota, those that are full, and once an hour each box that issues, because a process that was killed
-- did not report. `p_limit` is the quota of a box whose Namespace sets none. A count takes a twentieth of the time at most.
CREATE FUNCTION boxgate.note_issued(p_box text[], p_issued bigint[], p_limit bigint, p_most integer)
RETURNS TABLE (box text, issued bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO session_count AS c (box, issued)
  SELECT b.box, n.issued FROM unnest(p_box, p_issued) AS n (box, issued) JOIN box b ON b.box = n.box ORDER BY b.box
  ON CONFLICT (box) DO UPDATE SET issued = c.issued + excluded.issued;

  UPDATE session_count c SET counted_at = now()
    FROM (SELECT s.box
            FROM session_count s JOIN box b ON b.box = s.box
           WHERE (s.counted_at IS NULL
                  OR s.counted_at < now() - greatest(interval '4 seconds', s.took * interval '20 milliseconds'))
             AND (b.sessions_full
                  OR s.box = ANY (p_box)
                 AND (s.active IS NULL OR s.counted_at < now() - interval '1 hour'
                      OR s.active + s.issued >= coalesce((b.quota ->> 'sessions')::bigint, p_limit)))
           ORDER BY s.counted_at NULLS FIRST, s.box LIMIT p_most
             FOR NO KEY UPDATE OF s SKIP LOCKED) AS d
   WHERE c.box = d.box
  RETURNING c.box, c.issued;
$$;
