-- One session by its id, for GET /Session/<id>. As one statement it was parsed and planned anew for each read, which took ten
-- times as long as the read itself. Both functions run with the rights of their caller: it sees its own box only.

-- The session of this id in one bucket, if it is there. Planned at each read, for its partition alone, which takes little for
-- one table: a plan for every bucket would lock every partition.
CREATE FUNCTION boxgate.session_in(p_box text, p_id uuid, p_bucket integer) RETURNS boxgate.session
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  s boxgate.session;
BEGIN
  SELECT * INTO s FROM boxgate.session x WHERE x.box = p_box AND x.id = p_id AND x.bucket = p_bucket;
  RETURN s;
END
$$;

-- A session in the first of the buckets that has it (for a list of them, Postgres without statistics reads all sessions of
-- the box), and how it ended before its time: the statement of api/db/session-status.ts, its plan kept.
CREATE FUNCTION boxgate.read_session(
  p_box text, p_id uuid, p_buckets integer[],
  OUT id uuid, OUT bucket integer, OUT version bigint, OUT type "char", OUT client text, OUT user_id bigint, OUT scope text,
  OUT audience text[], OUT expires_at timestamptz, OUT family uuid, OUT parent uuid, OUT remote_addr text,
  OUT user_agent text, OUT ended_at timestamptz, OUT ended_as text)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  p_bucket integer;
  s boxgate.session;
BEGIN
  FOREACH p_bucket IN ARRAY p_buckets LOOP
    s := boxgate.session_in(p_box, p_id, p_bucket);
    EXIT WHEN s.id IS NOT NULL;
  END LOOP;
  IF s.id IS NULL THEN
    RETURN;
  END IF;
  SELECT ending.at, ending.how INTO ended_at, ended_as FROM (
  SELECT e.at, e.how
    FROM (SELECT s.ended_at, s.ended_as WHERE s.ended_at IS NOT NULL
          UNION ALL
          SELECT f.ended_at, f.ended_as FROM boxgate.refresh_family f
           WHERE f.box = s.box AND f.id = s.family AND f.ended_at IS NOT NULL
          UNION ALL
          SELECT r.at, 'revoked' FROM boxgate.revocation r
           WHERE r.box = s.box AND r.subject IN ('box', 'client:' || s.client, 'user:' || s.user_id)
             AND r.version > s.version
          UNION ALL
          SELECT r.at, 'revoked' FROM boxgate.revocation r
           WHERE r.box = s.box AND r.subject IN ('box:before', 'client:' || s.client || ':before')
             AND r.version > ('x' || substr(translate(s.id::text, '-', ''), 1, 12))::bit(48)::bigint
         ) AS e (at, how)
   WHERE e.at < s.expires_at
   ORDER BY e.at
   LIMIT 1) AS ending;
  id := s.id;
  bucket := s.bucket;
  version := s.version;
  type := s.type;
  client := s.client;
  user_id := s.user_id;
  scope := s.scope;
  audience := s.audience;
  expires_at := s.expires_at;
  family := s.family;
  parent := s.parent;
  user_agent := s.user_agent;
  remote_addr := host(s.remote_addr);
END
$$;
