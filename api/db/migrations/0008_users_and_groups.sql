-- The people of a box, the groups they are in, and what a check of a token says of the person it belongs to.

-- The last id that was given to a user or group of a box. Ids are given once: a token of somebody who is gone never
-- becomes another one's.
CREATE TABLE boxgate.last_id (
  box  text NOT NULL REFERENCES boxgate.box,
  kind text NOT NULL CHECK (kind IN ('User', 'Group')),
  id   bigint NOT NULL,
  PRIMARY KEY (box, kind)
);

CREATE TABLE boxgate.user (
  box           text NOT NULL REFERENCES boxgate.box,
  id            bigint NOT NULL,
  -- As it was given.
  email         text NOT NULL,
  -- Its normal form, by which two are one. Compared by bytes, so that an index answers for a beginning of it too.
  email_key     text COLLATE "C" NOT NULL,
  -- argon2id PHC string, and which pepper it was made with.
  password      text NOT NULL,
  pepper        text NOT NULL,
  -- JSON text as it was given.
  data          text,
  -- Null is active.
  status        text CHECK (status IN ('active', 'inactive')),
  -- Sessions, refresh families, sign-ins and codes begun under an older config version are revoked.
  sessions_from bigint NOT NULL DEFAULT 0,
  -- The networks that last proved the password, at most five, each with the time in seconds since 1970.
  networks      jsonb NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (box, id)
);
CREATE UNIQUE INDEX user_email ON boxgate.user (box, email_key);
CREATE INDEX user_inactive ON boxgate.user (box, id) WHERE status = 'inactive';

CREATE TABLE boxgate.group (
  box         text NOT NULL REFERENCES boxgate.box,
  id          bigint NOT NULL,
  -- Never only digits: policies link to a group by id or by name.
  name        text COLLATE "C" NOT NULL CHECK (name !~ '^[0-9]+$'),
  description text,
  -- Its ETag.
  version     bigint NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (box, id)
);
CREATE UNIQUE INDEX group_name ON boxgate.group (box, name);
CREATE INDEX group_created ON boxgate.group (box, created_at, id);

CREATE TABLE boxgate.group_member (
  box      text NOT NULL,
  user_id  bigint NOT NULL,
  group_id bigint NOT NULL,
  PRIMARY KEY (box, user_id, group_id),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE,
  FOREIGN KEY (box, group_id) REFERENCES boxgate.group ON DELETE CASCADE
);
CREATE INDEX group_member_group ON boxgate.group_member (box, group_id, user_id);

ALTER TABLE boxgate.last_id ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.user ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.group ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.group_member ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.last_id USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.user USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.group USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.group_member USING (box = current_setting('boxgate.box', true));

-- The groups of a user, by id; null when there are none.
CREATE FUNCTION boxgate.groups_of(p_box text, p_user bigint) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
  SELECT jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'description', g.description) ORDER BY g.id)
    FROM boxgate.group_member m JOIN boxgate.group g ON g.box = m.box AND g.id = m.group_id
   WHERE m.box = p_box AND m.user_id = p_user
$$;

-- The user of something that was begun under a config version, with the groups it is in now; null when there is no such
-- user, when it is inactive, and when what was begun then does not count any more. In plpgsql, so that a statement which
-- calls it for nobody pays nothing: its plan is made when it is first called, and kept.
CREATE FUNCTION boxgate.living_user(p_box text, p_user bigint, p_version bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
BEGIN
  RETURN (SELECT jsonb_build_object('id', u.id, 'email', u.email, 'data', u.data, 'groups', boxgate.groups_of(u.box, u.id))
            FROM boxgate.user u
           WHERE u.box = p_box AND u.id = p_user AND u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= p_version);
END
$$;

-- The statements that check tokens say whose each one is: `person` is null for a client's own session, and for one whose
-- user counts no more (then `ended` is true). So who was disabled, or taken out of a group, is denied by the next request.
DROP FUNCTION boxgate.check_sessions(integer, text[], uuid[], bytea[]);
CREATE FUNCTION boxgate.check_sessions(p_bucket integer, p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean, person jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
         s.scope, s.audience, s.family,
         s.ended_at IS NOT NULL OR (s.user_id IS NOT NULL AND p.person IS NULL) OR (s.family IS NOT NULL AND
           (SELECT f.ended_at IS NULL FROM refresh_family f WHERE f.box = s.box AND f.id = s.family) IS NOT TRUE),
         p.person
    FROM unnest(p_box, p_id, p_hash) WITH ORDINALITY AS n (box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM session s WHERE s.bucket = p_bucket AND s.box = n.box AND s.id = n.id
                          AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true
    LEFT JOIN LATERAL (SELECT CASE WHEN s.user_id IS NOT NULL THEN living_user(s.box, s.user_id, s.version) END
                         OFFSET 0) AS p (person) ON true;
END
$$;

DROP FUNCTION boxgate.check_sessions_in(integer[], text[], uuid[], bytea[]);
CREATE FUNCTION boxgate.check_sessions_in(p_bucket integer[], p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean, person jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
         s.scope, s.audience, s.family,
         s.ended_at IS NOT NULL OR (s.user_id IS NOT NULL AND p.person IS NULL) OR (s.family IS NOT NULL AND
           (SELECT f.ended_at IS NULL FROM refresh_family f WHERE f.box = s.box AND f.id = s.family) IS NOT TRUE),
         p.person
    FROM unnest(p_bucket, p_box, p_id, p_hash) WITH ORDINALITY AS n (bucket, box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM session s WHERE s.bucket = n.bucket AND s.box = n.box AND s.id = n.id
                          AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true
    LEFT JOIN LATERAL (SELECT CASE WHEN s.user_id IS NOT NULL THEN living_user(s.box, s.user_id, s.version) END
                         OFFSET 0) AS p (person) ON true;
END
$$;
