-- A client's previous secret, what a row held when the service last wrote it, and how much clients are used.

ALTER TABLE boxgate.resource
  -- Client: stored form of the secret it had before; valid too, until then.
  ADD COLUMN previous_secret text,
  ADD COLUMN previous_until  timestamptz,
  -- Box: when the object that declares it goes, the data of the box goes too.
  ADD COLUMN purge           boolean NOT NULL DEFAULT false,
  -- Hash of the row as the service wrote it, and the version that it had then: a row whose content has another hash was
  -- changed past the service. Who writes a row sets '' and a trigger puts the hash there.
  ADD COLUMN content         text,
  ADD COLUMN content_version bigint,
  ADD CHECK ((previous_secret IS NULL) = (previous_until IS NULL));

-- The hash of all that a row says, so that none of it can be changed unseen; times as numbers, which no setting changes.
CREATE FUNCTION boxgate.content_of(r boxgate.resource) RETURNS text
LANGUAGE sql STABLE
AS $$
  SELECT encode(sha256(convert_to(jsonb_build_array(
           r.box, r.kind, r.id, r.version, r.sessions_from, extract(epoch FROM r.revoked_before), r.body, to_jsonb(r.secrets),
           r.previous_secret, extract(epoch FROM r.previous_until), r.owner_cluster, r.owner_name, r.owner_uid, r.digest,
           r.retain, r.purge)::text, 'UTF8')), 'hex')
$$;

-- Whether a row is as the service wrote it: `intact`; `rewritten`, by a release that knows nothing of the hash, under a
-- version that the box had; or `changed`, past the service.
CREATE FUNCTION boxgate.row_state(r boxgate.resource) RETURNS text
LANGUAGE sql STABLE
AS $$
  SELECT CASE
    WHEN r.content = boxgate.content_of(r) THEN 'intact'
    WHEN (r.content_version IS NULL OR r.version > r.content_version)
         AND EXISTS (SELECT FROM boxgate.box_version v WHERE v.box = r.box AND v.version = r.version) THEN 'rewritten'
    ELSE 'changed'
  END
$$;

CREATE FUNCTION boxgate.set_content() RETURNS trigger
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  NEW.content := content_of(NEW);
  NEW.content_version := NEW.version;
  RETURN NEW;
END
$$;
CREATE TRIGGER content BEFORE INSERT OR UPDATE ON boxgate.resource
  FOR EACH ROW WHEN (NEW.content = '') EXECUTE FUNCTION boxgate.set_content();
UPDATE boxgate.resource SET content = '';

-- When a client last got a token, and when its previous secret was last used: to the minute, for people and for the
-- rotation of secrets. Not on the hot path: replicas remember, and write now and then.
CREATE TABLE boxgate.client_usage (
  box              text NOT NULL REFERENCES boxgate.box,
  client           text NOT NULL,
  last_token_at    timestamptz,
  previous_used_at timestamptz,
  PRIMARY KEY (box, client)
);
ALTER TABLE boxgate.client_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.client_usage USING (box = current_setting('boxgate.box', true));

-- Notes uses of many clients of many boxes, times in milliseconds since 1970 or null; a use of a previous secret only
-- while the client still has that very one. Rows are locked in the order of their keys.
CREATE FUNCTION boxgate.note_usage(
  p_box text[], p_client text[], p_token bigint[], p_previous_secret text[], p_previous bigint[]
) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO client_usage AS u (box, client, last_token_at, previous_used_at)
  SELECT r.box, r.id, to_timestamp(n.token / 1000.0),
         CASE WHEN r.previous_secret = n.previous_secret THEN to_timestamp(n.previous / 1000.0) END
    FROM unnest(p_box, p_client, p_token, p_previous_secret, p_previous)
      AS n (box, client, token, previous_secret, previous)
    JOIN resource r ON r.box = n.box AND r.kind = 'Client' AND r.id = n.client
   ORDER BY r.box, r.id
  ON CONFLICT (box, client) DO UPDATE
     SET last_token_at = GREATEST(u.last_token_at, excluded.last_token_at),
         previous_used_at = GREATEST(u.previous_used_at, excluded.previous_used_at)
$$;
